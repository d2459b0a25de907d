"""Files that people take from runs and calls, and the menus that offer them."""

import io
import json
import zipfile
from unittest.mock import patch

import pytest
from defusedxml import ElementTree
from django.contrib.auth.models import User
from django.http import FileResponse, HttpResponse
from django.test import Client

from scenarios.formats.exports.form import CannotExport
from scenarios.formats.exports.registry import CALL_FORMATS, RUN_FORMATS
from scenarios.models import Run
from tests.factories import make_run, make_scenario
from tests.scenarios.formats.stored import NAMES, stored_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader(client: Client, viewer: User) -> Client:
    client.force_login(viewer)
    return client


def fetch(client: Client, address: str) -> tuple[bytes, HttpResponse | FileResponse]:
    """Return a file and its response."""
    response = client.get(address)
    assert response.status_code == 200, response.content
    assert isinstance(response, FileResponse)
    return b"".join(response), response


@pytest.mark.parametrize("name", RUN_FORMATS)
def test_a_run_in_every_form(reader: Client, name: str) -> None:
    run = stored_run()
    data, response = fetch(reader, f"/runs/{run.pk}/export/{name}/")
    form = RUN_FORMATS[name]
    assert data
    assert response["Content-Type"] == form.media_type
    assert response["Content-Disposition"] == f'attachment; filename="run-{run.pk}{form.suffix}"'
    if form.suffix.endswith((".zip", ".eval")):
        assert zipfile.ZipFile(io.BytesIO(data)).testzip() is None
    elif form.suffix.endswith(".json"):
        json.loads(data)


@pytest.mark.parametrize("name", CALL_FORMATS)
def test_a_call_in_every_form(reader: Client, name: str) -> None:
    run = stored_run()
    data, response = fetch(reader, f"/runs/{run.pk}/trials/{NAMES[0]}/1/export/{name}/")
    assert data
    suffix = CALL_FORMATS[name].suffix
    assert response["Content-Disposition"] == f'attachment; filename="run-{run.pk}-{NAMES[0]}-t1{suffix}"'
    if name in ("vtt", "srt", "jsonl"):
        assert b"Line 1." in data


def test_the_filter_of_the_page_chooses_what_is_in_the_file(reader: Client) -> None:
    run = make_run(6, 1, ("pass", "fail", "stalled"))
    data, _ = fetch(reader, f"/runs/{run.pk}/export/junit/?outcome=fail&page=2")
    (suite,) = ElementTree.fromstring(data)
    assert (suite.get("tests"), suite.get("failures")) == ("2", "2")
    assert suite.get("name") == f"run {run.pk} (only outcome fail)"


def test_a_filter_that_is_mistyped_gives_no_file(reader: Client) -> None:
    run = make_run(2, 1, ("pass",))
    response = reader.get(f"/runs/{run.pk}/export/junit/?outcome=failed")
    assert response.status_code == 400
    assert b"There is no outcome" in response.content


def test_nothing_to_export_is_said_and_not_an_empty_file(reader: Client) -> None:
    run = make_run(2, 1, ("queued",))
    response = reader.get(f"/runs/{run.pk}/export/trials-csv/")
    assert (response.status_code, b"no ended call yet" in response.content) == (409, True)
    run = make_run(2, 1, ("pass",))
    response = reader.get(f"/runs/{run.pk}/export/trials-csv/?outcome=fail")
    assert (response.status_code, b"no ended call that is outcome fail" in response.content) == (409, True)


def test_a_form_that_cannot_hold_a_run_says_why(reader: Client) -> None:
    scenarios = [make_scenario(name, "tau2_telecom") for name in ("tau2_telecom__a", "tau2_telecom_workflow__a")]
    run = make_run(scenarios, 1, ("pass",), domain="tau2_telecom")
    response = reader.get(f"/runs/{run.pk}/export/tau2/")
    assert (response.status_code, b"a tau2 file holds one domain" in response.content) == (409, True)


def test_a_failure_half_way_is_no_download(reader: Client) -> None:
    run = stored_run()
    with patch("scenarios.formats.exports.junit._case", side_effect=CannotExport("it broke")):
        response = reader.get(f"/runs/{run.pk}/export/junit/")
    assert (response.status_code, response.content) == (409, b"it broke.")


@pytest.mark.parametrize(
    "address", ["/runs/99/export/junit/", "/runs/{run}/export/nonsense/", "/runs/{run}/trials/toy__9/1/export/vtt/"]
)
def test_what_is_not_there_is_not_found(reader: Client, address: str) -> None:
    run = make_run(1, 1, ("pass",))
    assert reader.get(address.format(run=run.pk)).status_code == 404


def test_files_are_for_people_who_signed_in_and_are_only_read(client: Client, viewer: User) -> None:
    run = make_run(1, 1, ("pass",))
    assert client.get(f"/runs/{run.pk}/export/junit/").status_code == 302
    client.force_login(viewer)
    assert client.post(f"/runs/{run.pk}/export/junit/").status_code == 405


def menu(client: Client, run: Run, query: str = "") -> str:
    page = client.get(f"/runs/{run.pk}/{query}").content.decode()
    return page[page.index('class="menu exports"') : page.index("Configuration, JSON")]


def test_the_menu_offers_every_form_with_what_it_cannot_hold(reader: Client) -> None:
    run = make_run(2, 1, ("pass", "queued"))
    text = menu(reader, run)
    for form in RUN_FORMATS.values():
        assert f'href="/runs/{run.pk}/export/{form.name}/"' in text
        assert form.title in text
    assert "The call that has ended." in text
    assert "no conversation: outcomes, reasons and failed claims only" in text


def test_the_menu_carries_the_filter_of_the_page(reader: Client) -> None:
    run = make_run(2, 1, ("pass", "fail"))
    text = menu(reader, run, "?outcome=fail&q=toy&page=1")
    assert "Only ended calls with outcome fail, scenarios with &#x27;toy&#x27;" in text
    assert f'href="/runs/{run.pk}/export/junit/?outcome=fail&amp;q=toy"' in text


def test_the_menu_says_when_there_is_nothing_yet(reader: Client) -> None:
    assert "No call has ended yet" in menu(reader, make_run(1))


def test_the_call_page_offers_transcripts_and_says_what_their_times_are(reader: Client) -> None:
    run = stored_run()
    page = reader.get(f"/runs/{run.pk}/trials/{NAMES[0]}/1/").content.decode()
    for name in CALL_FORMATS:
        assert f'href="/runs/{run.pk}/trials/{NAMES[0]}/1/export/{name}/"' in page
    assert "Times are those of messages on the text channel" in page
