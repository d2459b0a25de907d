"""The line: same seed, same bytes; length kept; band, noise level and loss as chosen; settings of the benchmark."""

import json
import random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bots.bridge.acoustics import Acoustics, Line
from bots.bridge.disturbances import PACKET_MS, Bursts, Drift, Muffling, burst
from bots.bridge.noise import NOISES, Noise, noise_loop
from scenarios.domains.data import data_root

RATE = 16_000
PACKET = RATE * PACKET_MS // 1000
EVERYTHING = Acoustics(
    telephone=True,
    noise="babble",
    snr_db=10,
    loss_rate=0.1,
    loss_burst_ms=60,
    concealment="repeat",
    drift=Drift(3, 0.5),
    bursts=Bursts(60, (-5, 10), ("dog_bark.wav", "ringing_phone.wav")),
    muffling=Muffling(1, 2, 500, 1500, 100),
)
Samples = NDArray[np.float64]


def tone(hertz: float, seconds: float = 2.0, level: float = 0.1, rate: int = RATE) -> bytes:
    times = np.arange(round(seconds * rate)) / rate
    return np.rint(32767 * level * np.sin(2 * np.pi * hertz * times)).astype("<i2").tobytes()


def samples(pcm: bytes) -> Samples:
    return np.frombuffer(pcm, "<i2").astype(np.float64) / 32768


def rms(values: Samples) -> float:
    return float(np.sqrt(np.mean(values**2)))


def carried(acoustics: Acoustics, pcm: bytes, seed: int = 1, rate: int = RATE) -> bytes:
    return Line(acoustics, rate, seed).carry(pcm)


def test_a_clean_line_changes_nothing() -> None:
    assert Acoustics().is_clean
    assert not EVERYTHING.is_clean
    assert carried(Acoustics(), tone(440)) == tone(440)


@pytest.mark.parametrize("rate", [8000, 22_050, 24_000, 48_000])
def test_the_cut_into_chunks_makes_no_difference_and_length_is_kept(rate: int) -> None:
    pcm = tone(700, 1.5, rate=rate)
    dice = random.Random(rate)  # noqa: S311
    line, parts, done = Line(EVERYTHING, rate, 4), [], 0
    while done < len(pcm):
        size = 2 * dice.randint(0, rate // 20)
        parts.append(line.carry(pcm[done : done + size]))
        assert len(parts[-1]) == len(pcm[done : done + size])
        done += size
    assert b"".join(parts) == carried(EVERYTHING, pcm, 4, rate)


def test_a_seed_is_a_call_and_another_seed_another() -> None:
    pcm = tone(700)
    assert carried(EVERYTHING, pcm, 1) == carried(EVERYTHING, pcm, 1)
    assert carried(EVERYTHING, pcm, 1) != carried(EVERYTHING, pcm, 2)


@pytest.mark.parametrize(
    ("hertz", "low", "high"),
    [(60, 0.0, 0.05), (1000, 0.85, 1.1), (2500, 0.7, 1.1), (5000, 0.0, 0.05), (7000, 0.0, 0.05)],
)
def test_a_telephone_carries_speech_and_little_else(hertz: float, low: float, high: float) -> None:
    heard = samples(carried(Acoustics(telephone=True), tone(hertz)))[RATE // 2 :]
    assert low <= rms(heard) / rms(samples(tone(hertz))) <= high


def test_a_telephone_is_coarse_but_clear() -> None:
    heard = samples(carried(Acoustics(telephone=True), tone(1000, 4.0)))[RATE:]
    spectrum = np.abs(np.fft.rfft(heard * np.hanning(len(heard)))) ** 2
    at = round(1000 * len(heard) / RATE)
    signal = spectrum[at - 5 : at + 6].sum()
    assert 25 < 10 * np.log10(signal / (spectrum.sum() - signal)) < 60  # mu-law gives about 38 dB


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("snr_db", [0, 10, 25])
def test_noise_is_as_far_below_speech_as_was_chosen(noise: Noise, snr_db: float) -> None:
    speech = tone(500, 22.0, level=0.2)
    heard = samples(carried(Acoustics(noise=noise, snr_db=snr_db), speech))
    added = (heard - samples(speech))[2 * RATE :]
    assert 20 * np.log10(rms(samples(speech)) / rms(added)) == pytest.approx(snr_db, abs=0.7)


def test_noise_goes_on_in_silence_and_does_not_count_as_speech() -> None:
    line = Line(Acoustics(noise="pink", snr_db=20), RATE, 1)
    before = rms(samples(line.carry(bytes(RATE * 2))))
    line.carry(tone(500, 1.0, level=0.5))
    after = rms(samples(line.carry(bytes(RATE * 2))))
    later = rms(samples(line.carry(bytes(RATE * 20))))
    assert 0 < before < after
    assert later == pytest.approx(after, rel=0.2)


def test_a_noise_that_drifts_wanders_around_its_level_and_no_further() -> None:
    speech = tone(500, 60.0, level=0.2)
    heard = samples(carried(Acoustics(noise="pink", snr_db=20, drift=Drift(3, 0.5)), speech))
    still = samples(carried(Acoustics(noise="pink", snr_db=20), speech))
    added, steady = ((one - samples(speech))[RATE:].reshape(-1, RATE // 10) for one in (heard, still))
    drift = 10 * np.log10(np.mean(added**2, axis=1) / np.mean(steady**2, axis=1))
    assert -3.1 <= drift.min() < -1.5
    assert 1.5 < drift.max() <= 3.1
    assert abs(float(np.mean(drift))) < 0.5


def test_other_sounds_come_by_chance_at_a_ratio_to_speech_and_silence_between_them_is_clean() -> None:
    speech = tone(500, 120.0, level=0.2)
    bursts = Bursts(10, (0, 0), ("car_horn.wav",))
    added = samples(carried(Acoustics(bursts=bursts), speech)) - samples(speech)
    loud = np.abs(added.reshape(-1, PACKET)).max(axis=1) > 0
    starts = int(np.count_nonzero(loud[1:] & ~loud[:-1]))
    assert 8 <= starts <= 28  # twenty are expected, and one waits until another has ended
    assert loud.sum() == starts * 40  # 0.8 s each
    sounding = added[np.repeat(loud, PACKET)]
    assert 20 * np.log10(rms(samples(speech)) / rms(sounding)) == pytest.approx(0, abs=0.7)


@pytest.mark.parametrize("name", ["ringing_phone", "dog_bark", "car_horn", "siren", "engine_idling", "thunder"])
def test_a_sound_is_level_short_and_in_the_band_of_a_telephone(name: str) -> None:
    sound = burst(name, 8000, np.random.default_rng(1))
    assert rms(sound) == pytest.approx(1.0)
    assert len(sound) <= 3 * 8000
    power = np.abs(np.fft.rfft(sound)) ** 2
    assert power[round(300 * len(power) / 4000) :].sum() / power.sum() > 0.05


def test_a_muffled_moment_has_no_high_sound_and_all_else_is_untouched() -> None:
    pause = bytes(RATE * 2)
    speech = tone(3000, 4.0)
    muffling = Muffling(1.0, 1, 500, 1500, 100)
    once = samples(carried(Acoustics(muffling=muffling), pause + speech))
    whole = rms(samples(speech))
    levels = np.array([rms(piece) / whole for piece in once[RATE:].reshape(-1, PACKET)])
    assert 15 <= int(np.count_nonzero(levels < 0.2)) <= 25  # 400 of 500 ms, with a filter's skirts
    assert int(np.count_nonzero(levels > 0.99)) >= 200 - 27
    assert carried(Acoustics(muffling=Muffling(0.0001, 1, 500, 1500, 100)), pause + speech) == pause + speech
    # Each stretch of speech is judged anew, one that goes on is not.
    stretches = samples(carried(Acoustics(muffling=muffling), (speech + pause) * 2))
    dull = np.array([rms(piece) for piece in stretches.reshape(-1, PACKET)]) < 0.02
    spoken = np.array([rms(piece) > 0.05 for piece in samples((speech + pause) * 2).reshape(-1, PACKET)])
    assert 30 <= int(np.count_nonzero(dull & spoken)) <= 50


@pytest.mark.parametrize("kind", NOISES)
def test_a_noise_loop_is_level_seamless_and_seeded(kind: Noise) -> None:
    loop = noise_loop(kind, 8000, 3)
    assert rms(loop) == pytest.approx(1.0)
    assert abs(loop[0] - loop[-1]) <= 1.5 * float(np.max(np.abs(np.diff(loop))))
    assert np.array_equal(loop, noise_loop(kind, 8000, 3))
    assert not np.array_equal(loop, noise_loop(kind, 8000, 4))


def test_the_noises_differ_as_their_names_say() -> None:
    def share_below(kind: Noise, hertz: float) -> float:
        power = np.abs(np.fft.rfft(noise_loop(kind, RATE, 1))) ** 2
        return float(power[: round(hertz * len(power) / (RATE / 2))].sum() / power.sum())

    def unevenness(kind: Noise) -> float:
        packets = noise_loop(kind, RATE, 1).reshape(-1, PACKET)
        levels = np.sqrt(np.mean(packets**2, axis=1))
        return float(np.std(levels) / np.mean(levels))

    assert share_below("street", 300) > share_below("babble", 300)
    assert 0.3 < share_below("babble", 1000) < 0.99
    assert unevenness("babble") > unevenness("pink")
    with pytest.raises(ValueError, match="unknown noise 'rain'"):
        noise_loop("rain", RATE, 1)


def lost(acoustics: Acoustics, seconds: float = 120.0, seed: int = 1) -> list[bool]:
    steady = np.full(round(seconds * RATE), 1000, "<i2").tobytes()
    packets = np.frombuffer(carried(acoustics, steady, seed), "<i2").reshape(-1, PACKET)
    assert all(len(set(packet)) == 1 for packet in packets)  # whole packets only
    return [bool(packet[0] == 0) for packet in packets]


@pytest.mark.parametrize(("rate", "burst_ms"), [(0.05, 20), (0.05, 100), (0.2, 20), (0.2, 60)])
def test_losses_are_as_many_and_as_long_as_was_chosen(rate: float, burst_ms: float) -> None:
    flags = [flag for seed in range(5) for flag in lost(Acoustics(loss_rate=rate, loss_burst_ms=burst_ms), seed=seed)]
    starts = sum(flag and not before for before, flag in zip([False, *flags], flags, strict=False))
    length_ms = sum(flags) / starts * PACKET_MS
    assert np.mean(flags) == pytest.approx(rate, rel=0.15)
    # Independent losses meet by chance: their mean length is 20 ms / (1 - rate).
    assert length_ms == pytest.approx(burst_ms if burst_ms > PACKET_MS else PACKET_MS / (1 - rate), rel=0.15)


def test_a_lost_packet_is_silence_or_the_last_one_fading() -> None:
    settings = {"loss_rate": 0.3, "loss_burst_ms": 100.0}
    flags = lost(Acoustics(**settings), 4.0)  # type: ignore[arg-type]
    steady = np.full(4 * RATE, 1000, "<i2").tobytes()
    repeated = np.frombuffer(carried(Acoustics(**settings, concealment="repeat"), steady), "<i2")  # type: ignore[arg-type]
    levels = repeated.reshape(-1, PACKET)[:, 0].tolist()
    first = next(
        place for place in range(1, len(flags) - 1) if flags[place] and flags[place + 1] and not flags[place - 1]
    )
    assert levels[first - 1 : first + 2] == [1000, 1000, 500]
    assert [level == 1000 for level, flag in zip(levels, flags, strict=True) if not flag].count(False) == 0


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"noise": "rain"}, "unknown noise 'rain'; there are pink, street, babble"),
        ({"snr_db": 99.0}, "choose -20 to 60"),
        ({"loss_rate": 0.9}, "choose 0 to 50 %"),
        ({"loss_rate": -0.1}, "choose 0 to 50 %"),
        ({"loss_burst_ms": 1.0}, "choose 20 to 2000"),
        ({"concealment": "magic"}, "choose silence or repeat"),
    ],
)
def test_what_no_line_can_be_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Acoustics(**fields)


def test_audio_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="resample it"):
        Line(EVERYTHING, 4000, 1)
    with pytest.raises(ValueError, match="no whole 16-bit samples"):
        carried(EVERYTHING, b"\x00\x01\x02")
    assert carried(EVERYTHING, b"") == b""


def test_the_loudest_audio_is_not_wrapped_around() -> None:
    loud = np.full(RATE, 32767, "<i2").tobytes()
    heard = np.frombuffer(carried(Acoustics(noise="pink", snr_db=20), loud), "<i2")
    assert heard.min() > 0


def test_a_persona_setting_becomes_a_line() -> None:
    config = {
        "telephony_enabled": True,
        "background_noise_file": "busy_street_iphone_mic.wav",
        "source_effects_config": {
            "enable_background_noise": True,
            "noise_snr_db": 15.0,
            "noise_snr_drift_db": 3.0,
            "noise_variation_speed": 0.5,
            "enable_burst_noise": True,
            "burst_noise_events_per_minute": 1.0,
            "burst_snr_range_db": [-5.0, 10.0],
        },
        "channel_effects_config": {
            "enable_frame_drops": True,
            "frame_drop_rate": 0.02,
            "frame_drop_duration_ms": 150,
        },
        "speech_effects_config": {
            "enable_dynamic_muffling": True,
            "muffle_probability": 0.2,
            "muffle_segment_count": 1,
            "muffle_segment_duration_ms": 500,
            "muffle_cutoff_freq": 1500.0,
            "muffle_transition_ms": 100,
            "enable_vocal_tics": True,
        },
        "persona_name": "arjun_roy",
        "burst_noise_files": ["car_horn.wav", "siren.wav"],
    }
    line = Acoustics.from_voice_config(config)
    assert line == Acoustics(
        telephone=True,
        noise="street",
        snr_db=15.0,
        loss_rate=0.02,
        loss_burst_ms=150,
        drift=Drift(3.0, 0.5),
        bursts=Bursts(1.0, (-5.0, 10.0), ("car_horn.wav", "siren.wav")),
        muffling=Muffling(0.2, 1, 500, 1500, 100),
    )
    assert (
        line.more
        == "noise that drifts by 3 dB, other sounds, 1 a minute, 20% of stretches of speech muffled for a moment"
    )
    assert line.not_simulated == ("vocal tics", "the voice of arjun_roy")
    assert Acoustics.from_voice_config({}).is_clean
    with pytest.raises(ValueError, match="source_effects_config of a voice setting is list"):
        Acoustics.from_voice_config({"source_effects_config": [1]})


@pytest.mark.parametrize("domain", ["tau2_retail", "tau2_airline", "tau2_telecom"])
def test_every_setting_of_the_benchmark_is_a_line(domain: str) -> None:
    path = data_root() / domain / "tasks_voice.json"
    if not path.exists():
        pytest.skip(f"no {path}: it is in no public wheel")
    tasks = json.loads(path.read_text())["configs"]
    lines = {
        (name, Acoustics.from_voice_config(config))
        for task in tasks.values()
        for name, config in task["configs"].items()
    }
    assert {line for name, line in lines if name == "control"} == {Acoustics(telephone=True)}
    assert {line.noise for name, line in lines if name == "regular"} == {"street", "babble"}
    assert {line.loss_rate for name, line in lines if name == "control_audio"} == {0.005}
