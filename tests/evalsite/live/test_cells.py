"""Sockets of a run's page and of the live wall: only what changed, patched by key."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evalsite.live.run_feed import cell_state
from evalsite.wall import MAX_TILES, Tile, advance, held_trials
from scenarios.events import AttemptStarted, Event, TurnEnded, TurnStarted
from scenarios.models import Run, Trial
from scenarios.sides import Side
from tests.calls import Call
from tests.evalsite.live.sockets import Socket, in_db, open_socket
from tests.factories import make_run, make_scenario, make_trial


@pytest.fixture
def run(transactional_db: None) -> Run:
    return make_run(3, outcomes=["queued"])


def keys(html: str) -> list[int]:
    return [int(key) for key in re.findall(r'data-key="(\d+)"', html)]


def known(run: Run) -> dict[str, str]:
    return {str(row.pk): cell_state(row.status, row.outcome, row.attempts, 0) for row in run.trials.all()}


def move(trial: Trial, **changes: Any) -> None:
    Trial.objects.filter(pk=trial.pk).update(**changes)


async def test_a_run_sends_the_cells_that_changed_and_the_counts(run: Run, viewer: User) -> None:
    trials = await in_db(lambda: list(run.trials.all()))()
    socket = await open_socket(f"/ws/runs/{run.pk}/", viewer, known=await in_db(known)(run))
    assert await socket.next("counts") == {"type": "counts", "counts": {"queued": 3}, "ended": 0, "total": 3}
    await in_db(move)(trials[1], status="done", outcome="fail", attempts=1)
    patch = await socket.next("patch")
    assert keys(patch["html"]) == [trials[1].pk]
    assert "is-fail" in patch["html"]
    assert (await socket.next("counts"))["counts"] == {"queued": 2, "fail": 1}
    await socket.disconnect()


async def test_a_page_that_comes_back_gets_what_it_missed(run: Run, viewer: User) -> None:
    stale = await in_db(known)(run)
    trials = await in_db(lambda: list(run.trials.all()))()
    await in_db(move)(trials[0], status="running", attempts=1)
    socket = await open_socket(f"/ws/runs/{run.pk}/", viewer, known=stale)
    assert keys((await socket.next("patch"))["html"]) == [trials[0].pk]
    await socket.disconnect()


async def test_cells_of_another_page_are_not_sent(run: Run, viewer: User) -> None:
    trials = await in_db(lambda: list(run.trials.all()))()
    shown = {key: value for key, value in (await in_db(known)(run)).items() if int(key) == trials[0].pk}
    socket = await open_socket(f"/ws/runs/{run.pk}/", viewer, known=shown)
    await socket.next("counts")
    await in_db(move)(trials[2], status="done", outcome="pass")
    await in_db(move)(trials[0], status="running")
    assert keys((await socket.next("patch"))["html"]) == [trials[0].pk]
    await socket.disconnect()


async def test_an_overruled_claim_changes_cell_and_counts_of_a_run_that_has_ended(
    transactional_db: None, viewer: User
) -> None:
    run = await in_db(lambda: make_run(2, outcomes=["fail"]))()
    trial = (await in_db(lambda: list(run.trials.all()))())[0]
    socket = await open_socket(f"/ws/runs/{run.pk}/", viewer, known=await in_db(known)(run))
    await socket.next("counts")
    # One of two failed claims: the outcome stays, and the page hears of it all the same.
    await in_db(move)(trial, overruled_count=1)
    assert keys((await socket.next("patch"))["html"]) == [trial.pk]
    assert (await socket.next("counts"))["counts"] == {"fail": 2}
    await in_db(move)(trial, overruled_count=2, outcome="pass", judged_outcome="fail")
    assert "by-people" in (await socket.next("patch"))["html"]
    assert (await socket.next("counts"))["counts"] == {"fail": 1, "pass": 1}
    await socket.disconnect()


def test_the_state_of_a_cell_is_what_its_partial_says(run: Run, viewer: User, client: Client) -> None:
    client.force_login(viewer)
    html = client.get(f"/runs/{run.pk}/").content.decode()
    shown = dict(re.findall(r'data-key="(\d+)" data-state="([^"]*)"', html))
    assert shown == known(run)


async def wall_html(socket: Socket) -> str:
    return str((await socket.next("patch"))["html"])


async def test_the_wall_shows_a_call_from_its_first_turn_to_its_end(viewer: User) -> None:
    socket = await open_socket("/ws/live/", viewer)
    trial = await in_db(lambda: make_trial(state="running", last_seq=0))()
    call = await in_db(lambda: Call(trial).begin().turn("agent", "Good morning"))()
    html = await wall_html(socket)
    while "Good morning" not in html:
        html = await wall_html(socket)
    assert keys(html) == [trial.pk]
    await in_db(call.end)("pass", "every gating signal passed")
    while "is-pass" not in html:
        html = await wall_html(socket)
    assert "Good morning" in html
    await socket.disconnect()


async def test_a_wall_that_comes_back_learns_what_ended_meanwhile(viewer: User) -> None:
    trial = await in_db(lambda: make_trial(state="running", last_seq=0))()
    await in_db(lambda: Call(trial).begin().turn("user", "Bye").end("fail", "no"))()
    socket = await open_socket("/ws/live/", viewer, known={str(trial.pk): "running/3"})
    html = await wall_html(socket)
    assert keys(html) == [trial.pk]
    assert "is-fail" in html
    await socket.disconnect()


def test_a_tile_says_who_speaks_and_which_tool_runs(db: None) -> None:
    call = Call(make_trial(state="running", last_seq=0)).begin().turn("user", "x" * 1000)
    tile = Tile(call.trial)

    def now() -> Tile:
        call.trial.refresh_from_db()
        return advance([Tile(call.trial, tile.seq)])[0]

    assert (now().side, now().speaking, now().tool, now().turn) == ("user", "", "", 1)
    assert len(now().said) < 300
    call.tool("find_user", {"name": "x"})
    assert now().tool == "find_user"
    call.turn("agent", "found")
    assert (now().said, now().tool) == ("found", "")


def test_in_a_voice_call_both_may_speak(db: None) -> None:
    call = Call(make_trial(state="running", last_seq=0)).begin()

    def speaking(*events: Event) -> str:
        call.add(*events)
        call.trial.refresh_from_db()
        return advance([Tile(call.trial)])[0].speaking

    def ended(side: Side, turn: int) -> TurnEnded:
        return TurnEnded(side, turn, "yes", "yes", 0, ended_ms=900)

    assert speaking() == ""
    assert speaking(TurnStarted("agent", 1)) == "agent"
    assert speaking(TurnStarted("user", 2)) == "both"
    assert speaking(ended("agent", 1)) == "user"
    assert speaking(TurnStarted("agent", 3), ended("user", 2)) == "agent"
    assert speaking(TurnStarted("agent", 5)) == "agent"
    assert speaking(ended("agent", 3)) == "agent"
    assert speaking(AttemptStarted(2, "another lane")) == ""


def test_the_wall_draws_a_bounded_number_of_calls(db: None) -> None:
    run = make_run(1)
    scenario = make_scenario("toy__many")
    Trial.objects.bulk_create(
        Trial(run=run, scenario=scenario, number=number, status="running") for number in range(MAX_TILES + 20)
    )
    assert len(held_trials()) == MAX_TILES
