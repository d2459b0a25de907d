"""What comes and goes on the caller's side: a noise that drifts, sounds like a bark or a horn, a muffled voice.

The settings are those of the benchmark's ``tasks_voice.json``, whose code and recordings are not ours: where it leaves
open how a figure is meant, the docstring of a choice says how it is taken here. All is decided a packet ahead from
seeded dice, so that the cut into chunks makes no difference, and length never changes.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

PACKET_MS = 20
# ITU-T P.56 active level of speech on a line, in dB below full scale: what noise is set against before anyone speaks.
NOMINAL_DBFS = -26.0
ACTIVE_DBFS = -45.0
# So long a silence ends a stretch of speech; a muffled moment lies within so much of its beginning.
PAUSE_MS, MUFFLED_WITHIN_S = 500, 2.0
Samples = NDArray[np.float64]


@dataclass(frozen=True)
class Drift:
    """The noise wanders up to ``db`` up and down around its level, about ``hertz`` times a second."""

    db: float
    hertz: float


@dataclass(frozen=True)
class Bursts:
    """So many sounds a minute of the line, by chance, each of ``sounds``, at a ratio drawn between ``snr_db``."""

    per_minute: float
    snr_db: tuple[float, float]
    sounds: tuple[str, ...]


@dataclass(frozen=True)
class Muffling:
    """With this chance a stretch of speech has moments, begun within 2 s, without sound above a frequency."""

    chance: float
    segments: int
    segment_ms: float
    cutoff_hz: float
    transition_ms: float


class SpeechLevel:
    """Follows the level of speech, a packet at a time."""

    def __init__(self, rate: int) -> None:
        self.packet = rate * PACKET_MS // 1000
        self.level = 10 ** (NOMINAL_DBFS / 20)
        self.is_active = False  # the newest whole packet was speech
        self.packets = 0
        self._energy, self._count = 0.0, 0
        self._speech_energy, self._speech_packets = 0.0, 0

    def pieces(self, samples: Samples) -> Iterator[slice]:
        """Yield the samples in pieces none of which is of two packets; each is heard before the next is given."""
        done = 0
        while done < len(samples):
            here = slice(done, done + min(self.packet - self._count, len(samples) - done))
            yield here
            self._hear(samples[here])
            done = here.stop

    @property
    def place(self) -> int:
        """Return how many samples were heard."""
        return self.packets * self.packet + self._count

    def _hear(self, piece: Samples) -> None:
        # Added in order, one after the other: a sum of parts would round otherwise.
        self._energy = float(np.cumsum(np.concatenate(([self._energy], piece * piece)))[-1])
        self._count += len(piece)
        if self._count < self.packet:
            return
        mean = self._energy / self.packet
        self.is_active = mean > 10 ** (ACTIVE_DBFS / 10)
        if self.is_active:
            self._speech_energy += mean
            self._speech_packets += 1
            self.level = float(np.sqrt(self._speech_energy / self._speech_packets))
        self._energy, self._count = 0.0, 0
        self.packets += 1


class DriftingLevel:
    """The factor of a drifting noise, packet by packet: three slow waves with phases of the seed."""

    def __init__(self, drift: Drift | None, seed: int) -> None:
        self._drift = drift
        self._phases = np.random.default_rng([seed, 17]).uniform(0, 2 * np.pi, 3)

    def at(self, packet: int) -> float:
        """Return the factor of a packet, 1 without a drift."""
        if self._drift is None:
            return 1.0
        angles = 2 * np.pi * self._drift.hertz * np.array([1.0, 0.61, 0.37]) * packet * PACKET_MS / 1000
        return float(10 ** (self._drift.db * np.mean(np.sin(angles + self._phases)) / 20))


class BurstStage:
    """Adds a sound now and then."""

    def __init__(self, bursts: Bursts, rate: int, seed: int) -> None:
        self._bursts, self._rate = bursts, rate
        self._dice = np.random.default_rng([seed, 19])
        self._level = SpeechLevel(rate)
        self._sound: Samples = np.zeros(0)
        self._begins = self._next_begin()

    def carry(self, samples: Samples) -> Samples:
        """Return the samples with what sounds meanwhile."""
        out = samples.copy()
        for here in self._level.pieces(samples):
            first = self._level.place
            if first >= self._begins + len(self._sound):
                if len(self._sound):
                    self._sound, self._begins = np.zeros(0), first + self._next_begin()
                elif first >= self._begins:
                    self._sound, self._begins = self._next_sound(), first
            piece = self._sound[max(0, first - self._begins) : max(0, first - self._begins + here.stop - here.start)]
            out[here.start : here.start + len(piece)] += piece
        return out

    def _next_begin(self) -> int:
        wait_s = float(self._dice.exponential(60 / self._bursts.per_minute))
        packet = self._level.packet
        return max(1, round(wait_s * self._rate / packet)) * packet

    def _next_sound(self) -> Samples:
        name = self._bursts.sounds[int(self._dice.integers(len(self._bursts.sounds)))]
        snr_db = float(self._dice.uniform(*self._bursts.snr_db))
        sound = burst(name, self._rate, self._dice) * self._level.level * 10 ** (-snr_db / 20)
        # Whole packets: where it ends is where one begins, however the audio is cut.
        return np.pad(sound, (0, -len(sound) % self._level.packet))


class MuffledStage:
    """Lets no high sound through for moments of speech, as when a hand lies on the microphone."""

    def __init__(self, muffling: Muffling, rate: int, seed: int) -> None:
        from scipy.signal import butter, sosfilt  # half a second and more of imports

        self._muffling, self._rate, self._filtered = muffling, rate, sosfilt
        self._dice = np.random.default_rng([seed, 23])
        self._level = SpeechLevel(rate)
        self._filter = butter(4, min(muffling.cutoff_hz, 0.45 * rate), "lowpass", fs=rate, output="sos")
        self._state = np.zeros((len(self._filter), 2))
        self._quiet = PAUSE_MS // PACKET_MS  # packets of silence so far
        self._judged = 0
        self._segments: list[int] = []  # where each begins, in samples

    def carry(self, samples: Samples) -> Samples:
        """Return the samples, muffled where it is time for that."""
        dull, self._state = self._filtered(self._filter, samples, zi=self._state)
        out = samples.copy()
        for here in self._level.pieces(samples):
            self._judge()
            share = self._share(self._level.place, here.stop - here.start)
            if share is not None:
                out[here] = samples[here] * (1 - share) + dull[here] * share
        return out

    def _judge(self) -> None:
        """Decide about a stretch of speech once its first packet was heard."""
        if self._level.packets == self._judged:
            return
        self._judged = self._level.packets
        if not self._level.is_active:
            self._quiet += 1
            return
        begins, self._quiet = self._quiet >= PAUSE_MS // PACKET_MS, 0
        if begins and self._dice.random() < self._muffling.chance:
            offsets = self._dice.uniform(0, MUFFLED_WITHIN_S, self._muffling.segments)
            self._segments = [self._level.place + round(float(offset) * self._rate) for offset in offsets]

    def _share(self, first: int, size: int) -> Samples | None:
        """Return how muffled each sample is, 0 to 1; None where none is."""
        length = self._muffling.segment_ms * self._rate / 1000
        near = [begin for begin in self._segments if begin < first + size and begin + length > first]
        if not near:
            return None
        places = np.arange(first, first + size)
        ramp = max(1.0, self._muffling.transition_ms * self._rate / 1000)
        shares = [np.clip(np.minimum(places - begin, begin + length - places) / ramp, 0, 1) for begin in near]
        share: Samples = np.max(shares, axis=0)
        return share


def burst(name: str, rate: int, dice: np.random.Generator) -> Samples:
    """Return a sound nearest to a recording's name, at RMS 1."""
    maker = next((make for word, make in _SOUNDS.items() if word in name.lower()), _bark)
    sound = maker(rate, dice)
    levelled: Samples = sound / np.sqrt(np.mean(sound**2))
    return levelled


def _times(seconds: float, rate: int) -> Samples:
    times: Samples = np.arange(round(seconds * rate)) / rate
    return times


def _ring(rate: int, dice: np.random.Generator) -> Samples:
    """Two tones that warble, with a pause: a telephone."""
    t = _times(2.0, rate)
    ring: Samples = (np.sin(2 * np.pi * 440 * t) + np.sin(2 * np.pi * 480 * t)) * (t % 1.0 < 0.6)
    return ring


def _bark(rate: int, dice: np.random.Generator) -> Samples:
    """Two short rough sounds that fall."""
    t = _times(0.25, rate)
    rough = 1 + 0.5 * dice.standard_normal(len(t))
    one = np.sin(2 * np.pi * (650 * t - 500 * t**2)) * rough * np.exp(-12 * t)
    return np.concatenate([one, np.zeros(rate // 5), one])


def _horn(rate: int, dice: np.random.Generator) -> Samples:
    """Two tones and their harmonics: a car."""
    t = _times(0.8, rate)
    horn: Samples = np.sum([np.sin(2 * np.pi * hz * n * t) / n for hz in (350, 440) for n in (1, 2, 3)], axis=0)
    return horn


def _siren(rate: int, dice: np.random.Generator) -> Samples:
    """A tone that wails between 600 and 1400 Hz."""
    t = _times(3.0, rate)
    siren: Samples = np.sin(2 * np.pi * (1000 * t - 400 / (2 * np.pi * 0.5) * np.cos(2 * np.pi * 0.5 * t)))
    return siren


def _engine(rate: int, dice: np.random.Generator) -> Samples:
    """A low beat, not quite even."""
    t = _times(3.0, rate)
    beat = np.sum([np.sin(2 * np.pi * 85 * n * t + dice.uniform(0, 6)) / n**0.5 for n in range(1, 9)], axis=0)
    engine: Samples = beat * (1 + 0.3 * np.sin(2 * np.pi * 9 * t))
    return engine


_SOUNDS: Mapping[str, Callable[[int, np.random.Generator], Samples]] = {
    "phone": _ring,
    "bark": _bark,
    "horn": _horn,
    "siren": _siren,
    "engine": _engine,
}
