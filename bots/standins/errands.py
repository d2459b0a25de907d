"""What an agent asks a caller to do with the caller's own tools: the asking, the doing, and the report of it.

The agent asks for one action at a time ("Please grant app permission: app name messaging, permission sms."). The caller
knows an errand by a word of request and the words of one of its tools, in whatever order, and takes the values from the
line; one that it could not hear is the one that the scenario's gold gives the tool at this turn.
"""

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from bots.standins.cue import Cue
from bots.standins.steps import Use
from bots.standins.wire import ChatRequest, Reply
from scenarios.domains.base import GoldAction, Tool

_REQUEST = re.compile(
    r"\b(please|(?:can|could|would) you|i (?:need|want|would like) you to|i'd like you to|let's|try)\b", re.I
)
# Other words for what a tool's name begins with.
_VERBS = {
    "toggle": "turn switch enable disable on off",
    "set": "change switch select choose",
    "check": "look see what show read verify",
    "reseat": "remove take reinsert",
    "disconnect": "turn switch off",
    "grant": "give allow",
    "reboot": "restart",
    "make": "pay accept",
    "run": "do perform",
}
# What follows the name of an argument where its value does not.
_NO_VALUE = "(?:to|for|of|on|in|from|with|by|and|or|the|is|so|that|which|please)"
_LONGEST_REPORT = 200  # characters of a tool's answer that the caller reads out


def instruction(action: GoldAction) -> str:
    """Return the agent's request for one action of the caller's."""
    values = ", ".join(f"{words(name)} {value}" for name, value in action.arguments.items())
    return f"Please {words(action.tool)}{': ' + values if values else ''}. Tell me when that is done."


def words(name: str) -> str:
    """Return a tool's or argument's name as it is spoken."""
    return name.replace("_", " ")


def reply(scene: Cue, request: ChatRequest) -> Reply | None:
    """Return the caller's tool call when it was asked for one, its report after one, else None."""
    tools = scene.domain.tools("user")
    if not tools or not request.messages:
        return None
    last = request.messages[-1]
    if last.role == "tool":
        return Reply(_report(last.text))
    if last.role != "user" or not _REQUEST.search(last.text):
        return None
    tool = _tool_meant(last.text, tools)
    return None if tool is None else _errand(scene, request, tool, last.text)


def _errand(scene: Cue, request: ChatRequest, tool: Tool, line: str) -> Reply:
    name = tool.model_name()
    arguments = _planned(scene, name, sum(message.tools.count(name) for message in request.messages))
    for argument, field in tool.Arguments.model_fields.items():
        # The last time: a tool's own name may end in its argument's.
        if heard := re.findall(rf"\b{words(argument)}:? (?!{_NO_VALUE}\b)([\w.-]*\w)", line, re.I):
            arguments[argument] = heard[-1]
        elif field.is_required() and argument not in arguments:
            return Reply(f"I can do that, but I need to know the {words(argument)} first.")
    return Reply(tool_calls=(Use(name, arguments).call,))


def _planned(scene: Cue, tool: str, earlier: int) -> dict[str, Any]:
    """Return the arguments of the gold's call of a tool after so many earlier ones, none when there is no such call."""
    planned = [a.arguments for a in scene.spec.gold_actions if a.side == "user" and a.tool == tool]
    return dict(planned[earlier]) if earlier < len(planned) else {}


def _tool_meant(line: str, tools: Sequence[Tool]) -> Tool | None:
    """Return the tool whose words a line has; of several the one that it names best, a change rather than a look."""
    said = _spoken_words(line)
    best = max(tools, key=lambda tool: (_likeness(tool.model_name(), said), tool.kind == "write"))
    return best if _likeness(best.model_name(), said) else None


def _likeness(tool: str, said: frozenset[str]) -> tuple[bool, int] | tuple[()]:
    """Return whether a tool's own verb was said and how many words name it; nothing when it was not named."""
    verb, *objects = tool.split("_")
    named = verb in said
    if not said.issuperset(objects) or not (named or said.intersection(_VERBS.get(verb, "").split())):
        return ()
    return named, len(objects)


@lru_cache(maxsize=1024)
def _spoken_words(line: str) -> frozenset[str]:
    said = re.findall(r"\w+", line.lower().replace("wi-fi", "wifi").replace("_", " "))
    return frozenset([*said, "device"] if "phone" in said else said)


def _report(result: str) -> str:
    """Return what a caller says of a tool's answer: its first line; for a refusal, the message."""
    try:
        shown = json.loads(result)
    except ValueError:
        shown = result
    if isinstance(shown, dict) and shown.get("status") == "error":
        return f"That did not work. It says: {shown.get('message')}"[:_LONGEST_REPORT]
    first_line = (shown if isinstance(shown, str) else json.dumps(shown)).strip().partition("\n")[0]
    return f"Done. It says: {first_line}"[:_LONGEST_REPORT]
