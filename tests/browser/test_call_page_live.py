"""Watching a call in a real browser: streaming, reloading, losing the server, hanging up, coming to the end."""

import re
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, expect

from scenarios import events
from scenarios.models import Trial
from tests.browser.conftest import Complaints, Site
from tests.calls import Call, exchange, score_exchange
from tests.factories import make_trial

pytestmark = pytest.mark.browser
Open = Callable[[User, str], Page]
LEASE = "12345678-1234-5678-1234-567812345678"


@pytest.fixture
def call(transactional_db: None) -> Call:
    return Call(make_trial(state="running", last_seq=0, lease=LEASE)).begin().turn("agent", "Hello, how can I help?")


def address(call: Call) -> str:
    return f"/runs/{call.trial.run_id}/trials/{call.trial.scenario.name}/{call.trial.number}/"


def seqs(page: Page) -> list[int]:
    found: list[int] = page.evaluate(
        "[...document.querySelectorAll('#rows [data-seq]')].map((row) => +row.dataset.seq)"
    )
    return found


def expect_live(page: Page) -> None:
    expect(page.locator("#connection")).to_have_attribute("data-state", "live")


def expect_all(page: Page, call: Call) -> None:
    """Wait until the page has the last event; then it has every one, once, in order."""
    expect(page.locator("#event-count")).to_have_text(str(call.seq))
    assert seqs(page) == list(range(1, call.seq + 1))


def test_turns_appear_as_they_are_spoken_without_anything_moving(call: Call, open_as: Open, viewer: User) -> None:
    page = open_as(viewer, address(call))
    expect_live(page)
    page.evaluate(
        "window.shift = 0; new PerformanceObserver((list) => list.getEntries().forEach((e) => window.shift += e.value))"
        ".observe({ type: 'layout-shift' })"
    )
    age = page.locator("#live-line [data-age]")
    before = float(age.get_attribute("data-age") or "nan")
    for number in range(12):
        call.turn("user" if number % 2 else "agent", f"remark number {number}")
        expect(page.locator(f"#turn-{call.turns}")).to_be_in_viewport()
    call.tool("get_order_details", {"order_id": "#W1"}, {"status": "delivered"})
    expect(page.locator("#call-1")).to_contain_text("#W1")
    expect_all(page, call)
    expect(page.locator("#marks a")).to_have_count(call.turns + 1)
    expect(age).to_have_text(re.compile(r"^\d+ s ago$"))
    assert float(age.get_attribute("data-age") or "nan") > before
    assert page.evaluate("window.shift") < 0.01


def test_a_reload_in_the_middle_loses_and_doubles_nothing(call: Call, open_as: Open, viewer: User) -> None:
    page = open_as(viewer, address(call))
    expect_live(page)
    call.turn("user", "before")
    expect_all(page, call)
    call.turn("agent", "meanwhile")
    page.reload()
    call.turn("user", "after")
    expect_all(page, call)


def test_a_server_that_is_killed_and_comes_back_loses_and_doubles_nothing(
    call: Call, open_as: Open, viewer: User, site: Site, complaints: Complaints
) -> None:
    complaints.expect_outage()
    page = open_as(viewer, address(call))
    expect_live(page)
    call.turn("user", "before the crash")
    expect_all(page, call)
    site.kill()
    expect(page.locator("#connection")).to_have_attribute("data-state", "lost")
    expect(page.locator("#connection")).to_contain_text("connection lost")
    for number in range(30):
        call.turn("agent" if number % 2 else "user", f"while nobody served {number}")
    site.start()
    expect_live(page)
    call.turn("user", "after the crash")
    expect_all(page, call)


def test_the_end_switches_the_page_to_its_final_state(call: Call, open_as: Open, viewer: User) -> None:
    page = open_as(viewer, address(call))
    expect_live(page)
    exchange(call)
    score_exchange(call.trial)
    call.end()
    expect(page.locator("#outcome")).to_have_text("Fail")
    expect(page.locator("#connection")).to_contain_text(f"all {call.seq} events are here, none twice")
    expect(page.locator("#announcer")).to_have_text("The call has ended: fail. 2 of 3 claims failed")
    expect(page.locator("#claim-1")).to_contain_text("Only one shirt is ever spoken of.")
    assert seqs(page) == list(range(1, call.seq + 1))


def test_the_page_of_a_retried_call_folds_what_went_before(call: Call, open_as: Open, viewer: User) -> None:
    page = open_as(viewer, address(call))
    expect_live(page)
    call.add(events.AttemptFailed("llm_http_429", "slow down", True))
    call.begin(2).turn("agent", "second try")
    expect(page.locator("#turn-1")).to_contain_text("second try")
    expect(page.locator("details.attempt")).to_contain_text("An earlier attempt")
    # The last event of the turn comes after its words.
    expect(page.locator("#event-count")).to_have_text(str(call.seq))
    expect(page.locator("[id='turn-1']")).to_have_count(1)
    expect(page.locator("#marks a")).to_have_count(1)
    streamed = seqs(page)
    page.reload()
    assert seqs(page) == streamed


def test_a_late_word_grows_its_turn_in_place(call: Call, open_as: Open, viewer: User) -> None:
    page = open_as(viewer, address(call))
    expect_live(page)
    call.turn("user", "I would like to")
    turn = call.turns
    call.turn("agent", "Yes?")
    call.add(events.TurnEnded("user", turn, "I would like to return it", None, 0))
    expect(page.locator(f"#turn-{turn}")).to_contain_text("return it")
    order = page.evaluate("[...document.querySelectorAll('.turn')].map((turn) => turn.id)")
    assert order == ["turn-1", f"turn-{turn}", f"turn-{turn + 1}"]


def test_who_reads_further_up_is_not_moved_and_told_how_much_is_new(call: Call, open_as: Open, viewer: User) -> None:
    for number in range(40):
        call.turn("user" if number % 2 else "agent", f"remark {number}")
    page = open_as(viewer, address(call))
    expect_live(page)
    page.evaluate("document.getElementById('scroller').scrollTop = 200")
    for _ in range(3):
        call.turn("agent", "news")
    expect(page.locator("#newer")).to_have_text("3 new ↓")
    assert page.evaluate("document.getElementById('scroller').scrollTop") == 200
    page.locator("#newer").click()
    expect(page.locator(f"#turn-{call.turns}")).to_be_in_viewport()
    expect(page.locator("#newer")).to_be_hidden()
    call.turn("user", "and on it goes")
    expect(page.locator(f"#turn-{call.turns}")).to_be_in_viewport()


def test_hanging_up_is_asked_twice_and_ends_the_call(call: Call, open_as: Open, operator: User) -> None:
    page = open_as(operator, address(call))
    expect_live(page)
    page.get_by_text("Hang up", exact=True).click()
    expect(page.get_by_text("leaves the rate; the other calls of the run go on")).to_be_visible()
    page.get_by_role("button", name="Hang up now").click()
    expect(page.get_by_text("hang-up asked for by operator")).to_be_visible()
    assert Trial.objects.get(pk=call.trial.pk).hang_up_requested
    call.add(events.CallIntervened("hang_up", "operator"))
    call.end("tainted", "operator hung up")
    expect(page.locator("#outcome")).to_have_text("Tainted")
    expect(page.get_by_text("The call leaves the rate.")).to_be_visible()


def test_a_viewer_is_not_offered_to_hang_up(call: Call, open_as: Open, viewer: User) -> None:
    page = open_as(viewer, address(call))
    expect_live(page)
    expect(page.get_by_text("Hang up", exact=True)).to_have_count(0)


def test_a_session_that_ended_is_told_from_a_lost_network(
    call: Call, open_as: Open, viewer: User, complaints: Complaints
) -> None:
    complaints.expect("WebSocket connection to|Failed to load resource")
    page = open_as(viewer, address(call))
    expect_live(page)
    Session.objects.all().delete()
    expect(page.locator("#connection")).to_contain_text("signed out")
    expect(page.locator("#connection a")).to_have_attribute(
        "href", f"/sign-in/?next={address(call).replace('/', '%2F')}"
    )


def test_a_line_that_drops_repeats_and_reorders_leaves_the_same_page(call: Call, open_as: Open, viewer: User) -> None:
    page = open_as(viewer, address(call))
    broken = page.evaluate(
        """() => {
          const random = (seed) => () => ((seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648);
          const all = Array.from({ length: 120 }, (_, i) => ({ seq: i + 1 }));
          const broken = [];
          for (let seed = 1; seed <= 1000; seed += 1) {
            const next = random(seed);
            const shown = [];
            const feed = new LiveFeed(0, (row) => shown.push(row.seq));
            let tries = 0;
            while (feed.last < all.length && (tries += 1) < 10_000) {
              // One connection: what the page lacks, with a tenth dropped, repeated or swapped.
              const sent = all.slice(feed.last).flatMap((row) => [[], [row, row]][Math.floor(next() * 10)] ?? [row]);
              sent.forEach((row, i) => i && next() < 0.1 && ([sent[i - 1], sent[i]] = [row, sent[i - 1]]));
              feed.accept(sent);
            }
            if (shown.length !== all.length || shown.some((seq, i) => seq !== i + 1)) broken.push(seed);
          }
          return broken;
        }"""
    )
    assert broken == []


def test_the_wall_follows_calls_and_keeps_their_places(call: Call, open_as: Open, viewer: User) -> None:
    page = open_as(viewer, "/live/")
    expect_live(page)
    first = page.locator(f"#tile-{call.trial.pk}")
    expect(first).to_contain_text("Hello, how can I help?")
    other = Call(make_trial(run=call.trial.run, number=2, state="running", last_seq=0)).begin().turn("user", "Good day")
    expect(page.locator(f"#tile-{other.trial.pk}")).to_contain_text("Good day")
    call.turn("user", "My order is late")
    expect(first).to_contain_text("My order is late")
    call.end("pass", "every gating signal passed")
    expect(first).to_contain_text("Pass")
    expect(page.locator("#tile-count")).to_have_text("1")
    assert page.evaluate("[...document.querySelectorAll('.tile')].map((tile) => tile.id)") == [
        f"tile-{call.trial.pk}",
        f"tile-{other.trial.pk}",
    ]
    first.get_by_role("link").click()
    expect(page.locator("#outcome")).to_have_text("Pass")
