"""Waiting for slow work while telling that it goes on: a bridge that hears nothing takes it for silence."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

STILL_WORKING_S = 5.0
Result = TypeVar("Result")


async def patiently(work: Awaitable[Result], tell: Callable[[], Awaitable[object]]) -> Result:
    """Await work and return what it does; ``tell`` is awaited every ``STILL_WORKING_S`` until then."""
    task = asyncio.ensure_future(work)
    try:
        while not (await asyncio.wait({task}, timeout=STILL_WORKING_S))[0]:
            await tell()
        return task.result()
    finally:
        task.cancel()
