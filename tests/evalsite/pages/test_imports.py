"""The imports page: uploading, watching, stopping, and accepting what the lint found."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from evalsite.pages import imports
from scenarios.importing import import_path, import_upload
from scenarios.models import Finding, ImportedFile, Run
from tests.scenarios.formats.imports.files import action, answer, call, results, simulation, task, write

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def woken(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the uploads that a worker was woken for."""
    settings.VAR_DIR = tmp_path
    found: list[int] = []

    def wake() -> None:
        found.extend(ImportedFile.objects.filter(state="waiting").order_by("pk").values_list("pk", flat=True))

    monkeypatch.setattr(imports, "wake_imports", wake)
    return found


def upload(name: str = "results.json") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, json.dumps(results([simulation()])).encode())


def test_an_operator_uploads_and_a_worker_reads(client: Client, operator: User, woken: list[int]) -> None:
    client.force_login(operator)
    answer = client.post("/imports/", {"results": [upload("a.json"), upload("b.json")], "replay": "on"})
    assert answer.status_code == 302
    files = list(ImportedFile.objects.order_by("pk"))
    assert [file.pk for file in files] == woken
    assert files[0].options == {"replay": True, "upstream": False}
    page = client.get("/imports/").content.decode()
    assert 'hx-trigger="every 1s"' in page
    for pk in woken:
        import_upload(pk)
    page = client.get("/imports/").content.decode()
    assert "every 1s" not in page
    assert "imported before" in page
    assert f"/runs/{Run.objects.get().pk}/" in page
    assert client.get(f"/imports/{woken[0]}/").status_code == 200


def test_without_a_file_the_form_says_so(client: Client, operator: User) -> None:
    client.force_login(operator)
    answer = client.post("/imports/", {"replay": "on"})
    assert answer.status_code == 422
    assert "Choose at least one file." in answer.content.decode()


def test_a_file_that_is_too_large_names_the_command(client: Client, operator: User, settings: Settings) -> None:
    settings.IMPORT_MAX_BYTES = 10
    client.force_login(operator)
    answer = client.post("/imports/", {"results": [upload()]})
    assert answer.status_code == 422
    assert "manage.py import_runs" in answer.content.decode()
    assert not ImportedFile.objects.exists()


def test_viewers_read_and_do_not_upload(client: Client, viewer: User, woken: list[int]) -> None:
    client.force_login(viewer)
    assert 'id="upload"' not in client.get("/imports/").content.decode()
    client.post("/imports/", {"results": [upload()]})
    assert woken == []


def test_stopping_a_waiting_upload(client: Client, operator: User, woken: list[int]) -> None:
    client.force_login(operator)
    client.post("/imports/", {"results": [upload()]})
    client.post(f"/imports/{woken[0]}/stop/")
    assert ImportedFile.objects.get().state == "cancelled"


def test_the_run_says_where_it_came_from_and_what_is_odd(client: Client, viewer: User, tmp_path: Path) -> None:
    doubled = [simulation(id="a"), simulation(id="b")]
    run = import_path(write(tmp_path, results(doubled), "mine.json")).run
    assert run is not None
    client.force_login(viewer)
    page = client.get(f"/runs/{run.pk}/").content.decode()
    assert "mine.json" in page
    assert "cannot be compared until somebody does" in page
    assert "trial 0 is there 2 times" in page
    assert "Run again" not in page
    assert "Launch one like it" not in page


def test_errors_are_accepted_with_a_reason_by_an_operator(client: Client, operator: User, tmp_path: Path) -> None:
    run = import_path(write(tmp_path, results([simulation(id="a"), simulation(id="b")]))).run
    assert run is not None
    client.force_login(operator)
    client.post(f"/runs/{run.pk}/findings/accept/", {"acceptance": " "})
    assert Finding.objects.filter(run=run, accepted_at=None, severity="error").count() == 1
    client.post(f"/runs/{run.pk}/findings/accept/", {"acceptance": "the second is a restart"})
    found = Finding.objects.get(run=run, severity="error")
    assert (found.accepted_by, found.acceptance) == (operator, "the second is a restart")
    page = client.get(f"/runs/{run.pk}/").content.decode()
    assert "the second is a restart" in page
    assert "cannot be compared" not in page


def test_viewers_accept_nothing(client: Client, viewer: User, tmp_path: Path) -> None:
    run = import_path(write(tmp_path, results([simulation(id="a"), simulation(id="b")]))).run
    assert run is not None
    client.force_login(viewer)
    assert client.post(f"/runs/{run.pk}/findings/accept/", {"acceptance": "x"}).status_code == 403


def test_the_call_page_shows_the_files_verdict_and_hides_times_it_has_not(
    client: Client, viewer: User, tmp_path: Path
) -> None:
    messages = [
        {"role": "user", "content": "<b>Hello</b>"},
        call("get_order_details", {"order_id": "#W1"}),
        answer("Error: none"),
    ]
    one = simulation(messages=messages, start_time=None, duration=None)
    run = import_path(write(tmp_path, results([one]))).run
    assert run is not None
    client.force_login(viewer)
    trial = run.trials.get()
    page = client.get(f"/runs/{run.pk}/trials/{trial.scenario.name}/1/").content.decode()
    assert "No timeline" in page
    assert "0:00" not in page
    assert "&lt;b&gt;Hello&lt;/b&gt;" in page
    assert "as stored in the file" in page
    assert "not asked for" in page
    assert client.get(f"/runs/{run.pk}/trials/{trial.scenario.name}/1/events/?raw=1").status_code == 200


def test_the_run_counts_checks_that_come_out_again(
    client: Client, viewer: User, tmp_path: Path, benchmarks: Path
) -> None:
    expected = [action("get_order_details", {"order_id": "#W1"}), action("get_user_details", {"user_id": "x"}, "0_1")]
    written = {
        "reward": 1.0,
        "db_check": {"db_match": True, "db_reward": 1.0},
        "action_checks": [{"action": one, "action_match": number == 0} for number, one in enumerate(expected)],
        "reward_basis": ["DB"],
    }
    path = write(tmp_path, results([simulation(reward_info=written)], tasks=[task("0", actions=expected)]))
    run = import_path(path, replay=True).run
    assert run is not None
    client.force_login(viewer)
    page = client.get(f"/runs/{run.pk}/").content.decode()
    # Neither call was made: the file's first ruling is wrong, its second is right.
    assert "calls to make: <b>1 of 2</b> come out as stored" in page
    assert Finding.objects.get(run=run, code="checks_differ").severity == "warning"


def test_a_second_import_with_replay_sets_our_checks_beside_the_files(
    client: Client, viewer: User, tmp_path: Path, benchmarks: Path
) -> None:
    written = {
        "reward": 0.0,
        "db_check": {"db_match": True, "db_reward": 1.0},
        "communicate_checks": [{"info": "42", "met": False, "justification": ""}],
        "reward_basis": ["DB", "COMMUNICATE"],
    }
    criteria = {"actions": [], "communicate_info": ["42"], "reward_basis": ["DB", "COMMUNICATE"]}
    tasks = [task("0", evaluation_criteria=criteria)]
    path = write(tmp_path, results([simulation(reward_info=written)], tasks=tasks))
    run = import_path(path).run
    assert run is not None
    client.force_login(viewer)
    assert "facts to say: none compared, 1 in calls" in client.get(f"/runs/{run.pk}/").content.decode()
    import_path(path, replay=True)
    assert "facts to say: <b>1 of 1</b> come out as stored" in client.get(f"/runs/{run.pk}/").content.decode()


def test_an_import_that_died_says_so_in_its_row(client: Client, operator: User) -> None:
    row = ImportedFile.objects.create(name="big.json", state="importing", heartbeat_at=timezone.now() - timedelta(1))
    client.force_login(operator)
    assert "its worker died" in client.get(f"/imports/{row.pk}/").content.decode()
    client.post(f"/imports/{row.pk}/stop/")
    page = client.get(f"/imports/{row.pk}/").content.decode()
    assert "cancelled" in page
    assert "hx-trigger" not in page
