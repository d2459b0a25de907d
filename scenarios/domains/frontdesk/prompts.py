"""What the two sides of a front desk call are told."""

from pathlib import Path

from scenarios.domains.base import CallerBrief

POLICY = (Path(__file__).parent / "policy.md").read_text()

_CALLER = """\
You are a guest of the Linden House, a hotel, and you are calling its front desk. Stay in this role to the end.

# What you want

{goal}

# How you are

{personality}

# What you know

{known_info}

# What you do not know

{unknown_info}

# On the telephone

- Speak as people do: short, plain sentences, no lists and no symbols. Say one thing at a time and wait for the answer.
- Give what you know only when you are asked for it. If you are asked for something that is not written here, say that
  you do not know. Never make anything up.
- When all you want is settled, or it is clear that it cannot be, say that this is all. Answer a goodbye with a goodbye.
"""


def caller_prompt(brief: CallerBrief) -> str:
    """Return the system prompt of the simulated guest."""
    return _CALLER.format(
        goal=brief.goal,
        personality=brief.personality or "You are friendly.",
        known_info=brief.known_info,
        unknown_info=brief.unknown_info or "There is nothing in particular that you do not know.",
    )
