"""What both sides of an eva call are told: the data set's texts unchanged, and the notes that voice calls share."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scenarios.domains.base import CallerBrief
from scenarios.domains.voice_prompts import ENDING, HONESTY, SPEECH, SPELLING
from scenarios.domains.voice_prompts import agent_prompt as with_notes
from scenarios.domains.voice_prompts import caller_prompt as prompt_of

JOURNEYS = """\
Ids of journeys (they begin with "FL_") are for your tools only. Never say one aloud: name a flight by its number, its \
day and its times."""

HANGING_UP = """\
You cannot hang up yourself. Where you are told to end the call, or to use end_call, say goodbye: the other side will \
end it."""

# The parts of a decision tree; its texts refer to each other by these names.
_PARTS = (
    ("must_have_criteria", "you insist on all of this"),
    ("nice_to_have_criteria", "you would like this as well, if it can be had"),
    ("negotiation_behavior", "how you decide"),
    ("edge_cases", "if it comes to that"),
    ("resolution_condition", "when you have what you called for"),
    ("failure_condition", "when you give up"),
    ("escalation_behavior", "supervisors and live agents"),
)


def agent_prompt(role: str, policy: str, now: str) -> str:
    """Return role and policy unchanged, then the notes; ``now`` is date and time in the words of the data set."""
    notes = (f"It is {now} now.", SPEECH, SPELLING, JOURNEYS, ENDING, HONESTY)
    return with_notes(f"{role.strip()}\n\n{policy}", notes)


def caller_prompt(brief: CallerBrief) -> str:
    """Return persona, how the caller decides, goal, and what the caller knows."""
    return prompt_of(brief, role="person calling an airline's customer service", guidelines=(SPELLING, HANGING_UP))


def brief(row: Mapping[str, Any]) -> CallerBrief:
    """Return what the caller of a line of the data set is told."""
    goal, person = row["user_goal"], row["user_config"]
    return CallerBrief(
        goal=goal["high_level_user_goal"],
        personality=person["user_persona"],
        name=person["name"],
        background="\n\n".join(_background(row["current_date_time"], goal)),
        known_info="\n".join(_lines(goal["information_required"])),
    )


def _background(now: str, goal: Mapping[str, Any]) -> Iterator[str]:
    yield f"It is {now} now."
    yield f'When you are asked what you are calling about, say: "{goal["starting_utterance"]}"'
    for key, meaning in _PARTS:
        text = _listed(goal["decision_tree"][key])
        if text:
            yield f"{key} ({meaning}):\n{text}"


def _listed(value: str | Sequence[str]) -> str:
    return value if isinstance(value, str) else "\n".join(f"- {item}" for item in value)


def _lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield "name: value"; what is nested is told in one line."""
    for name, value in facts.items():
        yield f"{name.replace('_', ' ')}: {_said(value)}"


def _said(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(_lines(value))
    if isinstance(value, list):
        return "; ".join(map(_said, value))
    return str(value)
