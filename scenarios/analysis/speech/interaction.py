"""How the two voices of a call got on: answers, interruptions, yielding, and noises that should not have mattered.

``measure`` gives tau2-bench's interaction metrics from its ticks, equal to the figures that it published for its own
fixture. Its rules, where ``spec/trajectories.md`` 5 leaves them open, are those that give these figures:

* A *user turn* is a stretch of user speech that is no backchannel. It expects an answer unless the agent speaks in
  the tick after it; an answer is the agent's next start before the next such turn. A last turn without any is open.
* The agent *interrupts* when it starts while the user speaks, in the same tick included.
* The user *cuts in* when a user turn without a vocal tic starts while the agent speaks; the agent *yields* when it
  falls silent within 2 s.
* A backchannel is an error when the agent falls silent within 1 s of its start.
* A tic or a phrase not meant for the agent, aside from the user's own turn: while the agent speaks, an error when it
  falls silent within 1 s, and not counted otherwise; in silence, an error when it starts within 2 s.
* A tic in the user's own turn: an error when the agent starts in that turn, or falls silent within 1 s of its start.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Self

from scenarios.formats.imports.records import ImportedTick

YIELD_S, RESTRAINT_YIELD_S, RESTRAINT_REPLY_S = 2.0, 1.0, 2.0
_STOP = "###STOP###"
_TIC, _NON_DIRECTED = "vocal_tic", "non_directed_phrase"


@dataclass(frozen=True)
class Interaction:
    """The events of one call, or of many added up; means and rates are made of them."""

    calls: int = 0
    response_ms: tuple[float, ...] = ()  # of each answer: end of the user's turn to the agent's start
    unanswered: int = 0
    yield_ms: tuple[float, ...] = ()  # of each yield: the user's start to the agent's silence
    not_yielded: int = 0
    interruptions: int = 0
    backchannels: tuple[bool, ...] = ()  # True: the agent fell for it
    tics: tuple[bool, ...] = ()
    non_directed: tuple[bool, ...] = ()

    def __add__(self, other: Self) -> Self:
        """Return the events of both together."""
        return type(self)(*(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__))

    @property
    def responses(self) -> int:
        """Return how many user turns expected an answer."""
        return len(self.response_ms) + self.unanswered

    @property
    def cut_ins(self) -> int:
        """Return how often the user cut in."""
        return len(self.yield_ms) + self.not_yielded

    def figures(self) -> dict[str, object]:
        """Return the metrics by upstream's names; seconds and shares, None over nothing, with the counts behind."""
        return {
            "response_latency_mean": _mean_s(self.response_ms),
            "yield_latency_mean": _mean_s(self.yield_ms),
            "response_rate": _share(len(self.response_ms), self.responses),
            "yield_rate": _share(len(self.yield_ms), self.cut_ins),
            "agent_interruption_rate": _share(self.interruptions, self.responses),
            "selectivity_backchannel": _selectivity(self.backchannels),
            "selectivity_vocal_tic": _selectivity(self.tics),
            "selectivity_non_directed": _selectivity(self.non_directed),
            "counts": {
                "n_simulations": self.calls,
                "response_total": self.responses,
                "yield_total": self.cut_ins,
                "backchannel_total": len(self.backchannels),
                "vocal_tic_total": len(self.tics),
                "non_directed_total": len(self.non_directed),
                "agent_interrupts_count": self.interruptions,
            },
        }


def _mean_s(values_ms: Sequence[float]) -> float | None:
    return sum(values_ms) / len(values_ms) / 1000 if values_ms else None


def _share(count: int, total: int) -> float | None:
    return count / total if total else None


def _selectivity(errors: Sequence[bool]) -> float | None:
    return 1 - sum(errors) / len(errors) if errors else None


@dataclass(frozen=True)
class _Stretch:
    """Ticks ``first`` to ``last`` in which one side speaks."""

    first: int
    last: int


@dataclass
class _Call:
    """The stretches of a call and where its effects fall."""

    agent: list[_Stretch]
    turns: list[_Stretch]  # the user's, backchannels apart
    backchannels: list[_Stretch]
    tic_turns: list[_Stretch]
    aside: list[tuple[int, str]] = field(default_factory=list)  # tick and type

    def agent_at(self, tick: int) -> _Stretch | None:
        return next((stretch for stretch in self.agent if stretch.first <= tick <= stretch.last), None)

    def starts(self, first: int, last: int) -> bool:
        """Return whether the agent starts within these ticks."""
        return any(first <= stretch.first <= last for stretch in self.agent)


def measure(ticks: Sequence[ImportedTick]) -> Interaction:
    """Return the interaction of one call; ValueError when its ticks have no length or no speech flags."""
    if not ticks:
        return Interaction()
    tick_ms = _tick_ms(ticks)
    seconds = tick_ms / 1000
    call = _read(ticks)
    answers, unanswered = _answers(call)
    yields, not_yielded = _yields(call, round(YIELD_S / seconds))
    return Interaction(
        calls=1,
        response_ms=tuple(count * tick_ms for count in answers),
        unanswered=unanswered,
        yield_ms=tuple(count * tick_ms for count in yields),
        not_yielded=not_yielded,
        interruptions=sum(call.starts(turn.first, turn.last) for turn in call.turns),
        backchannels=tuple(_falls_silent(call, sound.first, seconds) for sound in call.backchannels),
        tics=(*(_disturbed(call, turn, seconds) for turn in call.tic_turns), *_errors(call, _TIC, seconds)),
        non_directed=tuple(_errors(call, _NON_DIRECTED, seconds)),
    )


def _tick_ms(ticks: Sequence[ImportedTick]) -> float:
    """Return the length of a tick: 200 ms where a file does not say, as upstream's are."""
    lengths = {tick.duration_ms for tick in ticks if tick.duration_ms is not None}
    if len(lengths) > 1 or any(length <= 0 for length in lengths):
        raise ValueError(f"ticks of {sorted(lengths)} ms: interaction needs ticks of one length above 0")
    return lengths.pop() if lengths else 200.0


def _read(ticks: Sequence[ImportedTick]) -> _Call:
    agent = _stretches(tick.agent_speaks for tick in ticks)
    user = _stretches(tick.user_speaks for tick in ticks)
    if user and _is_stop(user[-1], ticks):
        user.pop()
    inserts = [(tick.index, *kind) for tick in ticks for kind in _inserts(tick)]
    backchannels = [stretch for stretch in user if ticks[stretch.first].user_action == "backchannel"]
    turns = [stretch for stretch in user if stretch not in backchannels]
    own = {index for index, kind, is_own in inserts if is_own and kind == _TIC}
    return _Call(
        agent,
        turns,
        backchannels,
        [turn for turn in turns if any(turn.first <= index <= turn.last for index in own)],
        [(index, kind) for index, kind, is_own in inserts if not is_own],
    )


def _stretches(speaks: Iterable[bool | None]) -> list[_Stretch]:
    found: list[_Stretch] = []
    for index, is_speech in enumerate(speaks):
        if is_speech and found and found[-1].last == index - 1:
            found[-1] = _Stretch(found[-1].first, index)
        elif is_speech:
            found.append(_Stretch(index, index))
    return found


def _is_stop(stretch: _Stretch, ticks: Sequence[ImportedTick]) -> bool:
    """Return whether the user's last stretch only says the token that ends a call."""
    text = ticks[stretch.last].user_text
    is_last = stretch.first == stretch.last == len(ticks) - 1
    return is_last and (_STOP in text or not text.strip())


def _inserts(tick: ImportedTick) -> Iterable[tuple[str, bool]]:
    """Yield the type of each inserted sound of a tick, and whether it is in the user's own speech."""
    for name, is_own in (("speech_effects", True), ("source_effects", False)):
        effects = tick.effects.get(name)
        insert = effects.get("speech_insert") if isinstance(effects, dict) else None
        if isinstance(insert, dict) and isinstance(insert.get("type"), str):
            yield insert["type"], is_own


def _answers(call: _Call) -> tuple[list[int], int]:
    """Return the ticks to each answer, and how many turns got none before the next."""
    turns = [turn for turn in call.turns if call.agent_at(turn.last + 1) is None]
    answers, unanswered = [], 0
    for turn, following in zip_longest(turns, turns[1:]):
        start = next((stretch.first for stretch in call.agent if stretch.first > turn.last), None)
        if start is not None and (following is None or start < following.first):
            answers.append(start - turn.last - 1)
        elif following is not None:
            unanswered += 1
    return answers, unanswered


def _yields(call: _Call, window: int) -> tuple[list[int], int]:
    """Return the ticks to silence of each yield, and how often the agent spoke on."""
    waits = []
    for turn in call.turns:
        speaking = call.agent_at(turn.first)
        if speaking is not None and turn not in call.tic_turns:
            waits.append(speaking.last + 1 - turn.first)
    return [wait for wait in waits if wait <= window], sum(wait > window for wait in waits)


def _falls_silent(call: _Call, tick: int, seconds: float) -> bool:
    speaking = call.agent_at(tick)
    return speaking is not None and speaking.last + 1 - tick <= round(RESTRAINT_YIELD_S / seconds)


def _disturbed(call: _Call, turn: _Stretch, seconds: float) -> bool:
    return call.starts(turn.first, turn.last) or _falls_silent(call, turn.first, seconds)


def _errors(call: _Call, kind: str, seconds: float) -> Iterable[bool]:
    """Yield whether the agent fell for each sound aside of a type, as far as that is counted."""
    for tick in (tick for tick, found in call.aside if found == kind):
        if call.agent_at(tick) is None:
            yield call.starts(tick, tick + round(RESTRAINT_REPLY_S / seconds))
        elif _falls_silent(call, tick, seconds):
            yield True
