"""The record of a call as lines of text: what a judge reads and quotes from."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from scenarios.scoring.evidence import Evidence, ToolUse, Turn

# One tool result or turn longer than this is cut in the middle of nowhere; the record itself keeps it whole.
MAX_LINE_CHARS = 6000


@dataclass(frozen=True)
class Transcript:
    """Lines that fit a window; ``note`` says in words what was left out ("" when nothing was)."""

    lines: tuple[str, ...]
    note: str = ""

    @classmethod
    def fit(cls, lines: Sequence[str], window_chars: int) -> Self:
        """Shorten every overlong line, then leave lines out from the start until the rest fits."""
        short = [shorten(line) for line in lines]
        cut = sum(a != b for a, b in zip(short, lines, strict=True))
        kept = len(short)
        size = sum(len(line) + 1 for line in short)
        while size > window_chars and kept > 1:
            size -= len(short[len(short) - kept]) + 1
            kept -= 1
        notes = []
        if kept < len(short):
            notes.append(f"the first {len(short) - kept} of {len(short)} lines were left out to fit the window")
        if cut:
            notes.append(f"{cut} {'line was' if cut == 1 else 'lines were'} cut to {MAX_LINE_CHARS} characters")
        return cls(tuple(short[len(short) - kept :]), "; ".join(notes))


def record_lines(evidence: Evidence) -> list[str]:
    """Return turns and tool calls in the order of their events, one line each; blank turns are left out."""
    lines = [(turn.seq, turn_line(turn)) for turn in evidence.turns if not turn.is_blank]
    lines += [(use.seq, tool_line(use)) for use in evidence.tools]
    return [line for _, line in sorted(lines)]


def shorten(line: str, limit: int = MAX_LINE_CHARS) -> str:
    """Cut a line to ``limit`` characters and say how much is missing."""
    return line if len(line) <= limit else f"{line[:limit]} [... {len(line) - limit} more characters]"


def turn_line(turn: Turn) -> str:
    """Return a turn as the one line that a judge is shown."""
    line = f"[turn {turn.turn}] {turn.side} said: {_one_line(turn.said)}"
    if turn.interrupted:
        line += " [interrupted]"
    if turn.heard is not None and turn.heard != turn.said:
        line += f" | heard: {_one_line(turn.heard)}"
    return line


def tool_line(use: ToolUse) -> str:
    """Return a tool call with its answer as the one line that a judge is shown."""
    state = "no answer" if use.ok is None else "ok" if use.ok else f"refused ({use.error})"
    result = "" if use.ok is None else f" -> {_json(use.result)}"
    return f"[tool call {use.call}] {use.side} called {use.tool} {_json(use.arguments)}: {state}{result}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
