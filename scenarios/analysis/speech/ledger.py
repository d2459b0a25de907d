"""The latency ledger: where the time of each response went, balanced to the microsecond.

A response runs from the true end of the other side's speech to the first audio that arrives for them. Its parts are
endpointing, stt, model, tools, tts, transport; what none of them covers is the residual, so parts + residual = response
exactly. A part without time marks is not measured: it is absent, never 0, and its time is in the residual.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Part = Literal["endpointing", "stt", "model", "tools", "tts", "transport"]
PARTS: tuple[Part, ...] = ("endpointing", "stt", "model", "tools", "tts", "transport")
Span = tuple[float, float]
# Where spans overlap (a tool runs while the model goes on, speech is made while it writes), time counts once, for the
# first of these.
_PRECEDENCE: tuple[Part, ...] = ("endpointing", "stt", "tools", "model", "tts", "transport")
# Upstream hides rates of fewer events; percentiles of fewer responses say little.
MIN_RESPONSES = 10
_US = 1000


@dataclass(frozen=True)
class TurnMarks:
    """Times of one response in ms on one clock; None: the mark did not come, so its part is not measured.

    ``model`` and ``tools`` hold a span for each request (to the first token that is spoken, or to its tool call) and
    each tool run; None where such spans are not reported at all, () where there were none.
    """

    user_speech_end: float
    first_audio: float  # arrives at the listener: the bridge
    vad_stop: float | None = None
    stt_final: float | None = None
    model: tuple[Span, ...] | None = None
    tools: tuple[Span, ...] | None = None
    tts_start: float | None = None
    tts_first_audio: float | None = None


@dataclass(frozen=True)
class Ledger:
    """One response. ``parts`` holds the measured ones in ms; a barge-in began before the other side had finished."""

    response_ms: float
    parts: Mapping[Part, float]
    residual_ms: float
    is_barge_in: bool = False
    remarks: tuple[str, ...] = ()

    @classmethod
    def of_event(cls, response_ms: float, parts: Mapping[str, float]) -> "Ledger":
        """Return the ledger of a ``latency.measured``, which has lengths and no times; its residual is worked out anew.

        Lengths that come to more than the response (clocks differ, a tool ran while speech was made, rounding) are cut
        as where spans overlap: the time counts once.
        """
        left = _us(response_ms)
        if left < 0:
            return cls(response_ms, {}, response_ms, is_barge_in=True)
        found: dict[Part, float] = {}
        for part in _PRECEDENCE:
            if part in parts:
                taken = min(max(0, _us(parts[part])), left)
                found[part], left = taken / _US, left - taken
        return cls(response_ms, {part: found[part] for part in PARTS if part in found}, left / _US)


def balance(marks: TurnMarks) -> Ledger:
    """Return the ledger of one response. Marks that run backwards or lie outside it are named, never counted.

    ValueError when the two outer marks are no numbers.
    """
    start, end = _us(marks.user_speech_end), _us(marks.first_audio)
    if end < start:
        return Ledger((end - start) / _US, {}, (end - start) / _US, is_barge_in=True)
    remarks: list[str] = []
    taken: list[tuple[int, int]] = []
    parts: dict[Part, float] = {}
    spans = _spans(marks)
    for part in _PRECEDENCE:
        found = spans[part]
        if found is None:
            continue
        sound = [(_us(a), _us(b)) for a, b in found if b >= a]
        remarks += [f"{part} ends {a - b:g} ms before it begins: clocks differ" for a, b in found if b < a]
        remarks += [f"{part} lies outside the response" for a, b in sound if b < start or a > end]
        if len(sound) < len(found):
            continue
        parts[part] = _take(taken, sound, start, end) / _US
    ordered = {part: parts[part] for part in PARTS if part in parts}
    residual = end - start - sum(_us(value) for value in ordered.values())
    return Ledger((end - start) / _US, ordered, residual / _US, remarks=tuple(remarks))


def _spans(marks: TurnMarks) -> Mapping[Part, Sequence[Span] | None]:
    return {
        "endpointing": _between(marks.user_speech_end, marks.vad_stop),
        "stt": _between(marks.vad_stop, marks.stt_final),
        "model": marks.model,
        "tools": marks.tools,
        "tts": _between(marks.tts_start, marks.tts_first_audio),
        "transport": _between(marks.tts_first_audio, marks.first_audio),
    }


def _between(start: float | None, end: float | None) -> Sequence[Span] | None:
    return None if start is None or end is None else ((start, end),)


def _us(ms: float) -> int:
    try:
        return round(ms * _US)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{ms} ms is no time: marks are finite milliseconds on one clock") from error


def _take(taken: list[tuple[int, int]], spans: Iterable[tuple[int, int]], start: int, end: int) -> int:
    """Return how much of ``[start, end]`` the spans cover that was not taken, and take it."""
    total = 0
    for first, last in spans:
        pieces = [(max(first, start), min(last, end))]
        for held in taken:
            pieces = [rest for piece in pieces for rest in _without(piece, held)]
        fresh = [piece for piece in pieces if piece[0] < piece[1]]
        total += sum(b - a for a, b in fresh)
        taken += fresh
    return total


def _without(piece: tuple[int, int], held: tuple[int, int]) -> list[tuple[int, int]]:
    before = (piece[0], min(piece[1], held[0]))
    after = (max(piece[0], held[1]), piece[1])
    return [rest for rest in (before, after) if rest[0] < rest[1]]


@dataclass(frozen=True)
class Percentiles:
    """One part over many responses; ``p50`` and ``p95`` are None where nothing was measured."""

    measured: int
    responses: int
    p50: float | None
    p95: float | None

    @property
    def share(self) -> float | None:
        """Return the share of responses in which it was measured; None over none."""
        return self.measured / self.responses if self.responses else None

    @property
    def is_thin(self) -> bool:
        """Return whether so few were measured that the percentiles say little."""
        return self.measured < MIN_RESPONSES


@dataclass(frozen=True)
class Summary:
    """Ledgers of a call or a run. Barge-ins are counted and in no percentile."""

    response: Percentiles
    parts: Mapping[Part, Percentiles]
    residual: Percentiles  # of responses of which anything at all was measured
    barge_ins: int
    remarks: Mapping[str, int]  # how often each was made


def summarize(ledgers: Iterable[Ledger]) -> Summary:
    """Return percentiles of every part, by the reference's rule (``spec/reference-system.md`` 8: no interpolation)."""
    rows = list(ledgers)
    answers = [row for row in rows if not row.is_barge_in]
    remarks: dict[str, int] = {}
    for text in (text for row in rows for text in row.remarks):
        remarks[text] = remarks.get(text, 0) + 1
    return Summary(
        _percentiles([row.response_ms for row in answers], len(answers)),
        {part: _percentiles([row.parts[part] for row in answers if part in row.parts], len(answers)) for part in PARTS},
        _percentiles([row.residual_ms for row in answers if row.parts], len(answers)),
        len(rows) - len(answers),
        remarks,
    )


def _percentiles(values: Sequence[float], responses: int) -> Percentiles:
    ordered = sorted(values)
    count = len(ordered)
    if not count:
        return Percentiles(0, responses, None, None)
    return Percentiles(count, responses, ordered[count // 2], ordered[int(0.95 * count)])
