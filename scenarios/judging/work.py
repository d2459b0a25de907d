"""A worker's hold on a batch, what it stores of each item, and saving: what Django does of judging again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from django.db.models import Q, QuerySet
from django.utils import timezone

from scenarios import catalogue
from scenarios.domains.base import ScenarioSpec
from scenarios.lifecycle import JudgeWork, decide_batch, save_rejudged
from scenarios.models import BatchItem, JudgeBatch, Trial, TrialEvent, Verdict
from scenarios.replay import Gold, gold_replay
from scenarios.scoring import judge_reply
from scenarios.scoring.config import ScoringConfig
from scenarios.scoring.evidence import Evidence, gather
from scenarios.scoring.judge_reply import JudgeReply
from scenarios.scoring.judge_request import subject
from scenarios.scoring.record_text import record_lines
from scenarios.scoring.success import Scored, score_trial
from scenarios.storable import storable

# A batch whose worker has given no sign of life for so long is taken up by another.
SILENT_S = 30.0
State = JudgeBatch.State
OPEN = (State.QUEUED, State.RUNNING)


@dataclass(frozen=True)
class HeldCall:
    """A call that is judged again: all that a judge and scoring need of it."""

    trial: Trial
    spec: ScenarioSpec
    gold: Gold
    evidence: Evidence

    def score(self, reply: JudgeReply) -> Scored:
        """Score the call with another judge's reply, by its run's own configuration."""
        config = ScoringConfig.from_run(self.trial.run.config)
        return score_trial(self.spec, self.gold, self.evidence, config, reply)


def waiting_batches() -> QuerySet[JudgeBatch]:
    """Return the batches that no living worker is at: new ones, and those whose worker died."""
    silent = timezone.now() - timedelta(seconds=SILENT_S)
    free = Q(lease=None) | Q(heartbeat_at__lt=silent)
    return JudgeBatch.objects.filter(free, state__in=OPEN).exclude(kind=JudgeBatch.Kind.RUN).order_by("pk")


def take_batch(batch_id: int) -> UUID | None:
    """Take a batch to work on; None when another worker is at it or it has ended."""
    lease = uuid4()
    free = waiting_batches().filter(pk=batch_id)
    taken = free.update(lease=lease, heartbeat_at=timezone.now(), state=State.RUNNING)
    return lease if taken else None


def beat(batch_id: int, lease: UUID) -> str:
    """Give a sign of life; returns "" to go on, "stop" when a person asked, "lost" when another worker took over."""
    ours = JudgeBatch.objects.filter(pk=batch_id, lease=lease)
    if not ours.update(heartbeat_at=timezone.now()):
        return "lost"
    return "stop" if ours.filter(stop_requested_at__isnull=False, save_requested_at=None).exists() else ""


def leave_batch(batch_id: int, lease: UUID, state: str, message: str = "") -> None:
    """End a batch, or with the state "queued" leave it to another worker. Decides its canaries when all are in."""
    ended = {} if state in OPEN else {"ended_at": timezone.now()}
    ours = JudgeBatch.objects.filter(pk=batch_id, lease=lease)
    if ours.update(state=state, message=storable(message)[:300], lease=None, heartbeat_at=None, **ended) and ended:
        canaries = BatchItem.objects.filter(batch=batch_id).exclude(canary="")
        if canaries.exists() and not canaries.filter(state=BatchItem.State.QUEUED).exists():
            decide_batch(batch_id)


def queued_items(batch_id: int) -> list[BatchItem]:
    """Return what is left to ask, in order."""
    return list(BatchItem.objects.filter(batch=batch_id, state=BatchItem.State.QUEUED).order_by("position"))


def held_call(trial_id: int) -> HeldCall:
    """Read a call from its record; ValueError when no code registers its scenario any more."""
    trial = Trial.objects.select_related("run", "scenario").get(pk=trial_id)
    spec = catalogue.spec(trial.scenario.name)
    fidelity = trial.run.config.get("fidelity", "canonical")
    events = TrialEvent.objects.filter(trial=trial_id).order_by("seq")
    return HeldCall(trial, spec, gold_replay(spec, fidelity), gather(spec, list(events), fidelity))


def end_item(
    item: BatchItem, lease: UUID, call: HeldCall, reply: JudgeReply, work: JudgeWork, cost: float | None
) -> bool:
    """Store a judge's ruling on a call as it would be saved; False when the batch is another worker's now."""
    rulings = list(_rulings(call.trial, reply, work))
    columns = {name: value for name, value in work.columns.items() if name != "batch_id"}
    return _end(
        item,
        lease,
        state=BatchItem.State.DONE if reply.is_complete else BatchItem.State.ERROR,
        judging={**columns, "version": dict(work.version)},
        rulings=rulings,
        # Both by the judge alone: people's rulings hold before and after.
        outcome_before=call.trial.judged_outcome or call.trial.outcome,
        outcome_after=call.score(reply).decision.outcome,
        flips=sum(is_flip(ruling) for ruling in rulings),
        cost=cost,
    )


def fail_item(item: BatchItem, lease: UUID, message: str) -> bool:
    """Note that a call could not be judged through a fault of ours."""
    return _end(item, lease, state=BatchItem.State.ERROR, judging={"error": "fault", "reason": message[:300]})


def is_flip(ruling: Mapping[str, Any]) -> bool:
    """Return whether a ruling differs from the one before; where there was none, nothing flips."""
    return ruling["was"] is not None and not ruling["error"] and ruling["was"] != ruling["passed"]


def save_item(item: BatchItem, text: str) -> str:
    """Store a batch's ruling on one call beside the earlier ones; returns why not, "" when it is stored."""
    assert item.trial_id is not None
    call = held_call(item.trial_id)
    lines = record_lines(call.evidence)
    subjects = {index: subject(claim, lines) for index, claim in enumerate(call.spec.nl_assertions, 1)}
    if subjects != {ruling["index"]: ruling["subject"] for ruling in item.rulings}:
        return "its claims or its record are not what was judged"
    reply = judge_reply.read(item.judging["reply"], call.spec.nl_assertions, call.evidence)
    columns = {name: value for name, value in item.judging.items() if name != "version"}
    work = JudgeWork(
        item.judging["version"],
        {**columns, "batch_id": item.batch_id},
        {ruling["index"]: ruling["fingerprint"] for ruling in item.rulings},
        subjects,
    )
    scored = call.score(reply)
    stored = save_rejudged(call.trial.pk, scored.decision, scored.results, work, text=text)
    return "" if stored else "it is stored already, or the call is held or scored again"


def saved(batch_id: int) -> None:
    """Note that all rulings of a batch are stored, but for those of calls that are not what they were."""
    JudgeBatch.objects.filter(pk=batch_id).update(saved_at=timezone.now())


def _rulings(trial: Trial, reply: JudgeReply, work: JudgeWork) -> Sequence[dict[str, Any]]:
    before = _before(trial)
    return [
        {
            "index": verdict.index,
            "claim": verdict.claim,
            "passed": verdict.passed,
            "reason": verdict.reason,
            "evidence": [{"text": quote.text, "turn": quote.turn, "found": quote.found} for quote in verdict.evidence],
            "error": verdict.error or "",
            "flagged": bool(verdict.detail.get("flagged")),
            "fingerprint": work.fingerprints.get(verdict.index, ""),
            "subject": work.subjects.get(verdict.index, ""),
            **_was(before.get(verdict.index), verdict.claim),
        }
        for verdict in reply.verdicts
    ]


def _was(before: Verdict | None, claim: str) -> dict[str, Any]:
    if before is None or before.claim != claim:
        return {"was": None, "was_reason": "", "was_judge": "", "verdict": None}
    return {
        "was": None if before.error else before.passed,
        "was_reason": before.reason,
        "was_judge": before.judge.fingerprint if before.judge else "",
        "verdict": before.pk,
    }


def _before(trial: Trial) -> dict[int, Verdict]:
    rows = list(trial.verdicts.filter(signal="nl_assertion").select_related("judge").order_by("-scoring", "index"))
    return {row.index: row for row in rows if row.scoring == rows[0].scoring}


def _end(item: BatchItem, lease: UUID, **columns: Any) -> bool:
    open_one = BatchItem.objects.filter(pk=item.pk, state=BatchItem.State.QUEUED, batch__lease=lease)
    return bool(open_one.update(**storable(columns), ended_at=timezone.now()))
