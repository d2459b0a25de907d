"""Recordings of imported calls: copied, drawn, and heard like our own."""

import io
import wave
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile

from scenarios.formats.imports.records import ImportedAudio
from scenarios.importing import import_path, import_waiting, keep_upload, recordings
from scenarios.models import ForeignResult, Run, Trial
from scenarios.playback import outline, recording_of
from scenarios.sides import Side
from tests.scenarios.formats.imports.files import results, simulation, write
from tests.scenarios.formats.imports.folders import eva_record, eva_run, reference_call, reference_run, sound
from tests.spoken import keep_in, packed, wav

pytestmark = pytest.mark.django_db
LOUD, QUIET = b"\0\x20", b"\0\0"


@pytest.fixture(autouse=True)
def storage(tmp_path: Path, settings: Any) -> Path:
    """Keep recordings and uploads in the test's own folder."""
    keep_in(tmp_path / "media", settings)
    settings.VAR_DIR = tmp_path / "var"
    return tmp_path / "media"


def imported(folder: Path) -> Run:
    run = import_path(folder).run
    assert run is not None
    return run


def content(trial: Trial) -> bytes:
    with default_storage.open(recording_of(trial)) as file:
        return bytes(file.read())


def with_recording(recording: bytes) -> dict[str, Any]:
    return {"tau2_retail__24": {**reference_call(), "conversation_log.wav": recording}}


def test_a_run_of_the_reference_system_can_be_listened_to(tmp_path: Path) -> None:
    run = imported(reference_run(tmp_path / "eval_20260101_000000", with_recording(wav())))
    trial = run.trials.get()
    assert content(trial) == wav()
    drawn = outline(recording_of(trial))
    assert drawn is not None
    assert (drawn["channels"], drawn["length"]) == (2, 130)
    assert run.channel == run.config["channel"] == "voice"
    assert trial.events.get(kind="call.started").data == {"channel": "voice"}
    facts = ForeignResult.objects.get(trial=trial).facts
    assert facts["recording"].endswith("conversation_log.wav")


def test_what_comes_in_a_zip_is_copied_before_the_zip_is_gone(tmp_path: Path) -> None:
    folder = reference_run(tmp_path / "eval_20260101_000000", with_recording(wav()))
    packed_run = io.BytesIO()
    with zipfile.ZipFile(packed_run, "w") as archive:
        for path in folder.rglob("*"):
            archive.write(path, path.relative_to(tmp_path))
    keep_upload(SimpleUploadedFile("runs.zip", packed_run.getvalue()), None, {})
    import_waiting()
    assert content(Trial.objects.get()) == wav()


def test_two_recordings_of_one_length_are_put_side_by_side(tmp_path: Path) -> None:
    record = eva_record() | {
        "audio_user.wav": packed(LOUD * 2400, channels=1, rate=24000),
        "audio_assistant.wav": packed(QUIET * 1200 + LOUD * 1100, channels=1, rate=24000),
    }
    trial = imported(eva_run(tmp_path / "eva", {"1.1.2": record})).trials.get()
    with wave.open(io.BytesIO(content(trial))) as file:
        assert (file.getnchannels(), file.getframerate(), file.getnframes()) == (2, 24000, 2400)
        frames = file.readframes(2400)
    assert frames[:4] == LOUD + QUIET
    assert frames[1200 * 4 : 1200 * 4 + 4] == LOUD + LOUD
    assert frames[-4:] == LOUD + QUIET  # the shorter one is followed by silence


def test_recordings_that_began_at_different_times_are_not_mixed(tmp_path: Path) -> None:
    mixed = packed(LOUD * 4800, channels=1, rate=24000)
    record = eva_record() | {"audio_assistant.wav": sound(1, 24000, 48000), "audio_mixed.wav": mixed}
    trial = imported(eva_run(tmp_path / "eva", {"1.1.2": record})).trials.get()
    assert content(trial) == mixed


def test_one_side_alone_keeps_its_channel(tmp_path: Path) -> None:
    trial = imported(eva_run(tmp_path / "eva")).trials.get()
    with wave.open(io.BytesIO(content(trial))) as file:
        assert (file.getnchannels(), file.getnframes()) == (2, 2400)
    assert "the other side is not recorded" in ForeignResult.objects.get(trial=trial).facts["recording"]


def test_a_disk_that_is_full_costs_the_recording_and_not_the_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(recordings, "keep", full)
    run = imported(reference_run(tmp_path / "eval_20260101_000000", with_recording(wav())))
    assert run.trial_count == 1
    assert run.imported_from is not None
    assert any("No space left" in remark["text"] for remark in run.imported_from.remarks)


def test_an_import_that_is_taken_out_leaves_no_recording(
    tmp_path: Path, storage: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: Any, lint: Any) -> None:
        assert list(storage.rglob("*.wav"))
        raise RuntimeError("a defect of ours")

    monkeypatch.setattr(import_module("scenarios.importing.store")._Storing, "_close", broken)
    result = import_path(reference_run(tmp_path / "eval_20260101_000000", with_recording(wav())))
    assert result.result == "refused"
    assert [path for path in storage.rglob("*") if path.is_file()] == []
    assert not Run.objects.exists()


def audio(name: str, *sides: Side, channels: int = 1, seconds: float = 1.0, rate: int = 16000) -> ImportedAudio:
    return ImportedAudio(Path(name), name, channels, rate, 2, seconds, 32000, tuple(sides))


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ([], None),
        ([audio("both", "user", "agent", channels=2), audio("mixed")], "both"),
        ([audio("unknown", channels=2)], None),  # whose channels they are is not known
        ([audio("mixed"), audio("u", "user"), audio("a", "agent")], "u and a side by side"),
        ([audio("mixed"), audio("u", "user"), audio("a", "agent", seconds=2)], "mixed"),
        ([audio("u", "user"), audio("a", "agent", rate=8000)], "u, the other side is not recorded"),
        ([audio("a", "agent")], "a, the other side is not recorded"),
    ],
)
def test_which_recording_is_kept(files: list[ImportedAudio], words: str | None) -> None:
    choice = recordings.choose(files)
    assert (choice.words if choice else None) == words


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_samples_of_any_width_are_put_side_by_side(width: int) -> None:
    left, right = bytes(range(1, 1 + 2 * width)), bytes(range(101, 101 + width))
    silence = (b"\x80" if width == 1 else b"\0") * width
    both = recordings._stereo(left, right, width)
    assert both == left[:width] + right + left[width:] + silence


def test_the_interaction_of_ticks_is_worked_out_while_they_are_there(tmp_path: Path) -> None:
    def tick(number: int, speaker: str) -> dict[str, Any]:
        chunk = {"role": "assistant", "content": "hm", "contains_speech": True}
        heard = {"agent_chunk": chunk} if speaker == "agent" else {"user_chunk": {**chunk, "role": "user"}}
        return {"tick_id": number, "tick_duration_seconds": 0.2, **heard}

    ticks = [tick(0, "user"), tick(1, "user"), {"tick_id": 2}, {"tick_id": 3}, tick(4, "agent")]
    run = imported(write(tmp_path, results([simulation(mode="full_duplex", ticks=ticks)])))
    figures = ForeignResult.objects.get(trial__run=run).facts["interaction"]
    assert figures["counts"]["response_total"] == 1
    assert figures["response_latency_mean"] == pytest.approx(0.4)
    text = imported(write(tmp_path / "text", results([simulation(id="another")])))
    assert "interaction" not in ForeignResult.objects.get(trial__run=text).facts
