"""The line between two parties, as a choice of the run: telephone band, background noise, lost packets.

All of it is seeded: the same settings, seed and audio give the same bytes, however the audio is cut into chunks. Length
never changes, so that times on the record stay true. Audio is 16-bit mono; a chunk of 20 ms costs well under 1 ms.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, Self, get_args

import numpy as np
from numpy.typing import NDArray

from bots.bridge.disturbances import (
    PACKET_MS,
    Bursts,
    BurstStage,
    Drift,
    DriftingLevel,
    MuffledStage,
    Muffling,
    SpeechLevel,
)
from bots.bridge.noise import NOISES, Noise, noise_loop

Concealment = Literal["silence", "repeat"]
_FULL = 32768.0
_MU = 255.0
_BAND_HZ = (300.0, 3400.0)
_TELEPHONE_RATE = 8000
# A recording of the benchmark by a word in its name, and the noise of ours that is nearest to it.
_NOISE_WORDS: tuple[tuple[str, Noise], ...] = (
    ("street", "street"),
    ("metro", "street"),
    ("people", "babble"),
    ("tv", "babble"),
)
Samples = NDArray[np.float64]


@dataclass(frozen=True)
class Acoustics:
    """What a run chooses. ``not_simulated`` names settings of a persona that we have no counterpart for."""

    telephone: bool = False
    noise: Noise | None = None
    snr_db: float = 15.0  # level of active speech over the noise
    loss_rate: float = 0.0  # share of packets lost, 0 to 1
    loss_burst_ms: float = PACKET_MS  # mean length of a loss; one packet: losses are independent
    concealment: Concealment = "silence"
    # What only a persona's setting has.
    drift: Drift | None = None
    bursts: Bursts | None = None
    muffling: Muffling | None = None
    not_simulated: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        """Refuse what no line can be."""
        if self.noise is not None and self.noise not in NOISES:
            raise ValueError(f"unknown noise {self.noise!r}; there are {', '.join(NOISES)}")
        if not -20 <= self.snr_db <= 60:
            raise ValueError(f"a signal-to-noise ratio of {self.snr_db} dB: choose -20 to 60")
        if not 0 <= self.loss_rate <= 0.5:
            raise ValueError(f"a loss of {self.loss_rate:.0%} of packets: choose 0 to 50 %")
        if not PACKET_MS <= self.loss_burst_ms <= 2000:
            raise ValueError(f"losses of {self.loss_burst_ms} ms on average: choose {PACKET_MS} to 2000")
        if self.concealment not in get_args(Concealment):
            raise ValueError(f"unknown concealment {self.concealment!r}; choose silence or repeat")

    @property
    def is_clean(self) -> bool:
        """Return whether audio passes unchanged."""
        return not (self.telephone or self.noise or self.loss_rate or self.bursts or self.muffling)

    @property
    def more(self) -> str:
        """Return in words what only a persona's setting has, "" for nothing."""
        words = [
            f"noise that drifts by {self.drift.db:g} dB" if self.drift else "",
            f"other sounds, {self.bursts.per_minute:g} a minute" if self.bursts else "",
            f"{self.muffling.chance:.0%} of stretches of speech muffled for a moment" if self.muffling else "",
        ]
        return ", ".join(filter(None, words))

    @classmethod
    def from_voice_config(cls, config: Mapping[str, Any]) -> Self:
        """Return one persona setting of ``tasks_voice.json`` (``configs.<task>.configs.<name>``) as a line.

        Its recordings are not ours to ship: the nearest noise of ours stands in for them at the same level.
        """
        source, channel = _part(config, "source_effects_config"), _part(config, "channel_effects_config")
        speech = _part(config, "speech_effects_config")
        drops = bool(channel.get("enable_frame_drops"))
        skipped = {
            "vocal tics": bool(speech.get("enable_vocal_tics")),
            f"the voice of {config.get('persona_name')}": bool(config.get("persona_name")),
        }
        return cls(
            telephone=bool(config.get("telephony_enabled")),
            noise=_nearest(config.get("background_noise_file")) if source.get("enable_background_noise") else None,
            snr_db=float(source.get("noise_snr_db", 15.0)),
            loss_rate=float(channel.get("frame_drop_rate", 0.0)) if drops else 0.0,
            loss_burst_ms=float(channel.get("frame_drop_duration_ms", PACKET_MS)) if drops else PACKET_MS,
            drift=_drift(source),
            bursts=_bursts(source, config.get("burst_noise_files")),
            muffling=_muffling(speech),
            not_simulated=tuple(name for name, is_set in skipped.items() if is_set),
        )


def _part(config: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = config.get(name) or {}
    if not isinstance(part, Mapping):
        raise ValueError(f"{name} of a voice setting is {type(part).__name__}, not an object")
    return part


def _drift(source: Mapping[str, Any]) -> Drift | None:
    db = float(source.get("noise_snr_drift_db") or 0)
    is_set = bool(source.get("enable_background_noise")) and db > 0
    return Drift(db, float(source.get("noise_variation_speed", 0.5))) if is_set else None


def _bursts(source: Mapping[str, Any], files: object) -> Bursts | None:
    per_minute = float(source.get("burst_noise_events_per_minute") or 0)
    sounds = tuple(map(str, files)) if isinstance(files, list) else ()
    if not source.get("enable_burst_noise") or not per_minute or not sounds:
        return None
    low, high = source.get("burst_snr_range_db") or (-5.0, 10.0)
    return Bursts(per_minute, (float(low), float(high)), sounds)


def _muffling(speech: Mapping[str, Any]) -> Muffling | None:
    chance = float(speech.get("muffle_probability") or 0)
    if not speech.get("enable_dynamic_muffling") or not chance:
        return None
    return Muffling(
        chance=chance,
        segments=int(speech.get("muffle_segment_count", 1)),
        segment_ms=float(speech.get("muffle_segment_duration_ms", 500)),
        cutoff_hz=float(speech.get("muffle_cutoff_freq", 1500.0)),
        transition_ms=float(speech.get("muffle_transition_ms", 100)),
    )


def _nearest(recording: object) -> Noise:
    name = str(recording or "").lower()
    return next((noise for word, noise in _NOISE_WORDS if word in name), "pink")


class Line:
    """One direction of a call. ``carry`` takes chunks of any length in order and returns as many bytes."""

    def __init__(self, acoustics: Acoustics, rate: int, seed: int) -> None:
        """``rate`` in Hz of the audio, ``seed`` of the trial and direction; ValueError for a rate it cannot filter."""
        if rate < _TELEPHONE_RATE or rate > 48_000:
            raise ValueError(f"audio of {rate} Hz: resample it to 8000 to 48000 Hz first")
        self._stages: list[_Stage] = []
        if acoustics.muffling is not None:
            self._stages.append(MuffledStage(acoustics.muffling, rate, seed))
        around: list[_Stage] = []
        if acoustics.noise is not None:
            around.append(_Background(acoustics, acoustics.noise, rate, seed))
        if acoustics.bursts is not None:
            around.append(BurstStage(acoustics.bursts, rate, seed))
        self._stages += [_Beside(around)] if len(around) > 1 else around
        if acoustics.telephone:
            self._stages.append(_Telephone(rate))
        if acoustics.loss_rate:
            self._stages.append(_Loss(acoustics, rate, seed))

    def carry(self, pcm: bytes) -> bytes:
        """Return 16-bit little-endian mono audio as it comes out of the line; ValueError for half a sample."""
        if len(pcm) % 2:
            raise ValueError(f"{len(pcm)} bytes are no whole 16-bit samples")
        if not self._stages or not pcm:
            return pcm
        samples: Samples = np.frombuffer(pcm, dtype="<i2").astype(np.float64) / _FULL
        for stage in self._stages:
            samples = stage.carry(samples)
        return np.clip(np.rint(samples * _FULL), -32768, 32767).astype("<i2").tobytes()


class _Stage(Protocol):
    """One thing that a line does to audio."""

    def carry(self, samples: Samples) -> Samples:
        """Return as many samples."""


class _Beside:
    """Stages that each add to the same speech: what one adds is no speech to the other."""

    def __init__(self, stages: Sequence[_Stage]) -> None:
        self._stages = stages

    def carry(self, samples: Samples) -> Samples:
        out = samples.copy()
        for stage in self._stages:
            out += stage.carry(samples) - samples
        return out


class _Telephone:
    """300 to 3400 Hz, 8000 values a second, each in one of the 256 steps of G.711 mu-law."""

    def __init__(self, rate: int) -> None:
        # Half a second and more of imports, which only this stage needs.
        from scipy.signal import butter, sosfilt

        self._rate, self._filtered = rate, sosfilt
        top = min(_BAND_HZ[1], 0.48 * rate)
        self._band = butter(4, (_BAND_HZ[0], top), "bandpass", fs=rate, output="sos")
        self._smooth = butter(6, top, "lowpass", fs=rate, output="sos")
        self._band_state = np.zeros((len(self._band), 2))
        self._smooth_state = np.zeros((len(self._smooth), 2))
        self._position = 0
        self._held = 0.0

    def carry(self, samples: Samples) -> Samples:
        banded, self._band_state = self._filtered(self._band, samples, zi=self._band_state)
        stepped = self._stepped(_mu_law(banded))
        smooth, self._smooth_state = self._filtered(self._smooth, stepped, zi=self._smooth_state)
        carried: Samples = smooth
        return carried

    def _stepped(self, samples: Samples) -> Samples:
        """Hold each of the 8000 values a second until the next."""
        places = np.arange(self._position, self._position + len(samples))
        ticks = places * _TELEPHONE_RATE // self._rate
        is_new = ticks != np.concatenate(([(self._position - 1) * _TELEPHONE_RATE // self._rate], ticks[:-1]))
        sources = np.maximum.accumulate(np.where(is_new, np.arange(len(samples)), -1))
        stepped: Samples = np.where(sources >= 0, samples[sources], self._held)
        self._position += len(samples)
        self._held = float(stepped[-1])
        return stepped


def _mu_law(samples: Samples) -> Samples:
    """Return samples as they come out of 8-bit mu-law."""
    pressed = np.sign(samples) * np.log1p(_MU * np.minimum(np.abs(samples), 1)) / np.log1p(_MU)
    steps = np.rint(pressed * 127) / 127
    opened: Samples = np.sign(steps) * np.expm1(np.abs(steps) * np.log1p(_MU)) / _MU
    return opened


class _Background:
    """Noise below speech by a given ratio; it goes on while nobody speaks, at the level of the speech before."""

    def __init__(self, acoustics: Acoustics, kind: Noise, rate: int, seed: int) -> None:
        self._loop = noise_loop(kind, rate, seed)
        self._place = int(np.random.default_rng([seed, 11]).integers(len(self._loop)))
        self._ratio = 10 ** (-acoustics.snr_db / 20)
        self._drift = DriftingLevel(acoustics.drift, seed)
        self._speech = SpeechLevel(rate)

    def carry(self, samples: Samples) -> Samples:
        out = np.empty_like(samples)
        for here in self._speech.pieces(samples):
            size = here.stop - here.start
            noise = self._loop.take(range(self._place, self._place + size), mode="wrap")
            factor = self._speech.level * self._ratio * self._drift.at(self._speech.packets)
            out[here] = samples[here] + noise * factor
            self._place = (self._place + size) % len(self._loop)
        return out


class _Loss:
    """Packets that do not arrive: independent, or in bursts (two states, Gilbert 1960)."""

    def __init__(self, acoustics: Acoustics, rate: int, seed: int) -> None:
        self._random = np.random.default_rng([seed, 13])
        packets = acoustics.loss_burst_ms / PACKET_MS
        self._recover = 1 / packets
        rate_lost = acoustics.loss_rate
        # Independent losses do not end by themselves: the next packet has the same chance.
        self._fail = rate_lost if packets == 1 else min(1.0, rate_lost * self._recover / (1 - rate_lost))
        self._is_bursty = packets > 1
        self._repeats = acoustics.concealment == "repeat"
        self._packet = rate * PACKET_MS // 1000
        self._last = np.zeros(self._packet)
        self._current = np.zeros(self._packet)
        self._count, self._lost, self._fade = 0, False, 1.0

    def carry(self, samples: Samples) -> Samples:
        out = np.empty_like(samples)
        done = 0
        while done < len(samples):
            if self._count == 0:
                self._next_packet()
            size = min(self._packet - self._count, len(samples) - done)
            here = slice(self._count, self._count + size)
            self._current[here] = samples[done : done + size]
            out[done : done + size] = self._concealed(here) if self._lost else self._current[here]
            self._count = (self._count + size) % self._packet
            if self._count == 0 and not self._lost:
                self._last, self._current = self._current, self._last
            done += size
        return out

    def _next_packet(self) -> None:
        chance = float(self._random.random())
        was_lost = self._lost
        self._lost = chance >= self._recover if was_lost and self._is_bursty else chance < self._fail
        self._fade = self._fade / 2 if self._lost and was_lost else 1.0

    def _concealed(self, here: slice) -> Samples:
        if not self._repeats:
            return np.zeros(here.stop - here.start)
        repeated: Samples = self._last[here] * self._fade
        return repeated
