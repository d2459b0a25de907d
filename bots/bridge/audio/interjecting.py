"""What the caller says while the agent speaks: cut-ins, "mm-hm", words to somebody else in the room.

When is decided by the trial's dice (``bots.party.speech_behaviour``); the caller's own voice says it, made before the
call begins. Only in real time: in lockstep nobody hears the other while they speak.
"""

import base64
import binascii
from dataclasses import dataclass
from typing import Literal

from bots.bridge.audio.line import LONGEST_TURN_S
from bots.bridge.contract import PartyFailed
from bots.bridge.link import Link
from bots.party.speech_behaviour import ASIDES, CUT_INS, SpeechBehaviour, cut_in, sounds
from scenarios.voice import BACKCHANNELS

MADE_S = 60.0  # a party that makes its speech slowly


@dataclass(frozen=True)
class Interjection:
    """Something the caller says ``after_ms`` into an agent's turn; all but a backchannel is a turn of its own."""

    kind: Literal["cut in", "backchannel", "aside"]
    after_ms: int
    text: str
    pcm: bytes


class Interjections:
    """The interjections of one call, agent turn by agent turn."""

    def __init__(self, behaviour: SpeechBehaviour, seed: int, spoken: dict[str, bytes]) -> None:
        """``spoken`` has the caller's speech of every phrase, by its text."""
        self._behaviour = behaviour
        self._seed = seed
        self._spoken = spoken
        self._turn: int | None = None  # the agent's turn now, by the call's number
        self._agent_turns = 0
        self._planned: list[Interjection] = []

    def due(self, turn: int, into_ms: int) -> Interjection | None:
        """Return what the caller says now, so far into the agent's turn ``turn``. Each once."""
        if turn != self._turn:
            self._turn = turn
            self._agent_turns += 1
            self._planned = self._plan(self._agent_turns)
        if self._planned and self._planned[0].after_ms <= into_ms:
            return self._planned.pop(0)
        return None

    def _plan(self, turn: int) -> list[Interjection]:
        """Return what would be said in an agent's turn, however long it becomes: the first, the second, and so on."""
        small = sounds(self._behaviour, self._seed, turn, LONGEST_TURN_S)
        planned = [Interjection(s.kind, round(s.after_s * 1000), s.text, self._spoken[s.text]) for s in small]
        if cut := cut_in(self._behaviour, self._seed, turn):
            planned.append(Interjection("cut in", round(cut.after_s * 1000), cut.text, self._spoken[cut.text]))
        return sorted(planned, key=lambda one: one.after_ms)


async def make_interjections(behaviour: SpeechBehaviour, seed: int, caller: Link) -> Interjections:
    """Have the caller's party speak the phrases that its behaviour may need. Raises PartyFailed."""
    phrases = [
        *(CUT_INS if behaviour.interruption_chance else ()),
        *(BACKCHANNELS if behaviour.backchannel_chance else ()),
        *(ASIDES if behaviour.asides_per_minute else ()),
    ]
    return Interjections(behaviour, seed, {text: await _spoken(caller, text) for text in phrases})


async def _spoken(caller: Link, text: str) -> bytes:
    answer = await caller.request("speak", {"text": text}, MADE_S)
    try:
        pcm = base64.b64decode(answer["pcm"], validate=True)
    except (TypeError, KeyError, binascii.Error) as error:
        text = "the caller's party answered 'speak' without speech: only a built-in caller can interject"
        raise PartyFailed("bad_answer", text, retry=False, side="user") from error
    if not pcm or len(pcm) % 2:
        raise PartyFailed("bad_answer", f"the caller's party made no speech of {text!r}", side="user")
    return pcm
