"""Which calls are to be judged again, and the batch that is made of them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from django.db import transaction
from django.db.models import Avg, Exists, OuterRef, Q, QuerySet, Sum
from django.utils import timezone

from scenarios.judging.run_batch import INJECTIONS, PLAIN, version_row
from scenarios.lifecycle import cost_of
from scenarios.models import BatchItem, JudgeBatch, Judging, Run, Scenario, Trial, Verdict
from scenarios.newest import newest_claims
from scenarios.scoring.canaries import for_batch
from scenarios.scoring.results import OUTCOMES

MOST_CALLS = 10_000
SELF_REPEATS = 2


@dataclass(frozen=True)
class Choice:
    """Calls by run, call, outcome, and by what their newest verdicts are; as ``JudgeBatch.filter`` keeps it.

    ``claim`` is the number of the one claim that was asked about: a request always rules on all claims of a call, so it
    says what to look at. ``flagged``: a quote was not found, a reason contradicts its ruling, or there is no ruling.
    """

    runs: tuple[int, ...] = ()
    trial: int | None = None
    claim: int | None = None
    outcome: str = ""
    flagged: bool = False

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Self:
        """Read a choice from an address or from ``JudgeBatch.filter``; ValueError names what is wrong."""
        runs = values.get("runs") or ()
        outcome = str(values.get("outcome") or "")
        if outcome and outcome not in OUTCOMES:
            raise ValueError(f"there is no outcome {outcome!r}; there are {', '.join(OUTCOMES)}")
        choice = cls(
            runs=tuple(_number("run", part) for part in (runs.split(",") if isinstance(runs, str) else runs)),
            trial=_number("trial", values["trial"]) if values.get("trial") else None,
            claim=_number("claim", values["claim"]) if values.get("claim") else None,
            outcome=outcome,
            flagged=str(values.get("flagged") or "").lower() in ("1", "true", "on"),
        )
        if not choice.runs and choice.trial is None:
            raise ValueError("say which run or call is to be judged again")
        return choice

    def stored(self) -> dict[str, Any]:
        """Return the JSON that a batch keeps."""
        return {name: value for name, value in asdict(self).items() if value not in (None, "", False, ())}

    @property
    def words(self) -> str:
        """Return the choice in words."""
        if self.trial is not None:
            trial = Trial.objects.select_related("scenario").filter(pk=self.trial).first()
            call = f"{trial.scenario.name} #{trial.number} of run {trial.run_id}" if trial else f"call {self.trial}"
            return f"claim {self.claim} of {call}" if self.claim else call
        runs = f"run{'s' if len(self.runs) > 1 else ''} {', '.join(map(str, self.runs))}"
        kinds = [*([f"{self.outcome} calls"] if self.outcome else []), *(["flagged claims"] if self.flagged else [])]
        return f"{' with '.join(kinds) or 'all calls'} of {runs}"

    @property
    def claim_count(self) -> int:
        """Return how many claims the chosen calls have in all: so many rulings does judging them again give."""
        return self.trials().order_by().aggregate(claims=Sum("scenario__claim_count"))["claims"] or 0

    def trials(self) -> QuerySet[Trial]:
        """Return the calls: those that were held here, have been scored, and ask a judge."""
        trials = Trial.objects.filter(status=Trial.Status.DONE, run__imported_from=None)
        trials = trials.filter(scenario__in=_judged_scenarios(trials, self)).order_by("run", "position", "pk")
        if self.runs:
            trials = trials.filter(run__in=self.runs)
        if self.trial is not None:
            trials = trials.filter(pk=self.trial)
        if self.outcome:
            trials = trials.filter(outcome=self.outcome)
        return trials.filter(Exists(flagged_verdicts(OuterRef("pk")))) if self.flagged else trials


def flagged_verdicts(trial: Any) -> QuerySet[Verdict]:
    """Return the newest verdicts of a trial that a person should look at: see ``judge_reply``."""
    odd = Q(detail__flagged=True) | ~Q(error="")
    return newest_claims().filter(odd, trial=trial)


def make_batch(
    kind: JudgeBatch.Kind, choice: Choice, profile: Mapping[str, Any], person: Any, *, trials: Sequence[int] = ()
) -> JudgeBatch:
    """Make a batch of the chosen calls with canaries mixed in; the caller wakes a worker. ValueError says why not.

    ``profile`` is a frozen judge profile. Self-agreement asks about each call twice, and has no canaries: nothing of it
    is ever saved.
    """
    pks = list(trials) or list(choice.trials().values_list("pk", flat=True)[: MOST_CALLS + 1])
    if not pks:
        raise ValueError(f"{choice.words}: no call that was scored here asks a judge; nothing is to be judged again")
    if len(pks) > MOST_CALLS:
        raise ValueError(f"{choice.words}: more than {MOST_CALLS:,} calls; choose fewer")
    is_self = kind == JudgeBatch.Kind.SELF
    run = choice.runs[0] if len(choice.runs) == 1 else None
    if run is None and choice.trial is not None:
        run = Trial.objects.values_list("run_id", flat=True).get(pk=choice.trial)
    with transaction.atomic():
        batch = JudgeBatch.objects.create(
            kind=kind,
            run_id=run,
            title=f"{choice.words}, {'twice ' if is_self else ''}by {profile['slug']}"[:200],
            judge=version_row(profile),
            config=dict(profile),
            filter=choice.stored(),
            created_by=person,
        )
        repeats = range(1, SELF_REPEATS + 1) if is_self else (1,)
        calls = [BatchItem(batch=batch, trial_id=pk, repeat=repeat) for repeat in repeats for pk in pks]
        BatchItem.objects.bulk_create(_numbered(calls if is_self else _mixed(batch, calls)), batch_size=500)
    return batch


def cost_estimate(trials: QuerySet[Trial], profile: Mapping[str, Any]) -> float | None:
    """Return what one asking about one of these calls may cost, from what earlier ones took; None when unknown."""
    used = Judging.objects.filter(trial__in=trials.order_by().values("pk"))
    means = used.aggregate(prompt=Avg("prompt_tokens"), completion=Avg("completion_tokens"))
    if means["prompt"] is None:
        return 0.0 if profile.get("is_standin") else None
    return cost_of(profile, [(round(means["prompt"]), round(means["completion"] or 0))])


def request_stop(batch: JudgeBatch) -> bool:
    """Ask a batch to stop; one that nobody works on stops at once. False when it had ended."""
    open_ones = JudgeBatch.objects.filter(pk=batch.pk, state__in=("queued", "running")).exclude(kind="run")
    return bool(open_ones.update(stop_requested_at=timezone.now()))


def request_save(batch: JudgeBatch, person: Any) -> None:
    """Have a worker store the rulings of a batch; ValueError says why that cannot be."""
    if batch.kind != JudgeBatch.Kind.REJUDGE:
        raise ValueError("only calls that were judged again can be saved")
    if batch.canaries not in JudgeBatch.TRUSTED:
        why = batch.canary_reason or "they are not decided yet"
        raise ValueError(f"its canaries are {batch.get_canaries_display()}: {why}")
    free = JudgeBatch.objects.filter(
        pk=batch.pk, state__in=("done", "stopped"), canaries__in=JudgeBatch.TRUSTED, save_requested_at=None
    )
    if not free.update(save_requested_at=timezone.now(), saved_by=person, state="queued", stop_requested_at=None):
        batch.refresh_from_db()
        raise ValueError("it is saved already" if batch.save_requested_at else "it is still being judged")
    batch.refresh_from_db()


def check_runs(choice: Choice) -> None:
    """Raise ValueError for a run or call that is not there or was held elsewhere."""
    known = dict(Run.objects.filter(pk__in=choice.runs).values_list("pk", "imported_from"))
    for run in choice.runs:
        if run not in known:
            raise ValueError(f"there is no run {run}")
        if known[run] is not None:
            raise ValueError(f"the calls of run {run} were held elsewhere and imported: they have no rulings of ours")
    if choice.trial is not None and not Trial.objects.filter(pk=choice.trial).exists():
        raise ValueError(f"there is no call {choice.trial}")
    if choice.claim is not None and choice.trial is not None and not 1 <= choice.claim <= max(choice.claim_count, 1):
        raise ValueError(f"the call has no claim {choice.claim}: its claims are 1 to {choice.claim_count}")


def _mixed(batch: JudgeBatch, calls: list[BatchItem]) -> list[BatchItem]:
    """Put the canaries between the calls, evenly."""
    canaries = for_batch(batch.pk, injections=INJECTIONS, plain=PLAIN)
    mixed = list(calls)
    for number, canary in reversed(list(enumerate(canaries, 1))):
        mixed.insert(number * len(calls) // (len(canaries) + 1), BatchItem(batch=batch, canary=canary.name))
    return mixed


def _numbered(items: list[BatchItem]) -> list[BatchItem]:
    for position, item in enumerate(items, 1):
        item.position = position
    return items


def _judged_scenarios(trials: QuerySet[Trial], choice: Choice) -> list[int]:
    asked = trials.filter(run__in=choice.runs) if choice.runs else trials.filter(pk=choice.trial or 0)
    rows = Scenario.objects.filter(pk__in=asked.order_by().values("scenario").distinct())
    return [row.pk for row in rows if row.claim_count or "judge_passed" in row.success_signals]


def _number(name: str, value: Any) -> int:
    text = str(value).strip()
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise ValueError(f"{name}: {text!r} is no number")
    return int(text)
