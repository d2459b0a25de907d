"""From the list of runs to a pair of calls with the keyboard alone, on a desk and on a phone."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from scenarios.models import Run
from tests.browser.conftest import expect_no_wider
from tests.calls import Call, exchange_call, score_exchange
from tests.factories import make_run, make_scenarios

pytestmark = pytest.mark.browser
Open = Callable[[User, str], Page]


@pytest.fixture
def runs(transactional_db: None) -> tuple[Run, Run]:
    scenarios = make_scenarios(4)
    before = make_run(scenarios, 1, ["pass"], title="before")
    after = make_run(scenarios, 1, ["fail", "fail", "pass", "pass"], title="after")
    left, right = (run.trials.get(scenario__name="toy__1") for run in (before, after))
    for trial in (left, right):
        trial.last_seq = 0
    Call(left).begin().turn("agent", "Hello").tool("get_order_details", {"order_id": "#W1"}).end("pass", "")
    exchange_call(right).end()
    score_exchange(right)
    return before, after


def test_keys_lead_from_the_list_to_a_pair(runs: tuple[Run, Run], open_as: Open, viewer: User) -> None:
    before, after = runs
    page = open_as(viewer, "/runs/")
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.get_by_role("checkbox", checked=True)).to_have_count(2)
    page.keyboard.press("c")
    page.wait_for_url(f"**/compare/?runs={before.pk},{after.pk}")
    expect(page.get_by_role("heading", name="Newly failing 2")).to_be_visible()
    page.keyboard.press("j")
    expect(page.locator("tr.selected")).to_contain_text("toy__1")
    page.keyboard.press("Enter")
    page.wait_for_url("**/compare/pair/**")
    expect(page.locator(".pair-row.changed")).to_have_count(1)
    page.keyboard.press("f")
    expect(page.locator(".pair-row.selected")).to_contain_text("get_order_details")
    page.keyboard.press("u")
    page.wait_for_url(f"**/compare/?runs={before.pk},{after.pk}")


def test_a_phone_shows_both_sides_stacked(runs: tuple[Run, Run], open_as: Open, viewer: User) -> None:
    before, after = runs
    page = open_as(viewer, f"/compare/?runs={before.pk},{after.pk}")
    page.set_viewport_size({"width": 390, "height": 844})
    expect_no_wider(page)
    page.locator("#set-newly_failing a.cover").first.click()
    page.wait_for_url("**/compare/pair/**")
    expect_no_wider(page)
    left, right = (page.locator(".pair-row.changed > div").nth(side).bounding_box() for side in (0, 1))
    assert left is not None
    assert right is not None
    assert right["y"] >= left["y"] + left["height"]


def test_a_trend_is_drawn_and_its_points_lead_to_runs(runs: tuple[Run, Run], open_as: Open, viewer: User) -> None:
    page = open_as(viewer, "/trends/?domain=toy")
    point = page.locator("figure.trend circle").first
    expect(point).to_be_visible()
    expect(page.locator("figure.trend path.line").first).not_to_have_css("stroke", "none")
    point.click()
    page.wait_for_url(f"**/runs/{runs[0].pk}/")
