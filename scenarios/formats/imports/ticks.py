"""A voice call that is written as ticks of a fifth of a second: turns, tool calls and what timing metrics need.

Sources: ``spec/trajectories.md`` 5. The messages of such a call repeat its ticks and are not read.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scenarios.formats.imports.fields import Fields
from scenarios.formats.imports.pairing import Calls
from scenarios.formats.imports.records import ImportedTick, ImportedTurn
from scenarios.formats.imports.redaction import redact, scrub
from scenarios.sides import Side

_EFFECTS = ("speech_effects", "source_effects", "channel_effects")
# In each tick the user's calls come before the agent's.
_SIDES: tuple[Side, ...] = ("user", "agent")


def read_ticks(entries: Iterable[Fields], calls: Calls) -> tuple[tuple[ImportedTick, ...], tuple[ImportedTurn, ...]]:
    """Return ticks and turns; ``calls`` collects the tool calls, the user's of a tick before the agent's."""
    ticks: list[ImportedTick] = []
    speech: dict[Side, _Speech] = {side: _Speech(side) for side in _SIDES}
    elapsed: float | None = 0.0
    for index, entry in enumerate(entries):
        calls.close()
        for side in _SIDES:
            for call in entry.each(f"{side}_tool_calls"):
                calls.call(call, side, tick=index)
            for result in entry.each(f"{side}_tool_results"):
                calls.answer(result)
        tick = _tick(index, entry)
        ticks.append(tick)
        for side in _SIDES:
            speech[side].hear(entry.under(f"{side}_chunk"), tick, elapsed)
        elapsed = None if elapsed is None or tick.duration_ms is None else elapsed + tick.duration_ms
    turns = [turn for side in _SIDES for turn in speech[side].end(elapsed)]
    return tuple(ticks), tuple(sorted(turns, key=lambda turn: (turn.first_tick or 0, turn.last_tick or 0)))


@dataclass
class _Speech:
    """Gathers the ticks in which one side speaks into turns."""

    side: Side
    turns: list[ImportedTurn] = field(default_factory=list)
    _words: list[str] = field(default_factory=list)
    _meant: list[str] = field(default_factory=list)
    _start: tuple[int, float | None, str | None] | None = None
    _last: int = 0

    def hear(self, chunk: Fields, tick: ImportedTick, elapsed: float | None) -> None:
        """Take one tick that began ``elapsed`` ms into the call."""
        words = chunk.text("content") or ""
        speaks = chunk.boolean("contains_speech")
        if not (words.strip() or speaks):
            self._close(elapsed)
            return
        if self._start is None:
            self._start = (tick.index, elapsed, tick.timestamp)
        self._last = tick.index
        self._words.append(words)
        meant = chunk.text("audio_script_gold")
        if meant and meant not in self._meant:
            self._meant.append(meant)

    def end(self, elapsed: float | None) -> list[ImportedTurn]:
        """Close what is still being said, and return all turns."""
        self._close(elapsed)
        return self.turns

    def _close(self, elapsed: float | None) -> None:
        if self._start is None:
            return
        first, started_ms, started_at = self._start
        self.turns.append(
            ImportedTurn(
                side=self.side,
                spoken=scrub("".join(self._words)).strip(),
                said=scrub(" ".join(self._meant)) or None,
                started_ms=None if started_ms is None else round(started_ms),
                ended_ms=None if elapsed is None else round(elapsed),
                started_at=started_at,
                first_tick=first,
                last_tick=self._last,
            )
        )
        self._start, self._words, self._meant = None, [], []


def _tick(index: int, entry: Fields) -> ImportedTick:
    agent, user = entry.under("agent_chunk"), entry.under("user_chunk")
    seconds = entry.number("tick_duration_seconds")
    return ImportedTick(
        index=index,
        timestamp=entry.text("timestamp"),
        duration_ms=None if seconds is None else seconds * 1000,
        agent_speaks=agent.boolean("contains_speech"),
        user_speaks=user.boolean("contains_speech"),
        agent_text=scrub(agent.text("content") or ""),
        user_text=scrub(user.text("content") or ""),
        user_action=user.under("turn_taking_action").text("action"),
        effects=redact({name: user.data[name] for name in _EFFECTS if user.data.get(name)}),
        voice_activity=_activity(agent.object("raw_data")),
    )


def _activity(raw: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the provider's speech events of a tick, which are texts or objects with a type."""
    events: Sequence[Any] = raw["vad_events"] if isinstance(raw.get("vad_events"), list) else ()
    names = [event.get("type") if isinstance(event, Mapping) else event for event in events]
    return tuple(name for name in names if isinstance(name, str))
