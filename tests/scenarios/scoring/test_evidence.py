from collections.abc import Mapping
from typing import Any

import pytest

from scenarios import events
from scenarios.domains.base import Fidelity, ScenarioSpec
from scenarios.scoring import evidence as module
from scenarios.scoring.evidence import Evidence, gather
from scenarios.sides import Side
from scenarios.state.overlay import Overlay
from tests.scenarios.scoring.cases import CANCEL, CHANGE, Row, database, rows, said, spec

ATTEMPT = events.AttemptStarted(attempt=1, lane="l")
CALLED = events.ToolCalled("agent", 1, "cancel", {"order_id": "W1"}, "id-1")
RETURNED = events.ToolReturned("agent", 1, "cancel", True, {"ok": 1}, 2.0, changes=[CHANGE], action=CANCEL)
ENDED = events.CallEnded("end_tool", "agent", 9000)


@pytest.fixture(autouse=True)
def toy_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(spec: ScenarioSpec, fidelity: Fidelity) -> Mapping[Side, Overlay]:
        return {"agent": database()}

    monkeypatch.setattr(module, "start_databases", start)


def read(*happened: events.Event) -> Evidence:
    return gather(spec(), rows(ATTEMPT, *happened))


def status(evidence: Evidence, order: str = "W1") -> Any:
    return evidence.databases["agent"].get("orders", order)["status"]


def test_a_call_is_gathered_whole() -> None:
    call = read(
        said("user", 1, "Cancel W1."),
        CALLED,
        RETURNED,
        said("agent", 2, "Done.", heard="Dawn.", interrupted=True),
        events.LatencyMeasured("agent", 2, 410.0),
        events.UsageReported("agent", 100, 7),
        events.UsageReported("agent", 120, 9),
        ENDED,
    )
    assert [(turn.side, turn.said, turn.heard, turn.interrupted) for turn in call.turns] == [
        ("user", "Cancel W1.", None, False),
        ("agent", "Done.", "Dawn.", True),
    ]
    assert (call.tools[0].ok, call.tools[0].result, call.tools[0].seq) == (True, {"ok": 1}, 3)
    assert call.actions == (CANCEL,)
    assert status(call) == "cancelled"
    assert (call.end_reason, call.duration_ms, call.agent_turns) == ("end_tool", 9000, 1)
    assert call.usage["agent"] == {"n_calls": 2, "prompt": 220, "completion": 16}
    assert call.usage["user"] == {"n_calls": 0, "prompt": 0, "completion": 0}
    assert call.response_ms["agent"] == (410.0,)
    assert (call.intervened_by, call.infra_error) == (None, None)


def test_only_the_last_attempt_counts() -> None:
    call = gather(
        spec(),
        rows(
            ATTEMPT,
            said("user", 1, "First try."),
            CALLED,
            RETURNED,
            events.AttemptFailed("llm_http_500", "broke", True),
            events.AttemptStarted(2, "l"),
            said("user", 1, "Second try."),
            ENDED,
        ),
    )
    assert [turn.said for turn in call.turns] == ["Second try."]
    assert call.actions == ()
    assert status(call) == "pending"
    assert call.infra_error is None


def test_events_are_read_by_number_whatever_their_order_and_times() -> None:
    stored = rows(ATTEMPT, said("user", 1, "a"), said("agent", 2, "b"), ENDED)
    shuffled = [
        Row(row.seq, at, row.kind, row.side, row.data) for row, at in zip(stored, (5, 9800, 200, 1), strict=True)
    ]
    call = gather(spec(), reversed(shuffled))
    assert [turn.said for turn in call.turns] == ["a", "b"]


def test_an_event_that_is_read_twice_counts_once() -> None:
    stored = rows(ATTEMPT, events.UsageReported("agent", 10, 1), CALLED, RETURNED, ENDED)
    call = gather(spec(), [*stored, *stored])
    assert call.usage["agent"]["n_calls"] == 1
    assert len(call.actions) == 1


def test_a_turn_that_is_told_twice_is_one_interrupted_turn() -> None:
    call = read(
        said("agent", 1, "I will cancel the order for", interrupted=True), said("agent", 1, "I will cancel"), ENDED
    )
    (turn,) = call.turns
    assert (turn.said, turn.interrupted, call.agent_turns) == ("I will cancel", True, 1)


def test_a_tool_result_that_is_delivered_twice_writes_once() -> None:
    grown = {"side": "agent", "path": ["orders", "W3"], "before": None, "after": {"status": "new"}, "op": "add"}
    returned = events.ToolReturned("agent", 1, "cancel", True, {}, 1.0, changes=[grown], action=CANCEL)
    call = read(CALLED, returned, returned, ENDED)
    assert len(call.actions) == 1
    assert status(call, "W3") == "new"


def test_blank_turns_are_kept_but_are_no_agent_turns() -> None:
    call = read(said("agent", 1, "\n\n"), said("agent", 2, "Hello."), said("user", 3, " "), ENDED)
    assert [turn.is_blank for turn in call.turns] == [True, False, True]
    assert call.agent_turns == 1


def test_a_monologue_is_one_agent_turn() -> None:
    alone = [said("agent", turn, f"Still here {turn}.") for turn in range(2, 9)]
    assert read(said("user", 1, "Hello."), *alone, ENDED).agent_turns == 1
    silent = [said("agent", 2, "Hello?"), said("user", 3, " "), said("agent", 4, "Hello?"), said("user", 5, "Yes.")]
    assert read(*silent, said("agent", 6, "Good."), ENDED).agent_turns == 2


def test_what_begins_after_the_end_is_not_graded_but_an_open_call_still_lands() -> None:
    call = read(
        said("agent", 1, "Goodbye."),
        CALLED,
        ENDED,
        said("user", 2, "Hello, I want to cancel."),
        RETURNED,
        events.ToolCalled("agent", 2, "cancel", {"order_id": "W2"}, "id-2"),
        events.CallEnded("time_limit", None, 99_000),
    )
    assert [turn.turn for turn in call.turns] == [1]
    assert [use.call for use in call.tools] == [1]
    assert status(call) == "cancelled"
    assert (call.end_reason, call.duration_ms) == ("end_tool", 9000)


def test_a_tool_that_was_never_answered_stays_open() -> None:
    assert read(CALLED, ENDED).tools[0].ok is None


def test_a_result_without_a_call_changes_nothing() -> None:
    assert status(read(RETURNED, ENDED)) == "pending"


def test_synchronisation_writes_too() -> None:
    assert status(read(events.StateSynced([CHANGE], after_call=1), ENDED)) == "cancelled"


def test_what_a_synchronisation_wrote_is_the_doing_of_the_call_before_it() -> None:
    carried = {**CHANGE, "path": ["orders", "W2", "status"], "before": "delivered"}
    call = read(CALLED, RETURNED, events.StateSynced([carried], after_call=1), ENDED)
    assert call.tools[0].changes == (CHANGE, carried)
    assert read(CALLED, RETURNED, events.StateSynced([carried]), ENDED).tools[0].changes == (CHANGE,)


def test_a_change_of_a_database_that_does_not_exist_names_event_and_side() -> None:
    with pytest.raises(ValueError, match="event 2 changes a database of side 'user'"):
        read(events.StateSynced([{**CHANGE, "side": "user"}]), ENDED)


def test_a_call_without_an_end_has_none_and_lasts_until_its_last_event() -> None:
    call = read(said("agent", 1, "Hello."))
    assert (call.end_reason, call.duration_ms) == (None, 2000)


def test_interventions_and_failures_are_carried() -> None:
    call = read(events.CallIntervened("hang_up", "mia"), events.CallEnded("hang_up", None, 5))
    assert call.intervened_by == "mia"
    broken = read(events.AttemptFailed("socket_closed", "1006", False))
    assert broken.infra_error == ("socket_closed", "1006")
    silent = read(events.CallEnded("party_failed", None, 5, message="agent gone"))
    assert silent.infra_error == ("party_failed", "agent gone")


def test_scoring_events_of_an_earlier_scoring_do_not_matter() -> None:
    before = [said("user", 1, "Hi."), CALLED, RETURNED, ENDED]
    scored = [events.SignalScored("clean_exit", "passed", True, True), events.TrialFinished("pass", "all well")]
    first, again = read(*before), read(*before, *scored)
    assert (again.turns, again.tools, again.duration_ms) == (first.turns, first.tools, first.duration_ms)
    assert again.databases["agent"].hash == first.databases["agent"].hash


def test_a_loop_of_goodbyes_is_graded_up_to_the_first() -> None:
    """B39: what an agent does after the first goodbye of the loop is kept apart."""
    late = events.ToolReturned("agent", 1, "cancel", True, {"ok": 1}, 2.0, changes=[CHANGE], action=CANCEL)
    sides: tuple[Side, ...] = ("agent", "user") * 3
    byes = [said(side, turn, "Bye!") for turn, side in enumerate(sides, 3)]
    looped = events.CallEnded("loop", None, 9000, "the same exchange 3 times in a row")
    talk = (said("agent", 1, "Hello."), said("user", 2, "Thanks, that is all."))
    before = read(*talk, CALLED, RETURNED, *byes, looped)
    assert (before.goodbye_turn, status(before), len(before.actions)) == (3, "cancelled", 1)
    after = read(*talk, byes[0], CALLED, late, *byes[1:], looped)
    assert (after.goodbye_turn, status(after), after.actions, after.tools) == (3, "pending", (), ())
    assert (len(after.turns), after.agent_turns) == (8, 4)


def test_goodbyes_that_made_no_loop_and_loops_of_other_words_cut_nothing() -> None:
    """B39: only goodbyes up to the end of a loop are left out."""
    talk = (said("agent", 1, "Bye!"), said("user", 2, "Bye!"), CALLED, RETURNED)
    for reason in ("end_tool", "time_limit"):
        assert status(read(*talk, said("agent", 3, "Bye."), events.CallEnded(reason, None, 9000))) == "cancelled"
    asked = [said("agent", 3, "Anything else?"), said("user", 4, "No.")]
    call = read(*talk, *asked, events.CallEnded("loop", None, 9000))
    assert (call.goodbye_turn, status(call)) == (None, "cancelled")


def test_the_words_of_the_end_are_evidence() -> None:
    """B40, B41: which limit ended the call, and what was measured."""
    assert read(events.CallEnded("silence", None, 9000, "limit 30 s")).end_message == "limit 30 s"
