"""From a held call to what is stored of it: signals, decision, judging and the figures that lists show."""

import asyncio
import statistics

from bots import judge
from bots.canaries import RunBatch, in_thread
from bots.judge import JudgeAnswer
from bots.lane import ScoredCall
from bots.tokens import MOST_IN_SUM
from scenarios import catalogue
from scenarios.domains.base import ScenarioSpec
from scenarios.launch import FrozenProfile
from scenarios.lifecycle import Claim, TrialFacts
from scenarios.models import TrialEvent
from scenarios.replay import Gold, gold_replay
from scenarios.scoring.config import ScoringConfig
from scenarios.scoring.evidence import Evidence, gather
from scenarios.scoring.judge_request import needs_judge
from scenarios.scoring.success import score_trial


async def score(claim: Claim, evidence: Evidence | None) -> ScoredCall:
    """Score one call by its run's own configuration; the judge is asked only where the scenario has claims for it."""
    config = ScoringConfig.from_run(claim.config)
    spec = catalogue.spec(claim.scenario)
    fidelity = claim.config["fidelity"]
    if evidence is None:
        evidence = gather(spec, await in_thread(_stored, claim.trial_id), fidelity)
    gold = await asyncio.to_thread(gold_replay, spec, fidelity)
    answer, batch_id = await _ask(claim, spec, gold, evidence)
    scored = await asyncio.to_thread(score_trial, spec, gold, evidence, config, answer.reply if answer else None)
    judged = answer.work(batch_id) if answer and answer.tries else None
    return ScoredCall(scored.results, scored.decision, facts_of(evidence), judged)


def facts_of(evidence: Evidence) -> TrialFacts:
    """Return the figures of a call that lists show."""
    usage = evidence.usage.get("agent", {})
    responses = evidence.response_ms.get("agent", ())
    return TrialFacts(
        end_reason=evidence.end_reason or "",
        duration_ms=evidence.duration_ms,
        turn_count=len(evidence.turns),
        response_p50_ms=statistics.median(responses) if responses else None,
        prompt_tokens=min(usage.get("prompt", 0), MOST_IN_SUM),
        completion_tokens=min(usage.get("completion", 0), MOST_IN_SUM),
    )


async def _ask(
    claim: Claim, spec: ScenarioSpec, gold: Gold, evidence: Evidence
) -> tuple[JudgeAnswer | None, int | None]:
    """Return the judge's answer and the batch it was given in; some of the batch's canaries are asked beside it."""
    if claim.config["judge"] is None or not needs_judge(spec):
        return None, None
    profile = FrozenProfile.model_validate(claim.config["judge"])
    batch = await RunBatch.join(claim, profile)
    answer, _ = await asyncio.gather(
        judge.ask(profile, spec, gold, evidence, guidance=batch.guidance), batch.ask_canaries(profile)
    )
    return answer, batch.pk


def _stored(trial_id: int) -> list[TrialEvent]:
    return list(TrialEvent.objects.filter(trial=trial_id).order_by("seq"))
