"""One event, one row: what each kind shows, how long values are folded, and that nothing of it is markup."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from django.template.loader import get_template

from evalsite import transcript
from evalsite.templatetags.calls import visible
from scenarios import events
from scenarios.events import Event
from scenarios.models import TrialEvent

ATTACK = "<img src=x onerror=alert(1)>"


@dataclass
class Made:
    """An event as scoring and pages read it."""

    kind: str
    data: dict[str, Any]
    side: str = "agent"
    seq: int = 7
    at_ms: int = 61_500
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))


def made(event: Event, **facts: Any) -> Made:
    return Made(event.kind, event.data(), **{"side": getattr(event, "side", None) or "", **facts})


def html(event: Event) -> str:
    return transcript.render_row(made(event))


def every_kind(text: str) -> list[Event]:
    """Return one event of every kind with a text from outside wherever one can stand."""
    change = {"side": "agent", "path": ["t", text], "before": text, "after": text, "op": "set"}
    return [
        events.AttemptStarted(1, text),
        events.AttemptFailed(text, text, True),
        events.PartyPrepared("agent", text, text, text, [{"name": text}], True),
        events.CallStarted("text"),
        events.TurnStarted("user", 1),
        events.TurnEnded("user", 1, text, f"{text} too", 0),
        events.ToolCalled("agent", 1, text, {text: text}, text, text),
        events.ToolReturned("agent", 1, text, False, text, 2.0, text, [change]),
        events.StateSynced([change], 1, {"user": {text: text}}, {"user": 3.0}),
        events.StatePulled("agent", text, [{"name": text}], [change], text, text),
        events.LatencyMeasured("agent", 1, 800.0, {text: 500.0}),
        events.UsageReported("agent", 10, 2),
        events.CallIntervened(text, text),
        events.Noted("warning", text),
        events.ContextPulled("agent", [{"role": "user", "content": text}]),
        events.CallEnded("hang_up", None, 5000, text),
        events.SignalScored("clean_exit", "passed", True, True),
        events.VerdictGiven("nl_assertion", 1, True, False),
        events.TrialFinished("fail", text),
        events.OutcomeRevised("fail", "pass", text),
    ]


def test_there_is_a_partial_for_every_kind_of_event() -> None:
    kinds = {kind.kind for kind in Event.__subclasses__()}
    assert transcript.TEMPLATES.keys() == kinds
    assert {event.kind for event in every_kind("x")} == kinds
    for template in transcript.TEMPLATES.values():
        get_template(template)


@pytest.mark.parametrize("event", every_kind(ATTACK), ids=lambda event: event.kind)
def test_what_models_say_is_text(event: Event) -> None:
    shown = html(event) + transcript.render_mark(made(event))
    assert "<img" not in shown
    assert shown.startswith("<li ")
    assert 'data-seq="7"' in shown
    assert "style=" not in shown


def test_an_unknown_kind_is_shown_as_it_is_stored() -> None:
    shown = transcript.render_row(Made("future.kind", {"text": ATTACK}))
    assert "future.kind" in shown
    assert "&lt;img" in shown


def test_control_and_reordering_characters_are_shown_by_number() -> None:
    assert visible("a\x1b[31mb\u202ec\nd\te\x00") == "a⟦U+001B⟧[31mb⟦U+202E⟧c\nd\te⟦U+0000⟧"
    assert "⟦U+202E⟧" in html(events.TurnEnded("user", 1, "\u202e", None, 0))


@pytest.mark.parametrize(
    ("kind", "data", "expected"),
    [
        ("turn.ended", {"turn": 7}, "turn-7"),
        ("tool.called", {"call": 14}, "call-14"),
        ("tool.returned", {"call": 14}, "event-7"),
        ("note", {}, "event-7"),
    ],
)
def test_addresses(kind: str, data: dict[str, Any], expected: str) -> None:
    assert transcript.anchor(Made(kind, data)) == expected


def test_a_row_of_an_earlier_attempt_does_not_take_an_address_that_counts() -> None:
    event = made(events.TurnEnded("user", 3, "Hi", None, 0))
    assert 'id="turn-3"' in transcript.render_row(event)
    assert 'id="turn-3"' not in transcript.render_row(event, is_current=False)


def test_times_are_minutes_and_seconds_of_the_call() -> None:
    assert ">1:01<" in html(events.CallStarted("text"))


@pytest.mark.parametrize(
    ("said", "heard", "parts"),
    [
        ("two shirts", "two shorts", [("same", "two"), ("lost", "shirts"), ("odd", "shorts")]),
        ("yes please", "yes", [("same", "yes"), ("lost", "please")]),
        ("yes", "oh yes", [("odd", "oh"), ("same", "yes")]),
        ("", "what?", [("odd", "what?")]),
        ("Room Twenty-One, please.", "room 21 please", [("same", "Room Twenty-One, please.")]),
    ],
)
def test_said_and_heard_are_told_apart_word_by_word(said: str, heard: str, parts: list[tuple[str, str]]) -> None:
    assert transcript.word_diff(said, heard) == parts


def test_texts_that_are_too_long_to_compare_are_shown_whole() -> None:
    said = "word " * (transcript.MAX_DIFF_WORDS + 1)
    assert transcript.word_diff(said, said) is None
    shown = html(events.TurnEnded("user", 1, said, said + "more", 0))
    assert 'class="heard"' in shown
    assert "<del" not in shown


def test_heard_as_said_is_shown_once_and_not_measured_is_not_a_difference() -> None:
    for heard in ("Hello", None):
        shown = html(events.TurnEnded("user", 1, "Hello", heard, 0))
        assert shown.count("Hello") == 1
        assert "heard" not in shown


def test_an_interrupted_and_an_empty_turn_say_so() -> None:
    assert "interrupted" in html(events.TurnEnded("agent", 1, "I was", "I", 0, interrupted=True))
    assert "(nothing was said)" in html(events.TurnEnded("agent", 1, "", None, 0))


@pytest.mark.parametrize(
    ("length", "is_open", "is_fetched"),
    [(transcript.OPEN, True, False), (transcript.OPEN + 1, False, False), (transcript.FETCHED + 1, False, True)],
)
def test_long_values_are_folded_and_very_long_ones_fetched(length: int, is_open: bool, is_fetched: bool) -> None:
    value = transcript.fold("x" * length)
    assert (value.is_open, value.is_fetched, value.size) == (is_open, is_fetched, length)
    assert value.text == ("" if is_fetched else "x" * length)


def test_a_result_of_200_kb_costs_the_page_a_few_hundred_bytes() -> None:
    shown = html(events.ToolReturned("agent", 1, "list_all", True, ["row"] * 30_000, 3.0))
    assert len(shown) < 2_000
    assert 'hx-get="events/7/?part=result"' in shown
    assert "characters" in shown


def test_arguments_that_are_no_object_are_shown_as_they_came() -> None:
    shown = html(events.ToolCalled("agent", 1, "find", {}, "id", "{'a': 1"))
    assert "not a JSON object" in shown
    assert "{&#x27;a&#x27;: 1" in shown


def test_a_refused_call_names_its_failure_and_a_write_its_exact_change() -> None:
    refused = html(events.ToolReturned("agent", 1, "cancel", False, "Error", 1.0, "order_not_pending"))
    assert "refused" in refused
    assert "order_not_pending" in refused
    changes: list[dict[str, Any]] = [
        {"side": "agent", "path": ["orders", "#W1", "items", 0, "price"], "before": 10, "after": 12, "op": "set"},
        {"side": "user", "path": ["phone", "on"], "before": None, "after": True, "op": "add"},
    ]
    written = html(events.ToolReturned("agent", 1, "modify", True, "ok", 1.0, None, changes))
    assert "2 fields changed" in written
    assert "orders.#W1.items.0.price" in written
    assert "caller's phone.on" in written
    assert "added" in written


def test_a_sync_names_the_side_of_each_change_and_the_call_before_it() -> None:
    changes: list[dict[str, Any]] = [
        {"side": "agent", "path": ["bills", 6, "status"], "before": "Awaiting Payment", "after": "Paid", "op": "set"},
        {"side": "user", "path": ["surroundings", "line_active"], "before": False, "after": True, "op": "set"},
    ]
    shown = html(events.StateSynced(changes, after_call=4))

    assert '<a href="#call-4">call 4</a>' in shown
    assert "agent's bills.6.status" in shown
    assert "caller's surroundings.line_active" in shown


def test_many_changes_are_counted_and_the_rest_linked() -> None:
    changes = [{"path": ["t", str(i)], "before": 0, "after": i, "op": "set"} for i in range(30)]
    shown = html(events.ToolReturned("agent", 1, "modify", True, "ok", 1.0, None, changes))
    assert "30 fields changed" in shown
    assert "all 30 changes" in shown


def test_parts_of_a_latency_add_up_with_the_residual() -> None:
    shown = html(events.LatencyMeasured("agent", 2, 900.0, {"model": 500.0, "tools": 150.0}))
    assert "residual 250" in shown.replace("\u00a0", " ")


def test_a_residual_that_was_recorded_is_said_once() -> None:
    shown = html(events.LatencyMeasured("agent", 2, 900.0, {"model": 500.0, "tools": 150.0, "residual": 250.0}))
    assert shown.count("residual") == 1
    assert "residual 250" in shown.replace("\u00a0", " ")


def test_marks_lie_inside_the_call_and_name_what_they_lead_to() -> None:
    turn = transcript.mark(made(events.TurnEnded("user", 4, "Hi", None, 60_000, interrupted=True)))
    assert turn is not None
    assert (turn["start"], turn["length"], turn["target"]) == (60_000, 1_500, "turn-4")
    assert turn["shape"] == "user interrupted"
    call = transcript.mark(made(events.ToolReturned("agent", 2, "find", True, "", 90_000.0)))
    assert call is not None
    assert (call["start"], call["shape"], call["target"]) == (0, "read", "call-2")
    assert transcript.mark(made(events.CallStarted("text"))) is None


def test_a_turn_that_began_after_it_ended_is_still_drawn() -> None:
    turn = transcript.mark(made(events.TurnEnded("user", 1, "Hi", None, 99_000)))
    assert turn is not None
    assert turn["length"] == 1


def test_rows_and_model_rows_are_the_same_thing() -> None:
    event = made(events.CallStarted("text"))
    stored = TrialEvent(seq=event.seq, at_ms=event.at_ms, kind=event.kind, side="", data=event.data)
    assert transcript.render_row(stored) == transcript.render_row(event)


def test_what_a_bots_database_was_told_and_whether_it_answered() -> None:
    told = html(events.StateSynced([], None, {"user": {"surroundings.line_active": False}}, {"user": 12.0}))
    assert "surroundings.line_active" in told
    assert "acknowledged in" in told
    assert "nothing changed" not in told
    unanswered = html(events.StateSynced([], None, {"agent": {"bills[B1].status": "Paid"}}))
    assert "not acknowledged" in unanswered


def test_a_pulled_end_state_says_what_it_rests_on() -> None:
    same = html(events.StatePulled("agent", "ab" * 32, [{"name": "sell"}], None, "it is too large", "ab" * 32))
    assert "as its reported actions lead to" in same
    assert "was not given: it is too large" in same
    assert "1 action in its log" in same
    other = html(events.StatePulled("agent", "ab" * 32, [], [], "", "cd" * 32))
    assert "<b>not</b>" in other
    assert "was not given" not in other
    assert "no database" in html(events.StatePulled("user", None, []))
