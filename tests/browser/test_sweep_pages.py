"""Launching a sweep and watching its cells change, in a real browser."""

import re
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from scenarios import catalogue
from scenarios.models import Run
from scenarios.profiles import load_standins
from tests.browser.conftest import Complaints, Site
from tests.factories import make_run

pytestmark = pytest.mark.browser
Open = Callable[[User, str], Page]


@pytest.fixture
def _frontdesk(transactional_db: None) -> None:
    catalogue.sync()
    load_standins()


@pytest.mark.usefixtures("_frontdesk")
def test_a_sweep_is_launched_from_the_form(open_as: Open, operator: User) -> None:
    page = open_as(
        operator, "/runs/new?domain=frontdesk&agent=standin-faithful&caller=standin-caller&judge=standin-judge"
    )
    expect(page.locator("#summary .figure")).to_have_text("12")
    page.locator("#id_trials").fill("2")
    expect(page.locator("#summary .figure")).to_have_text("24")
    page.locator("#id_sample").fill("3")
    expect(page.locator("#summary .figure")).to_have_text("6")
    expect(page.locator("#summary pre")).to_contain_text("--sample 3 --seed 1")
    page.locator("#id_title").fill("From the browser")
    page.get_by_role("button", name="Launch", exact=True).click()
    page.wait_for_url("**/runs/*/")
    run = Run.objects.get()
    assert (run.title, run.trial_count) == ("From the browser", 6)
    expect(page.locator(".grid .cell")).to_have_count(6)


@pytest.mark.usefixtures("_frontdesk")
def test_a_bad_form_keeps_what_was_typed(open_as: Open, operator: User, complaints: Complaints) -> None:
    complaints.expect("422")
    page = open_as(operator, "/runs/new?domain=frontdesk&agent=standin-faithful&caller=standin-caller")
    page.locator("#id_ids").fill("frontdesk__nothing")
    expect(page.locator("#summary")).to_contain_text("has no scenario frontdesk__nothing")
    page.get_by_role("button", name="Launch", exact=True).click()
    expect(page.get_by_role("alert").first).to_contain_text("Not launched")
    expect(page.locator("#id_ids")).to_have_value("frontdesk__nothing")
    expect(page.locator("#id_ids")).to_have_attribute("aria-invalid", "true")
    assert not Run.objects.exists()


@pytest.mark.usefixtures("_frontdesk")
def test_a_double_click_launches_once(open_as: Open, operator: User) -> None:
    page = open_as(operator, "/runs/new?domain=frontdesk&agent=standin-faithful&caller=standin-caller&sample=1")
    expect(page.locator("#summary .figure")).to_have_text("1")
    page.get_by_role("button", name="Launch", exact=True).dblclick()
    # The second click may break off what the first began to load.
    expect(page).to_have_url(re.compile(r"/runs/\d+/$"))
    page.wait_for_load_state("networkidle")
    assert Run.objects.count() == 1


@pytest.mark.usefixtures("_frontdesk")
def test_another_domain_brings_its_own_choices_and_keeps_the_rest(open_as: Open, operator: User) -> None:
    page = open_as(operator, "/runs/new?domain=frontdesk&trials=4")
    # Asked of the page: other tests register toy domains in this process, which the server knows nothing of.
    options = page.locator("#id_domain option:not([value=frontdesk])")
    if not options.count():
        pytest.skip("only one domain can be used here: fetch_benchmarks brings others")
    other = options.first.get_attribute("value")
    page.locator("#id_domain").select_option(other)
    page.wait_for_url(f"**/runs/new?*domain={other}*")
    expect(page.locator("#id_trials")).to_have_value("4")


@pytest.fixture
def going(transactional_db: None) -> Run:
    return make_run(4, 2, ["pass", "running", "queued", "queued"], title="Going on")


def end(run: Run, outcome: str) -> int:
    """End the run's first open call as a lane would, for the page's eyes."""
    trial = run.trials.filter(status="running")[0]
    run.trials.filter(pk=trial.pk).update(status="done", outcome=outcome, duration_ms=61_000, ended_at=trial.started_at)
    return trial.pk


def test_cells_change_where_they_stand(going: Run, open_as: Open, viewer: User) -> None:
    page = open_as(viewer, f"/runs/{going.pk}/")
    expect(page.locator("#connection")).to_have_attribute("data-state", "live")
    page.evaluate(
        "window.shift = 0; new PerformanceObserver((list) => list.getEntries().forEach((e) => window.shift += e.value))"
        ".observe({ type: 'layout-shift' })"
    )
    cell = page.locator(f"#cell-{going.trials.filter(status='running')[0].pk}")
    cell.focus()
    box = cell.bounding_box()
    end(going, "fail")
    expect(cell).to_contain_text("Fail")
    expect(cell).to_be_focused()
    expect(page.locator("#headline")).to_contain_text("3 of 8 ended")
    expect(page.locator("#headline .rate.large")).to_contain_text("2/3")
    assert cell.bounding_box() == box
    assert page.evaluate("window.shift") == 0


def test_a_page_that_lost_its_server_shows_the_cells_as_they_are(
    going: Run, site: Site, open_as: Open, viewer: User, complaints: Complaints
) -> None:
    complaints.expect_outage()
    page = open_as(viewer, f"/runs/{going.pk}/")
    expect(page.locator("#connection")).to_have_attribute("data-state", "live")
    site.kill()
    expect(page.locator("#connection")).to_have_attribute("data-state", "lost")
    pk = end(going, "pass")
    site.start()
    expect(page.locator(f"#cell-{pk}")).to_contain_text("Pass")


def test_cancelling_asks_first_and_says_what_is_lost(going: Run, open_as: Open, operator: User) -> None:
    page = open_as(operator, f"/runs/{going.pk}/")
    page.get_by_text("Cancel…").click()
    expect(page.get_by_text("6 of 8 calls have not ended")).to_be_visible()
    page.get_by_role("heading", name="Going on").click()
    expect(page.get_by_role("button", name="Cancel 6 calls")).to_be_hidden()
    assert Run.objects.get().cancel_requested_at is None
    page.get_by_text("Cancel…").click()
    page.get_by_role("button", name="Cancel 6 calls").click()
    expect(page.locator(".notice").first).to_contain_text(f"Cancelled run {going.pk}: 6 calls")
    assert Run.objects.get().cancelled_by == operator


@pytest.mark.usefixtures("_frontdesk")
def test_prompts_open_in_place_and_in_the_address(open_as: Open, viewer: User) -> None:
    spec = catalogue.specs("frontdesk")[0]
    page = open_as(viewer, f"/scenarios/frontdesk/{spec.name}/")
    page.get_by_role("link", name="Show both prompts").click()
    expect(page.locator("#prompts pre")).to_have_count(2)
    expect(page).to_have_url(re.compile(r"\bshow=prompts\b"))
    page.reload()
    expect(page.locator("#prompts pre")).to_have_count(2)
