"""A voice call on a virtual clock: a turn is held until it is complete, then sent at full speed.

Nobody waits for speech to be played, so a call takes as long as its parties compute. Time is what was spoken: the
recording, the turns and the tool calls stand on it. A response time is measured by the parties' wall clocks, with the
silence that their voice detection waits for counted by its length.
"""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bots.bridge.acoustics import Line as AgentHears
from bots.bridge.audio.pcm import BYTES_PER_S, Inlet, duration_ms, silence, sounding
from bots.bridge.audio.recording import Recording
from bots.bridge.audio.speaking import Spoken, Transcript, heard_in, told_parts
from bots.bridge.contract import PartyFailed
from bots.bridge.conversation import (
    INAUDIBLE,
    OPENING,
    SILENCE,
    Turn,
    check_ends,
    next_message,
    pass_on_stop,
    report_usage,
    say,
    take_message,
)
from bots.bridge.latency import record_latency
from bots.bridge.link import Heard
from bots.bridge.said import clean
from bots.bridge.state import Call, Ended, other
from bots.bridge.wire import AudioFrame, Interruption, Message
from scenarios.events import Noted, TurnStarted
from scenarios.sides import SIDES, Side

# Silence beyond what the voice detection waits for.
MARGIN_S = 0.4
PIECE_BYTES = BYTES_PER_S // 10
# A turn that is longer is no turn; it is also all of a call that is held in memory: 10 MB.
LONGEST_TURN_S = 300
# Without a sign of life from a party that was spoken to: it may have heard nothing.
NUDGE_S = 10.0
# Speech that comes slowly is a sign of life too, told so often.
STILL_SPEAKING_S = 1.0


@dataclass(frozen=True)
class Utterance:
    """What a side says to the other: speech, or a text where there is nothing to hear."""

    text: str
    pcm: bytes = b""


def _unchanged(pcm: bytes) -> bytes:
    return pcm


class Lockstep:
    """The talk of one call."""

    def __init__(self, call: Call, recording: Recording, line: AgentHears | None = None) -> None:
        """``line``: what the caller's speech goes through on its way to the agent."""
        self._call = call
        self._recording = recording
        self._carry = line.carry if line else _unchanged
        self._inlets = {side: Inlet(side) for side in SIDES}
        assert call.config.voice is not None
        self._closing_s = call.config.voice.vad_stop_s + MARGIN_S
        self._closing = b""  # what the listener of this turn hears after the speech
        self._turn: Turn | None = None
        self._held = bytearray()
        self._spoke_at = 0.0
        self._latest_ms = 0
        self._tools_ms: float | None = None  # spent before the first sound of the turn
        self._transcript = Transcript(call)
        for side in SIDES:
            call.links[side].on_audio = self._taker(side)

    @property
    def now_ms(self) -> int:
        """Return the virtual time: what was heard, and what is held to be heard next."""
        self._latest_ms = max(self._latest_ms, self._recording.position_ms + duration_ms(self._held))
        return self._latest_ms

    async def converse(self) -> Ended:
        """Let the sides talk and return how the talk ended. Raises PartyFailed."""
        call = self._call
        watcher = asyncio.create_task(pass_on_stop(call), name="stop watcher")
        try:
            call.record(Noted("info", f"the agent was started with {OPENING!r}", "agent"))
            side: Side = "agent"
            utterance = Utterance(OPENING)
            while True:
                utterance = await self._take_turn(side, utterance)
                side = other(side)
        except Ended as end:
            if end.reason == "silence" and not call.turn:
                raise PartyFailed("never_spoke", f"not a word was said: {end.message}", side="agent") from end
            return end
        finally:
            watcher.cancel()
            self._let_out()
            for side in SIDES:
                self._transcript.settle(side)

    async def _take_turn(self, side: Side, utterance: Utterance) -> Utterance:
        call = self._call
        turn = self._turn = Turn(side, call.turn + 1, time.monotonic())
        self._tools_ms = None
        await self._deliver(turn, utterance)
        complete: Mapping[str, Any] = {}
        while not complete:
            speaker, message = await self._next(turn, utterance)
            if speaker == side and (text := heard_in(message, call.theirs.get(speaker))) is not None:
                turn.messages += 1
                self._pass_silence(self._transcript.heard(other(side), text))
                continue
            if message.data.get("type") in ("tool-call", "turn-complete"):
                self._pass_silence(self._transcript.settle(other(side)))
            complete = await take_message(call, turn, speaker, message)
        return self._finish(turn, complete)

    async def _deliver(self, turn: Turn, utterance: Utterance) -> None:
        link = self._call.links[turn.side]
        self._closing = silence(self._closing_s)
        if not utterance.pcm:
            await say(self._call, turn, utterance.text)
            return
        if (their := self._call.theirs.get(turn.side)) is not None:
            their.begin(turn.asked_at)
        else:
            await link.send("listen", {"turn": turn.number})
        if turn.side == "agent":
            self._closing = self._carry(self._closing)
        whole = utterance.pcm + self._closing
        for start in range(0, len(whole), PIECE_BYTES):
            await link.send_audio(whole[start : start + PIECE_BYTES], BYTES_PER_S // 2)

    async def _next(self, turn: Turn, utterance: Utterance) -> Heard:
        """Wait for a message; a party that gives no sign after speech is told that there was something to hear."""
        if turn.messages or not utterance.pcm:
            return await next_message(self._call, turn)
        try:
            async with asyncio.timeout(NUDGE_S):
                return await next_message(self._call, turn)
        except TimeoutError:
            text = f"turn {turn.number - 1} was not heard as speech; the {turn.side} side is told {INAUDIBLE!r}"
            self._call.record(Noted("warning", text, turn.side))
            self._pass_silence(self._transcript.heard(other(turn.side), ""))
            await say(self._call, turn, INAUDIBLE)
        return await next_message(self._call, turn)

    def _taker(self, side: Side) -> Any:
        return lambda frame: self._take(side, frame)

    def _take(self, side: Side, frame: AudioFrame | Interruption) -> None:
        """Hold speech of the side whose turn it is. Raises PartyFailed."""
        turn = self._turn
        if isinstance(frame, Interruption):
            return  # nobody can be interrupted by what they do not hear yet
        pcm = self._inlets[side].take(frame)
        if turn is None or turn.side != side:
            return  # what comes after a turn was complete belongs to none; the turn that follows is said again
        if pcm and not self._held:
            self._tools_ms = turn.tool_ms
            self._call.record(TurnStarted(side, turn.number))
        self._held += pcm
        if pcm and (now := time.monotonic()) >= self._spoke_at + STILL_SPEAKING_S:
            self._spoke_at = now
            self._call.inbox.put_nowait((side, Message("working", {})))
        if len(self._held) > LONGEST_TURN_S * BYTES_PER_S:
            raise PartyFailed("endless_speech", f"turn {turn.number} is longer than {LONGEST_TURN_S} s", side=side)

    def _finish(self, turn: Turn, complete: Mapping[str, Any]) -> Utterance:
        call, side = self._call, turn.side
        self._held += self._inlets[side].flush()
        said, raw = clean(str(complete.get("text") or ""))
        pcm = bytes(self._held)
        sound = sounding(pcm)
        call.turn = turn.number
        start_ms = self._recording.position_ms
        if pcm or said or call.ending is None:
            if not pcm:
                call.record(TurnStarted(side, turn.number))
            begins, ends = sound or (0, duration_ms(pcm))
            self._transcript.begins(side)
            self._transcript.ended(Spoken(side, turn.number, said, raw, start_ms + begins, start_ms + ends))
            self._measure(turn, complete)
        report_usage(call, side, complete)
        carried = self._let_out()
        check_ends(call, turn, said, is_empty=not said and raw is None and sound is None)
        self._check_time()
        if sound is None:
            if said:
                text = f"turn {turn.number} made no sound; the other side is told {SILENCE!r}"
                call.record(Noted("warning", text, side))
            return Utterance(SILENCE)
        return Utterance(said, carried)

    def _measure(self, turn: Turn, complete: Mapping[str, Any]) -> None:
        parts = told_parts(complete)
        if "response" not in parts:
            return
        if self._tools_ms:
            parts["tools"] = self._tools_ms
        record_latency(self._call, turn.side, turn.number, parts["response"], parts)

    def _let_out(self) -> bytes:
        """Put what is held into the recording as the other side hears it, and return that; its time is over then."""
        if not self._held or self._turn is None:
            return b""
        pcm = bytes(self._held)
        self._held.clear()
        if self._turn.side == "agent":
            self._recording.write(b"", pcm)
            return pcm
        carried = self._carry(pcm)
        self._recording.write(carried, b"")
        return carried

    def _pass_silence(self, is_settled: bool) -> None:
        """Let the silence after a turn pass, once that turn is recorded."""
        if is_settled:
            is_agents = self._turn is not None and self._turn.side == "agent"
            self._recording.write(*((self._closing, b"") if is_agents else (b"", self._closing)))

    def _check_time(self) -> None:
        limit_s = self._call.max_duration_s
        if self.now_ms > limit_s * 1000:
            raise Ended("time_limit", message=f"limit {limit_s} s, measured {self.now_ms / 1000:.1f} s of speech")
