"""The recording: right at any moment, small in memory, kept when its call dies."""

import json
import os
import subprocess
import sys
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.files.storage import FileSystemStorage, InMemoryStorage

from bots.bridge.audio.pcm import RATE, silence
from bots.bridge.audio.peaks import SAMPLES_PER_POINT, Peaks
from bots.bridge.audio.recording import Recording
from bots.bridge.audio.wav import StereoWav
from scenarios.outline import outline_of
from scenarios.recordings import peaks_name, recording_name
from tests.bots.bridge.audio.test_pcm import tone
from tests.bots.voice.sound import channels

NAME = recording_name(7, "frontdesk__breakfast", 2, 1)


@pytest.fixture
def storage(tmp_path: Path) -> FileSystemStorage:
    return FileSystemStorage(location=tmp_path)


def test_names_are_found_from_run_trial_and_attempt_and_stay_in_their_folder() -> None:
    assert NAME == "calls/7/frontdesk__breakfast/2/attempt1.wav"
    assert peaks_name(NAME) == "calls/7/frontdesk__breakfast/2/attempt1.peaks.json"
    assert recording_name(1, "../../etc/x", 1, 1) == "calls/1/.._.._etc_x/1/attempt1.wav"


async def test_left_is_the_caller_right_the_agent(storage: FileSystemStorage) -> None:
    recording = Recording(NAME, storage)
    recording.write(tone(0.5), b"")
    recording.write(b"", tone(0.25))
    assert recording.position_ms == 750
    await recording.close()
    left, right = channels(Path(storage.path(NAME)))
    assert left.tobytes() == tone(0.5) + silence(0.25)
    assert right.tobytes() == silence(0.5) + tone(0.25)


async def test_a_listener_hears_what_is_recorded(storage: FileSystemStorage) -> None:
    recording = Recording(NAME, storage)
    heard: list[tuple[int, int, int]] = []
    recording.on_audio.append(lambda at, left, right: heard.append((at, len(left), len(right))))
    recording.write(tone(0.1), b"")
    recording.write(tone(0.1), tone(0.2))
    await recording.close()
    assert heard == [(0, 3200, 3200), (100, 6400, 6400)]


async def test_a_storage_that_is_no_folder_gets_the_file_when_the_call_is_over() -> None:
    storage = InMemoryStorage()
    recording = Recording(NAME, storage)
    recording.write(tone(1), tone(1))
    assert not storage.exists(NAME)
    await recording.close()
    with storage.open(NAME) as file, wave.open(file) as stored:
        assert (stored.getnframes(), stored.getnchannels()) == (RATE, 2)
    assert json.loads(storage.open(peaks_name(NAME)).read())["length"] == 20


async def test_an_attempt_that_is_held_again_replaces_its_files(storage: FileSystemStorage) -> None:
    for seconds in (2.0, 1.0):
        recording = Recording(NAME, storage)
        recording.write(tone(seconds), b"")
        await recording.close()
    left, _ = channels(Path(storage.path(NAME)))
    assert len(left) == RATE
    assert json.loads(storage.open(peaks_name(NAME)).read())["length"] == 20


async def test_a_folder_that_cannot_be_written_breaks_the_recording_alone(tmp_path: Path) -> None:
    (tmp_path / "calls").write_text("a file where a folder should be")
    recording = Recording(NAME, FileSystemStorage(location=tmp_path))
    recording.write(tone(0.1), b"")
    assert recording.position_ms == 100
    await recording.close()
    assert recording.broken


async def test_a_storage_that_refuses_is_said(monkeypatch: Any) -> None:
    class Refused(Exception):
        pass

    def refuse(*_: Any) -> None:
        raise Refused("403 Forbidden")

    storage = InMemoryStorage()
    monkeypatch.setattr(storage, "save", refuse)
    recording = Recording(NAME, storage)
    recording.write(tone(0.1), b"")
    await recording.close()
    assert "403 Forbidden" in recording.broken


def test_the_file_is_valid_whenever_one_looks(tmp_path: Path) -> None:
    wav = StereoWav(tmp_path / "call.wav")
    for _ in range(5):
        wav.write(tone(1.3), silence(1.3))
        left, _ = channels(tmp_path / "call.wav")  # as another process would see it
        assert wav.frames - len(left) < RATE
    wav.close()
    wav.close()
    assert len(channels(tmp_path / "call.wav")[0]) == 5 * round(1.3 * RATE)


def test_a_killed_process_leaves_a_valid_file_and_its_outline_can_be_made(tmp_path: Path) -> None:
    path = tmp_path / "call.wav"
    script = (
        "import os, sys; from pathlib import Path; from bots.bridge.audio.wav import StereoWav;"
        "wav = StereoWav(Path(sys.argv[1]));"
        "[wav.write(b'\\0\\x20' * 16000, b'\\0\\0' * 16000) for _ in range(3)];"
        "os.kill(os.getpid(), 9)"
    )
    root = Path(__file__).resolve().parents[4]
    subprocess.run([sys.executable, "-c", script, str(path)], cwd=root, env=dict(os.environ), check=False)
    left, _ = channels(path)
    assert len(left) >= 2 * RATE
    with path.open("rb") as file:
        outline = outline_of(file)
    assert outline["data"][:4] == [32, 32, 0, 0]
    assert outline["length"] >= 40


def test_the_outline_does_not_depend_on_how_the_audio_came(tmp_path: Path) -> None:
    left, right = tone(1.03), tone(1.03, hertz=200)
    whole, pieces = Peaks(), Peaks()
    whole.add(left, right)
    for at in range(0, len(left), 222):
        pieces.add(left[at : at + 222], right[at : at + 222])
    assert whole.as_json() == pieces.as_json()
    wav = StereoWav(tmp_path / "call.wav")
    wav.write(left, right)
    wav.close()
    with (tmp_path / "call.wav").open("rb") as file:
        assert outline_of(file) == json.loads(whole.as_json())


def test_the_outline_holds_the_extremes_of_each_point() -> None:
    samples = np.zeros(SAMPLES_PER_POINT * 2, dtype="<i2")
    samples[5], samples[SAMPLES_PER_POINT + 7] = 32767, -32768
    peaks = Peaks()
    peaks.add(samples.tobytes(), bytes(len(samples) * 2))
    outline = json.loads(peaks.as_json())
    assert outline["data"] == [0, 127, 0, 0, -128, 0, 0, 0]
    assert (outline["version"], outline["channels"], outline["sample_rate"]) == (2, 2, RATE)


async def test_a_quarter_of_an_hour_is_recorded_in_little_memory(storage: FileSystemStorage) -> None:
    import tracemalloc

    second, quiet = tone(1), silence(1)
    tracemalloc.start()
    recording = Recording(NAME, storage)
    for _ in range(15 * 60):
        recording.write(second, quiet)
    await recording.close()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5 * 2**20
