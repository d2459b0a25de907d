"""What people do to a run, and what they take from it."""

import io
import json
import zipfile
from collections.abc import Iterator
from unittest.mock import patch

import pytest
from django.contrib.auth.models import User
from django.test import Client

from scenarios import catalogue, lifecycle
from scenarios.models import Run, Scenario
from tests.factories import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def acting(client: Client, operator: User) -> Iterator[Client]:
    client.force_login(operator)
    with patch("evalsite.pages.run_actions.wake_lanes") as wake:
        client.wake = wake  # type: ignore[attr-defined]
        yield client


def act(client: Client, run: Run, action: str, **data: object) -> str:
    """Post and return the page that follows."""
    response = client.post(f"/runs/{run.pk}/{action}/", data, follow=True)
    assert response.redirect_chain == [(f"/runs/{run.pk}/", 302)]
    return response.content.decode()


def test_pause_and_resume(acting: Client) -> None:
    run = make_run(2)
    assert "Paused run" in act(acting, run, "pause")
    run.refresh_from_db()
    assert run.paused_at
    acting.wake.assert_not_called()  # type: ignore[attr-defined]
    act(acting, run, "resume")
    run.refresh_from_db()
    assert run.paused_at is None
    acting.wake.assert_called_once()


def test_cancel_says_what_it_ended_and_keeps_scores(acting: Client, operator: User) -> None:
    run = make_run(3, 1, ["pass", "queued", "queued"])
    assert "2 calls that had not ended" in act(acting, run, "cancel")
    run.refresh_from_db()
    assert run.cancelled_by == operator
    assert sorted(run.trials.values_list("outcome", flat=True)) == ["cancelled", "cancelled", "pass"]


def test_cancelling_twice_is_harmless(acting: Client) -> None:
    run = make_run(2)
    act(acting, run, "cancel")
    assert "nothing was cancelled" in act(acting, run, "cancel")
    assert run.trials.filter(outcome="cancelled").count() == 2


def test_whoever_cancels_second_is_told_who_was_first(acting: Client, operator: User, admin: User) -> None:
    run = make_run(2)
    lifecycle.claim(1)
    act(acting, run, "cancel")
    acting.force_login(admin)
    page = act(acting, run, "cancel")
    assert f"{operator} has cancelled run {run.pk} already; 1 call of it still to end." in page
    run.refresh_from_db()
    assert run.cancelled_by == operator


def test_what_has_no_score_can_be_run_again(acting: Client) -> None:
    run = make_run(4, 1, ["pass", "fail", "infra_error", "judge_error"])
    assert "Queued 1 calls again (infra_error)" in act(acting, run, "rerun", outcome=["infra_error"])
    assert run.trials.filter(status="queued").count() == 1
    acting.wake.assert_called_once()  # type: ignore[attr-defined]


def test_what_can_be_run_again_is_offered_and_stalled_calls_are_not_ticked(acting: Client) -> None:
    run = make_run(4, 1, ["pass", "fail", "infra_error", "stalled"])
    page = acting.get(f"/runs/{run.pk}/").content.decode()
    assert '<input type="checkbox" name="outcome" value="infra_error" checked>' in page
    assert '<input type="checkbox" name="outcome" value="stalled">' in page
    assert 'value="fail" checked' not in page
    going = make_run(2, 1, ["running", "pass"])
    assert "Run again" not in acting.get(f"/runs/{going.pk}/").content.decode()


@pytest.mark.parametrize("outcome", ["fail", "pass", "nonsense"])
def test_scored_calls_are_not_tried_until_they_pass(acting: Client, outcome: str) -> None:
    run = make_run(2, 1, ["pass", "fail"])
    assert "Nothing was queued" in act(acting, run, "rerun", outcome=[outcome])
    assert not run.trials.filter(status="queued").exists()


def test_nothing_ticked_queues_nothing(acting: Client) -> None:
    run = make_run(1, 1, ["infra_error"])
    assert "nothing was queued" in act(acting, run, "rerun")


def test_scoring_again_from_the_record(acting: Client) -> None:
    run = make_run(3, 1, ["pass", "judge_error", "unscored"])
    assert "2 held calls" in act(acting, run, "rescore")
    assert run.trials.filter(status="scoring").count() == 2


@pytest.mark.parametrize("action", ["pause", "resume", "cancel", "rerun", "rescore"])
def test_actions_are_posts_of_operators(client: Client, reviewer: User, action: str) -> None:
    run = make_run(2)
    client.force_login(reviewer)
    assert client.post(f"/runs/{run.pk}/{action}/").status_code == 403
    assert run.trials.filter(status="queued").count() == 2


@pytest.mark.parametrize("action", ["pause", "resume", "cancel", "rerun", "rescore"])
def test_actions_need_a_run_and_a_post(acting: Client, action: str) -> None:
    assert acting.post(f"/runs/999/{action}/").status_code == 404
    assert acting.get(f"/runs/{make_run(1).pk}/{action}/").status_code == 405


def test_the_frozen_configuration_is_a_file(client: Client, viewer: User) -> None:
    run = make_run(2, 3)
    client.force_login(viewer)
    response = client.get(f"/runs/{run.pk}/config.json")
    assert json.loads(response.content) == run.config
    assert response["Content-Disposition"] == f'attachment; filename="run-{run.pk}-config.json"'


def test_the_run_folder_is_a_zip(client: Client, viewer: User) -> None:
    catalogue.sync()
    run = make_run(list(Scenario.objects.filter(domain="frontdesk")[:2]), 1, ["cancelled"], domain="frontdesk")
    client.force_login(viewer)
    response = client.get(f"/runs/{run.pk}/export.zip")
    archive = zipfile.ZipFile(io.BytesIO(b"".join(response)))
    assert archive.testzip() is None
    folders = {name.split("/")[0] for name in archive.namelist()}
    assert len(folders) == 1
    assert {"run_args.json", "all_metrics.json", "all_summary.txt"} <= {n.split("/", 1)[1] for n in archive.namelist()}
    assert response["Content-Disposition"] == f'attachment; filename="{folders.pop()}.zip"'
