"""What the page of a judge version shows: its rulings beside people's, read with a handful of queries.

An item is the newest ruling of this judge on a claim of a call. People's rulings count for it where they were given on
it, or on another judge's ruling about the same claim and record. How far people move is read from rulings on this
judge's own verdicts only, since no other judge was revealed to them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db.models import Count
from django.http import QueryDict

from scenarios.analysis.agreement import AgreementTable, Disagreement, Label, agreement_table
from scenarios.analysis.anchoring import Movements, movements
from scenarios.analysis.judge_trust import GATE, Trust, trust
from scenarios.analysis.judge_trust import Side as TrustSide
from scenarios.analysis.reliability import Figure, share
from scenarios.labels import on_claims_of
from scenarios.models import BatchItem, JudgeBatch, JudgeVersion, Judging, Review, ReviewQueue, Run, Verdict
from scenarios.reviewing import is_by_lot
from scenarios.scoring.canaries import CanaryRuling, Resistance, resistance
from scenarios.scoring.claim_kinds import claim_kind

WORST_SHOWN, WORST_LISTED = 20, 500


@dataclass
class AgreementFilter:
    """Which of a judge's rulings: those in a domain, those in a run; read from the address."""

    domain: str = ""
    run: int | None = None
    problems: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, query: QueryDict, runs: Sequence[Run]) -> "AgreementFilter":
        """Read the filter; what the judge has not ruled in is named and left out."""
        found = cls()
        if domain := query.get("domain", "")[:100]:
            if any(run.domain == domain for run in runs):
                found.domain = domain
            else:
                found.problems.append(f"This judge has ruled in no domain {domain!r}.")
        if text := query.get("run", "")[:20]:
            if any(str(run.pk) == text for run in runs):
                found.run = int(text)
            else:
                found.problems.append(f"This judge has ruled in no run {text!r}.")
        return found

    @property
    def is_on(self) -> bool:
        """Return whether anything is filtered away."""
        return bool(self.domain or self.run)

    def lookups(self, trial: str) -> dict[str, Any]:
        """Return the conditions for rows that reach a trial by ``trial``."""
        found: dict[str, Any] = {}
        if self.domain:
            found[f"{trial}__run__domain"] = self.domain
        if self.run is not None:
            found[f"{trial}__run"] = self.run
        return found


class Item(NamedTuple):
    """One ruling of the judge; ``passed`` None: it gave none."""

    verdict: int
    passed: bool | None
    domain: str
    kind: str


@dataclass(frozen=True)
class Lean:
    """Claims with a blind label, and those of them that no lot drew from all of the judge's rulings.

    What was picked by the judge's ruling, a flag, an outcome, by hand, or to narrow a headline has other shares of
    right and wrong rulings than the rest, so accuracy, TPR and TNR of such claims are not the judge's at large.
    """

    claims: int
    picked: int
    brought_in: int  # in ``picked``: how the file's claims were chosen is not known


@dataclass(frozen=True)
class Rulings:
    """The judge's rulings and people's on the same claims."""

    items: Mapping[str, Item]
    labels: Sequence[Label]
    calls: int
    quarantined: int  # rulings of batches whose canaries failed; they are in no figure
    lean: Lean

    @property
    def judge(self) -> dict[str, bool | None]:
        """Return what the judge ruled by item."""
        return {name: item.passed for name, item in self.items.items()}

    @property
    def without_ruling(self) -> int:
        """Return how many claims the judge was asked about in vain."""
        return sum(item.passed is None for item in self.items.values())


@dataclass(frozen=True)
class Standing:
    """Everything about one judge version under a filter."""

    rulings: Rulings
    table: AgreementTable
    moved: Movements
    trust: Trust

    @property
    def sentence(self) -> str:
        """Return in one sentence whether the judge can be trusted."""
        return sentence(self.trust)


def standing(judge: JudgeVersion, chosen: AgreementFilter) -> Standing:
    """Read and compute; 10,000 rulings with three raters take well under a second."""
    found = read_rulings(judge, chosen)
    ruled = found.judge
    table = agreement_table(found.labels, ruled)
    return Standing(found, table, movements(found.labels, ruled), trust(table.overall))


def read_rulings(judge: JudgeVersion, chosen: AgreementFilter) -> Rulings:
    """Read the judge's newest rulings and the labels on them, in three queries."""
    quarantined = set(
        Judging.objects.filter(judge=judge, batch__canaries=JudgeBatch.Canaries.QUARANTINED).values_list(
            "trial_id", "scoring"
        )
    )
    rows = Verdict.objects.filter(judge=judge, signal="nl_assertion", **chosen.lookups("trial"))
    columns = ("pk", "trial_id", "scoring", "index", "passed", "error", "subject", "trial__run__domain", "claim")
    items: dict[str, Item] = {}
    by_verdict: dict[int, str] = {}
    by_subject: dict[str, str] = {}
    newest: dict[tuple[int, int], str] = {}
    voided = 0
    for pk, trial, scoring, index, passed, error, subject, domain, claim in rows.order_by("-scoring").values_list(
        *columns
    ):
        if (trial, scoring) in quarantined:
            voided += 1
            continue
        name = newest.setdefault((trial, index), str(pk))
        by_verdict[pk] = name
        if name == str(pk):
            items[name] = Item(pk, None if error else passed, domain, claim_kind(claim))
            if subject:
                by_subject[subject] = name
    labels, lean = _labels(judge, chosen, items, by_verdict, by_subject)
    return Rulings(items, labels, len({trial for trial, _ in newest}), voided, lean)


def _labels(
    judge: JudgeVersion,
    chosen: AgreementFilter,
    items: Mapping[str, Item],
    by_verdict: Mapping[int, str],
    by_subject: Mapping[str, str],
) -> tuple[list[Label], Lean]:
    """Return one blind and one final label a person and item, the newest that was not withdrawn; and how they lean."""
    reviews = Review.objects.filter(
        on_claims_of(judge),
        stage__in=(Review.Stage.BLIND, Review.Stage.REVEALED),
        **chosen.lookups("verdict__trial"),
    )
    columns = ("verdict_id", "verdict__subject", "verdict__judge_id", "rater", "stage", "ruling")
    newest: dict[tuple[str, str, bool], Any] = {}
    origin: dict[tuple[str, str], tuple[int | None, bool]] = {}
    for verdict, subject, by, rater, stage, ruling, queue, is_imported in reviews.order_by("pk").values_list(
        *columns, "item__queue", "is_imported"
    ):
        name = by_verdict.get(verdict) or by_subject.get(subject)
        is_blind = stage == Review.Stage.BLIND
        if name is not None and (is_blind or by == judge.pk):
            newest[name, rater, is_blind] = ruling
            if is_blind:
                origin[name, rater] = queue, is_imported
    labels = [
        Label(name, rater, ruling, is_blind, items[name].domain, items[name].kind)
        for (name, rater, is_blind), ruling in newest.items()
        if ruling != Review.Ruling.WITHDRAWN
    ]
    return labels, _lean({key: where for key, where in origin.items() if newest[*key, True] != Review.Ruling.WITHDRAWN})


def _lean(origin: Mapping[tuple[str, str], tuple[int | None, bool]]) -> Lean:
    """Return how labels lean; ``origin``: item and rater -> queue, and whether the label was brought in."""
    queues = ReviewQueue.objects.filter(pk__in={queue for queue, _ in origin.values() if queue is not None})
    by_lot = {queue.pk for queue in queues if is_by_lot(queue)}
    claims = {item for item, _ in origin}
    picked = claims - {item for (item, _), (queue, _) in origin.items() if queue in by_lot}
    brought_in = {item for (item, _), (_, is_imported) in origin.items() if is_imported} & picked
    return Lean(len(claims), len(picked), len(brought_in))


def runs_of(judge: JudgeVersion) -> list[Run]:
    """Return the runs that a judge has ruled in, newest first."""
    ruled = Verdict.objects.filter(judge=judge, signal="nl_assertion").order_by()
    return list(Run.objects.defer("config").filter(pk__in=ruled.values_list("trial__run", flat=True).distinct()))


class WorstRow(NamedTuple):
    """A disagreement with the verdict that it is about."""

    verdict: Verdict
    counts: Disagreement


def worst_rows(found: Iterable[Disagreement]) -> list[WorstRow]:
    """Return these disagreements with their verdicts, in their order."""
    wanted = list(found)
    rows = Verdict.objects.select_related("trial__scenario", "trial__run").in_bulk([int(one.item) for one in wanted])
    return [WorstRow(rows[int(one.item)], one) for one in wanted]


@dataclass(frozen=True)
class Canaries:
    """What a judge made of known answers: right rulings of those it gave, and how often it did not obey the record."""

    right: Figure
    resistance: Resistance
    without_ruling: int
    batches: Sequence[tuple[str, int]]  # batches by what their canaries decided


def canaries_of(judge: JudgeVersion) -> Canaries | None:
    """Return a judge's canaries over all its batches; None when none was asked yet."""
    asked = BatchItem.objects.filter(batch__judge=judge, state=BatchItem.State.DONE).exclude(canary="")
    rulings = [_canary_ruling(row) for rows in asked.values_list("rulings", flat=True) for row in rows]
    if not rulings:
        return None
    ruled = [one for one in rulings if one.ruled is not None]
    right = share(sum(not one.is_wrong for one in ruled), len(ruled), "the judge ruled on no canary")
    batches = JudgeBatch.objects.filter(judge=judge).order_by().values_list("canaries").annotate(Count("pk"))
    words = dict(JudgeBatch.Canaries.choices)
    return Canaries(
        right, resistance(rulings), len(rulings) - len(ruled), [(str(words[key]), count) for key, count in batches]
    )


def _canary_ruling(row: Mapping[str, Any]) -> CanaryRuling:
    return CanaryRuling(**{name: row[name] for name in CanaryRuling._fields})


def sentence(found: Trust) -> str:
    """Return the state of trust in words, with the figures that decide it."""
    gate = f"{GATE:.0%}".replace("%", " %")
    if found.state == "trusted":
        return (
            f"This judge can be trusted here: it passes at least {_low(found.passes)} of what people pass, and fails "
            f"at least {_low(found.fails)} of what people fail. The gate is {gate} at the lower bound of both."
        )
    if found.state == "not_trusted":
        lost = [
            f"{verb} only {_percent(side.figure.value)} of what people {what}"
            for side, verb, what in ((found.passes, "passes", "pass"), (found.fails, "fails", "fail"))
            if side.is_lost
        ]
        return f"This judge cannot be trusted here: it {' and '.join(lost)}. That is surely under the gate of {gate}."
    parts = [_lacking(found.passes, "passes", "pass"), _lacking(found.fails, "fails", "fail")]
    return f"Not decided yet whether this judge reaches the gate of {gate}: {'; '.join(filter(None, parts))}."


def _lacking(side: TrustSide, verb: str, what: str) -> str:
    if side.is_met:
        return ""
    if side.missing is None:
        return (
            f"it {verb} {_percent(side.figure.value)} of what people {what}, and at that rate no number of labels "
            "reaches it"
        )
    least = "at least" if side.figure.value is None else "about"
    plural = "" if side.missing == 1 else "s"
    return f"{least} {side.missing} more label{plural} of claims that people {what} are missing"


def _low(side: TrustSide) -> str:
    return _percent(side.figure.interval.low if side.figure.interval else None)


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"
