"""How a run stands, read with a handful of aggregate queries whatever its size; the figures are rollup's."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast

from django.db.models import Count, Exists, Max, Min, OuterRef, Q, QuerySet, Sum

from scenarios.domains.base import SIGNALS
from scenarios.models import JudgeBatch, Judging, Run, SignalResult, Trial, Verdict
from scenarios.scoring.config import Strictness
from scenarios.scoring.results import OUTCOMES, RATED, REPEATABLE
from scenarios.scoring.rollup import (
    ItemCount,
    OutcomeCount,
    Rate,
    SignalCount,
    do_nothing_rate,
    inaction_count,
    item_rates,
    signal_rates,
    success_rate,
)

RunState = Literal["queued", "running", "paused", "cancelling", "cancelled", "finished"]
OPEN = (Trial.Status.QUEUED, Trial.Status.RUNNING, Trial.Status.SCORING)
Row = Mapping[str, Any]
# The column of a scenario that says whether an idle agent passes it.
INACTION: Mapping[Strictness, str] = {
    "reference": "passes_by_inaction",
    "upstream": "passes_upstream_by_inaction",
}


# Share of a cap on money at which a run's page warns.
NEARLY_SPENT = 0.8


def prefix_of(name: str) -> str:
    """Return the part of a scenario's name that results are reported by."""
    return name.partition("__")[0]


@dataclass(frozen=True)
class Standing:
    """Progress and headline of one run. Finished and passed are two numbers, and neither exceeds the total."""

    run: Run
    # Trials by status, and ended ones by outcome.
    statuses: Mapping[str, int]
    outcomes: Mapping[str, int]
    rate: Rate
    # The same trials by the other strictness.
    other_rate: Rate
    by_inaction: int
    # Claims that people overruled; calls whose outcome changed by that (or by a judge's quarantine), by what it is now;
    # and the rate as scoring alone had it.
    overruled: int
    changed: Mapping[str, int]
    judged_rate: Rate

    @property
    def strictness(self) -> Strictness:
        """Return what a pass needs in this run."""
        return cast(Strictness, self.run.config["strictness"])

    @property
    def other_strictness(self) -> Strictness:
        """Return the strictness of ``other_rate``."""
        return "reference" if self.strictness == "upstream" else "upstream"

    @property
    def total(self) -> int:
        """Return how many trials the run has."""
        return self.run.trial_count

    @property
    def open(self) -> int:
        """Return how many trials have not ended."""
        return sum(self.statuses.get(status, 0) for status in OPEN)

    @property
    def ended(self) -> int:
        """Return how many trials have ended, whatever their outcome."""
        return sum(self.statuses.get(status, 0) for status in Trial.ENDED)

    @property
    def running(self) -> int:
        """Return how many calls are held or scored now."""
        return self.statuses.get(Trial.Status.RUNNING, 0) + self.statuses.get(Trial.Status.SCORING, 0)

    @property
    def parts(self) -> list[tuple[str, int]]:
        """Return all trials by outcome, open ones by status, in a fixed order: the parts of the progress bar."""
        ended = [(outcome, self.outcomes.get(outcome, 0)) for outcome in OUTCOMES]
        waiting = [(str(status), self.statuses.get(status, 0)) for status in reversed(OPEN)]
        return [(key, count) for key, count in ended + waiting if count]

    @property
    def repeatable(self) -> list[tuple[str, int]]:
        """Return the ended trials that may be held again, by outcome."""
        return [(key, count) for key, count in self.parts if key in REPEATABLE]

    @property
    def state(self) -> RunState:
        """Return what the run is doing, from its trials and what people asked of it."""
        if self.run.cancel_requested_at:
            return "cancelling" if self.open else "cancelled"
        if not self.open:
            return "finished"
        if self.run.paused_at:
            return "paused"
        return "running" if self.running or self.ended else "queued"

    @property
    def is_nearly_spent(self) -> bool:
        """Return whether most of the run's cap on money is used up."""
        cap = self.run.config.get("limits", {}).get("max_cost")
        return bool(cap) and self.run.cost is not None and self.run.cost >= NEARLY_SPENT * cap


@dataclass(frozen=True)
class Findings:
    """What a run's page shows beside the headline."""

    # Signal -> rate over trials, in the fixed order of the signals; and over claims or predicates.
    signals: Mapping[str, Rate]
    items: Mapping[str, Rate]
    # Reporting prefix -> rate, where the run has several; else nothing.
    prefixes: Mapping[str, Rate]
    without_inaction: Rate
    do_nothing: Rate
    # (kind, trials) of infrastructure errors, most frequent first.
    error_kinds: Sequence[tuple[str, int]]
    retried: int
    started_at: Any
    ended_at: Any


def standings(runs: Iterable[Run]) -> dict[int, Standing]:
    """Return how each of these runs stands, by primary key, in two queries."""
    runs = list(runs)
    rows = (
        Trial.objects.filter(run__in=runs)
        .order_by()
        .values("run_id", "status", "outcome", "other_outcome", "judged_outcome", "by_inaction")
        .annotate(count=Count("pk"), overruled=Sum("overruled_count"))
    )
    by_run: dict[int, list[Row]] = {run.pk: [] for run in runs}
    for row in rows:
        by_run[row["run_id"]].append(row)
    clusters = _clusters([run for run in runs if run.config["trials"] > 1])
    return {run.pk: _standing(run, by_run[run.pk], clusters.get(run.pk, _ONCE)) for run in runs}


def findings(run: Run) -> Findings:
    """Return what a run's page shows beside the headline."""
    trials = run.trials.order_by()
    idle = Q(**{f"scenario__{INACTION[run.config['strictness']]}": True})
    facts = trials.aggregate(
        scenarios=Count("pk", filter=Q(number=1)),
        inaction=Count("pk", filter=Q(number=1) & idle),
        retried=Count("pk", filter=Q(attempts__gt=1)),
        started_at=Min("started_at"),
        ended_at=Max("ended_at"),
    )
    rows = list(trials.values("outcome", "by_inaction", "error_kind").annotate(count=Count("pk")))
    signals = signal_rates(_signal_counts(run))
    return Findings(
        signals={signal: signals[signal] for signal in SIGNALS if signal in signals},
        items=item_rates(_item_counts(run)),
        prefixes=_prefix_rates(run),
        without_inaction=success_rate(_outcome_counts(rows), without_inaction=True),
        do_nothing=do_nothing_rate(facts["scenarios"], facts["inaction"]),
        error_kinds=_error_kinds(rows),
        retried=facts["retried"],
        started_at=facts["started_at"],
        ended_at=facts["ended_at"],
    )


def _error_kinds(rows: Iterable[Row]) -> list[tuple[str, int]]:
    kinds: Counter[str] = Counter()
    for row in rows:
        if row["outcome"] == "infra_error" and row["error_kind"]:
            kinds[row["error_kind"]] += row["count"]
    return sorted(kinds.items(), key=lambda kind: (-kind[1], kind[0]))


class _Clusters(NamedTuple):
    """(passes, rated trials) of each scenario, by either strictness and as judged; None: the run repeats nothing."""

    own: Sequence[tuple[int, int]] | None
    other: Sequence[tuple[int, int]] | None
    judged: Sequence[tuple[int, int]] | None


_ONCE = _Clusters(None, None, None)


def _standing(run: Run, rows: Sequence[Row], clusters: _Clusters) -> Standing:
    statuses: Counter[str] = Counter()
    outcomes: Counter[str] = Counter()
    changed: Counter[str] = Counter()
    for row in rows:
        statuses[row["status"]] += row["count"]
        if row["outcome"]:
            outcomes[row["outcome"]] += row["count"]
        if row["judged_outcome"]:
            changed[row["outcome"]] += row["count"]
    counts = _outcome_counts(rows)
    others = [OutcomeCount(row["other_outcome"], False, row["count"]) for row in rows]
    judged = [OutcomeCount(row["judged_outcome"] or row["outcome"], False, row["count"]) for row in rows]
    return Standing(
        run,
        statuses,
        outcomes,
        rate=success_rate(counts, clusters=clusters.own),
        other_rate=success_rate(others, clusters=clusters.other),
        by_inaction=inaction_count(counts),
        overruled=sum(row["overruled"] or 0 for row in rows),
        # A plain one: templates would read a Counter's missing key "items" as 0.
        changed=dict(changed),
        judged_rate=success_rate(judged, clusters=clusters.judged),
    )


def _outcome_counts(rows: Iterable[Row]) -> list[OutcomeCount]:
    return [OutcomeCount(row["outcome"], row["by_inaction"], row["count"]) for row in rows]


def _clusters(runs: Sequence[Run]) -> dict[int, _Clusters]:
    """Return the clusters of runs that repeat their scenarios."""
    found: dict[int, tuple[list[tuple[int, int]], ...]] = {run.pk: ([], [], []) for run in runs}
    if runs:
        as_judged = Q(judged_outcome__in=RATED) | Q(judged_outcome="", outcome__in=RATED)
        passed_as_judged = Q(judged_outcome="pass") | Q(judged_outcome="", outcome="pass")
        rows_in = Q(outcome__in=RATED) | Q(other_outcome__in=RATED) | as_judged
        rated = Trial.objects.filter(rows_in, run__in=runs).order_by()
        rows = rated.values("run_id", "scenario_id").annotate(
            passes=Count("pk", filter=Q(outcome="pass")),
            total=Count("pk", filter=Q(outcome__in=RATED)),
            other_passes=Count("pk", filter=Q(other_outcome="pass")),
            other_total=Count("pk", filter=Q(other_outcome__in=RATED)),
            judged_passes=Count("pk", filter=passed_as_judged),
            judged_total=Count("pk", filter=as_judged),
        )
        for row in rows:
            own, other, judged = found[row["run_id"]]
            if row["total"]:
                own.append((row["passes"], row["total"]))
            if row["other_total"]:
                other.append((row["other_passes"], row["other_total"]))
            if row["judged_total"]:
                judged.append((row["judged_passes"], row["judged_total"]))
    return {pk: _Clusters(*clusters) for pk, clusters in found.items()}


def _prefix_rates(run: Run) -> dict[str, Rate]:
    prefixes = dict.fromkeys(prefix_of(ref["name"]) for ref in run.config["scenarios"])
    if len(prefixes) < 2:
        return {}
    trials = run.trials.order_by().values("scenario__name", "outcome", "by_inaction").annotate(count=Count("pk"))
    rows: dict[str, dict[str, list[OutcomeCount]]] = {prefix: {} for prefix in prefixes}
    for row in trials:
        name = row["scenario__name"]
        rows[prefix_of(name)].setdefault(name, []).extend(_outcome_counts([row]))
    return {prefix: _clustered_rate(run, list(groups.values())) for prefix, groups in rows.items()}


def _clustered_rate(run: Run, scenarios: Sequence[Sequence[OutcomeCount]]) -> Rate:
    """Return the rate over these scenarios; repetitions of one go together."""
    single = [success_rate(counts) for counts in scenarios]
    clusters = [(rate.passes, rate.total) for rate in single if rate.total] if run.config["trials"] > 1 else None
    return success_rate((count for counts in scenarios for count in counts), clusters=clusters)


def _signal_counts(run: Run) -> list[SignalCount]:
    rows = _latest(SignalResult.objects.filter(trial__run=run), "signal", "state", "value")
    return [SignalCount(row["signal"], _state(row), row["trial__outcome"], row["count"]) for row in rows]


def _state(row: Row) -> str:
    """Return a signal's state; one that does not gate passes or fails by its value all the same."""
    if row["state"] != "excluded":
        return str(row["state"])
    return "not_applicable" if row["value"] is None else "passed" if row["value"] == 1 else "failed"


def _item_counts(run: Run) -> list[ItemCount]:
    """Count rulings; where people have ruled, theirs count. A quarantined judge has given none."""
    verdicts, fields = Verdict.objects.filter(trial__run=run), ["signal", "passed", "error", "effective__passed"]
    judged = Judging.objects.filter(batch__canaries=JudgeBatch.Canaries.QUARANTINED)
    if judged.filter(trial__run=run).exists():
        ours = judged.filter(trial=OuterRef("trial"), scoring=OuterRef("scoring"))
        verdicts, fields = verdicts.annotate(is_void=Exists(ours)), [*fields, "is_void"]
    rows = _latest(verdicts, *fields)
    return [
        ItemCount(
            row["signal"],
            row["passed"] if row["effective__passed"] is None else row["effective__passed"],
            row["signal"] == "nl_assertion"
            and row["effective__passed"] is None
            and bool(row["error"] or row.get("is_void")),
            row["trial__outcome"],
            row["count"],
        )
        for row in rows
    ]


def _latest(rows: QuerySet[Any], *fields: str) -> list[Row]:
    """Count rows of each trial's newest scoring by ``fields`` and outcome.

    Finding the newest costs a look-up a row, so it is done only where something was scored again.
    """

    def count(chosen: QuerySet[Any], *more: str) -> list[Row]:
        grouped = chosen.order_by().values("trial__outcome", *fields, *more)
        return list(grouped.annotate(count=Count("pk")))

    counted = count(rows, "scoring")
    if len({row["scoring"] for row in counted}) < 2:
        return counted
    newer = rows.model._default_manager.filter(trial=OuterRef("trial"), scoring__gt=OuterRef("scoring"))
    return count(rows.filter(~Exists(newer)))
