"""Looking at recordings as somebody else would: with the standard library and numpy."""

import wave
from pathlib import Path
from typing import Any

import numpy as np

LOUD = 328


def squeezed(text: str | None) -> str:
    """Return a text without spaces: tones with a gap in them, as on a busy machine, are heard in pieces."""
    return "".join((text or "").split())


def channels(path: Path) -> tuple[Any, Any]:
    """Return left and right of a recording, after checking its format."""
    with wave.open(str(path), "rb") as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (2, 2, 16_000)
        both = np.frombuffer(file.readframes(file.getnframes()), dtype="<i2").reshape(-1, 2)
    return both[:, 0], both[:, 1]


def sounding_ms(channel: Any, from_ms: int, to_ms: int) -> tuple[float, float]:
    """Return where between two times the sound begins and ends, in milliseconds."""
    part = np.abs(channel[from_ms * 16 : to_ms * 16].astype(int)) > LOUD
    positions = np.flatnonzero(part)
    assert len(positions), f"silence between {from_ms} and {to_ms} ms"
    return from_ms + positions[0] / 16, from_ms + positions[-1] / 16


def check_turns(path: Path, turns: list[dict[str, Any]], slack_ms: int = 200) -> None:
    """Assert that each turn is where its event says, and silence of its side everywhere else."""
    left, right = channels(path)
    quiet = {"user": left.copy(), "agent": right.copy()}
    for turn in turns:
        channel = left if turn["side"] == "user" else right
        before, after = max(0, turn["started_ms"] - slack_ms), turn["ended_ms"] + slack_ms
        begins, ends = sounding_ms(channel, before, after)
        assert abs(begins - turn["started_ms"]) <= slack_ms
        assert abs(ends - turn["ended_ms"]) <= slack_ms
        quiet[turn["side"]][before * 16 : after * 16] = 0
    for side, rest in quiet.items():
        assert np.abs(rest.astype(int)).max(initial=0) <= LOUD, f"the {side} side is heard outside its turns"
