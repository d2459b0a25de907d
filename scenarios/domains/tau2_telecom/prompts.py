"""What both sides are told beside the policy, in our words. What it must convey: reference-system.md 2.2."""

from collections.abc import Iterable
from dataclasses import replace

from scenarios.domains.base import CallerBrief, Tool
from scenarios.domains.voice_prompts import ENDING, HONESTY, SPEECH, SPELLING, agent_prompt, caller_prompt

SCOPE = """\
Deal with the problem that the caller has named, and with nothing beside it. Do not look for other faults or offer \
other services unless the caller asks for them."""

PLACE = """\
The company is in the United States, and so is its network. Whenever a caller complains about service, mobile data or \
picture messages, first ask where they are. If they are abroad, check that roaming is enabled for the line and \
switched on at the phone."""

STEPS = (
    "Say what is wrong with your phone.",
    "Do what the agent asks, one action for each instruction: call the tool of your phone that does it, and only that.",
    "Say aloud what the tool showed. The agent cannot see your phone.",
    "When your problem is gone, or the agent can do no more, say so and bring the call to an end.",
)

PASSIVE = """\
Your phone is in your hand, but you do not know how to mend it. Use a tool only when the agent has asked for what it \
does; never try things out yourself, and never run ahead of the agent."""


def agent_text(policy: str, own: Iterable[Tool], phone: Iterable[Tool]) -> str:
    """Return an agent's prompt: policy and support text unchanged, then the notes."""
    return agent_prompt(policy, (SPEECH, SPELLING, ENDING, HONESTY, _tool_note(own, phone), SCOPE, PLACE))


def caller_text(brief: CallerBrief) -> str:
    """Return a caller's prompt: the usual one, with the course of such a call and the manner with the phone."""
    return caller_prompt(replace(brief, instructions=STEPS), guidelines=(SPELLING, PASSIVE))


def _tool_note(own: Iterable[Tool], phone: Iterable[Tool]) -> str:
    return (
        f"These are the tools you can call: {_names(own)}.\n\nThe caller's phone has these, which only the caller can "
        f"use. Ask for them in plain words, one at a time, and wait for what the caller reports: {_names(phone)}."
    )


def _names(tools: Iterable[Tool]) -> str:
    return ", ".join(f"`{tool.model_name()}`" for tool in tools)
