"""Reading an ended call in a real browser: from a verdict to its cause and back, however long or hostile the call."""

import re
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from scenarios.models import Run, Trial
from tests.browser.conftest import Complaints, Site, expect_address, expect_no_wider, expect_pointed
from tests.calls import Call, exchange_call, score_exchange
from tests.factories import make_run, make_trial

pytestmark = pytest.mark.browser
Open = Callable[[User, str], Page]
ATTACK = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"


def address(trial: Trial) -> str:
    return f"/runs/{trial.run_id}/trials/{trial.scenario.name}/{trial.number}/"


@pytest.fixture
def run(transactional_db: None) -> Run:
    return make_run(1, trials=3, outcomes=["fail"])


@pytest.fixture
def failed(run: Run) -> Trial:
    trial = run.trials.order_by("position")[1]
    trial.last_seq = 0
    exchange_call(trial).end()
    score_exchange(trial)
    return trial


def test_a_wrong_field_leads_to_the_call_that_wrote_it_and_back(failed: Trial, open_as: Open, viewer: User) -> None:
    page = open_as(viewer, address(failed))
    field = page.locator(".field.wrong", has_text="exchange_items")
    field.get_by_role("link", name="call 3").click()
    expect(page.locator("#call-3")).to_be_in_viewport()
    expect(page.locator("#call-3")).to_be_focused()
    expect_address(page, "#call-3")
    expect_pointed(page, "call-3")
    page.locator("#call-3").get_by_role("link", name="wrong: exchange_items").click()
    expect(field).to_be_in_viewport()
    expect_address(page, f"#{field.get_attribute('id')}")
    page.go_back()
    expect_pointed(page, "call-3")


def test_a_claim_gives_its_reason_and_leads_to_its_evidence(failed: Trial, open_as: Open, viewer: User) -> None:
    page = open_as(viewer, address(failed) + "#claim-1")
    claim = page.locator("#claim-1")
    expect(claim).to_be_in_viewport()
    expect(claim).to_contain_text("Only one shirt is ever spoken of.")
    expect(claim).to_contain_text("not in the record")
    claim.get_by_role("link", name="turn 5").click()
    expect(page.locator("#turn-5")).to_be_in_viewport()
    expect_pointed(page, "turn-5")


def test_a_remark_leads_to_its_turn_and_the_turn_back_to_it(failed: Trial, open_as: Open, viewer: User) -> None:
    """B13: the mark stands on the transcript, with the remark one click away."""
    page = open_as(viewer, address(failed))
    turn, remark = page.locator("#turn-2"), page.locator("#remarks li", has_text="2378156")
    expect(turn.get_by_role("link", name="made up?")).to_be_visible()
    remark.get_by_role("link", name="turn 2").click()
    expect(turn).to_be_in_viewport()
    expect_pointed(page, "turn-2")
    turn.get_by_role("link", name="made up?").click()
    expect(remark).to_be_in_viewport()


def test_the_keyboard_walks_evidence_turns_and_failed_calls(failed: Trial, open_as: Open, viewer: User) -> None:
    page = open_as(viewer, address(failed))
    page.keyboard.press("e")
    expect_pointed(page, "turn-5")
    page.keyboard.press("]")
    expect_pointed(page, "turn-6")
    page.keyboard.press("[")
    page.keyboard.press("[")
    expect_pointed(page, "call-3")
    page.keyboard.press("/")
    page.keyboard.type("jfe")
    expect(page.locator("#search")).to_have_value("jfe")
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    page.wait_for_url(f"**/trials/{failed.scenario.name}/3/")


def test_filters_and_tabs_live_in_the_address(failed: Trial, open_as: Open, viewer: User) -> None:
    page = open_as(viewer, address(failed))
    expect(page.locator(".level-quiet").first).to_be_hidden()
    page.get_by_role("link", name="Everything").click()
    expect(page.locator(".level-quiet").first).to_be_visible()
    page.get_by_text("Prompts and tools").click()
    expect(page.get_by_text("You are the agent.")).to_be_visible()
    expect(page).to_have_url(re.compile(r"\bshow=all\b"))
    expect(page).to_have_url(re.compile(r"\btab=prompts\b"))
    page.reload()
    expect(page.get_by_text("You are the agent.")).to_be_visible()
    expect(page.locator(".level-quiet").first).to_be_visible()


def test_the_judges_exchange_and_the_raw_events_come_on_demand(failed: Trial, open_as: Open, viewer: User) -> None:
    page = open_as(viewer, address(failed))
    page.get_by_text("Judge's request and reply").click()
    expect(page.get_by_text('{"score": 0.5}')).to_be_visible()
    page.get_by_text("Raw events").click()
    expect(page.locator("#tab-raw")).to_contain_text("attempt.started")


def test_the_timeline_leads_into_the_transcript(failed: Trial, open_as: Open, viewer: User) -> None:
    page = open_as(viewer, address(failed))
    page.locator("#marks a[href='#turn-4'] rect").click()
    expect_pointed(page, "turn-4")


def test_hostile_text_and_a_result_of_200_kb_are_shown_as_text(
    transactional_db: None, open_as: Open, viewer: User
) -> None:
    trial = make_trial(state="running", last_seq=0)
    call = Call(trial).begin().turn("user", f"{ATTACK}\x1b[31m\u202egnp.exe", f"{ATTACK} heard")
    call.tool(ATTACK, {ATTACK: ATTACK}, f"{ATTACK}{'y' * 200_000}THE END")
    page = open_as(viewer, address(trial))
    expect(page.locator("#turn-1")).to_contain_text("<script>window.hacked = 1</script>")
    expect(page.locator("#turn-1")).to_contain_text("⟦U+001B⟧[31m⟦U+202E⟧gnp.exe")
    call.turn("agent", ATTACK)
    expect(page.locator("#turn-2")).to_contain_text("<img src=x")
    result = page.locator(".tool.returned")
    expect(result).not_to_contain_text("THE END")
    result.locator("summary").click()
    expect(result.locator("pre")).to_contain_text("THE END")
    assert page.evaluate("window.hacked") is None


def test_a_call_of_3000_events_with_20_of_200_kb_can_be_read_to_its_end(
    transactional_db: None, open_as: Open, viewer: User
) -> None:
    trial = make_trial(state="running", last_seq=0)
    call = Call(trial).begin()
    for number in range(1200):
        call.turn("agent" if number % 2 else "user", f"remark {number}")
        if number % 59 == 0:
            call.tool("dump", {"page": number}, "z" * 200_000)
    call.turn("user", "the deciding word is zanzibar").end()
    assert call.seq > 3_000
    page = open_as(viewer, address(trial))
    expect(page.locator("#event-count")).to_have_text(str(call.seq))
    expect(page.locator("#turn-1")).to_be_visible()
    assert page.locator("#rows [data-seq]").count() <= 300
    page.locator("#search").fill("zanzibar")
    page.keyboard.press("Enter")
    expect(page.locator("#found")).to_contain_text("1 event with")
    page.locator("#found").get_by_role("link", name="zanzibar").click()
    expect(page.locator(f"#turn-{call.turns}")).to_be_in_viewport()
    page.locator("#rows .stretch").last.scroll_into_view_if_needed()
    expect(page.locator(f"#turn-{call.turns - 200}")).to_be_attached()


def test_the_page_reads_without_scripts(failed: Trial, open_as: Open, viewer: User, complaints: Complaints) -> None:
    complaints.expect("ERR_FAILED")
    page = open_as(viewer, "/live/")
    page.route("**/*.js", lambda route: route.abort())
    page.goto(page.url.replace("/live/", address(failed)))
    expect(page.get_by_text("Only one shirt is ever spoken of.")).to_be_visible()
    page.locator(".field.wrong").get_by_role("link", name="call 3").click()
    expect(page.locator("#call-3")).to_be_in_viewport()
    expect_address(page, "?at=call-3#call-3")


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_the_screen(
    failed: Trial, site: Site, open_as: Open, viewer: User, width: int, scheme: str
) -> None:
    page = open_as(viewer, "/live/")
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    for path in ("/live/", address(failed)):
        page.goto(site.url + path)
        expect_no_wider(page)
        assert page.evaluate("innerWidth") == width
