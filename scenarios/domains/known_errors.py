"""What is known to be wrong with single tasks of a benchmark, and what that does to a score.

A domain keeps its own table in a module of the same name and hands it on as ``ScenarioSpec.extra["known_errors"]``.
"""

from typing import Literal, NamedTuple, get_args

from scenarios.domains.base import ScenarioSpec, Signal

# too_easy: a wrong call may pass; too_hard: a right call may fail; either: right and wrong are disputed;
# not_comparable: corrected, so that only older results differ; none: no score depends on it.
Effect = Literal["too_easy", "too_hard", "either", "not_comparable", "none"]
EFFECTS: tuple[Effect, ...] = get_args(Effect)


class KnownError(NamedTuple):
    """One finding in words. ``upstream`` is its effect under strictness "upstream", None where that is the same.

    ``signals`` are those whose failure it explains by itself; () where more has to be looked at.
    """

    text: str
    effect: Effect
    upstream: Effect | None = None
    signals: tuple[Signal, ...] = ()

    def effect_by(self, strictness: str) -> Effect:
        """Return what it does to a score by this strictness."""
        return self.upstream or self.effect if strictness == "upstream" else self.effect


def known_errors_of(spec: ScenarioSpec) -> tuple[KnownError, ...]:
    """Return what is known about a scenario."""
    return tuple(spec.extra.get("known_errors", ()))
