"""What an engine of speech is, whoever makes it."""

from collections.abc import AsyncIterator
from typing import Protocol


class SpeechFailed(Exception):
    """Speech could not be recognised or made; ``kind`` is short, the text says where and what."""

    def __init__(self, kind: str, message: str, *, is_passing: bool = True) -> None:
        super().__init__(message)
        self.kind = kind
        self.is_passing = is_passing


class Hearing(Protocol):
    """Turns speech into text."""

    async def transcribe(self, pcm: bytes) -> str:
        """Return what was said in 16-bit mono speech at 16 kHz, "" for nothing. Raises SpeechFailed."""


class Voice(Protocol):
    """Turns text into speech."""

    def speak(self, text: str) -> AsyncIterator[bytes]:
        """Yield pieces of 16-bit mono speech at 16 kHz. Raises SpeechFailed."""
