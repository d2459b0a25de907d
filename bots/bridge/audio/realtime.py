"""A voice call in real time: 20 ms of both directions at a time, as fast as people listen.

For live listening, for agents that know no other time, and for figures of latency. Both sides hear each other all the
time; turns are what was spoken between a first sound and the party's word that it is done.
"""

import asyncio
import re
import time
from collections.abc import Mapping
from typing import Any

from bots.bridge.acoustics import Line as AgentHears
from bots.bridge.audio.interjecting import Interjections, make_interjections
from bots.bridge.audio.line import TICK_MS, Line
from bots.bridge.audio.pcm import RATE
from bots.bridge.audio.recording import Recording
from bots.bridge.audio.speaking import Spoken, Transcript, heard_in, told_parts
from bots.bridge.contract import PartyFailed
from bots.bridge.conversation import (
    INAUDIBLE,
    LAST_WORDS_S,
    OPENING,
    SILENCE,
    Turn,
    check_ends,
    pass_on_stop,
    report_usage,
    say,
    take_message,
)
from bots.bridge.latency import record_latency
from bots.bridge.link import Heard
from bots.bridge.said import clean
from bots.bridge.state import Call, Ended, other
from bots.bridge.wire import Message
from scenarios.events import Noted, TurnStarted
from scenarios.sides import SIDES, Side

TICK_S = TICK_MS / 1000
# A tick that is later than this was late: the jitter of both ends can no longer be told from silence.
LATE_S = TICK_S
_TICKS_NOTE = re.compile(r"(?P<late>\d+) of (?P<ticks>\d+) audio ticks came")


def read_ticks(note: str) -> tuple[int, int] | None:
    """Return the audio ticks and the late ones that a call's closing note tells of; None for any other note."""
    found = _TICKS_NOTE.match(note)
    return (int(found["ticks"]), int(found["late"])) if found else None


class Realtime:
    """The talk of one call."""

    def __init__(self, call: Call, recording: Recording, line: AgentHears | None = None) -> None:
        """``line``: what the caller's speech goes through on its way to the agent."""
        self._call = call
        self._recording = recording
        self._agent_hears = line
        self._interjections: Interjections | None = None
        self._last_was_murmur = False  # the caller's newest sound is no turn
        self._numbers = 0
        self._lines: dict[Side, Line] = {side: Line(side, self._turn(side)) for side in SIDES}
        self._transcript = Transcript(call)
        self._active_at = time.monotonic()
        self._last_speaker: Side = "user"  # the agent owes the first turn
        self._is_nudged = False
        self.ticks = 0
        self.late_ticks = 0
        for side in SIDES:
            call.links[side].on_audio = self._lines[side].take

    @property
    def now_ms(self) -> int:
        """Return the time of the call: how much of it was heard."""
        return self._recording.position_ms

    async def converse(self) -> Ended:
        """Let the sides talk and return how the talk ended. Raises PartyFailed."""
        call = self._call
        tasks = [
            asyncio.create_task(pass_on_stop(call), name="stop watcher"),
            asyncio.create_task(self._tick_on(), name="audio ticks"),
        ]
        try:
            call.record(Noted("info", f"the agent was started with {OPENING!r}", "agent"))
            await say(call, self._lines["agent"].turn, OPENING)
            while True:
                await self._step(await self._next())
        except Ended as end:
            return end
        finally:
            for task in tasks:
                task.cancel()
            self._close()

    async def _tick_on(self) -> None:
        """Pass 20 ms on, again and again; what breaks here ends the call."""
        try:
            begun = time.monotonic()
            while True:
                self.ticks += 1
                await asyncio.sleep(max(0.0, begun + self.ticks * TICK_S - time.monotonic()))
                self.late_ticks += time.monotonic() > begun + self.ticks * TICK_S + LATE_S
                await self._tick()
        except PartyFailed as failure:
            data = {"kind": failure.kind, "message": str(failure)}
            self._call.inbox.put_nowait((failure.side or "agent", Message("closed", data)))

    async def _tick(self) -> None:
        position_ms = self.now_ms
        if self._interjections is not None:
            self._interject(self._interjections, position_ms)
        pieces = {side: line.next_piece(position_ms) for side, line in self._lines.items()}
        if self._agent_hears is not None:
            pieces["user"] = self._agent_hears.carry(pieces["user"])
        self._recording.write(pieces["user"], pieces["agent"])
        for side, line in self._lines.items():
            if line.started_ms == position_ms:
                self._begin(line)
            if line.is_playing:
                self._active_at = time.monotonic()
            if line.is_over:
                self._call.inbox.put_nowait((side, Message("drained", {})))
        for side, piece in pieces.items():
            await self._call.links[other(side)].send_audio(piece, RATE)

    def _interject(self, interjections: Interjections, position_ms: int) -> None:
        """Let the caller say what is due while the agent speaks, unless it is speaking already."""
        agent, caller = self._lines["agent"], self._lines["user"]
        if agent.started_ms is None or not agent.is_playing:
            return
        said = interjections.due(agent.turn.number, position_ms - agent.started_ms)
        if said is None or not caller.is_idle or self._call.ending is not None:
            return
        text = f"the caller's {said.kind}, {said.after_ms / 1000:.1f} s into turn {agent.turn.number}: {said.text}"
        self._call.record(Noted("info", text, "user"))
        if said.kind == "backchannel":
            caller.murmur(said.pcm)
            self._last_was_murmur = True
        else:
            caller.cut_in(said.text, said.pcm)

    async def prepare(self) -> None:
        """Have the caller's interjections spoken before the call begins. Raises PartyFailed."""
        conditions = self._call.conditions
        if conditions is not None and conditions.behaviour is not None:
            caller = self._call.links["user"]
            self._interjections = await make_interjections(conditions.behaviour, conditions.seed, caller)

    async def _next(self) -> Heard:
        """Wait for a message, but not past a limit."""
        call = self._call
        while True:
            patience = LAST_WORDS_S if call.ending else call.config.limits.silence_s
            quiet = self._quiet_side()
            limit = min(call.deadline, self._active_at + (patience if self._is_nudged else patience / 2))
            if quiet is not None:
                return quiet, Message("quiet", {})
            try:
                async with asyncio.timeout(max(0.01, min(limit - time.monotonic(), self._until_quiet()))):
                    side, message = await call.inbox.get()
                if message.type != "drained":
                    self._active_at = time.monotonic()
                return side, message
            except TimeoutError:
                await self._check_limits(patience)

    def _quiet_side(self) -> Side | None:
        """Return a side that never says when its turn is over, once it has been quiet long enough."""
        for side, their in self._call.theirs.items():
            line = self._lines[side]
            has_turn = line.started_ms is not None or bool(their.parts) or their.has_exited
            is_done = their.quiet_at is not None and time.monotonic() >= their.quiet_at
            if has_turn and is_done and line.complete is None and not line.buffer:
                return side
        return None

    def _until_quiet(self) -> float:
        times = [their.quiet_at for their in self._call.theirs.values() if their.quiet_at is not None]
        return max(0.02, min(times) - time.monotonic()) if times else 3600.0

    async def _check_limits(self, patience: float) -> None:
        call, now = self._call, time.monotonic()
        if now >= call.deadline:
            measured = now - call.deadline + call.max_duration_s
            raise Ended("time_limit", message=f"limit {call.max_duration_s} s, measured {measured:.1f} s")
        owes = other(self._last_speaker)
        if now >= self._active_at + patience / 2 and not self._is_nudged and call.ending is None:
            await self._nudge(owes)
        if now < self._active_at + patience:
            return
        if call.ending is not None:
            call.ending.message = "the party did not finish its last turn, so the harness hung up"
            raise call.ending
        waited = f"limit {patience:g} s, measured {now - self._active_at:.1f} s"
        if owes == "user":
            raise PartyFailed("caller_silent", f"the caller owed a turn and gave no sign; {waited}", side="user")
        if not call.turn:
            raise PartyFailed("never_spoke", f"the agent has not said a word; {waited}", side="agent")
        raise Ended("silence", message=f"the agent owed a turn and gave no sign; {waited}")

    async def _nudge(self, side: Side) -> None:
        """Tell a side that gives no sign that there was speech: a short word is none to a voice detection."""
        self._is_nudged = True
        if call_turn := self._call.turn:
            text = f"turn {call_turn} was perhaps not heard as speech; the {side} side is told {INAUDIBLE!r}"
            self._call.record(Noted("warning", text, side))
            await say(self._call, self._lines[side].turn, INAUDIBLE)

    async def _step(self, came: Heard) -> None:
        speaker, message = came
        line = self._lines[speaker]
        kind = message.data.get("type") if message.type == "server-message" else message.type
        if (text := heard_in(message, self._call.theirs.get(speaker))) is not None:
            self._take_heard(other(speaker), text)
        elif kind == "turn-complete":
            line.finish_input(message.data)
            if not line.buffer:
                await self._finish(line)
        elif kind == "error-response" and speaker not in self._call.theirs:
            # It was told of a turn without sound while it was busy: nothing is lost.
            self._call.record(Noted("warning", f"the party took no text: {message.data.get('error')}"[:500], speaker))
        elif kind == "drained":
            if line.is_over:
                await self._finish(line)
        elif complete := await take_message(self._call, line.turn, speaker, message):
            line.finish_input(complete)

    def _take_heard(self, side: Side, text: str) -> None:
        if side == "user" and self._last_was_murmur and self._lines[side].started_ms is None:
            self._call.record(
                Noted("warning", f"a backchannel of the caller was taken for words: {text!r}"[:500], "agent")
            )
            return
        self._transcript.heard(side, text)

    def _begin(self, line: Line) -> None:
        if line.side == "user":
            self._last_was_murmur = False
        self._number(line)
        self._transcript.begins(line.side)
        self._last_speaker, self._is_nudged = line.side, False
        self._call.record(TurnStarted(line.side, line.turn.number))

    def _number(self, line: Line) -> None:
        self._numbers += 1
        line.turn.number = self._call.turn = self._numbers

    async def _finish(self, line: Line) -> None:
        call, side, turn, complete = self._call, line.side, line.turn, line.complete or {}
        said, raw = clean(str(complete.get("text") or ""))
        said = f"{line.said_first} {said}".strip()
        has_sounded = line.started_ms is not None
        if not has_sounded:
            if not said and call.ending is not None:
                raise call.ending
            self._begin(line)
        started_ms = self.now_ms if line.started_ms is None else line.started_ms
        self._measure(line, complete)
        is_cut = line.is_cut or complete.get("interrupted") is True
        ended_ms = line.ended_ms if has_sounded else started_ms
        self._transcript.ended(Spoken(side, turn.number, said, raw, started_ms, ended_ms, is_cut))
        report_usage(call, side, complete)
        line.next_turn(self._turn(side))
        check_ends(call, turn, said, is_empty=not said and raw is None and not has_sounded)
        await self._hand_over(other(side), has_sounded=has_sounded)

    async def _hand_over(self, side: Side, *, has_sounded: bool) -> None:
        """Let the other side know of a turn without sound; one with sound it has heard by itself."""
        turn = self._lines[side].turn
        turn.asked_at = time.monotonic()
        if not has_sounded:
            await say(self._call, turn, SILENCE)
        elif (their := self._call.theirs.get(side)) is not None and not turn.number:
            their.begin(turn.asked_at)

    def _measure(self, line: Line, complete: Mapping[str, Any]) -> None:
        """Record the response time: from the other's last sound to this turn's first. One that cut in has none."""
        asked_ms = self._lines[other(line.side)].ended_ms
        if line.started_ms is None or line.started_ms < asked_ms or not asked_ms:
            return
        response_ms = float(line.started_ms - asked_ms)
        parts = told_parts(complete)
        if line.tools_ms:
            parts["tools"] = line.tools_ms
        if "response" in parts:
            # A synthetic voice begins with a breath: silence that came from the synthesis, not from the way here.
            lead_ms = line.started_ms - (line.began_ms or line.started_ms)
            parts["tts"] = parts.get("tts", 0.0) + lead_ms
            parts["transport"] = max(0.0, response_ms - parts["response"] - lead_ms)
        record_latency(self._call, line.side, line.turn.number, response_ms, parts)

    def _turn(self, side: Side) -> Turn:
        """Return a turn that has no number yet: it gets one with its first sound."""
        return Turn(side, 0, time.monotonic())

    def _close(self) -> None:
        for side, line in self._lines.items():
            self._transcript.settle(side)
            if line.started_ms is not None:  # cut off in the middle
                said, raw = clean(str((line.complete or {}).get("text") or ""))
                said = f"{line.said_first} {said}".strip()
                cut = Spoken(side, line.turn.number, said, raw, line.started_ms, line.ended_ms, interrupted=True)
                cut.record(self._call, None)
        gaps = sum(line.gaps for line in self._lines.values())
        text = f"{self.late_ticks} of {self.ticks} audio ticks came over {TICK_MS} ms late; {gaps} gaps in speech"
        self._call.record(Noted("warning" if self.late_ticks * 100 > self.ticks else "info", text))
