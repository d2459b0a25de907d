"""What upstream's reward demands of a call and the reference drops: facts that must be said, calls that must be made.

The rules are upstream's own (``spec/reference-system.md`` 9, ``spec/trajectories.md`` 3.5), so that figures can be set
beside published ones: a fact counts as said when a turn of the agent contains it, whatever stands around it ("4" is in
"14"); an expected call counts as made when one of that name has the arguments that the task compares.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Literal

from scenarios.domains.base import GoldAction, ScenarioSpec
from scenarios.replay import Gold
from scenarios.scoring.action_match import match_single
from scenarios.scoring.evidence import Evidence
from scenarios.scoring.results import Quote, VerdictResult

Basis = Literal["DB", "ENV_ASSERTION", "NL_ASSERTION", "COMMUNICATE", "ACTION"]
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")
# How many facts, predicates, claims or calls a task has for each part of the reward.
_WRITTEN: Mapping[str, Callable[[ScenarioSpec], int]] = {
    "ENV_ASSERTION": lambda spec: len(spec.db_assertions),
    "NL_ASSERTION": lambda spec: len(spec.nl_assertions),
    "COMMUNICATE": lambda spec: len(spec.communicate_info),
    "ACTION": lambda spec: len(spec.gold_actions),
}


def checks(spec: ScenarioSpec, evidence: Evidence) -> tuple[VerdictResult, ...]:
    """Return a verdict on each fact and each call that the task's reward basis adds; empty where it adds nothing."""
    said = [_said(fact, index, evidence) for index, fact in enumerate(demanded_facts(spec), 1)]
    made = [_made(action, index, evidence) for index, action in enumerate(demanded_calls(spec), 1)]
    return (*said, *made)


def demanded_facts(spec: ScenarioSpec) -> tuple[str, ...]:
    """Return what the agent must say under strictness "upstream"."""
    return spec.communicate_info if "COMMUNICATE" in spec.reward_basis else ()


def demanded_calls(spec: ScenarioSpec) -> tuple[GoldAction, ...]:
    """Return the calls that must be made under strictness "upstream"."""
    return spec.gold_actions if "ACTION" in spec.reward_basis else ()


def nothing_written(spec: ScenarioSpec) -> tuple[str, ...]:
    """Return the parts of the reward for which the task has nothing to check: they pass no call."""
    return tuple(basis for basis in spec.reward_basis if basis in _WRITTEN and not _WRITTEN[basis](spec))


def passes_by_inaction(spec: ScenarioSpec, gold: Gold) -> bool:
    """Return whether an agent that does nothing but end the call passes under strictness "upstream"."""
    return gold.health.passes_by_inaction and not demanded_facts(spec) and not demanded_calls(spec)


def _said(fact: str, index: int, evidence: Evidence) -> VerdictResult:
    wanted = _plain(fact)
    turn = next((turn for turn in evidence.turns if turn.side == "agent" and wanted in _plain(turn.said)), None)
    return VerdictResult(
        signal="communicate",
        index=index,
        claim=f"The agent says {fact!r}.",
        passed=turn is not None,
        reason=f"said in turn {turn.turn}" if turn else "no turn of the agent contains it",
        evidence=(Quote(fact, turn.turn, turn.seq, found=True),) if turn else (),
    )


def _made(action: GoldAction, index: int, evidence: Evidence) -> VerdictResult:
    reference = {**asdict(action), "name": action.tool}
    uses = [use for use in evidence.tools if use.side == action.side and use.tool == action.tool]
    made = next((use for use in uses if match_single(reference, {"name": use.tool, "arguments": use.arguments})), None)
    compared = action.arguments if action.compare_args is None else action.compare_args
    arguments = ", ".join(f"{name}={action.arguments.get(name)!r}" for name in compared)
    other = "called, but never with these arguments" if uses else "never called"
    return VerdictResult(
        signal="action",
        index=index,
        claim=f"{action.tool}({arguments}) is called" if compared else f"{action.tool} is called",
        passed=made is not None,
        reason=f"call {made.call}" if made else other,
        evidence=(Quote(action.tool, seq=made.seq, found=True),) if made else (),
    )


def _plain(text: str) -> str:
    return _THOUSANDS.sub("", text).casefold()
