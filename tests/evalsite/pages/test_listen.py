"""Recordings over HTTP and on the call page."""

import io
import json
import re
import wave
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.storage import default_storage
from django.test import AsyncClient, Client

from evalsite import speech_figures
from scenarios.analysis.speech.interaction import Interaction
from scenarios.events import AttemptFailed, LatencyMeasured
from scenarios.models import ForeignResult, ImportedFile, Trial
from scenarios.playback import recording_of
from scenarios.recordings import peaks_name
from tests.calls import exchange_call
from tests.evalsite.live.sockets import in_db
from tests.factories import make_trial
from tests.scenarios.analysis.speech.calls import scenario
from tests.spoken import DIALOGUE, Line, keep, keep_in, speak, voice_run, wav

Get = Callable[..., Any]


@pytest.fixture(autouse=True)
def storage(tmp_path: Path, settings: Any) -> Path:
    """Keep recordings in the test's own folder."""
    keep_in(tmp_path, settings)
    return tmp_path


@pytest.fixture(autouse=True)
def nothing_known() -> None:
    """Forget the calls of other tests, whose rows were rolled back and had the same keys."""
    speech_figures.forget()


@pytest.fixture
def trial(db: None) -> Trial:
    """Return a voice call that has ended and was recorded."""
    trial = make_trial(state="running", last_seq=0)
    voice_run(trial.run)
    speak(trial).end("pass", "")
    keep(trial, wav())
    return trial


def address(trial: Trial) -> str:
    return f"/runs/{trial.run_id}/trials/{trial.scenario.name}/{trial.number}/"


@pytest.fixture
def get(client: Client, viewer: User) -> Get:
    client.force_login(viewer)

    def get(trial: Trial, rest: str = "", **headers: str) -> Any:
        return client.get(address(trial) + rest, headers=headers)

    return get


def body(answer: Any) -> bytes:
    return b"".join(answer.streaming_content) if answer.streaming else answer.content


class TestAudio:
    """The recording as a file."""

    def test_it_is_given_whole(self, trial: Trial, get: Get) -> None:
        answer = get(trial, "audio.wav")
        assert (answer.status_code, answer["Content-Type"]) == (200, "audio/wav")
        assert answer["Accept-Ranges"] == "bytes"
        content = body(answer)
        assert content == wav()
        assert int(answer["Content-Length"]) == len(content)
        with wave.open(io.BytesIO(content)) as file:
            assert file.getnframes() == 6500 * 16

    @pytest.mark.parametrize(
        ("header", "first", "last"),
        [
            ("bytes=0-0", 0, 0),
            ("bytes=44-99", 44, 99),
            ("bytes=1000-", 1000, None),
            ("bytes=-500", -500, None),
            ("bytes=100-99999999", 100, None),
        ],
    )
    def test_a_range_is_that_range(self, trial: Trial, get: Get, header: str, first: int, last: int | None) -> None:
        whole = wav()
        answer = get(trial, "audio.wav", range=header)
        expected = whole[first:] if last is None else whole[first : last + 1]
        assert answer.status_code == 206
        assert body(answer) == expected
        start = first % len(whole)
        assert answer["Content-Range"] == f"bytes {start}-{start + len(expected) - 1}/{len(whole)}"

    @pytest.mark.parametrize(
        "header", ["bytes=5-2", "bytes=0-1,4-5", "seconds=1-2", "bytes=-", "bytes=x-", "bytes=0-" + "9" * 5000]
    )
    def test_what_is_no_single_range_gets_the_whole(self, trial: Trial, get: Get, header: str) -> None:
        answer = get(trial, "audio.wav", range=header)
        assert answer.status_code == 200
        assert body(answer) == wav()

    @pytest.mark.parametrize("header", ["bytes=99999999-", "bytes=-0"])
    def test_a_range_outside_says_how_long_the_file_is(self, trial: Trial, get: Get, header: str) -> None:
        answer = get(trial, "audio.wav", range=header)
        assert (answer.status_code, answer["Content-Range"]) == (416, f"bytes */{len(wav())}")

    def test_what_the_browser_has_is_not_sent_again(self, trial: Trial, get: Get) -> None:
        tag = get(trial, "audio.wav")["ETag"]
        assert get(trial, "audio.wav", if_none_match=f'"other", W/{tag}').status_code == 304
        assert get(trial, "audio.wav", if_none_match='"other"').status_code == 200

    def test_a_part_of_another_file_is_not_mixed_in(self, trial: Trial, get: Get) -> None:
        tag = get(trial, "audio.wav")["ETag"]
        assert get(trial, "audio.wav", range="bytes=0-9", if_range=tag).status_code == 206
        keep(trial, wav(DIALOGUE[:2]))
        answer = get(trial, "audio.wav", range="bytes=0-9", if_range=tag)
        assert answer.status_code == 200
        assert body(answer) == wav(DIALOGUE[:2])

    def test_a_head_request_gets_no_body(self, trial: Trial, get: Get, client: Client) -> None:
        get(trial)
        answer = client.head(f"{address(trial)}audio.wav")
        assert (answer.status_code, answer["Content-Length"], answer.content) == (200, str(len(wav())), b"")

    def test_an_earlier_attempt_has_its_own(self, trial: Trial, get: Get) -> None:
        keep(trial, wav(DIALOGUE[:1]), attempt=7)
        assert body(get(trial, "audio.wav?attempt=7")) == wav(DIALOGUE[:1])
        assert get(trial, "audio.wav?attempt=8").status_code == 404
        assert get(trial, "audio.wav?attempt=0").status_code == 404
        assert get(trial, "audio.wav?attempt=..").status_code == 404

    def test_what_was_recorded_before_the_bot_died_can_be_heard_on_the_page(self, get: Get) -> None:
        trial = make_trial(state="running", last_seq=0)
        voice_run(trial.run)
        speak(trial, DIALOGUE[:1]).add(AttemptFailed("party_gone", "killed", True)).begin(2)
        Trial.objects.filter(pk=trial.pk).update(attempts=2)
        page = body(get(trial)).decode()
        assert "attempt=1" not in page
        keep(trial, wav(DIALOGUE[:1]), attempt=1)
        page = body(get(trial)).decode()
        assert 'failed: <span class="mono">party_gone</span>' in page
        assert ", recorded</summary>" in page
        assert 'src="audio.wav?attempt=1"' in page

    def test_it_is_for_people_who_are_signed_in(self, trial: Trial, client: Client) -> None:
        for name in ("audio.wav", "peaks.json"):
            answer = client.get(address(trial) + name)
            assert answer.status_code == 302
            assert answer["Location"].startswith("/sign-in/")

    def test_without_one_the_reason_is_said(self, db: None, get: Get) -> None:
        reasons = {
            "queued": "has not begun",
            "running": "when the call is over",
            "pass": "held in writing",
        }
        for number, (state, words) in enumerate(reasons.items(), 1):
            answer = get(make_trial(number=number, state=state), "audio.wav")
            assert answer.status_code == 404
            assert words in body(answer).decode()

    def test_a_growing_one_is_given_as_far_as_it_is_and_never_kept(self, db: None, get: Get) -> None:
        trial = make_trial(state="running")
        voice_run(trial.run)
        keep(trial, wav(DIALOGUE[:1]))
        answer = get(trial, "audio.wav")
        assert "no-store" in answer["Cache-Control"]
        assert body(answer) == wav(DIALOGUE[:1])
        assert get(trial, "peaks.json").status_code == 404


async def test_under_the_real_server_a_file_is_not_read_into_memory(
    transactional_db: None, viewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under ASGI an ordinary iterator is read whole before its first byte is sent."""

    def make() -> Trial:
        trial = make_trial(state="pass")
        keep(trial, wav())
        return trial

    trial = await in_db(make)()
    client = AsyncClient()
    await client.aforce_login(viewer)
    answer: Any = await client.get(f"{address(trial)}audio.wav", headers={"range": "bytes=44-200043"})
    assert (answer.status_code, answer.is_async) == (206, True)
    blocks = [block async for block in answer.streaming_content]
    assert [len(block) for block in blocks] == [65_536, 65_536, 65_536, 200_000 - 3 * 65_536]
    assert b"".join(blocks) == wav()[44:200_044]


class TestPeaks:
    """The outline."""

    def test_the_stored_one_is_given(self, trial: Trial, get: Get, storage: Path) -> None:
        stored = {"version": 2, "channels": 2, "sample_rate": 16000, "samples_per_pixel": 800, "bits": 8, "length": 0}
        (storage / peaks_name(recording_of(trial))).write_text(json.dumps({**stored, "data": []}))
        assert get(trial, "peaks.json").json() == {**stored, "data": []}

    @pytest.mark.parametrize("damage", [None, "{not json"])
    def test_a_missing_or_damaged_one_is_made(self, trial: Trial, get: Get, storage: Path, damage: str | None) -> None:
        if damage is not None:
            (storage / peaks_name(recording_of(trial))).write_text(damage)
        outline = get(trial, "peaks.json").json()
        assert (outline["channels"], outline["length"]) == (2, 130)
        at = 3000 // 50 * 4  # the caller speaks
        assert outline["data"][at] < -30
        assert outline["data"][at + 1] > 30
        assert outline["data"][at + 2 : at + 4] == [0, 0]

    def test_what_is_no_recording_is_none(self, trial: Trial, get: Get) -> None:
        keep(trial, b"this is no WAV file")
        assert get(trial, "peaks.json").status_code == 404
        assert "<audio" not in get(trial).content.decode()


class TestPage:
    """The player on the call page."""

    def test_a_recorded_call_has_player_waveform_and_waits(self, trial: Trial, get: Get) -> None:
        html = get(trial).content.decode()
        assert f'src="{address(trial)}audio.wav"' in html
        assert len(re.findall(r'<path class="wave (?:user|agent)" d="M', html)) == 2
        waits = re.findall(r'<rect class="wait (\w+)" x="(\d+)" y="[\d.]+" width="(\d+)"', html)
        assert waits == [("user", "1400", "800"), ("agent", "4100", "900")]
        assert 'viewBox="0 0 7200 34"' in html  # the last event is the longest

    def test_no_wait_begins_before_the_words_that_were_answered_are_over(self, db: None, get: Get) -> None:
        trial = make_trial(state="running", last_seq=0)
        voice_run(trial.run)
        call = speak(trial)
        call.add(LatencyMeasured("agent", 3, 9000.0, {"stt": 8000.0, "residual": 1000.0}))  # a busy machine, lockstep
        call.end("pass", "")
        keep(trial, wav())
        waits = re.findall(r'<rect class="wait (\w+)" x="(\d+)" y="[\d.]+" width="(\d+)"', get(trial).content.decode())
        assert waits[-1] == ("agent", "4100", "900")

    def test_turns_stand_where_they_sound(self, trial: Trial, get: Get) -> None:
        html = get(trial).content.decode()
        marks = re.findall(r'<a href="#turn-(\d)"><rect class="mark [^"]*" x="(\d+)" y="\d+" width="(\d+)"', html)
        assert [(int(n), int(x), int(x) + int(w)) for n, x, w in marks] == [
            (number, line.started_ms, line.ended_ms) for number, line in enumerate(DIALOGUE, 1)
        ]
        row = html[html.index('id="turn-2"') :]
        assert '<a class="at" href="#turn-2">0:02</a>' in row[:400]

    def test_a_row_says_what_was_heard(self, trial: Trial, get: Get) -> None:
        html = get(trial).content.decode()
        rows = {n: html[html.index(f'id="turn-{n}"') :][:1500].split("</li>")[0] for n in (1, 2, 3)}
        assert "heard word for word" in rows[1]
        assert ">three.</del>" in rows[2]
        assert ">tree.</ins>" in rows[2]
        assert "1 error in 8 words" in rows[2]
        assert "not measured what was heard" in rows[3]

    def test_a_call_in_writing_has_no_player(self, db: None, get: Get) -> None:
        html = get(make_trial(state="pass")).content.decode()
        assert "<audio" not in html
        assert 'height="68"' in html

    def test_a_damaged_storage_breaks_no_page(self, trial: Trial, get: Get) -> None:
        default_storage.delete(keep(trial, b""))
        keep(trial, b"")
        assert get(trial).status_code == 200

    def test_overlapping_turns_are_both_drawn(self, db: None, get: Get) -> None:
        trial = make_trial(state="running", last_seq=0)
        voice_run(trial.run)
        lines = (
            Line("agent", "Let me explain.", "Let me", 0, 3000, interrupted=True),
            Line("user", "Wait!", "Wait!", 2000, 2600),
        )
        speak(trial, lines).end("fail", "")
        keep(trial, wav(lines))
        html = get(trial).content.decode()
        assert 'class="mark agent interrupted" x="0" y="12" width="3000"' in html
        assert 'class="mark user" x="2000" y="0" width="600"' in html
        assert 'class="wait' not in html  # who cuts in has not waited


class TestFigures:
    """The right column and the run page."""

    def test_the_call_says_how_it_was_understood(self, trial: Trial, get: Get) -> None:
        html = get(trial).content.decode().replace("\u00a0", " ")
        speech = html[html.index('id="speech"') : html.index('id="latency"')]
        assert "<b>12.5 %</b>" in speech
        assert "1/8</span>" in speech
        assert "1 of 2</td>" in speech  # the agent's last words nobody transcribed
        assert "57.8 % of it the agent's" in speech
        assert "2, the longest 900 ms" in speech

    def test_an_overlap_leads_to_its_turn(self, db: None, get: Get) -> None:
        trial = make_trial(state="running", last_seq=0)
        voice_run(trial.run)
        lines = (Line("agent", "Let me explain.", "Let me", 0, 3000), Line("user", "Wait!", "Wait!", 2000, 2600))
        speak(trial, lines).end("fail", "")
        html = get(trial).content.decode().replace("\u00a0", " ")
        assert 'href="?at=turn-2#turn-2">caller into turn 1</a> <span class="soft">600 ms</span>' in html
        assert "1 barge-in, counted apart" in html

    def test_a_call_in_writing_has_no_words_to_mishear(self, db: None, get: Get) -> None:
        trial = make_trial(state="running", last_seq=0)
        exchange_call(trial).end()
        assert 'id="speech"' not in get(trial).content.decode()

    def test_the_run_page_asks_for_its_figures_when_they_are_seen(
        self, trial: Trial, client: Client, viewer: User
    ) -> None:
        client.force_login(viewer)
        html = client.get(f"/runs/{trial.run_id}/").content.decode()
        assert f'hx-get="/runs/{trial.run_id}/speech/" hx-trigger="intersect once"' in html
        figures = client.get(f"/runs/{trial.run_id}/speech/").content.decode().replace("\u00a0", " ")
        assert "over all 1 ended call" in figures
        assert "<b>12.5 %</b>" in figures
        assert "Count" not in figures

    def test_a_large_run_says_over_how_many_calls(
        self, trial: Trial, client: Client, viewer: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        speak(make_trial(trial.run, trial.scenario, 2, "running", last_seq=0)).end("pass", "")
        monkeypatch.setattr(speech_figures, "of_run", partial(speech_figures.of_run, step=1))
        client.force_login(viewer)
        figures = client.get(f"/runs/{trial.run_id}/speech/").content.decode()
        assert "over 1 of 2 ended calls" in figures
        assert "Count the other 1" in figures


class TestIdentifiers:
    """Told, said, heard, passed."""

    def test_the_first_broken_link_is_named_and_leads_to_its_turn(
        self, db: None, get: Get, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        spec = scenario("Your order is #W2378156.", order_id="#W2378156")
        monkeypatch.setattr("evalsite.pages.listen.task", lambda trial: spec)
        trial = make_trial(state="running", last_seq=0)
        voice_run(trial.run)
        digits = "W, two, three, seven, eight, one, {}, six."
        call = speak(trial, [Line("user", digits.format("five"), digits.format("nine"), 0, 3000)])
        call.tool("find_order", {"order_id": "#W2378196"}).end("fail", "")
        html = get(trial, "identifiers/").content.decode()
        assert "1 heard wrong" in html
        heard = html[html.index("<dt>heard</dt>") - 60 :]
        assert '<div class="wrong break"><dt>heard</dt><dd><span class="mono">W2378196</span>' in heard
        assert 'href="?at=turn-1#turn-1">turn 1' in heard
        assert 'href="?at=call-2#call-2">call 2' in heard
        assert "order_id" in heard

    def test_what_was_not_transcribed_is_not_blamed(self, db: None, get: Get, monkeypatch: pytest.MonkeyPatch) -> None:
        spec = scenario("Your order is #W2378156.", order_id="#W2378156")
        monkeypatch.setattr("evalsite.pages.listen.task", lambda trial: spec)
        trial = make_trial(state="running", last_seq=0)
        speak(trial, [Line("user", "It is W2378156.", None, 0, 3000)]).end("fail", "")
        html = get(trial, "identifiers/").content.decode()
        assert "what was heard is not measured" in html
        assert "1 not passed" in html

    def test_a_task_that_nobody_knows_is_said(self, trial: Trial, get: Get) -> None:
        assert "not known here" in get(trial, "identifiers/").content.decode()

    def test_it_comes_when_it_is_opened(self, trial: Trial, get: Get) -> None:
        html = get(trial).content.decode()
        assert re.search(r'id="tab-identifiers"[^>]* hx-get="identifiers/"[^>]* hx-trigger="toggle once"', html)


def test_interaction_of_an_imported_call_is_shown_with_what_it_is_over(db: None, get: Get) -> None:
    trial = make_trial(state="pass")
    ticks = Interaction(calls=1, response_ms=(1200.0, 1600.0), unanswered=2, backchannels=(True, False))
    file = ImportedFile.objects.create(name="results.json")
    trial.run.imported_from = file
    trial.run.save()
    figures = {"interaction": ticks.figures()}
    ForeignResult.objects.create(trial=trial, place="simulations[0]", mapped="pass", facts=figures)
    html = get(trial).content.decode().replace("\u00a0", " ")
    panel = re.sub(r"<[^>]+>", "|", html[html.index('id="interaction"') :])
    assert "response_latency_mean||1.4 s||of 4 turns that expected an answer" in panel
    assert "selectivity_backchannel||50.0 %||of 2 backchannels" in panel
    assert "yield_rate||-||of 0 times that the user cut in" in panel
