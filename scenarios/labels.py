"""People's labels out of and into the database; the form of the files is ``formats.labels``.

Out: the newest ruling of each person and stage on a claim of a call; withdrawn ones are no labels. In: rows find their
claim by run, scenario, trial and the claim's stable id. What was ruled on has to be what stands here, or the line is
refused with its number and the remedy. Nothing is ever replaced, and the same file twice adds nothing.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Q, QuerySet

from scenarios.formats.labels import MAX_PROBLEMS, BadLine, Format, LabelRecord, claim_id, read_labels
from scenarios.lifecycle import settle
from scenarios.models import JudgeVersion, Review, ReviewQueue, Run, Trial, Verdict
from scenarios.storable import storable

# Trials whose labels are stored, and settled, in one transaction.
_CHUNK = 100
_MAX_RATER = 150  # characters, as the column has them
_claim_id = cache(claim_id)
_EXPORTED = (
    "pk",
    "rater",
    "stage",
    "ruling",
    "comment",
    "created_at",
    "verdict__claim",
    "verdict__signal",
    "verdict__fingerprint",
    "verdict__trial__run_id",
    "verdict__trial__scenario__name",
    "verdict__trial__number",
)


def reviews_of(
    *, run: Run | None = None, judge: JudgeVersion | None = None, queue: ReviewQueue | None = None
) -> QuerySet[Review]:
    """Return people's rulings in a run, on what a judge ruled on, from a queue; all that are given must hold."""
    reviews = Review.objects.filter(verdict__signal="nl_assertion")
    if run is not None:
        reviews = reviews.filter(verdict__trial__run=run)
    if judge is not None:
        reviews = reviews.filter(on_claims_of(judge))
    if queue is not None:
        reviews = reviews.filter(item__queue=queue)
    return reviews


def on_claims_of(judge: JudgeVersion) -> Q:
    """Return the condition of reviews that tell about a judge.

    A ruling on another judge's verdict counts too where the claim and the record are the same (``Verdict.subject``).
    """
    subjects = Verdict.objects.filter(judge=judge).exclude(subject="").values("subject")
    return Q(verdict__judge=judge) | Q(verdict__subject__in=subjects)


def exported(reviews: QuerySet[Review]) -> Iterator[LabelRecord]:
    """Yield the labels that these reviews are, oldest first, read with two queries."""
    newest: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for row in reviews.order_by("pk").values_list(*_EXPORTED):
        pk, rater, stage, *_, claim, signal, _fingerprint, run, scenario, number = row
        newest[run, scenario, number, signal, claim, rater, stage] = row
    prints = _fingerprints({row[9] for row in newest.values()})
    for row in sorted(newest.values()):
        pk, rater, stage, ruling, comment, at, claim, signal, fingerprint, run, scenario, number = row
        if ruling != Review.Ruling.WITHDRAWN:
            yield LabelRecord(
                claim_id=_claim_id(prints[run, scenario], signal, claim),
                run=str(run),
                scenario=scenario,
                scenario_fingerprint=prints[run, scenario],
                trial=number,
                signal=signal,
                claim=claim,
                rater=rater,
                stage=stage,
                ruling=ruling,
                comment=comment,
                judge_fingerprint=fingerprint,
                at=at.isoformat(),
            )


@dataclass
class LabelImport:
    """What became of a file: labels stored, known before, refused with their lines; calls whose outcome changed."""

    taken: int = 0
    known: int = 0
    changed: int = 0
    refused: list[BadLine] = field(default_factory=list)
    more_refused: int = 0

    @property
    def refused_count(self) -> int:
        """Return how many findings there are, listed or not."""
        return len(self.refused) + self.more_refused

    def refuse(self, line: int, name: str, message: str) -> None:
        """Note why a line is not taken."""
        if len(self.refused) < MAX_PROBLEMS:
            self.refused.append(BadLine(line, name, message))
        else:
            self.more_refused += 1

    def __str__(self) -> str:
        return (
            f"{self.taken} taken, {self.known} known already, {self.refused_count} refused; "
            f"{self.changed} calls have another outcome now"
        )


def import_labels(text: str, form: Format) -> LabelImport:
    """Store the labels of a file and settle the calls that they are about; ValueError for a file that is too long."""
    read = read_labels(text, form)
    report = LabelImport(refused=list(read.problems), more_refused=read.more_problems)
    found = _in_trials(zip(read.lines, read.labels, strict=True), report)
    order = sorted(found)
    for some in (order[start : start + _CHUNK] for start in range(0, len(order), _CHUNK)):
        # Labels and what follows from them stand or fall together: a file that broke off can be sent again.
        with transaction.atomic():
            places = _Places.of(some)
            made = [
                review for pk in some for line, label in found[pk] for review in places.take(pk, line, label, report)
            ]
            _store(made)
            report.changed += len(settle({review.verdict.trial_id for review in made}))
    report.refused.sort()
    return report


def _in_trials(
    labels: Iterable[tuple[int, LabelRecord]], report: LabelImport
) -> Mapping[int, list[tuple[int, LabelRecord]]]:
    """Return the labels by the primary key of their trial; those without one are refused."""
    numbered = list(labels)
    runs = {int(label.run) for _, label in numbered if _is_number(label.run)}
    prints = _fingerprints(runs)
    trials = {
        (run, scenario, number): (pk, status)
        for pk, run, scenario, number, status in Trial.objects.filter(run__in=runs).values_list(
            "pk", "run_id", "scenario__name", "number", "status"
        )
    }
    known = {run for run, _ in prints}
    found: dict[int, list[tuple[int, LabelRecord]]] = defaultdict(list)
    for line, label in numbered:
        run = int(label.run) if _is_number(label.run) else None
        if run not in known:
            report.refuse(line, "run", f"there is no run {label.run[:40]!r} here: give the number that this site has")
        elif (pk := trials.get((run, label.scenario, label.trial))) is None:
            report.refuse(
                line, "scenario", f"run {run} has no trial {label.trial} of {label.scenario[:80]!r}: is it another run?"
            )
        elif pk[1] not in Trial.ENDED:
            report.refuse(line, "trial", "has not ended: import again when it has been scored")
        elif prints.get((run, label.scenario)) != label.scenario_fingerprint:
            report.refuse(
                line,
                "scenario_fingerprint",
                f"run {run} held another version of this scenario: export from this run again and rule on that",
            )
        else:
            found[pk[0]].append((line, label))
    return found


class _Given(NamedTuple):
    """A ruling that is here already."""

    ruling: str
    comment: str
    at: datetime


@dataclass
class _Places:
    """Verdicts and reviews of some trials: where a label belongs, and what is there."""

    verdicts: Mapping[tuple[int, str], list[Verdict]]  # trial, claim id -> newest scoring first
    given: Mapping[tuple[int, str, str, str], list[_Given]]  # trial, claim id, rater, stage -> oldest first

    @classmethod
    def of(cls, trials: Sequence[int]) -> "_Places":
        rows = Verdict.objects.filter(trial__in=trials).select_related("trial__scenario").order_by("-scoring", "index")
        verdicts: dict[tuple[int, str], list[Verdict]] = defaultdict(list)
        prints = _fingerprints(set(Trial.objects.filter(pk__in=trials).values_list("run_id", flat=True)))
        names: dict[int, str] = {}
        for row in rows:
            fingerprint = prints[row.trial.run_id, row.trial.scenario.name]
            names[row.pk] = _claim_id(fingerprint, row.signal, row.claim)
            verdicts[row.trial_id, names[row.pk]].append(row)
        given: dict[tuple[int, str, str, str], list[_Given]] = defaultdict(list)
        columns = ("verdict_id", "verdict__trial_id", "rater", "stage", "ruling", "comment", "created_at")
        reviews = Review.objects.filter(verdict__trial__in=trials).order_by("pk").values_list(*columns)
        for verdict, trial, rater, stage, ruling, comment, at in reviews:
            given[trial, names[verdict], rater, stage].append(_Given(ruling, comment, at))
        return cls(verdicts, given)

    def take(self, trial: int, line: int, label: LabelRecord, report: LabelImport) -> Iterator[Review]:
        """Yield the review that a label is, unless it is known or refused; the report counts it."""
        verdict = self._verdict(trial, line, label, report)
        if verdict is None:
            return
        label = replace(label, rater=storable(label.rater), comment=storable(label.comment))
        before = self.given.get((trial, label.claim_id, label.rater, label.stage), [])
        at = datetime.fromisoformat(label.at) if label.at else None
        if len(label.rater) > _MAX_RATER:
            report.refuse(line, "rater", f"has {len(label.rater)} characters: the limit is {_MAX_RATER}")
        elif _is_known(label, at, before):
            report.known += 1
        elif before and at is not None and before[-1].at > at:
            message = f"ruled again on this claim here, later than this label ({before[-1].at:%Y-%m-%d %H:%M} UTC): "
            report.refuse(line, "rater", f"{label.rater} {message}the later ruling stays")
        else:
            report.taken += 1
            review = Review(
                verdict=verdict,
                rater=label.rater,
                stage=label.stage,
                ruling=label.ruling,
                comment=label.comment,
                fingerprint=label.judge_fingerprint,
                is_imported=True,
            )
            review.created_at = at  # type: ignore[assignment]  # None: now; written after the row is
            yield review

    def _verdict(self, trial: int, line: int, label: LabelRecord, report: LabelImport) -> Verdict | None:
        found = self.verdicts.get((trial, label.claim_id), [])
        if not found:
            message = "this call has no such claim: export again and rule on what it was judged by"
            report.refuse(line, "claim_id", message)
            return None
        same = [verdict for verdict in found if verdict.fingerprint == label.judge_fingerprint]
        if label.judge_fingerprint and not same:
            report.refuse(
                line,
                "judge_fingerprint",
                "the ruling that this label answers is not here: the record or the judge was another. Leave the field "
                "empty if the label is about the call as it stands here",
            )
            return None
        return same[0] if same else found[0]


def _is_known(label: LabelRecord, at: datetime | None, before: Sequence[_Given]) -> bool:
    same = [one for one in before if (one.ruling, one.comment) == (label.ruling, label.comment)]
    if at is not None:
        return any(one.at == at for one in same)
    return bool(same) and same[-1] is before[-1]


def _store(reviews: Sequence[Review]) -> None:
    moments = [review.created_at for review in reviews]
    Review.objects.bulk_create(reviews, batch_size=500)
    dated = []
    for review, at in zip(reviews, moments, strict=True):
        if at is not None:
            review.created_at = at
            dated.append(review)
    Review.objects.bulk_update(dated, ["created_at"], batch_size=500)


def _fingerprints(runs: Iterable[int]) -> dict[tuple[int, str], str]:
    """Return the fingerprint of each scenario as each run held it."""
    configs = Run.objects.filter(pk__in=runs).values_list("pk", "config")
    return {(pk, ref["name"]): ref["fingerprint"] for pk, config in configs for ref in config["scenarios"]}


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10
