"""Voice calls in ticks: turns with times, calls in order, and nothing of the messages that repeat them."""

from pathlib import Path
from typing import Any

from scenarios.formats.imports.events import events_of
from scenarios.formats.imports.records import ImportedTrial
from tests.scenarios.formats.imports.files import answer, imported, results, simulation


def _chunk(words: str | None, speaks: bool | None, **more: Any) -> dict[str, Any]:
    return {"content": words, "contains_speech": speaks, **more}


def _tick(agent: Any = None, user: Any = None, **more: Any) -> dict[str, Any]:
    silence = _chunk(None, False)
    return {"agent_chunk": agent or silence, "user_chunk": user or silence, "tick_duration_seconds": 0.2, **more}


def _read(folder: Path, ticks: Any, **more: Any) -> ImportedTrial:
    _, (trial,) = imported(folder, results([simulation(mode="full_duplex", ticks=ticks, **more)]))
    return trial


def test_speech_that_goes_on_over_ticks_is_one_turn(tmp_path: Path) -> None:
    meant = {"audio_script_gold": "Hello there"}
    trial = _read(
        tmp_path,
        [
            _tick(agent=_chunk("Good ", True)),
            _tick(agent=_chunk("day.", True), user=_chunk("Hel", True, **meant)),
            _tick(user=_chunk("", True, **meant)),
            _tick(),
            _tick(agent=_chunk("Yes?", None)),
        ],
    )

    assert [(turn.side, turn.spoken, turn.said, turn.started_ms, turn.ended_ms) for turn in trial.turns] == [
        ("agent", "Good day.", None, 0, 400),
        ("user", "Hel", "Hello there", 200, 600),
        ("agent", "Yes?", None, 800, 1000),
    ]
    assert [(turn.first_tick, turn.last_tick) for turn in trial.turns] == [(0, 1), (1, 2), (4, 4)]
    assert trial.messages == ()


def test_calls_of_a_tick_are_the_users_before_the_agents(tmp_path: Path) -> None:
    def made(name: str, requestor: str) -> dict[str, Any]:
        return {"id": name, "name": name, "arguments": {}, "requestor": requestor}

    both = {
        "agent_tool_calls": [made("a", "assistant")],
        "user_tool_calls": [made("u", "user")],
        "agent_tool_results": [answer("A", "a")],
        "user_tool_results": [answer("U", "u")],
    }
    trial = _read(tmp_path, [_tick(), _tick(**both)])

    assert [(call.tool, call.side, call.result, call.tick) for call in trial.tool_calls] == [
        ("u", "user", "U", 1),
        ("a", "agent", "A", 1),
    ]
    assert [event.at_ms for event in events_of(trial)] == [200, 200, 200, 200]


def test_what_timing_metrics_need_is_kept_and_provider_chatter_is_not(tmp_path: Path) -> None:
    raw = {"vad_events": ["speech_started", {"type": "interrupted"}, 5], "events": ["x" * 5000]}
    user = _chunk("", False, turn_taking_action={"action": "backchannel"}, channel_effects={"frame_drop_ms": 150})
    trial = _read(tmp_path, [_tick(agent=_chunk("Hm", True, raw_data=raw), user=user)])

    (tick,) = trial.ticks
    assert (tick.agent_speaks, tick.user_speaks, tick.user_action) == (True, False, "backchannel")
    assert (tick.voice_activity, tick.effects) == (
        ("speech_started", "interrupted"),
        {"channel_effects": {"frame_drop_ms": 150}},
    )
    assert "xxxx" not in repr(trial)


def test_without_durations_no_time_is_made_up(tmp_path: Path) -> None:
    trial = _read(tmp_path, [_tick(tick_duration_seconds=None), _tick(agent=_chunk("Hi", True))])

    assert [(turn.started_ms, turn.ended_ms) for turn in trial.turns] == [(None, None)]
    assert trial.ticks[0].duration_ms is None


def test_rubbish_in_ticks_is_remarked_on(tmp_path: Path) -> None:
    trial = _read(tmp_path, [5, {}, {"agent_chunk": "x", "agent_tool_calls": {"a": 1}, "tick_duration_seconds": "y"}])

    assert len(trial.ticks) == 2
    places = {remark.place for remark in trial.remarks}
    assert {"simulations[0].ticks[0]", "simulations[0].ticks[2].agent_chunk"} <= places
    assert "simulations[0].ticks[2].agent_tool_calls" in places
