"""Background noise, made and not recorded: pink, street and babble, as loops that close without a seam.

Each is shaped in the frequency domain from seeded random phases, so that the same seed is the same noise everywhere.
"""

from functools import lru_cache
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

Noise = Literal["pink", "street", "babble"]
NOISES: tuple[Noise, ...] = get_args(Noise)
LOOP_S = 20
_TALKERS = 8
Samples = NDArray[np.float64]


@lru_cache(maxsize=16)
def noise_loop(kind: Noise, rate: int, seed: int) -> Samples:
    """Return ``LOOP_S`` seconds of a noise at RMS 1; the end goes on into the start."""
    if kind not in NOISES:
        raise ValueError(f"unknown noise {kind!r}; there are {', '.join(NOISES)}")
    random = np.random.default_rng([seed, NOISES.index(kind)])
    size = LOOP_S * rate
    makers = {"pink": _pink, "street": _street, "babble": _babble}
    loop = _levelled(makers[kind](random, size, rate))
    loop.flags.writeable = False
    return loop


def _pink(random: np.random.Generator, size: int, rate: int) -> Samples:
    return _shaped(random, size, _frequencies(size, rate) ** -0.5)


def _street(random: np.random.Generator, size: int, rate: int) -> Samples:
    """Rumble that swells and falls as traffic passes."""
    frequencies = _frequencies(size, rate)
    return _shaped(random, size, 1 / (1 + (frequencies / 250) ** 1.2)) * _swell(random, size, rate, 0.15, 0.8)


def _babble(random: np.random.Generator, size: int, rate: int) -> Samples:
    """Talkers whose spectrum is that of speech and whose loudness goes with syllables and sentences."""
    frequencies = _frequencies(size, rate)
    total = np.zeros(size)
    for _ in range(_TALKERS):
        centre = random.uniform(350, 650)
        spectrum = (frequencies / centre) / (1 + (frequencies / centre) ** 2.3)
        voice = _shaped(random, size, spectrum)
        total += voice * _swell(random, size, rate, 4.0, 1.0) * _swell(random, size, rate, 0.4, 0.8)
    return total


def _frequencies(size: int, rate: int) -> Samples:
    frequencies = np.fft.rfftfreq(size, 1 / rate)
    audible: Samples = np.maximum(frequencies, 20.0)
    return audible


def _shaped(random: np.random.Generator, size: int, spectrum: Samples) -> Samples:
    phases = np.exp(2j * np.pi * random.random(len(spectrum)))
    phases[0] = 0
    loop: Samples = np.fft.irfft(spectrum * phases, size)
    return _levelled(loop)


def _levelled(loop: Samples) -> Samples:
    """Return a loop at RMS 1."""
    levelled: Samples = loop / np.sqrt(np.mean(loop**2))
    return levelled


def _swell(random: np.random.Generator, size: int, rate: int, hertz: float, depth: float) -> Samples:
    """Return a slow envelope above 0 with most of its change below ``hertz``."""
    slow = _shaped(random, size, (np.fft.rfftfreq(size, 1 / rate) <= hertz).astype(float))
    envelope: Samples = np.exp(depth * slow)
    return envelope
