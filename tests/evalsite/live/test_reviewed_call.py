"""A call that has ended is watched while people may rule on it: the page is told of each ruling, once."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evalsite.live import trial_feed
from evalsite.live.trial_feed import TrialFeed
from scenarios.models import Review, ReviewQueue, Trial, Verdict
from tests.evalsite.live.sockets import in_db, open_socket
from tests.evalsite.pages.reviewing import queue_of, reviewed_run

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def trial(transactional_db: None) -> Trial:
    return reviewed_run(1).trials.get()


def give(trial: Trial, rater: str, ruling: str = "pass") -> int:
    """Rule on a claim as another page does; nothing else of the trial changes."""
    verdict = Verdict.objects.filter(trial=trial, signal="nl_assertion").order_by("index")[0]
    return Review.objects.create(verdict=verdict, rater=rater, stage="adjudication", ruling=ruling).pk


async def test_every_ruling_is_told_though_the_outcome_stays(trial: Trial, viewer: User) -> None:
    socket = await open_socket(f"/ws/trials/{trial.pk}/", viewer, after=trial.last_seq)
    assert (await socket.next("state"))["reviewed"] == 0
    for rater in ("ann", "ben"):
        review = await in_db(give)(trial, rater)
        told = await socket.next("state")
        assert (told["reviewed"], told["outcome"]) == (review, "fail")
    await socket.disconnect()


def test_a_call_that_has_ended_costs_one_query_a_tick(
    trial: Trial, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    monkeypatch.setattr(trial_feed, "REVIEWS_S", 600.0)
    feed = TrialFeed()
    feed.states([trial.pk])
    with django_assert_num_queries(1):
        feed.states([trial.pk])


def test_only_pages_that_may_change_are_watched(trial: Trial, viewer: User, client: Client) -> None:
    client.force_login(viewer)

    def page() -> str:
        return client.get(f"/runs/{trial.run_id}/trials/{trial.scenario.name}/1/").content.decode()

    assert "data-socket" not in page()
    queue = queue_of(trial.run)
    assert 'data-reviewed="0"' in page()
    review = give(trial, "ann")
    assert f'data-reviewed="{review}"' in page()
    assert "hang-up" not in page()
    ReviewQueue.objects.filter(pk=queue.pk).update(closed_at=queue.created_at)
    assert "data-socket" not in page()
