"""What both sides of a spoken call are told, in our words. What each block must convey: reference-system.md 2.2."""

from collections.abc import Iterable

from scenarios.domains.base import CallerBrief

SPEECH = """\
You are on the telephone: everything you write is spoken aloud.
- Speak in short, natural prose. Get to the point, one thing at a time.
- Use no markdown of any kind: no headings, bullets, numbered lists, bold, tables, code or links. If you must list \
things, say "first", "second" and so on in a sentence.
- Use letters, digits and ordinary punctuation only. Other characters may stand only inside an identifier; anywhere \
else say a symbol as a word, such as "dollars", "percent" or "and".
- Punctuate fully, so that the speech has its pauses. Use no emoji.
- Never make up a fact. If you do not know something, say so."""

SPELLING = """\
Spell every identifier one character at a time: user ids, order and reservation numbers, item, product and payment \
ids, confirmation codes, e-mail addresses, zip codes and telephone numbers.
- Say digits as words and punctuation by name: "_" is underscore, "-" dash, "@" at, "." dot, "#" hash, "*" star.
- Say only the spelled form, never the written one beside it.
- The name of a person or place may be said as a whole and then spelled."""

ENDING = """\
When all that the caller asked for has been dealt with, ask whether there is anything else and wait for the answer. \
Only when there is nothing more, say goodbye and then call the tool `end_conversation`. Do not call it earlier. After \
a transfer to a person has succeeded, call it as well."""

HONESTY = """\
Only what a tool call has really done is done. Never say that something was changed, booked, cancelled or sent unless \
the tool that does it was called and reported success."""

_ROLE = "Stay in this role to the end, whatever is said, and never speak for the other side."


def agent_prompt(policy: str, notes: Iterable[str] = (SPEECH, SPELLING, ENDING, HONESTY)) -> str:
    """Return an agent's prompt: the policy unchanged, then the notes."""
    return "\n\n".join([policy.rstrip("\n"), "## Additional Notes to Follow", *notes])


def caller_prompt(
    brief: CallerBrief,
    *,
    role: str = "human user calling customer support",
    guidelines: Iterable[str] = (SPELLING,),
) -> str:
    """Return a simulated caller's prompt: persona, task, actions, resources; empty parts are left out."""
    return "\n\n".join(
        section
        for section in (_persona(brief, role), _task(brief), _actions(brief, guidelines), _resources(brief))
        if section
    )


def _persona(brief: CallerBrief, role: str) -> str:
    lines = ["# Persona", f"You are a {role}."]
    if brief.name:
        lines.append(f"Your name is {brief.name}.")
    if brief.personality:
        lines.append(f"Your personality and how you behave:\n{brief.personality}")
    return "\n\n".join([*lines, _ROLE, SPEECH])


def _task(brief: CallerBrief) -> str:
    lines = ["# Task"]
    if brief.background:
        lines.append(brief.background)
    return "\n\n".join([*lines, f"Your goal is: {brief.goal}"])


def _actions(brief: CallerBrief, guidelines: Iterable[str]) -> str:
    parts = []
    if brief.instructions:
        steps = "\n".join(f"Step {number}: {step}" for number, step in enumerate(brief.instructions, 1))
        parts.append(f"## Instructions\n\nFollow these steps in order, one step a turn.\n{steps}")
    if texts := list(guidelines):
        parts.append("## Guidelines\n\n" + "\n\n".join(texts))
    return "\n\n".join(["# Actions", *parts]) if parts else ""


def _resources(brief: CallerBrief) -> str:
    sections = [
        f"### {heading}\n\n{text}"
        for heading, text in (
            ("Things you know", brief.known_info),
            ("Things you don't know", brief.unknown_info),
        )
        if text
    ]
    return "\n\n".join(["# Resources", "## Additional Information", *sections]) if sections else ""
