"""What the run page shows of the judge's error: the rate three ways, and the labels that would make it surer."""

from collections.abc import Sequence
from dataclasses import dataclass

from scenarios.analysis.correction import Headline, RatedCall, headline
from scenarios.analysis.label_value import LabelsNeeded, labels_needed
from scenarios.models import JudgeVersion, Run, Verdict
from scenarios.reviewing.calls import rated_calls

# Plus or minus so much is what people ask for.
WANTED = 0.03


@dataclass(frozen=True)
class Corrected:
    """The three headlines of a run, and how many of its calls a judge decides."""

    headline: Headline
    calls: Sequence[RatedCall]
    needed: LabelsNeeded | None  # None: no judge decides any call, so labels change nothing
    judges: Sequence[JudgeVersion]

    @property
    def judged(self) -> int:
        """Return how many calls would have another outcome had the judge ruled otherwise."""
        return sum(call.judged for call in self.calls)

    @property
    def labelled(self) -> int:
        """Return for how many of these people have an outcome."""
        return sum(call.judged and call.people in ("pass", "fail") for call in self.calls)

    @property
    def missing(self) -> Sequence[tuple[str, int]]:
        """Return the classes of calls with too few labels, and how many each lacks."""
        return list(self.headline.corrected.missing.items())


def corrected(run: Run) -> Corrected:
    """Read and compute; a second or less for 10,000 calls."""
    calls = rated_calls([run.pk])
    needed = labels_needed(calls, WANTED) if any(call.judged for call in calls) else None
    ruled = Verdict.objects.filter(trial__run=run, signal="nl_assertion").order_by()
    judges = JudgeVersion.objects.filter(pk__in=ruled.values("judge").distinct())
    return Corrected(headline(calls), calls, needed, list(judges))
