"""Local speech: its files, its cache, and the window that faster-whisper is given."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bots.party.speech import assets
from bots.party.speech.assets import SpeechUnavailable, piper_voice, whisper_folder
from bots.party.speech.cache import SpeechCache
from bots.party.speech.whisper import LONGEST_WINDOW, SHORTEST_WINDOW, fitted


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put small files in the place of the packages'; return their folder."""
    content = {
        "model.bin.part1": b"first ",
        "model.bin.part2": b"second",
        "config.json": b"{}",
        "tokenizer.json": b"[]",
        "vocabulary.json": b"[1]",
    }
    for name, data in content.items():
        (tmp_path / name).write_bytes(data)
    whole = {
        "model.bin": b"first second",
        **{n: content[n] for n in ("config.json", "tokenizer.json", "vocabulary.json")},
    }
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in whole.items()}
    monkeypatch.setattr(assets, "_WHISPER_FILES", digests)
    monkeypatch.setattr(assets, "_package_data", lambda package: tmp_path)
    monkeypatch.setenv("CALLBOARD_VAR", str(tmp_path / "var"))
    monkeypatch.delenv("WHISPER_MODEL", raising=False)
    return tmp_path


def test_the_model_is_put_together_once(packages: Path) -> None:
    folder = whisper_folder()
    assert (folder / "model.bin").read_bytes() == b"first second"
    assert sorted(path.name for path in folder.iterdir()) == [
        "config.json",
        "model.bin",
        "tokenizer.json",
        "vocabulary.json",
    ]
    (packages / "model.bin.part1").unlink()
    assert whisper_folder() == folder
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_a_changed_upload_is_refused_and_leaves_nothing(packages: Path) -> None:
    (packages / "model.bin.part2").write_bytes(b"tampered")
    with pytest.raises(SpeechUnavailable, match=r"model\.bin is not the file it should be"):
        whisper_folder()
    assert list((packages / "var" / "models").iterdir()) == []


def test_a_package_that_is_not_installed_names_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(assets, "_WHISPER_PARTS", (("no_such_package_here", "model.bin.part1"),))
    monkeypatch.setenv("CALLBOARD_VAR", str(tmp_path))
    monkeypatch.delenv("WHISPER_MODEL", raising=False)
    with pytest.raises(SpeechUnavailable, match=r"no-such-package-here is not installed.*callboard\[voice\]"):
        whisper_folder()


def test_other_models_can_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WHISPER_MODEL", str(tmp_path))
    with pytest.raises(SpeechUnavailable, match=r"no model\.bin in that folder"):
        whisper_folder()
    (tmp_path / "model.bin").touch()
    assert whisper_folder() == tmp_path
    voice = tmp_path / "voice.onnx"
    monkeypatch.setenv("PIPER_VOICE", str(voice))
    with pytest.raises(SpeechUnavailable, match="PIPER_VOICE"):
        piper_voice()
    for path in (voice, tmp_path / "voice.onnx.json"):
        path.touch()
    assert piper_voice() == voice


@pytest.mark.parametrize(
    ("frames", "window"),
    [(10, SHORTEST_WINDOW), (1300, SHORTEST_WINDOW), (1400, 1550), (2900, LONGEST_WINDOW), (4000, LONGEST_WINDOW)],
)
def test_the_window_fits_the_speech_but_is_never_short(frames: int, window: int) -> None:
    features = np.ones((80, frames))
    made = fitted(features)
    assert made.shape == (80, window)
    assert made.sum() == 80 * min(frames, window)


def test_faster_whisper_still_has_the_function_that_is_replaced() -> None:
    transcribe: Any = pytest.importorskip("faster_whisper.transcribe")
    assert callable(transcribe.pad_or_trim)


def test_the_cache_keeps_what_was_used_last() -> None:
    cache = SpeechCache(max_bytes=10)
    cache.put("a", b"1234")
    cache.put("b", b"1234")
    assert cache.get("a") == b"1234"
    cache.put("c", b"1234")
    assert [cache.get(key) for key in "abc"] == [b"1234", None, b"1234"]
    cache.put("d", b"x" * 11)
    assert cache.get("d") is None
    cache.put("a", b"12345678")
    assert [cache.get(key) for key in "ac"] == [b"12345678", None]
