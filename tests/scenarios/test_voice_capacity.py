"""The limit of voice calls: where it comes from, and how lanes keep to it."""

from typing import Any

import pytest

from scenarios import lifecycle, voice_capacity
from scenarios.models import Trial
from scenarios.voice_capacity import Capacity, ClockCapacity, Point, VoiceRoom, here, limit, load_of, save
from tests.factories import make_run


@pytest.fixture(autouse=True)
def own_folder(settings: Any, tmp_path: Any) -> None:
    settings.VAR_DIR = tmp_path
    settings.VOICE_LOCKSTEP_CALLS = settings.VOICE_REALTIME_CALLS = 0
    settings.LANES = 1


def capacity(**changes: Any) -> Capacity:
    host, cores = here()
    point = Point(calls=3, seconds=60, speech_s=300, ticks=1000, late=5)
    whole: dict[str, Any] = {
        "host": host,
        "cores": cores,
        "load": 0.1,
        "speech": "local",
        "measured_at": "2026-11-30T12:00:00+00:00",
        "lockstep": ClockCapacity(calls=3, points=(point,)),
    }
    return Capacity(**{**whole, **changes})


def spoken(clock: str = "lockstep", concurrency: int | None = None) -> dict[str, Any]:
    return {"clock": clock, "limits": {"concurrency": concurrency}}


def test_what_the_settings_say_goes_before_what_was_measured_and_that_before_the_cores(settings: Any) -> None:
    cores = here()[1]
    assert (limit("lockstep").calls, limit("lockstep").origin) == (2 * cores, "2 a core; not measured here yet")
    save(capacity())
    assert (limit("lockstep").calls, limit("lockstep").origin) == (3, "measured with local speech")
    assert limit("realtime").calls == cores  # that clock was not measured
    settings.VOICE_LOCKSTEP_CALLS = 7
    assert (limit("lockstep").calls, limit("lockstep").origin) == (7, "set by VOICE_LOCKSTEP_CALLS")


@pytest.mark.parametrize("changes", [{"host": "elsewhere"}, {"cores": 999}])
def test_another_machines_measurement_is_not_ours(changes: dict[str, Any]) -> None:
    save(capacity(**changes))
    assert voice_capacity.measured() is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"host": 1}'])
def test_a_broken_file_is_as_none(text: str) -> None:
    voice_capacity.path().write_text(text)
    assert limit("lockstep").origin.endswith("not measured here yet")


def test_a_point_tells_shares_and_a_rate_over_nothing_is_none() -> None:
    point = Point(calls=2, seconds=30, speech_s=120, ticks=200, late=1)
    assert (point.late_share, point.calls_a_minute) == (0.005, 4)
    assert Point(calls=1, seconds=1, speech_s=1).late_share is None


def test_a_call_takes_its_share_and_a_run_that_says_more_is_taken_at_its_word(settings: Any) -> None:
    settings.VOICE_LOCKSTEP_CALLS = 4
    assert load_of({"channel": "text"}) == 0
    assert load_of(spoken()) == load_of(spoken(concurrency=2)) == 1 / 4
    assert load_of(spoken(concurrency=8)) == 1 / 8


@pytest.mark.parametrize(
    ("held", "wanted", "fit"),
    [
        ([], spoken(), 4),
        ([spoken()] * 3, spoken(), 1),
        ([spoken()] * 4, spoken(), 0),
        ([spoken()] * 2, spoken("realtime"), 1),  # half the machine is left, and that is one of two
        ([spoken("realtime")] * 2, spoken(), 0),
        ([spoken()] * 4, {"channel": "text"}, 16),
        ([], spoken(concurrency=50), 12),  # a fourth of the places is left to text
    ],
)
def test_what_fits_beside_what_is_held(
    settings: Any, held: list[dict[str, Any]], wanted: dict[str, Any], fit: int
) -> None:
    settings.VOICE_LOCKSTEP_CALLS, settings.VOICE_REALTIME_CALLS = 4, 2
    assert VoiceRoom.of_lane(16, list(held)).fit(wanted, 16) == fit


def test_lanes_share_the_machine_and_each_may_hold_one(settings: Any) -> None:
    settings.VOICE_LOCKSTEP_CALLS, settings.LANES = 4, 2
    assert VoiceRoom.of_lane(16, []).fit(spoken(), 16) == 2
    settings.LANES = 9
    assert VoiceRoom.of_lane(16, []).fit(spoken(), 16) == 1
    assert VoiceRoom.of_lane(16, [spoken()]).fit(spoken(), 16) == 0


@pytest.mark.django_db
def test_a_lane_takes_what_the_machine_bears_of_all_voice_runs_and_text_beside_it(settings: Any) -> None:
    settings.VOICE_LOCKSTEP_CALLS = 3
    older, newer, text = (make_run(scenarios=4) for _ in range(3))
    for run in (older, newer):
        run.channel, run.config = "voice", {**run.config, "channel": "voice", "clock": "lockstep"}
        run.save()
    first = lifecycle.claim(16, VoiceRoom.of_lane(16, []))
    assert [claim.run_id for claim in first] == [older.pk] * 3 + [text.pk] * 4
    held = [claim.config for claim in first]
    assert lifecycle.claim(9, VoiceRoom.of_lane(16, held)) == []
    # A place that becomes free goes on with the older run.
    assert [claim.run_id for claim in lifecycle.claim(9, VoiceRoom.of_lane(16, held[1:]))] == [older.pk]
    assert Trial.objects.filter(run=newer, status="queued").count() == 4
