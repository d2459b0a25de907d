"""The tailer: awake only while somebody watches, and not to be brought down by a database."""

import asyncio
from collections.abc import Sequence

import pytest

from evalsite.live import hub as hub_module
from evalsite.live.hub import Hub, Viewer, message
from tests.evalsite.live.sockets import WAIT_S


class Counting:
    """A feed that counts how often it is asked, and fails when it is told to."""

    period_s = 0.0

    def __init__(self) -> None:
        self.polls = 0
        self.failures = 0

    def poll(self, viewers: Sequence[Viewer]) -> None:
        self.polls += 1
        if self.failures:
            self.failures -= 1
            raise OSError("the database is down")
        for viewer in viewers:
            viewer.push(message("tick", number=self.polls))


@pytest.fixture
def feed() -> Counting:
    return Counting()


@pytest.fixture
def hub(feed: Counting) -> Hub:
    return Hub(lambda: {"toy": feed})


async def test_nobody_watches_nothing_is_read(hub: Hub, feed: Counting) -> None:
    assert hub.is_asleep
    await asyncio.sleep(3 * hub_module.TICK_S)
    assert feed.polls == 0


async def test_it_wakes_for_the_first_viewer_and_sleeps_after_the_last(hub: Hub, feed: Counting) -> None:
    viewer = Viewer("toy", 1)
    hub.watch(viewer)
    assert '"tick"' in await asyncio.wait_for(viewer.queue.get(), WAIT_S)
    hub.leave(viewer)
    hub.leave(viewer)
    # The thread may be in the middle of a look; after that there is none.
    polls = -1
    for _ in range(100):
        if feed.polls == polls:
            break
        polls = feed.polls
        await asyncio.sleep(5 * hub_module.TICK_S)
    assert feed.polls == polls
    again = Viewer("toy", 1)
    hub.watch(again)
    await asyncio.wait_for(again.queue.get(), WAIT_S)
    hub.stop()


async def test_it_starts_again_after_a_stop(hub: Hub) -> None:
    hub.watch(Viewer("toy", 1))
    hub.stop()
    assert hub.is_asleep
    viewer = Viewer("toy", 1)
    hub.watch(viewer)
    await asyncio.wait_for(viewer.queue.get(), WAIT_S)
    hub.stop()


async def test_a_database_that_fails_is_tried_again(
    hub: Hub, feed: Counting, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(hub_module, "BACK_OFF_S", 0.0)
    feed.failures = 2
    viewer = Viewer("toy", 1)
    hub.watch(viewer)
    assert await asyncio.wait_for(viewer.queue.get(), WAIT_S) == message("tick", number=3)
    assert caplog.text.count("the live tailer could not read") == 2
    hub.stop()


def test_a_viewer_whose_loop_is_closed_disturbs_nobody() -> None:
    async def make() -> Viewer:
        return Viewer("toy", 1)

    asyncio.run(make()).push("too late")
