"""What a recording of fifteen minutes takes of memory, written as a call in real time does."""

from pathlib import Path

from tests.bench.figure import Figure

MINUTES = 15
PIECE = 640  # 20 ms


def measure() -> list[Figure]:
    """Write it in pieces of 20 ms and look at the memory every second of audio."""
    import asyncio

    from bots.bridge.audio.recording import Recording

    speech = bytes(range(256)) * 5
    Recording("calls/bench/warm.wav").write(speech[:PIECE], b"")
    before = resident_mb()
    most = before
    recording = Recording("calls/bench/long.wav")
    for piece in range(MINUTES * 60 * 50):
        recording.write(speech[:PIECE], speech[PIECE : 2 * PIECE])
        if piece % 50 == 0:
            most = max(most, resident_mb())
    asyncio.run(recording.close())
    most = max(most, resident_mb())
    conditions = f"{recording.position_ms / 1000:.0f} s in pieces of 20 ms, both sides, closed, outline included"
    return [Figure(f"memory of a recording of {MINUTES} minutes", most - before, "MB", 30, conditions)]


def resident_mb(pid: int | str = "self") -> float:
    """Return the memory of a process that is really there."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * 4096 / 2**20
