"""Listening in a real browser: a recorded call from any place of it, and a call while it is held."""

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from bots.bridge.audio.wav import StereoWav
from scenarios.importing.recordings import forget
from scenarios.models import Trial
from scenarios.playback import path_of, recording_of
from tests.bots import toy
from tests.bots.voice.held import hold_in_tones
from tests.bots.voice.sound import channels, sounding_ms
from tests.browser.conftest import Complaints, Site
from tests.calls import Call, score_exchange
from tests.factories import make_scenario, make_trial
from tests.spoken import DIALOGUE, Line, keep, packed, speak, voice_run, wav

pytestmark = pytest.mark.browser
Open = Callable[[User, str], Page]
FRAME_S = 0.02  # 640 bytes of a side
LONG = (
    *DIALOGUE[:2],
    Line("agent", "Which one?", "Which one?", 5000, 6000),
    Line("user", "The red one.", "The red one.", 7000, 8000),
    Line("agent", "the exchange of your shirt is requested. You will get an e-mail.", None, 9000, 11_000),
)


def address(trial: Trial) -> str:
    return f"/runs/{trial.run_id}/trials/{trial.scenario.name}/{trial.number}/"


@pytest.fixture
def made(transactional_db: None) -> Iterator[list[Trial]]:
    """Collect the trials of a test; their recordings, which lie where the server finds them, are removed after it."""
    trials: list[Trial] = []
    yield trials
    for trial in trials:
        forget(trial.run_id)


@pytest.fixture
def spoken(made: list[Trial]) -> Trial:
    trial = make_trial(state="running", last_seq=0)
    made.append(trial)
    voice_run(trial.run)
    speak(trial, LONG).end("fail", "")
    score_exchange(trial)
    keep(trial, wav(LONG))
    return trial


def is_playing(page: Page) -> bool:
    return bool(page.evaluate("!document.getElementById('audio').paused"))


def wait_for(page: Page, condition: str) -> None:
    page.wait_for_function(f"() => {{ const audio = document.getElementById('audio'); return {condition}; }}")


def take_notes(page: Page) -> None:
    """Let the page note where the player was sent and which rows were marked: both pass while it plays on."""
    wait_for(page, "audio.readyState >= 1")
    page.evaluate(
        """() => {
          const audio = document.getElementById('audio');
          window.notes = { sought: [], sounded: new Set() };
          audio.addEventListener('seeking', () => notes.sought.push(audio.currentTime * 1000));
          const look = () => document.querySelectorAll('.row.sounding').forEach((row) => notes.sounded.add(row.id));
          new MutationObserver(look).observe(document.body, { subtree: true, attributeFilter: ['class'] });
        }"""
    )


def expect_played(page: Page, start_ms: float, row: str) -> None:
    """Wait until the player was sent to a place, plays on from there, and a row was marked while it was heard."""
    wait_for(page, "notes.sought.length")
    assert page.evaluate("notes.sought[0]") == pytest.approx(start_ms, abs=1)
    wait_for(page, f"audio.currentTime * 1000 > {start_ms} && notes.sounded.has('{row}')")


def test_turns_of_a_spoken_call_are_where_the_page_says_and_play_from_there(
    made: list[Trial], open_as: Open, viewer: User, settings: Any
) -> None:
    trial = make_trial(scenario=make_scenario(toy.SCENARIO, toy.DOMAIN), state="running", last_seq=0)
    made.append(trial)
    voice_run(trial.run)
    hold_in_tones(trial, settings)
    path = path_of(recording_of(trial))
    assert path is not None
    left, right = channels(path)

    page = open_as(viewer, address(trial))
    marks = page.locator("#marks > a[href^='#turn-'] > rect")
    assert marks.count() == 5
    for mark in marks.all():
        start = float(mark.get_attribute("x") or "nan")
        end = start + float(mark.get_attribute("width") or "nan")
        side = left if "user" in (mark.get_attribute("class") or "") else right
        begins, ends = sounding_ms(side, max(0, round(start) - 300), round(end) + 300)
        assert abs(begins - start) <= 200
        assert abs(ends - end) <= 200

    third = page.locator("#turn-3")
    start = float(page.locator("#marks > a[href='#turn-3'] > rect").get_attribute("x") or "nan")
    take_notes(page)
    third.get_by_role("button", name="Play from turn 3").click()
    expect_played(page, start, "turn-3")
    assert abs(page.evaluate("audio.duration") * 1000 - len(left) / 16) < 1


def test_the_keyboard_plays_pauses_and_goes_to_a_turn(spoken: Trial, open_as: Open, viewer: User) -> None:
    page = open_as(viewer, address(spoken))
    wait_for(page, "audio.readyState >= 1")
    page.evaluate("document.getElementById('audio').loop = true")  # however long this takes, it does not end
    page.keyboard.press("Space")
    wait_for(page, "!audio.paused")
    page.keyboard.press("Space")
    wait_for(page, "audio.paused")
    page.keyboard.press("]")
    page.keyboard.press("]")
    page.keyboard.press("]")  # turn, call and turn
    expect(page.locator(".pointed")).to_have_id("call-1")
    page.keyboard.press("p")
    wait_for(page, "!audio.paused && audio.currentTime >= 4.6")
    page.keyboard.press("Space")
    wait_for(page, "audio.paused")
    page.locator("#search").focus()
    page.keyboard.press("Space")  # belongs to the field
    assert not is_playing(page)


def test_evidence_plays_from_two_seconds_before(spoken: Trial, open_as: Open, viewer: User) -> None:
    page = open_as(viewer, address(spoken))
    take_notes(page)
    page.locator("#claim-1").get_by_role("button", name="Play from 2 s before turn 5").click()
    expect_played(page, 7_000, "turn-5")
    wait_for(page, "audio.currentTime > 9")


def test_the_waveform_seeks_and_speed_can_be_chosen(spoken: Trial, open_as: Open, viewer: User) -> None:
    page = open_as(viewer, address(spoken))
    wait_for(page, "audio.readyState >= 1")
    box = page.locator("#marks").bounding_box()
    assert box is not None
    end = float(page.locator("#marks").get_attribute("data-end") or "nan")
    page.locator("#marks").click(position={"x": box["width"] * 0.37, "y": box["height"] / 4})
    wait_for(page, f"Math.abs(1000 * audio.currentTime - {0.37 * end}) < {end / box['width'] * 2}")
    # The line follows the element's own event.
    line = "Number(document.getElementById('playhead').getAttribute('x1'))"
    wait_for(page, f"Math.abs({line} - 1000 * audio.currentTime) < 1")
    page.get_by_label("speed").select_option("2")
    wait_for(page, "audio.playbackRate === 2")


@pytest.mark.parametrize("width", [390, 1280])
def test_the_player_moves_nothing_and_fits(spoken: Trial, open_as: Open, viewer: User, width: int) -> None:
    page = open_as(viewer, "/runs/")
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(page.url.replace("/runs/", address(spoken)))
    page.evaluate(
        "window.shift = 0; new PerformanceObserver((list) => list.getEntries().forEach((e) => window.shift += e.value))"
        ".observe({ type: 'layout-shift', buffered: true })"
    )
    wait_for(page, "audio.readyState >= 1")
    page.locator("#turn-1").get_by_role("button", name="Play from turn 1").click()
    wait_for(page, "audio.currentTime > 0.2")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.evaluate("window.shift") < 0.01


def test_a_call_that_ends_while_it_is_watched_can_be_played_at_once(
    made: list[Trial], open_as: Open, viewer: User
) -> None:
    trial = make_trial(state="running", last_seq=0)
    made.append(trial)
    voice_run(trial.run)
    page = open_as(viewer, address(trial))
    expect(page.get_by_text("lockstep: faster than speech; listen after the call")).to_be_visible()
    call = speak(trial)
    keep(trial, wav())
    call.end("pass", "")
    page.locator("#turn-2").get_by_role("button", name="Play from turn 2").click()
    wait_for(page, "audio.played.length && audio.currentTime >= 2.2")


def test_a_recording_that_cannot_be_played_is_named(
    spoken: Trial, open_as: Open, viewer: User, complaints: Complaints
) -> None:
    complaints.expect("DEMUXER_ERROR|Failed to load resource|play\\(\\)")
    page = open_as(viewer, address(spoken))
    wait_for(page, "audio.readyState >= 1")
    page.evaluate("document.getElementById('audio').src += '?attempt=9'")  # one that there is not
    expect(page.locator("#problem")).to_contain_text("The recording cannot be played")


class Talker(threading.Thread):
    """Writes a recording in real time, as the lane of a call that is held does."""

    def __init__(self, path: Path) -> None:
        super().__init__(daemon=True)
        self.path = path
        self.stop = threading.Event()

    def run(self) -> None:
        tone = wav([Line("agent", "", "", 0, 1000)], tail_ms=0)[44:]
        left, right = bytes(640), bytes(byte for at in range(2, len(tone), 4) for byte in tone[at : at + 2])[:640]
        began, written = time.monotonic(), 0
        with StereoWav(self.path) as file:
            while not self.stop.wait(FRAME_S):
                # As much as the clock says, whenever this thread comes to it.
                while written < (time.monotonic() - began) / FRAME_S:
                    file.write(left, right)
                    written += 1


@contextmanager
def talking(trial: Trial) -> Iterator[None]:
    """Let the agent of a call talk on."""
    path = path_of(recording_of(trial))
    assert path is not None
    talker = Talker(path)
    talker.start()
    try:
        yield
    finally:
        talker.stop.set()
        talker.join()


def test_a_running_call_is_heard_live_and_nothing_is_sent(made: list[Trial], open_as: Open, operator: User) -> None:
    trial = make_trial(state="running", last_seq=0)
    made.append(trial)
    voice_run(trial.run, "realtime")
    Call(trial).begin()
    with talking(trial):
        page = open_as(operator, address(trial))
        sent: list[Any] = []
        page.on(
            "websocket",
            lambda socket: (
                socket.on("framesent", lambda frame: sent.append(frame)) if socket.url.endswith("/audio/") else None
            ),
        )
        button = page.get_by_role("button", name="Listen")
        button.click()
        place = page.locator("#live-sound")
        expect(place).to_contain_text(re.compile(r"delay \d+ ms"))
        first = int(place.get_attribute("data-position") or "-1")
        page.wait_for_function(f"() => +document.getElementById('live-sound').dataset.position > {first} + 500")
        expect(button).to_have_attribute("aria-pressed", "true")
        button.click()
        expect(place).not_to_contain_text("delay")
        assert sent == []


def test_a_listener_whose_server_was_killed_hears_the_call_go_on(
    made: list[Trial], open_as: Open, operator: User, site: Site, complaints: Complaints
) -> None:
    complaints.expect_outage()
    trial = make_trial(state="running", last_seq=0)
    made.append(trial)
    voice_run(trial.run, "realtime")
    with talking(trial):
        page = open_as(operator, address(trial))
        page.get_by_role("button", name="Listen").click()
        place = page.locator("#live-sound")
        expect(place).to_contain_text(re.compile(r"delay \d+ ms"))
        site.kill()
        expect(place).to_contain_text("trying again")
        lost_at = int(place.get_attribute("data-position") or "-1")
        site.start()
        page.wait_for_function(f"() => +document.getElementById('live-sound').dataset.position > {lost_at}")
        expect(place).to_contain_text(re.compile(r"delay \d+ ms"))


def test_who_is_no_operator_is_told_so(made: list[Trial], open_as: Open, viewer: User) -> None:
    trial = make_trial(state="running", last_seq=0)
    made.append(trial)
    voice_run(trial.run, "realtime")
    page = open_as(viewer, address(trial))
    expect(page.get_by_text("operators can listen")).to_be_visible()
    expect(page.get_by_role("button", name="Listen")).to_have_count(0)


def test_a_mixed_recording_is_drawn_in_one_lane(spoken: Trial, open_as: Open, viewer: User) -> None:
    keep(spoken, packed(wav(LONG)[44:][: 16_000 * 4], channels=1))
    page = open_as(viewer, address(spoken))
    expect(page.locator("path.wave.both")).to_have_count(1)
