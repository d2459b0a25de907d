"""Signals of two runs held against each other: where a signal gates, how often did calls pass it."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import TextField
from django.db.models.functions import Cast

from scenarios.analysis.flake import Counts
from scenarios.analysis.paired import Difference, corrected, difference
from scenarios.domains.base import SIGNALS
from scenarios.scoring.results import Outcome

# Read as text: ten thousand calls share a handful of breakdowns, each parsed once.
BREAKDOWN = Cast("breakdown", TextField())


class Call(NamedTuple):
    """One trial as a comparison reads it; ``outcome`` None has not ended, ``breakdown`` is its JSON."""

    scenario: str
    number: int
    pk: int
    outcome: Outcome | None
    fault: str
    breakdown: str


@dataclass(frozen=True)
class SignalTable:
    """(signal, scenario) -> (passes, decided) over the calls that were scored and did not stall."""

    counts: Mapping[tuple[str, str], tuple[int, int]]

    @classmethod
    def of(cls, calls: Iterable[Call]) -> "SignalTable":
        """Count the calls of one run."""
        kinds = Counter((call.scenario, call.breakdown) for call in calls if call.outcome in ("pass", "fail"))
        parsed = {text: json.loads(text) for text in {text for _, text in kinds}}
        passed: Counter[tuple[str, str]] = Counter()
        decided: Counter[tuple[str, str]] = Counter()
        for (scenario, text), many in kinds.items():
            for state in ("passed", "failed"):
                for signal in parsed[text].get(state, ()):
                    decided[signal, scenario] += many
                    passed[signal, scenario] += many * (state == "passed")
        return cls({key: (passed[key], total) for key, total in decided.items()})


def by_signal(before: SignalTable, after: SignalTable) -> dict[str, Difference]:
    """Return the paired difference of each signal that both runs decided somewhere, Holm's correction over signals."""
    found: dict[str, list[Counts]] = {}
    for key, (passes, total) in before.counts.items():
        if key in after.counts:
            found.setdefault(key[0], []).append(Counts(passes, total, *after.counts[key]))
    return corrected({signal: difference(found[signal]) for signal in SIGNALS if signal in found})
