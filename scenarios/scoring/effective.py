"""The outcome of a scored call once people have ruled on its claims, from what scoring stored of it.

Only a call that could be rated or whose claims lacked a ruling changes; one that was stalled, broken or touched by a
person stays what it is, whatever its claims say.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from scenarios.domains.base import Signal
from scenarios.scoring.results import Outcome, SignalState

# Outcomes that a ruling on a claim can turn into another.
OPEN_TO_RULINGS: frozenset[Outcome] = frozenset({"pass", "fail", "judge_error", "unscored"})
RuledBy = Literal["judge", "reviewer", "adjudicator"]


@dataclass(frozen=True)
class ClaimRuling:
    """What counts for one claim. ``passed`` None: nobody has ruled (the judge failed, or its batch is quarantined)."""

    index: int
    passed: bool | None
    by: RuledBy
    is_overruling: bool = False


@dataclass(frozen=True)
class ScoredSignal:
    """A signal as scoring left it."""

    signal: Signal
    state: SignalState
    is_gating: bool
    value: bool | float | None


@dataclass(frozen=True)
class Effective:
    """Outcome, its reason and the claims' signal as they count now; ``overruled`` is how many claims people changed."""

    outcome: Outcome
    reason: str
    signals: tuple[ScoredSignal, ...]
    overruled: int


def effective(
    judged: Outcome,
    reason: str,
    signals: Sequence[ScoredSignal],
    claims: Sequence[ClaimRuling],
    demands_met: bool,
    *,
    void: bool = False,
) -> Effective:
    """Return what counts. ``demands_met``: what the run's strictness asks for beside the signals holds.

    ``void``: the judge's batch is quarantined, so its score for the whole call counts no more either.
    """
    overruled = sum(claim.is_overruling for claim in claims)
    if not claims and not void:
        return Effective(judged, reason, tuple(signals), overruled)
    changed = tuple(_with_claims(signal, claims) for signal in signals)
    if void:
        changed = tuple(_without_score(signal) for signal in changed)
    if changed == tuple(signals) or judged not in OPEN_TO_RULINGS:
        return Effective(judged, reason, changed, overruled)
    outcome, words = _decide(changed, demands_met)
    # The outcome may stay what it is for another reason: what is left of the failed signals.
    if outcome == judged and [signal.state for signal in changed] == [signal.state for signal in signals]:
        return Effective(judged, reason, changed, overruled)
    why = " (the judge failed the canaries of its batch)" if void and outcome == "judge_error" else ""
    return Effective(outcome, f"{words}{why}{_by_whom(claims)}", changed, overruled)


def _without_score(signal: ScoredSignal) -> ScoredSignal:
    if signal.signal != "judge_passed":
        return signal
    is_open = signal.state in ("passed", "failed")
    return replace(signal, state="undecided" if is_open else signal.state, value=None)


def _with_claims(signal: ScoredSignal, claims: Sequence[ClaimRuling]) -> ScoredSignal:
    if signal.signal != "nl_assertion" or not claims:
        return signal
    ruled = [claim.passed for claim in claims if claim.passed is not None]
    state: SignalState = "failed" if False in ruled else "passed" if len(ruled) == len(claims) else "undecided"
    value = sum(ruled) / len(claims) if len(ruled) == len(claims) else None
    if signal.state == "excluded" or not signal.is_gating:
        return replace(signal, value=value)
    return replace(signal, state=state, value=value)


def _decide(signals: Sequence[ScoredSignal], demands_met: bool) -> tuple[Outcome, str]:
    gating = [signal for signal in signals if signal.is_gating]
    failed = [signal.signal for signal in gating if signal.state == "failed"]
    if failed:
        return "fail", f"failed: {', '.join(failed)}"
    if not demands_met:
        return "fail", "what upstream also demands does not hold"
    undecided = [signal.signal for signal in gating if signal.state == "undecided"]
    if undecided:
        return "judge_error", f"without a ruling that counts: {', '.join(undecided)}"
    return "pass", "every gating signal passed"


def _by_whom(claims: Sequence[ClaimRuling]) -> str:
    counts: Mapping[str, int] = {
        by: sum(claim.is_overruling and claim.by == by for claim in claims) for by in ("reviewer", "adjudicator")
    }
    words = [f"{count} by {'an' if by == 'adjudicator' else 'a'} {by}" for by, count in counts.items() if count]
    return f" (claims overruled: {', '.join(words)})" if words else ""
