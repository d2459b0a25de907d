"""Numbers that no column holds: a file with them is imported, and nothing of it is refused by any database."""

import json
from pathlib import Path
from typing import Any

import pytest

from scenarios.importing import import_path
from scenarios.models import Finding, Trial
from tests.scenarios.formats.imports.files import answer, call, results, simulation, write

pytestmark = pytest.mark.django_db
# What 31, 32, 63 and 64 bits end at, negative numbers, fractions, and the largest floats.
NUMBERS = (2**31 - 1, 2**31, 2**32, 2**63 - 1, -1, 1 - 2**63, 1e300, -1e300, 1e18, 0.5, -0.5)


def chunk(content: str, speaks: bool) -> dict[str, Any]:
    """Return what one side does in a tick."""
    return {"content": content, "contains_speech": speaks}


def tick(number: Any) -> dict[str, Any]:
    """Return a tick that lasts so long."""
    made = {"id": "1", "name": "get_order_details", "arguments": {"order_id": "#W1"}, "requestor": "assistant"}
    sides = {"agent_chunk": chunk("Hello.", speaks=True), "user_chunk": chunk("", speaks=False)}
    calls = {"agent_tool_calls": [made], "agent_tool_results": [], "user_tool_calls": [], "user_tool_results": []}
    return {"tick_id": number, "tick_duration_seconds": number, "wall_clock_duration_seconds": number, **sides, **calls}


def anywhere(number: Any) -> list[dict[str, Any]]:
    """Return simulations that have a number in each place that may have one."""
    message = {"role": "assistant", "content": "x", "turn_idx": number, "cost": number}
    usage = {"usage": {"completion_tokens": number, "prompt_tokens": number}, "generation_time_seconds": number}
    verdict = {"reward": number, "db_check": {"db_match": True, "db_reward": number}, "reward_basis": ["DB"]}
    fields: list[dict[str, Any]] = [
        *({name: number} for name in ("trial", "seed", "duration", "agent_cost", "user_cost", "task_id")),
        {"reward_info": verdict},
        {"messages": [message | usage, call("get_order_details", {"order_id": number}), answer("x")]},
        {"messages": [], "ticks": [tick(number)] * 3},
    ]
    return [simulation(id=f"s{place}", **given) for place, given in enumerate(fields)]


@pytest.mark.parametrize("number", NUMBERS)
def test_no_number_is_refused_by_the_database(tmp_path: Path, number: Any) -> None:
    every = anywhere(number)
    run_wide = {name: number for name in ("num_trials", "max_steps", "max_errors", "seed")}
    result = import_path(write(tmp_path, results(every, **run_wide)))

    assert (result.result, result.why) == ("imported", "")
    assert result.trials == len(every)
    for trial in Trial.objects.prefetch_related("events"):
        assert trial.duration_ms is None or 0 <= trial.duration_ms < 2**31
        assert all(0 <= event.at_ms < 2**31 for event in trial.events.all())


def test_a_duration_that_no_call_has_is_unknown_and_named(tmp_path: Path) -> None:
    result = import_path(write(tmp_path, results([simulation(duration=-5), simulation(id="b", trial=1)])))

    assert result.run is not None
    assert list(result.run.trials.order_by("number").values_list("duration_ms", flat=True)) == [None, 12_500]
    found = Finding.objects.get(run=result.run, code="clock_skew")
    assert "-5 s, which no call has" in found.text


def test_moments_that_are_ages_apart_are_stored(tmp_path: Path) -> None:
    said = [
        {"role": "assistant", "content": str(number), "timestamp": moment}
        for number, moment in enumerate(("0001-01-01T00:00:00", "9999-12-31T23:59:59", "2025-08-01T16:00:00"))
    ]
    one = simulation(start_time="0001-01-01T00:00:00", end_time="9999-12-31T23:59:59", messages=said)
    result = import_path(write(tmp_path, json.dumps(results([one])).encode()))

    assert result.result == "imported"


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("0001-01-01T00:00:00+14:00", None),
        ("9999-12-31T23:59:59-12:00", None),
        ("2025-08-01T16:00:00+99:99", None),
        ("2025-08-01T16:00:00+02:00", "2025-08-01T14:00:00+00:00"),
    ],
)
def test_moments_come_back_from_the_database(tmp_path: Path, moment: str, expected: str | None) -> None:
    result = import_path(write(tmp_path, results([simulation(start_time=moment, end_time=moment)])))

    assert result.run is not None
    trial = result.run.trials.get()
    assert [one and one.isoformat() for one in (trial.started_at, trial.ended_at)] == [expected, expected]
