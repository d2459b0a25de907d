"""The latency ledger: where the time of each response went, balanced to the microsecond.

A response runs from the true end of the other side's speech to the first audio that arrives for them. Its parts are
endpointing, stt, model, tools, tts, transport; what none of them covers is the residual, so parts + residual = response
exactly. A part of which nothing was told is not measured: it is absent, never 0, and its time is in the residual.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Part = Literal["endpointing", "stt", "model", "tools", "tts", "transport"]
PARTS: tuple[Part, ...] = ("endpointing", "stt", "model", "tools", "tts", "transport")
# Where parts overlap (a tool runs while the model goes on, speech is made while it writes), time counts once, for the
# first of these.
_PRECEDENCE: tuple[Part, ...] = ("endpointing", "stt", "tools", "model", "tts", "transport")
# Upstream hides rates of fewer events; percentiles of fewer responses say little.
MIN_RESPONSES = 10
_US = 1000


@dataclass(frozen=True)
class Ledger:
    """One response. ``parts`` holds the measured ones in ms; a barge-in began before the other side had finished."""

    response_ms: float
    parts: Mapping[Part, float]
    residual_ms: float
    is_barge_in: bool = False

    @classmethod
    def of_event(cls, response_ms: float, parts: Mapping[str, float]) -> "Ledger":
        """Return the ledger of a ``latency.measured``, which has lengths and no times; its residual is worked out anew.

        Lengths that come to more than the response (clocks differ, a tool ran while speech was made, rounding) are cut
        as where parts overlap: the time counts once.
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


def _us(ms: float) -> int:
    try:
        return round(ms * _US)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{ms} ms is no time: marks are finite milliseconds on one clock") from error


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


def summarize(ledgers: Iterable[Ledger]) -> Summary:
    """Return percentiles of every part, by the reference's rule (``spec/reference-system.md`` 8: no interpolation)."""
    rows = list(ledgers)
    answers = [row for row in rows if not row.is_barge_in]
    return Summary(
        _percentiles([row.response_ms for row in answers], len(answers)),
        {part: _percentiles([row.parts[part] for row in answers if part in row.parts], len(answers)) for part in PARTS},
        _percentiles([row.residual_ms for row in answers if row.parts], len(answers)),
        len(rows) - len(answers),
    )


def _percentiles(values: Sequence[float], responses: int) -> Percentiles:
    ordered = sorted(values)
    count = len(ordered)
    if not count:
        return Percentiles(0, responses, None, None)
    return Percentiles(count, responses, ordered[count // 2], ordered[int(0.95 * count)])
