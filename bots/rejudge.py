"""A worker's work on one batch of calls that are judged again: several at once, stopped at once, taken up again.

What is asked and stored is ``scenarios.judging.work``'s. A worker that dies leaves its items queued; another one takes
the batch over when the first has been silent for ``SILENT_S``.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID, uuid4

from bots import judge
from bots.canaries import ask_canary, ask_leftovers, cost_of_answer, in_thread
from scenarios.judging import work
from scenarios.judging.prompts import guidance_of
from scenarios.judging.run_batch import TakenCanary, canary_named
from scenarios.launch import FrozenProfile
from scenarios.models import BatchItem, JudgeBatch

AT_ONCE = 8  # requests, unless the judge's profile says otherwise
BEAT_S = 1.0
BUDGET_S = 60.0  # then a successor goes on, so that short tasks of the same worker get their turn

log = logging.getLogger(__name__)


class Rejudge:
    """One worker's time with one batch."""

    def __init__(self, batch: JudgeBatch, lease: UUID) -> None:
        self.batch = batch
        self.lease = lease
        self.profile = FrozenProfile.model_validate(batch.config)
        self.guidance: str | None = None
        self._ends_at = time.monotonic() + BUDGET_S
        # Why nothing more is begun: "stop", "lost", "time"; "" while work goes on.
        self.over = ""
        self.message = ""

    async def run(self) -> None:
        """Work until everything is asked (or saved), a person asks to stop, or the time is over."""
        self.over = await in_thread(work.beat, self.batch.pk, self.lease)
        beating = asyncio.create_task(self._beat())
        try:
            await (self._save() if self.batch.save_requested_at else self._judge())
        except Exception as error:
            log.exception("batch %s", self.batch.pk)
            await self._leave(work.State.ERROR, f"{type(error).__name__}: {error}")
            return
        finally:
            beating.cancel()
        if self.over == "stop":
            await self._leave(work.State.STOPPED, "stopped by a person")
        elif self.over == "time":
            await self._leave(work.State.QUEUED)
        elif not self.over:
            await self._leave(work.State.DONE, self.message)

    async def _judge(self) -> None:
        self.guidance = await in_thread(guidance_of, self.profile.prompt_version)
        items = iter(await in_thread(work.queued_items, self.batch.pk))
        askers = [asyncio.create_task(self._ask_all(items)) for _ in range(AT_ONCE)]
        try:
            await asyncio.gather(*askers)
        finally:
            for asker in askers:
                asker.cancel()
            await asyncio.gather(*askers, return_exceptions=True)

    async def _ask_all(self, items: Iterator[BatchItem]) -> None:
        for item in items:
            if self.over:
                return
            await (self._ask_canary(item) if item.canary else self._ask(item))

    async def _ask(self, item: BatchItem) -> None:
        try:
            call = await in_thread(work.held_call, item.trial_id)
            answer = await judge.ask(self.profile, call.spec, call.gold, call.evidence, guidance=self.guidance)
        except Exception as error:  # one call that cannot be judged does not spoil the batch; its line says why
            log.exception("item %s of batch %s", item.position, self.batch.pk)
            await in_thread(work.fail_item, item, self.lease, f"{type(error).__name__}: {error}")
            return
        end: Callable[..., Any] = work.end_item
        await in_thread(end, item, self.lease, call, answer.reply, answer.work(), cost_of_answer(answer))

    async def _ask_canary(self, item: BatchItem) -> None:
        taken = TakenCanary(item.pk, uuid4(), canary_named(item.canary))
        if await in_thread(self._hold, taken):
            await ask_canary(self.profile, taken, self.guidance)

    def _hold(self, taken: TakenCanary) -> bool:
        queued = BatchItem.objects.filter(pk=taken.item_id, state=BatchItem.State.QUEUED, batch__lease=self.lease)
        return bool(queued.update(lease=taken.lease))

    async def _save(self) -> None:
        items = BatchItem.objects.filter(batch=self.batch.pk, state=BatchItem.State.DONE, canary="")
        person = self.batch.saved_by.get_username() if self.batch.saved_by else "the command line"
        text = f"Judged again by {self.profile.slug} (batch {self.batch.pk}), saved by {person}."
        left_out = []
        for item in await in_thread(lambda: list(items.order_by("position"))):
            if self.over:
                return
            if why := await in_thread(work.save_item, item, text):
                left_out.append(why)
        await in_thread(work.saved, self.batch.pk)
        if left_out:
            self.message = f"{len(left_out)} of the calls were left as they are: {left_out[0]}"

    async def _beat(self) -> None:
        while not self.over:
            await asyncio.sleep(BEAT_S)
            self.over = await in_thread(work.beat, self.batch.pk, self.lease)
            if not self.over and time.monotonic() > self._ends_at:
                self.over = "time"

    async def _leave(self, state: str, message: str = "") -> None:
        await in_thread(work.leave_batch, self.batch.pk, self.lease, state, message)


def run_batch(batch_id: int) -> bool:
    """Work on a batch; returns whether another worker should go on with it."""
    lease = work.take_batch(batch_id)
    if lease is None:
        return False
    batch = JudgeBatch.objects.select_related("saved_by").get(pk=batch_id)
    rejudge = Rejudge(batch, lease)
    asyncio.run(rejudge.run())
    return rejudge.over == "time"


def ask_canaries(batch_id: int) -> int:
    """Ask about the canaries of a batch that have no ruling; returns how many."""
    batch = JudgeBatch.objects.get(pk=batch_id)
    return asyncio.run(ask_leftovers(batch_id, FrozenProfile.model_validate(batch.config)))
