"""Foreign verdicts: kept as written, and mapped to what they count as here (``spec/trajectories.md`` 3.5, 4)."""

import re
from collections.abc import Mapping
from typing import Any

from scenarios.formats.imports.fields import Fields
from scenarios.formats.imports.records import ForeignVerdict, MappedVerdict
from scenarios.formats.imports.redaction import redact, scrubbed

# Upstream's own rule for success.
_TOLERANCE = 1e-6
SCORED_ENDS = frozenset({"user_stop", "agent_stop"})
_JUDGE_FAILED = re.compile(r"\s*(judge|evaluator|api|llm|parse|json)?\s*(error|timeout|exception)\b", re.IGNORECASE)


def tau2_verdict(reward_info: Fields, termination: str | None) -> ForeignVerdict:
    """Return the verdict of a tau2 simulation; ``reward_info`` is empty where the file has none."""
    reward = reward_info.number("reward")
    basis = reward_info.data.get("reward_basis")
    named = tuple(map(str, basis)) if isinstance(basis, list) else None
    db_match = reward_info.under("db_check").boolean("db_match")
    checks = {name: tuple(item.data for item in reward_info.each(name)) for name in _CHECKS}
    judge_failed = "NL_ASSERTION" in (named or ()) and _only_the_judge_failed(named or (), db_match, checks)
    mapped, why = _tau2_mapping(reward, termination, judge_failed=judge_failed)
    return ForeignVerdict(
        mapped=mapped,
        why=why,
        reward=reward,
        written=_written(reward_info.data),
        db_match=db_match,
        reward_basis=named,
        **{name: tuple(scrubbed(items)) for name, items in checks.items()},
    )


_CHECKS = ("action_checks", "communicate_checks", "env_assertions", "nl_assertions")
# Parts of a basis, the checks that decide them, and what says that one is met.
_DECIDED_WITHOUT_JUDGE = (
    ("ACTION", "action_checks", "action_match"),
    ("COMMUNICATE", "communicate_checks", "met"),
    ("ENV_ASSERTION", "env_assertions", "met"),
)


def _tau2_mapping(reward: float | None, termination: str | None, *, judge_failed: bool) -> tuple[MappedVerdict, str]:
    if termination == "infrastructure_error":
        return "excluded", "ended by infrastructure_error, which upstream leaves out of its figures"
    if reward is None:
        return "not_scored", "the file has no reward"
    if reward > 1 + _TOLERANCE:
        return "not_scored", f"reward {reward:g} is more than 1, which no version of tau2 gives"
    if reward >= 1 - _TOLERANCE:
        return "pass", ""
    if termination is not None and termination not in SCORED_ENDS:
        return "fail", f"ended by {termination}: upstream counts 0 and checks nothing"
    if judge_failed:
        return "judge_error", "the only failed check is a claim on which the judge itself failed"
    return "fail", "" if abs(reward) < _TOLERANCE else f"reward {reward:g}: upstream counts less than 1 as failed"


def _only_the_judge_failed(
    basis: tuple[str, ...], db_match: bool | None, checks: Mapping[str, tuple[Mapping[str, Any], ...]]
) -> bool:
    """Return whether, of all that the reward was made of, nothing failed but claims on which the judge failed."""
    if "DB" in basis and db_match is False:
        return False
    others = [(name, key) for part, name, key in _DECIDED_WITHOUT_JUDGE if part in basis]
    if any(item.get(key) is False for name, key in others for item in checks[name]):
        return False
    failed = [item for item in checks["nl_assertions"] if item.get("met") is False]
    return bool(failed) and all(_JUDGE_FAILED.match(str(item.get("justification") or "")) for item in failed)


def tau_bench_verdict(entry: Fields) -> ForeignVerdict:
    """Return the verdict of a tau-bench run: graded rewards of changed harnesses count by their own base_success."""
    reward = entry.number("reward")
    about = entry.under("info")
    info = about.under("reward_info")
    inner = info.under("info")
    base = info.under("components").number("base_success")
    mapped, why = _tau_bench_mapping(reward, base, info=about.data)
    return ForeignVerdict(
        mapped=mapped,
        why=why,
        reward=reward,
        written=_written(info.data) or (None if reward is None else {"reward": reward}),
        db_match=_r_actions(inner, mapped),
        communicate_checks=tuple({"info": name, "met": met} for name, met in scrubbed(inner.object("outputs")).items()),
    )


def _tau_bench_mapping(
    reward: float | None, base: float | None, *, info: Mapping[str, Any]
) -> tuple[MappedVerdict, str]:
    if info.get("error") and not info.get("reward_info"):
        error = redact(str(info["error"]))[:200]
        return "excluded", f"the harness itself failed ({error}), which tau-bench writes down as reward 0"
    if reward is None:
        return "not_scored", "the file has no reward"
    if base is not None:
        return ("pass" if base >= 1 - _TOLERANCE else "fail"), f"graded reward {reward:g}; base_success {base:g} counts"
    if abs(reward - 1) < _TOLERANCE:
        return "pass", ""
    if abs(reward) < _TOLERANCE:
        is_unfinished = "reward_info" in info and info["reward_info"] is None
        return "fail", "no reward info: the run hit its limit of steps, which counts 0" if is_unfinished else ""
    return "not_scored", f"reward {reward:g} is neither 0 nor 1, and the file does not say what it means"


def _r_actions(inner: Fields, mapped: MappedVerdict) -> bool | None:
    """Return whether the databases matched; where only the outputs are kept it follows if those were all said."""
    stored = inner.number("r_actions")
    if stored is not None:
        return stored >= 1 - _TOLERANCE
    said = inner.number("r_outputs")
    return mapped == "pass" if said is not None and said >= 1 - _TOLERANCE and mapped in ("pass", "fail") else None


def _written(data: Mapping[str, Any]) -> Mapping[str, Any] | None:
    return scrubbed(data) if data else None
