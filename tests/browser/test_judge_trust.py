"""From a run's folded panels to whose fault a call is and back, and a judge's page, on a desk and on a phone."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from scenarios.events import CallEnded
from tests.browser.conftest import expect_no_wider
from tests.evalsite.labelled import judge_version, judged_run, label
from tests.scenarios.test_faults import front_run, held

pytestmark = pytest.mark.browser
Open = Callable[[User, str], Page]


def test_a_persons_word_on_a_call_changes_the_runs_bounds(
    transactional_db: None, open_as: Open, reviewer: User
) -> None:
    run = front_run(2)
    first, second = run.trials.order_by("pk")
    held(first)
    held(second, CallEnded("end_tool", "user", 9000))
    page = open_as(reviewer, f"/runs/{run.pk}/")
    panel = page.locator("#open-faults")
    expect(panel.locator("#faults")).to_have_count(0)
    panel.locator("summary").click()
    # The records are read without another press, and the panel follows.
    expect(panel.locator(".sides-table")).to_contain_text("agent1")
    expect(panel.get_by_text("not attributed yet")).to_have_count(0)
    panel.get_by_role("link", name="undecided").click()
    page.wait_for_url("**fault=undecided**")
    page.goto(page.url.split("/runs/")[0] + f"/runs/{run.pk}/trials/{second.scenario.name}/{second.number}/?tab=fault")
    page.get_by_label("It is the fault of").select_option("caller")
    page.get_by_role("textbox", name="Why").fill("It hung up.")
    page.get_by_role("button", name="Say so").click()
    expect(page.locator("#fault-body")).to_contain_text("Now: simulated caller, by a person: It hung up.")
    page.goto(page.url.split("/runs/")[0] + f"/runs/{run.pk}/?open=faults")
    expect(page.locator(".sides-table")).to_contain_text("simulated caller1")
    page.set_viewport_size({"width": 390, "height": 844})
    expect_no_wider(page)


def test_a_judges_page_leads_to_its_worst_disagreement_and_fits_a_phone(
    transactional_db: None, open_as: Open, viewer: User
) -> None:
    run = judged_run(10)
    label(run)
    page = open_as(viewer, f"/judges/{judge_version().pk}/?run={run.pk}")
    expect(page.locator("#trust")).to_contain_text("Not decided yet")
    page.set_viewport_size({"width": 390, "height": 844})
    expect_no_wider(page)
    page.locator(".worst a.cover").first.click()
    page.wait_for_url("**/trials/**#claim-*")
    page.goto(page.url.split("/runs/")[0] + f"/runs/{run.pk}/?open=judge")
    expect(page.locator("#corrected")).to_contain_text("As judged")
    expect_no_wider(page)
