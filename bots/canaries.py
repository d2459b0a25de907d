"""Asking a judge about calls with known answers, beside those of a run. Nothing that fails here costs a call."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from django.db import connections

from bots import judge
from bots.judge import JudgeAnswer
from scenarios.judging.prompts import guidance_of
from scenarios.judging.run_batch import (
    TakenCanary,
    batch_of_run,
    canary_columns,
    give_back,
    take_canaries,
    take_leftovers,
)
from scenarios.launch import FrozenProfile
from scenarios.lifecycle import Claim, cost_of, end_canary
from scenarios.storable import storable

log = logging.getLogger(__name__)
Result = TypeVar("Result")


class RunBatch:
    """The batch that a judged call of a run belongs to, and the canaries that it takes along."""

    def __init__(self, pk: int, guidance: str | None, canaries: Sequence[TakenCanary]) -> None:
        self.pk = pk
        self.guidance = guidance
        self._canaries = canaries

    @classmethod
    async def join(cls, claim: Claim, profile: FrozenProfile) -> "RunBatch":
        """Find or make the batch of the call's run; raises UnknownPrompt where the judge's prompt is missing."""

        def find() -> "RunBatch":
            guidance = guidance_of(profile.prompt_version)
            pk = batch_of_run(claim.run_id, claim.config)
            return cls(pk, guidance, take_canaries(pk, claim))

        return await in_thread(find)

    async def ask_canaries(self, profile: FrozenProfile) -> None:
        """Ask about all of them at once; a fault of ours is logged and leaves the canary to another call."""
        asked = (ask_canary(profile, taken, self.guidance) for taken in self._canaries)
        for found in await asyncio.gather(*asked, return_exceptions=True):
            if isinstance(found, Exception):
                log.error("a canary of batch %s was not asked", self.pk, exc_info=found)
            elif found is not None:
                raise found  # cancelled: the lane stops


async def ask_leftovers(batch_id: int, profile: FrozenProfile) -> int:
    """Ask about every canary of a batch that has no ruling; returns how many were asked."""
    guidance = await in_thread(guidance_of, profile.prompt_version)
    batch = RunBatch(batch_id, guidance, await in_thread(take_leftovers, batch_id))
    await batch.ask_canaries(profile)
    return len(batch._canaries)


async def ask_canary(profile: FrozenProfile, taken: TakenCanary, guidance: str | None) -> None:
    """Ask about one canary and store what came back; gives it back when that is broken off."""
    try:
        answer = await judge.ask_canary(profile, taken.canary, guidance=guidance)
        columns = canary_columns(taken.canary, answer.reply, judging_columns(answer), cost_of_answer(answer))
        await in_thread(end_canary, taken.item_id, taken.lease, storable(columns))
    except BaseException:
        await in_thread(give_back, taken)
        raise


def judging_columns(answer: JudgeAnswer) -> dict[str, Any]:
    """Return what was asked and answered, as JSON: the columns of a judging, without its batch."""
    return {name: value for name, value in answer.work().columns.items() if name != "batch_id"}


def cost_of_answer(answer: JudgeAnswer) -> float | None:
    """Return the dollars of one asking; None when the price is unknown."""
    return cost_of(answer.profile.model_dump(), [(answer.prompt_tokens or 0, answer.completion_tokens or 0)])


async def in_thread(function: Callable[..., Result], *arguments: Any) -> Result:
    """Run database work on a connection that does not outlive it."""

    def run() -> Result:
        try:
            return function(*arguments)
        finally:
            connections.close_all()

    return await asyncio.to_thread(run)
