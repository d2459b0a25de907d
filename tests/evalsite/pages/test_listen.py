"""Recordings over HTTP and on the call page."""

import io
import json
import re
import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.storage import default_storage
from django.test import AsyncClient, Client

from scenarios.models import Trial
from scenarios.playback import recording_of
from scenarios.recordings import peaks_name
from tests.evalsite.live.sockets import in_db
from tests.factories import make_trial
from tests.spoken import DIALOGUE, Line, keep, speak, voice_run, wav

Get = Callable[..., Any]


@pytest.fixture(autouse=True)
def storage(tmp_path: Path, settings: Any) -> Path:
    """Keep recordings in the test's own folder."""
    options = {"location": tmp_path}
    backend = "django.core.files.storage.FileSystemStorage"
    settings.STORAGES = {**settings.STORAGES, "default": {"BACKEND": backend, "OPTIONS": options}}
    return tmp_path


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

    @pytest.mark.parametrize("header", ["bytes=5-2", "bytes=0-1,4-5", "seconds=1-2", "bytes=-", "bytes=x-"])
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
