"""Reviewing in a real browser: two people by keyboard alone, blind, and the adjudicator who settles their dispute."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import BrowserContext, Page, expect

from scenarios.models import Review, ReviewQueue, Run, Trial
from tests.browser.conftest import Complaints, Site, expect_no_wider
from tests.evalsite.pages.reviewing import queue_of, reviewed_run

pytestmark = pytest.mark.browser
Make = Callable[[str, str], User]
OpenTab = Callable[[User, str], Page]
REASON = "Only one shirt is ever spoken of"


@pytest.fixture
def run(transactional_db: None) -> Run:
    return reviewed_run(1)


@pytest.fixture
def queue(run: Run) -> ReviewQueue:
    return queue_of(run, reviews_per_item=2)


@pytest.fixture
def tab(site: Site, new_context: Callable[..., BrowserContext], complaints: Complaints) -> OpenTab:
    """Return an opener of tabs, each in a browser of its own: ``tab(user, "/review/1/")``."""

    def open_tab(user: User, path: str) -> Page:
        client = Client()
        client.force_login(user)
        own = new_context(viewport={"width": 1280, "height": 900})
        own.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": site.url}])
        page = own.new_page()
        complaints.watch(page)
        page.goto(site.url + path)
        return page

    return open_tab


def press(page: Page, key: str, then: str) -> None:
    """Press a key and wait for the stage that follows on the same item or the next."""
    page.keyboard.press(key)
    expect(page.locator("#case")).to_have_attribute("data-stage", then)


def test_two_reviewers_and_an_adjudicator(run: Run, queue: ReviewQueue, person: Make, tab: OpenTab) -> None:
    ann, ben, olga = person("reviewer", "ann"), person("reviewer", "ben"), person("operator", "olga")
    watching = tab(olga, f"/runs/{run.pk}/")
    expect(watching.locator("#connection")).to_have_attribute("data-state", "ended")
    expect(watching.locator("#headline .rate.large")).to_contain_text("0/1")

    one, other = tab(ann, f"/review/{queue.pk}/"), tab(ben, f"/review/{queue.pk}/")
    for page in (one, other):
        expect(page.locator("#claim")).to_have_text("The agent says the material of both shirts.")
        expect(page.locator("body")).not_to_contain_text(REASON)

    # Ann overrules the judge; whoever watches the run sees it at once.
    press(one, "1", "revealed")
    expect(one.locator("#reveal")).to_contain_text(REASON)
    one.keyboard.press("Enter")
    expect(one.locator("#claim")).to_have_text("The agent says that an e-mail will come.")
    expect(one.locator("#progress")).to_have_text("1 of 6 reviews · 1 by you")
    expect(watching.locator("#headline .rate.large")).to_contain_text("1/1")
    expect(watching.locator("#headline")).to_contain_text("1 of 3 claims overruled by people; 1 call changed to pass")
    expect(watching.locator("#headline")).to_contain_text("As judged, before that: 0.0 % 0/1")
    cell = watching.locator(f"#cell-{Trial.objects.get().pk}")
    expect(cell).to_contain_text("Pass")
    expect(cell).to_contain_text("✎")

    # Ben cannot tell, has to say why, and decides otherwise once he has seen the judge's reason.
    other.keyboard.press("3")
    expect(other.locator("#comment")).to_be_focused()
    other.keyboard.type("which shirts")
    press(other, "Control+Enter", "revealed")
    expect(other.locator("#reveal")).to_contain_text("which shirts")
    other.keyboard.press("2")
    expect(other.locator("#comment")).to_be_focused()
    other.keyboard.type("turn 5 speaks of one")
    press(other, "Control+Enter", "blind")
    expect(watching.locator("#headline .rate.large")).to_contain_text("0/1")

    # The adjudicator reads both and settles it, and the history has all of it.
    desk = tab(olga, "/review/adjudicate/")
    expect(desk.locator(".position")).to_have_count(3)
    desk.keyboard.press("1")
    expect(desk.locator("#comment")).to_be_focused()
    desk.keyboard.type("The order names both.")
    desk.keyboard.press("Control+Enter")
    expect(desk.locator("#desk")).to_contain_text("No disagreement waits for you.")
    expect(watching.locator("#headline .rate.large")).to_contain_text("1/1")
    trial = Trial.objects.get()
    call = tab(olga, f"/runs/{run.pk}/trials/{trial.scenario.name}/1/")
    expect(call.locator("#head")).to_contain_text("overruled to pass by olga")
    call.locator("#claim-1 .history summary").click()
    expect(call.locator("#claim-1 .history li")).to_have_count(5)
    expect(call.locator('#rows [data-kind="outcome.revised"]').last).to_contain_text("Outcome revised")


def test_keys_lead_to_the_evidence_and_back(queue: ReviewQueue, person: Make, tab: OpenTab) -> None:
    page = tab(person("reviewer", "ann"), f"/review/{queue.pk}/")
    # A held key is one press, and none of them is lost to the frame's own keys.
    page.keyboard.press("n")
    expect(page.locator("#claim")).to_have_text("The agent says that an e-mail will come.")
    expect(page.locator("#places")).to_contain_text("same words as the claim")
    press(page, "1", "revealed")
    expect(page.locator("#turn-5")).to_be_in_viewport()
    expect(page.locator("#turn-5")).to_have_class("row level-talk side-agent turn interrupted quoted pointed")
    page.wait_for_function("String([...CSS.highlights.get('evidence')]) === 'You will get an e-mail.'")
    page.keyboard.press("z")
    expect(page.locator(".notice").first).to_contain_text("Taken back.")
    expect(page.locator("#reveal")).to_contain_text("this one is not blind")
    page.keyboard.press("1")
    expect(page.locator("#claim")).to_have_text("The agent confirms the address.")
    assert list(Review.objects.values_list("stage", "ruling")) == [
        ("blind", "pass"),
        ("blind", "withdrawn"),
        ("revealed", "pass"),
    ]
    page.keyboard.press("g")
    page.keyboard.press("v")
    page.wait_for_url("**/review/")


def test_what_is_typed_outlives_page_and_lease(queue: ReviewQueue, person: Make, tab: OpenTab) -> None:
    page = tab(person("reviewer", "ann"), f"/review/{queue.pk}/")
    page.keyboard.press("c")
    expect(page.locator("#comment")).to_be_focused()
    page.keyboard.type("half a thought")
    expect(page.locator("#lease")).to_have_text("comment kept")
    page.keyboard.type(" and the other")
    page.reload()
    expect(page.locator("#comment")).to_have_value("half a thought and the other")
    page.goto(page.url.replace(f"/review/{queue.pk}/", "/review/"))
    page.go_back()
    expect(page.locator("#comment")).to_have_value("half a thought and the other")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_one_screen_on_a_desk_and_no_sideways_scrolling_on_a_phone(
    scheme: str, queue: ReviewQueue, person: Make, tab: OpenTab
) -> None:
    page = tab(person("operator", "olga"), f"/review/{queue.pk}/")
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    for stage in ("blind", "revealed"):
        page.wait_for_function("document.documentElement.scrollHeight <= 900")
        expect(page.locator("#ruling")).to_be_in_viewport(ratio=1)
        page.wait_for_function("document.getElementById('scroller').getBoundingClientRect().height > 200")
        if stage == "blind":
            press(page, "1", "revealed")
    page.set_viewport_size({"width": 390, "height": 844})
    for path in ("/review/", "/review/new/", f"/review/{queue.pk}/", "/review/adjudicate/"):
        page.goto(page.url.split("/review/")[0] + path)
        expect_no_wider(page)
        assert page.evaluate("innerWidth") == 390, path
