"""The recording of one attempt: written as the call goes, the timeline of everything in it.

Left is what the caller says to the agent, right what the agent says to the caller. With a storage that is a folder the
file grows where it stays; with another one it grows in a temporary folder and is handed over when the call is over.
"""

import asyncio
import logging
import tempfile
from collections.abc import Callable
from pathlib import Path

from django.core.files import File
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, Storage, default_storage

from bots.bridge.audio.pcm import RATE
from bots.bridge.audio.peaks import Peaks
from bots.bridge.audio.wav import StereoWav
from scenarios.recordings import peaks_name

# Called with the position in milliseconds and what was heard from there on: of the caller, of the agent.
OnAudio = Callable[[int, bytes, bytes], None]

log = logging.getLogger(__name__)


class Recording:
    """What both sides hear of each other, sample by sample."""

    def __init__(self, name: str, storage: Storage | None = None) -> None:
        self.name = name
        self.on_audio: list[OnAudio] = []
        # Why the rest of the call is not recorded (a full disk); "" when it is.
        self.broken = ""
        self._storage = default_storage if storage is None else storage
        self._frames = 0
        self._peaks = Peaks()
        self._spool: tempfile.TemporaryDirectory[str] | None = None
        self._wav: StereoWav | None = None
        try:
            self._wav = StereoWav(self._path())
        except OSError as error:
            self._break(error)

    @property
    def position_ms(self) -> int:
        """Return how long the recording is."""
        return self._frames * 1000 // RATE

    def write(self, caller: bytes, agent: bytes) -> None:
        """Append what was heard of both sides at the same time; the shorter one is followed by silence."""
        length = max(len(caller), len(agent))
        left, right = caller.ljust(length, b"\0"), agent.ljust(length, b"\0")
        position_ms = self.position_ms
        self._frames += length // 2
        if self._wav is not None and not self.broken:
            try:
                self._wav.write(left, right)
            except OSError as error:
                self._break(error)
        self._peaks.add(left, right)
        for listener in self.on_audio:
            listener(position_ms, left, right)

    async def close(self) -> None:
        """Finish the file and store the outline beside it."""
        await asyncio.to_thread(self._close)

    def _path(self) -> Path:
        if isinstance(self._storage, FileSystemStorage):
            return Path(self._storage.path(self.name))
        self._spool = tempfile.TemporaryDirectory(prefix="callboard-")
        return Path(self._spool.name) / "call.wav"

    def _close(self) -> None:
        try:
            if self._wav is not None:
                self._wav.close()
                if self._spool is not None:
                    self._storage.delete(self.name)  # of an attempt that was broken off and is held again
                    with self._wav.path.open("rb") as file:
                        self._storage.save(self.name, File(file))
            peaks = peaks_name(self.name)
            self._storage.delete(peaks)
            self._storage.save(peaks, ContentFile(self._peaks.as_json().encode()))
        except Exception as error:  # whatever a storage of another make raises: the call goes on without its file
            self._break(error)
        finally:
            if self._spool is not None:
                self._spool.cleanup()

    def _break(self, error: Exception) -> None:
        if not self.broken:
            log.error("recording %s: %s", self.name, error)
            self.broken = (isinstance(error, OSError) and error.strerror) or f"{type(error).__name__}: {error}"
