"""The live wall as the server gives it."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evalsite.wall import Tile, advance, render_tile
from tests.calls import Call
from tests.evalsite.test_transcript import ATTACK
from tests.factories import make_run, make_trial


@pytest.fixture
def page(client: Client, viewer: User) -> Client:
    client.force_login(viewer)
    return client


def test_an_empty_wall_says_what_will_be_here_and_what_to_do(page: Client) -> None:
    html = page.get("/live/").content.decode()
    assert "No call is held now" in html
    assert 'href="/runs/new' in html


def test_calls_that_are_held_or_scored_are_shown_and_the_queue_is_counted(page: Client) -> None:
    make_run(5, outcomes=["running", "scoring", "queued", "pass", "queued"])
    html = page.get("/live/").content.decode()
    assert len(re.findall(r'<article class="tile', html)) == 2
    assert '<span id="tile-count">2</span> calls held now' in html
    assert "2 queued" in html


def test_a_tile_of_the_page_is_the_tile_of_the_stream(page: Client) -> None:
    call = Call(make_trial(state="running", last_seq=0)).begin().turn("agent", f"Hello {ATTACK}")
    call.trial.refresh_from_db()
    html = page.get("/live/").content.decode()
    assert render_tile(advance([Tile(call.trial)])[0]) in html
    assert "<img src=x" not in html


def test_calls_of_two_runs_with_one_title_are_told_apart(page: Client) -> None:
    runs = [make_run(1, outcomes=["running"], title="Nightly") for _ in range(2)]
    html = page.get("/live/").content.decode()
    assert all(f"#{run.pk} · Nightly" in html for run in runs)


def test_few_queries_for_many_calls(page: Client, django_assert_max_num_queries: type) -> None:
    run = make_run(40, outcomes=["running"])
    for trial in run.trials.all():
        trial.last_seq = 0
        Call(trial).turn("user", "Hi")
    with django_assert_max_num_queries(8):
        assert page.get("/live/").content.decode().count(">Hi<") == 40
