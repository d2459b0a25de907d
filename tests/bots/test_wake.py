"""Waking: as many lanes as are needed and no more, and one cheap request on demand."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.conf import settings as django_settings
from django.utils import timezone
from django_q.models import Schedule
from pytest_django import Settings

from bots import wake
from scenarios import lifecycle
from scenarios.models import JudgeBatch, Lane, Preflight
from tests.factories import make_profile, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def enqueued(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the tasks that were enqueued, whichever broker there is."""
    names: list[str] = []
    monkeypatch.setattr(wake, "async_task", lambda name, *args, **options: names.append(name))
    return names


@pytest.fixture(autouse=True)
def two_lanes(settings: Settings) -> None:
    settings.LANES, settings.LANE_WIDTH = 2, 4


def lane(seconds_ago: float = 0, *, ended: bool = False) -> Lane:
    then = timezone.now() - timedelta(seconds=seconds_ago)
    return Lane.objects.create(
        key=uuid4(), host="h", pid=1, width=4, heartbeat_at=then, ended_at=then if ended else None
    )


@pytest.mark.parametrize(("trials", "lanes"), [(0, 0), (1, 1), (4, 1), (5, 2), (100, 2)])
def test_as_many_lanes_as_the_trials_need(enqueued: list[str], trials: int, lanes: int) -> None:
    if trials:
        make_run(trials)
    assert wake.wake_lanes() == lanes
    assert enqueued == ["bots.tasks.run_lane"] * lanes


def test_lanes_that_are_alive_count(enqueued: list[str]) -> None:
    make_run(100)
    lane()
    assert wake.wake_lanes() == 1
    lane()
    assert wake.wake_lanes() == 0
    assert len(enqueued) == 1


def test_dead_and_ended_lanes_do_not() -> None:
    make_run(100)
    lane(seconds_ago=wake.LANE_FRESH_S + 1)
    lane(ended=True)
    assert wake.wake_lanes() == 2


def test_a_stopped_run_wakes_nobody() -> None:
    lifecycle.pause(make_run(3))
    lifecycle.request_cancel(make_run(3), None)
    assert wake.wake_lanes() == 0


def test_calls_of_a_dead_lane_wake_one() -> None:
    run = make_run(1)
    lifecycle.claim(1)
    assert wake.wake_lanes() == 0
    run.trials.update(heartbeat_at=timezone.now() - timedelta(seconds=10))
    assert wake.wake_lanes() == 1


def test_one_lane_too_many_is_sent_away() -> None:
    keys = [wake.announce_lane(4) for _ in range(3)]
    assert keys[0] is not None
    assert keys[1] is not None
    assert keys[2] is None
    assert wake.alive_lanes() == 2
    Lane.objects.filter(key=keys[0]).update(ended_at=timezone.now())
    assert wake.announce_lane(4) is not None


def test_the_schedule_is_one_however_often_it_is_made() -> None:
    wake.schedule_wake()
    wake.schedule_wake()
    schedule = Schedule.objects.get()
    assert (schedule.func, schedule.minutes, schedule.repeats) == ("bots.wake.wake_all", 1, -1)


def test_preflight_asks_for_each_profile(enqueued: list[str]) -> None:
    one, two = make_profile("one"), make_profile("two")
    rows = wake.preflight([one.pk, two.pk, 12345])
    assert {row.profile for row in rows} == {one, two}
    assert enqueued == ["bots.tasks.run_preflight"]
    assert set(Preflight.objects.values_list("state", flat=True)) == {"asked"}


def test_the_clusters_settings_keep_long_tasks_single() -> None:
    cluster = django_settings.Q_CLUSTER
    assert cluster["queue_limit"] == 1
    assert cluster["retry"] > 3 * cluster["timeout"]
    assert (cluster["max_attempts"], cluster["ack_failures"]) == (1, True)


def batch(**fields: object) -> JudgeBatch:
    return JudgeBatch.objects.create(**{"kind": "rejudge", "config": {"slug": "j"}, **fields})


def test_batches_that_nobody_is_at_are_taken_up(enqueued: list[str]) -> None:
    now = timezone.now()
    for fields in (
        {"kind": "run", "run": make_run(1, 1, ["pass"]), "state": "running"},  # its lanes judge in it
        {"state": "running", "lease": uuid4(), "heartbeat_at": now},
        {"state": "done"},
        {"state": "stopped"},
    ):
        batch(**fields)
    assert wake.wake_batches() == 0
    batch()
    batch(state="running", lease=uuid4(), heartbeat_at=now - timedelta(seconds=31))
    assert wake.wake_batches() == 2
    wake.wake_all()
    assert enqueued == ["bots.tasks.run_judge_batch"] * 4
