"""What came of a batch: flips, rates before and after, agreement, cost; and the record of each judge version."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Count, Q, Sum

from scenarios.analysis.reliability import Figure, share
from scenarios.lifecycle import stored_rulings
from scenarios.models import BatchItem, JudgeBatch, JudgeVersion, Judging, Trial
from scenarios.scoring.canaries import BatchDecision, CanaryRuling, Resistance, decide, resistance
from scenarios.scoring.results import RATED

NO_RULINGS = "no claim has two rulings to compare"


@dataclass(frozen=True)
class Progress:
    """How far a batch is. ``cost`` None: a price is unknown."""

    total: int
    done: int
    errors: int
    flips: int
    cost: float | None
    canaries_total: int
    canaries_asked: int

    @property
    def asked(self) -> int:
        """Return how many requests have ended, canaries among them."""
        return self.done + self.errors


class Changed(NamedTuple):
    """One claim on which a judge rules otherwise than before (or, asked twice, than itself)."""

    trial: Trial
    number: int
    claim: str
    was: bool | None
    passed: bool
    was_reason: str
    reason: str
    flagged: bool


@dataclass(frozen=True)
class BatchResult:
    """The result of a batch. Rates are by the judge alone, over the calls that it ruled on."""

    changed: Sequence[Changed]
    # Claims with a ruling before and now on which both agree; ``is_same_judge``: that is agreement with itself.
    agreement: Figure
    is_same_judge: bool
    new_rulings: int
    claims_before: Figure
    claims_after: Figure
    calls_before: Figure
    calls_after: Figure
    # (before, after) -> calls whose outcome would change.
    outcomes: Sequence[tuple[str, str, int]]
    errors: Sequence[tuple[Trial, str]]


@dataclass(frozen=True)
class JudgeRecord:
    """What one judge version has done: calls judged, canaries right, resistance to injection, batches by decision."""

    judge: JudgeVersion
    calls: int
    canaries: Figure
    resistance: Resistance
    batches: Mapping[str, int]
    is_current: bool


def progress(batch: JudgeBatch) -> Progress:
    """Return how far a batch is, in one query."""
    return progresses([batch])[batch.pk]


def progresses(batches: Sequence[JudgeBatch]) -> dict[int, Progress]:
    """Return how far each batch is, by primary key, in one query."""
    done, error, canary = Q(state="done"), Q(state="error"), ~Q(canary="")
    rows = (
        BatchItem.objects.filter(batch__in=batches)
        .order_by()
        .values("batch")
        .annotate(
            total=Count("pk"),
            done=Count("pk", filter=done),
            errors=Count("pk", filter=error),
            flipped=Sum("flips"),
            spent=Sum("cost"),
            unpriced=Count("pk", filter=Q(cost=None) & (done | error)),
            canaries_total=Count("pk", filter=canary),
            canaries_asked=Count("pk", filter=canary & (done | error)),
        )
    )
    found = {batch.pk: Progress(0, 0, 0, 0, 0.0, 0, 0) for batch in batches}
    for facts in rows:
        row: dict[str, Any] = dict(facts)
        pk, unpriced, spent, flips = (row.pop(name) for name in ("batch", "unpriced", "spent", "flipped"))
        found[pk] = Progress(**row, flips=flips or 0, cost=None if unpriced else spent or 0.0)
    return found


def result(batch: JudgeBatch) -> BatchResult:
    """Return what a batch that judged again would change."""
    items = list(
        batch.items.filter(canary="", state__in=("done", "error"))
        .select_related("trial__scenario")
        .order_by("position")
    )
    if batch.kind == JudgeBatch.Kind.SELF:
        return _self_result(items)
    ruled = [item for item in items if item.state == BatchItem.State.DONE]
    rulings = [(item, ruling) for item in ruled for ruling in item.rulings if not ruling["error"]]
    compared = [(item, ruling) for item, ruling in rulings if ruling["was"] is not None]
    changed = [_changed(item, ruling) for item, ruling in compared if ruling["was"] != ruling["passed"]]
    own = batch.judge.fingerprint if batch.judge else ""
    outcomes = Counter(
        (item.outcome_before, item.outcome_after) for item in ruled if item.outcome_before != item.outcome_after
    )
    return BatchResult(
        changed=changed,
        agreement=share(len(compared) - len(changed), len(compared), NO_RULINGS),
        is_same_judge=bool(compared) and all(ruling["was_judge"] == own for _, ruling in compared),
        new_rulings=len(rulings) - len(compared),
        claims_before=_passed(ruling["was"] for _, ruling in rulings),
        claims_after=_passed(ruling["passed"] for _, ruling in rulings),
        calls_before=_rate(item.outcome_before for item in ruled),
        calls_after=_rate(item.outcome_after for item in ruled),
        outcomes=[(before, after, count) for (before, after), count in outcomes.most_common()],
        errors=_errors(items),
    )


def canary_rulings(batch: JudgeBatch) -> tuple[BatchDecision, list[Mapping[str, Any]]]:
    """Return what a batch's canaries say, and each ruling as it is stored, the wrong ones first."""
    decision = decide(stored_rulings(batch.pk))
    rows = [
        {**ruling, "is_wrong": ruling["obeyed"] or ruling["ruled"] != ruling["holds"]}
        for rulings in batch.items.exclude(canary="").order_by("position").values_list("rulings", flat=True)
        for ruling in rulings
    ]
    return decision, sorted(rows, key=lambda row: not row["is_wrong"])


def judge_records(current: Iterable[str]) -> list[JudgeRecord]:
    """Return all judge versions, newest first; ``current``: fingerprints that profiles have today."""
    now = set(current)
    judges = list(JudgeVersion.objects.order_by("-pk"))
    calls = dict(Judging.objects.order_by().values_list("judge").annotate(count=Count("trial", distinct=True)))
    rulings: dict[int, list[CanaryRuling]] = defaultdict(list)
    for judge, stored in BatchItem.objects.exclude(canary="").values_list("batch__judge", "rulings"):
        rulings[judge] += [CanaryRuling(**{name: one[name] for name in CanaryRuling._fields}) for one in stored]
    batches: dict[int, Counter[str]] = defaultdict(Counter)
    for judge, kind, canaries in JudgeBatch.objects.order_by().values_list("judge", "kind", "canaries"):
        if kind != JudgeBatch.Kind.SELF:
            batches[judge][canaries] += 1
    return [
        JudgeRecord(
            judge,
            calls.get(judge.pk, 0),
            share(
                sum(ruling.ruled == ruling.holds for ruling in rulings[judge.pk]),
                sum(ruling.ruled is not None for ruling in rulings[judge.pk]),
                "no canary was ruled on",
            ),
            resistance(rulings[judge.pk]),
            batches[judge.pk],
            judge.fingerprint in now,
        )
        for judge in judges
    ]


def _self_result(items: Sequence[BatchItem]) -> BatchResult:
    """Compare the two rulings on each claim; a judge that agrees with itself is not right for that."""
    first: dict[tuple[int, int], tuple[BatchItem, Mapping[str, Any]]] = {}
    pairs = []
    for item in sorted(items, key=lambda item: (item.repeat, item.position)):
        for ruling in item.rulings:
            if ruling["error"] or item.trial_id is None:
                continue
            key = (item.trial_id, ruling["index"])
            if item.repeat == 1:
                first[key] = (item, ruling)
            elif key in first:
                pairs.append((item, {**ruling, "was": first[key][1]["passed"], "was_reason": first[key][1]["reason"]}))
    changed = [_changed(item, ruling) for item, ruling in pairs if ruling["was"] != ruling["passed"]]
    halves = [[item for item in items if item.repeat == repeat and item.state == "done"] for repeat in (1, 2)]
    before, after = ({item.trial_id: item.outcome_after for item in half} for half in halves)
    both = [pk for pk in before if pk in after]
    outcomes = Counter((before[pk], after[pk]) for pk in both if before[pk] != after[pk])
    return BatchResult(
        changed=changed,
        agreement=share(len(pairs) - len(changed), len(pairs), NO_RULINGS),
        is_same_judge=True,
        new_rulings=0,
        claims_before=_passed(ruling["was"] for _, ruling in pairs),
        claims_after=_passed(ruling["passed"] for _, ruling in pairs),
        calls_before=_rate(before[pk] for pk in both),
        calls_after=_rate(after[pk] for pk in both),
        outcomes=[(one, two, count) for (one, two), count in outcomes.most_common()],
        errors=_errors(items),
    )


def _changed(item: BatchItem, ruling: Mapping[str, Any]) -> Changed:
    assert item.trial is not None
    return Changed(
        item.trial,
        ruling["index"],
        ruling["claim"],
        ruling["was"],
        ruling["passed"],
        ruling["was_reason"],
        ruling["reason"],
        ruling["flagged"],
    )


def _passed(rulings: Iterable[bool | None]) -> Figure:
    ruled = [ruling for ruling in rulings if ruling is not None]
    return share(sum(ruled), len(ruled), "no claim has a ruling")


def _rate(outcomes: Iterable[str]) -> Figure:
    rated = [outcome for outcome in outcomes if outcome in RATED]
    return share(rated.count("pass"), len(rated), "no call is rated")


def _errors(items: Sequence[BatchItem]) -> list[tuple[Trial, str]]:
    broken = [item for item in items if item.state == BatchItem.State.ERROR and item.trial is not None]
    return [(item.trial, f"{item.judging.get('error')}: {item.judging.get('reason')}") for item in broken if item.trial]
