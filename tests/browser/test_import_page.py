"""From a file on one's desk to its run with the keyboard, on a desk and on a phone."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from scenarios.importing import import_waiting
from scenarios.models import ImportedFile, Run
from tests.browser.conftest import expect_no_wider
from tests.scenarios.formats.imports.files import results, simulation, write

pytestmark = pytest.mark.browser
Open = Callable[[User, str], Page]


def test_files_are_uploaded_and_lead_to_their_run(open_as: Open, operator: User, tmp_path: Path) -> None:
    good = write(tmp_path, results([simulation(), simulation(id="s2", trial=0)]), "good.json.gz")
    name = "<img src=x onerror=alert(1)> and a name that is much longer than a column of a phone is wide.json"
    bad = write(tmp_path, b'{"info": ' + b"[" * 5000, name)
    page = open_as(operator, "/imports/")
    page.get_by_label("Files:").set_input_files([good, bad])
    page.get_by_label("run their tool calls again").uncheck()
    page.get_by_role("button", name="Import").press("Enter")
    expect(page.get_by_text("Uploaded 2; a worker reads them now.")).to_be_visible()
    expect(page.get_by_role("row", name="waiting")).to_have_count(2)

    # What a worker does; the page asks for open rows by itself.
    import_waiting()
    expect(page.get_by_role("row", name="good.json.gz")).to_contain_text("imported")
    expect(page.get_by_role("row", name="onerror")).to_contain_text("nested more than 200 deep")
    expect(page.locator("tr[hx-get]")).to_have_count(0)
    page.set_viewport_size({"width": 390, "height": 844})
    expect_no_wider(page)

    page.get_by_role("link", name="#").press("Enter")
    run = Run.objects.get()
    page.wait_for_url(f"**/runs/{run.pk}/")
    # Two calls are trial 0: nobody compares this run before a person has said why that may be.
    page.get_by_label("Why they may stand").fill("the second is a restart")
    page.get_by_label("Why they may stand").press("Enter")
    expect(page.get_by_text("can be compared now")).to_be_visible()
    expect_no_wider(page)


def test_an_upload_is_stopped_from_its_row(open_as: Open, operator: User, tmp_path: Path) -> None:
    page = open_as(operator, "/imports/")
    page.get_by_label("Files:").set_input_files(write(tmp_path, results([simulation()])))
    page.get_by_role("button", name="Import").press("Enter")
    page.get_by_role("button", name="Stop").press("Enter")
    expect(page.get_by_role("row", name="results.json")).to_contain_text("stopped before it was read")
    assert import_waiting() == []
    assert ImportedFile.objects.get().state == "cancelled"
