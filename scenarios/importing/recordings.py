"""Recordings that came with imported calls: kept where those of our own calls are, so that they are heard alike."""

import tempfile
import wave
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from django.core.files import File
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from scenarios.formats.imports.records import ImportedAudio, ImportedTrial, Remark
from scenarios.models import Trial
from scenarios.outline import NoRecording, outline_json
from scenarios.recordings import peaks_name, recording_folder, recording_name

# Two recordings of one side each belong together when they are as long as each other, to this many seconds.
_SAME_LENGTH_S = 0.1
_BLOCK_FRAMES = 64_000


@dataclass(frozen=True)
class Choice:
    """Which of a call's recordings is kept: the caller's and the agent's side by side, or one file as it is."""

    whole: ImportedAudio | None = None
    user: ImportedAudio | None = None
    agent: ImportedAudio | None = None

    @property
    def words(self) -> str:
        """Return what it is made of, by the names that the files have in their run."""
        if self.whole is not None:
            return self.whole.name
        names = [audio.name for audio in (self.user, self.agent) if audio is not None]
        return " and ".join(names) + (" side by side" if len(names) > 1 else ", the other side is not recorded")


def choose(audio: Sequence[ImportedAudio]) -> Choice | None:
    """Return what to keep of a call's recordings; None when there is nothing whose sides are known."""
    both = next((one for one in audio if one.sides == ("user", "agent")), None)
    if both is not None:
        return Choice(whole=both)
    user = next((one for one in audio if one.sides == ("user",)), None)
    agent = next((one for one in audio if one.sides == ("agent",)), None)
    if user is not None and agent is not None and _belong_together(user, agent):
        return Choice(user=user, agent=agent)
    mixed = next((one for one in audio if one.channels == 1 and not one.sides), None)
    if mixed is not None:
        return Choice(whole=mixed)
    return Choice(user=user, agent=None if user else agent) if user or agent else None


def keep_of(call: ImportedTrial, trial: Trial, scenario: str, remarks: list[Remark]) -> bool:
    """Store what was recorded of a call; False where there is nothing, or where a new remark says why it failed."""
    choice = choose(call.audio)
    if choice is None:
        return False
    try:
        keep(choice, trial.run_id, scenario, trial.number)
    except (NoRecording, OSError) as problem:
        remarks.append(Remark("warning", choice.words, f"the recording was not kept: {problem}"))
        return False
    return True


def keep(choice: Choice, run: int, scenario: str, number: int) -> str:
    """Store a recording and its outline; returns its name. Raises NoRecording where it cannot be read to its end."""
    name = recording_name(run, scenario, number, attempt=1)
    default_storage.delete(name)
    if choice.whole is not None:
        with choice.whole.path.open("rb") as file:
            default_storage.save(name, File(file))
    else:
        with tempfile.TemporaryFile() as file:
            _interleave(choice, file)
            file.seek(0)
            default_storage.save(name, File(file))
    with default_storage.open(name) as kept:
        outline = outline_json(kept)
    default_storage.delete(peaks_name(name))
    default_storage.save(peaks_name(name), ContentFile(outline.encode()))
    return name


def forget(run: int) -> None:
    """Remove all recordings of a run that is taken out again."""
    _remove(recording_folder(run))


def _remove(folder: str) -> None:
    try:
        folders, files = default_storage.listdir(folder)
    except FileNotFoundError:
        return
    for name in folders:
        _remove(f"{folder}/{name}")
    for name in files:
        default_storage.delete(f"{folder}/{name}")
    default_storage.delete(folder)  # an empty folder; storages without folders have nothing of that name


def _belong_together(user: ImportedAudio, agent: ImportedAudio) -> bool:
    same = (user.rate, user.width, user.channels) == (agent.rate, agent.width, agent.channels)
    return same and user.width == 2 and abs(user.duration_s - agent.duration_s) <= _SAME_LENGTH_S


def _interleave(choice: Choice, target: IO[bytes]) -> None:
    """Write one side or both as stereo, left the caller; the shorter one is followed by silence."""
    present = choice.user or choice.agent
    assert present is not None
    try:
        with wave.open(target, "wb") as writer:
            writer.setnchannels(2)
            writer.setsampwidth(present.width)
            writer.setframerate(present.rate)
            readers = [_open(audio) for audio in (choice.user, choice.agent)]
            try:
                while any(blocks := [reader.readframes(_BLOCK_FRAMES) if reader else b"" for reader in readers]):
                    writer.writeframesraw(_stereo(blocks[0], blocks[1], present.width))
            finally:
                for reader in filter(None, readers):
                    reader.close()
    except (wave.Error, EOFError) as error:
        raise NoRecording(str(error) or "it is cut off") from error


def _open(audio: ImportedAudio | None) -> wave.Wave_read | None:
    return None if audio is None else wave.open(str(Path(audio.path)), "rb")  # noqa: SIM115  (closed by the caller)


def _stereo(left: bytes, right: bytes, width: int) -> bytes:
    length = max(len(left), len(right)) // width * width
    silence = b"\x80" if width == 1 else b"\0"
    left, right = left.ljust(length, silence), right.ljust(length, silence)
    both = array("B", bytes(2 * length))
    for byte in range(width):
        both[byte :: 2 * width] = array("B", left[byte::width])
        both[width + byte :: 2 * width] = array("B", right[byte::width])
    return both.tobytes()
