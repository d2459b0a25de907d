"""The page of a call that has ended while people rule on its claims elsewhere, and who settles what they dispute."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Page, expect

from scenarios.events import Noted
from scenarios.lifecycle.record import note
from scenarios.models import Review, Trial
from scenarios.reviewing import adjudicate
from tests.browser.conftest import Complaints, Site
from tests.evalsite.pages.reviewing import desk_of, queue_of, reviewed_run

pytestmark = pytest.mark.browser


def test_what_people_rule_comes_in_its_place(
    site: Site, page: Page, complaints: Complaints, person: Callable[[str, str], User], transactional_db: None
) -> None:
    trial = reviewed_run(1).trials.get()
    queue = queue_of(trial.run, reviews_per_item=2)
    ann, ben, olga = person("reviewer", "ann"), person("reviewer", "ben"), person("operator", "olga")
    client = Client()
    client.force_login(olga)
    page.context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": site.url}])
    complaints.watch(page)
    page.goto(f"{site.url}/runs/{trial.run_id}/trials/{trial.scenario.name}/1/")
    expect(page.locator("#outcome")).to_have_text("Fail")
    page.locator("#tab-prompts summary").click()
    top = page.locator("#scroller").evaluate("box => box.scrollTop")

    # The first reviewer overrules: head and claim say so, whatever else is open stays so.
    desk_of(ann, queue).rule("pass").rule("pass")
    expect(page.locator("#outcome")).to_have_text("Pass")
    expect(page.locator("#head")).to_contain_text("overruled to pass by ann")
    expect(page.locator("#claim-1")).to_contain_text("Overruled by reviewer ann")
    expect(page.locator("#rows [data-kind='outcome.revised']").last).to_contain_text("Outcome revised")
    expect(page.locator("#tab-prompts")).to_have_attribute("open", "")
    page.locator("#claim-1 .history summary").click()
    assert page.locator("#scroller").evaluate("box => box.scrollTop") == top

    # The second sees it otherwise, and the adjudicator settles it, though the outcome is the judge's again.
    desk_of(ben, queue).rule("fail").rule("fail")
    expect(page.locator("#claim-1")).to_contain_text("Reviewers disagree")
    expect(page.locator("#outcome")).to_have_text("Fail")
    expect(page.locator("#claim-1 .history")).to_have_attribute("open", "")
    # Another judge's rulings are saved.
    Trial.objects.update(outcome="stalled", outcome_reason="as another judge has it")
    note(Trial.objects.all(), Noted(level="info", text="Judged again by strict (batch 1), saved by olga."))
    expect(page.locator("#outcome")).to_have_text("Stalled")
    expect(page.locator("#head")).to_contain_text("as another judge has it")
    verdict = Trial.objects.get().verdicts.get(signal="nl_assertion", index=1)
    adjudicate(verdict, olga, "fail", "neither shirt is named")
    expect(page.locator("#claim-1")).to_contain_text("Confirmed by adjudicator olga")
    expect(page.locator("#claim-1")).to_contain_text("neither shirt is named")


def test_an_adjudicators_reason_is_typed_before_anything_is_sent(
    site: Site, page: Page, complaints: Complaints, person: Callable[[str, str], User], transactional_db: None
) -> None:
    trial = reviewed_run(1).trials.get()
    desk_of(person("reviewer", "ann"), queue_of(trial.run)).rule("pass").rule("pass")
    client = Client()
    client.force_login(person("operator", "olga"))
    page.context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": site.url}])
    complaints.watch(page)
    page.goto(f"{site.url}/review/adjudicate/")
    # At once: letters typed while the server answers would be keys of the desk, and u leaves it.
    page.keyboard.press("1")
    page.keyboard.type("u and I heard it")
    expect(page.locator("#comment")).to_have_value("u and I heard it")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#desk")).to_contain_text("No disagreement waits for you.")
    assert Review.objects.get(rater="olga").comment == "u and I heard it"
