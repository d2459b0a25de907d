"""The right column of the call page: what a person should look at, without any of it deciding anything."""

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from scenarios import events
from scenarios.models import SignalResult, Trial, Verdict
from tests.calls import Call, exchange_call, score_exchange
from tests.evalsite.test_transcript import ATTACK
from tests.factories import make_trial

Get = Callable[[Trial], str]


@pytest.fixture
def trial(db: None) -> Trial:
    return make_trial(state="running", last_seq=0)


@pytest.fixture
def scored(trial: Trial) -> Trial:
    exchange_call(trial).end()
    score_exchange(trial)
    return trial


@pytest.fixture
def get(client: Client, viewer: User) -> Get:
    client.force_login(viewer)

    def get(trial: Trial) -> str:
        answer = client.get(f"/runs/{trial.run_id}/trials/{trial.scenario.name}/{trial.number}/")
        assert answer.status_code == 200, answer.status_code
        return str(answer.content.decode())

    return get


def detail(trial: Trial, signal: str, **facts: Any) -> None:
    """Add facts to what a signal stored."""
    row = SignalResult.objects.get(trial=trial, signal=signal)
    row.detail |= facts
    row.save()


def made_up(trial: Trial) -> Call:
    """Record a call whose caller invents an order number; the test's record says what it was told."""
    return Call(trial).begin().turn("agent", "Your order number?").turn("user", "A-77812.")


def test_what_a_caller_made_up_is_marked_on_its_turn(trial: Trial, get: Get) -> None:
    """B13: the mark stands beside the transcript and leads to the turn."""
    made_up(trial).end()
    html = get(trial)
    assert 'data-caused-by="turn-2" data-name="made up?"' in html
    assert "The caller says 77812: neither in its instructions" in html
    assert 'href="?at=turn-2#turn-2"' in html


def test_a_call_that_goes_on_has_no_remarks_yet(trial: Trial, get: Get) -> None:
    """What is missing may still come."""
    made_up(trial)
    assert 'id="remarks"' not in get(trial)


def test_remarks_are_of_the_attempt_that_counts(trial: Trial, get: Get) -> None:
    """B71: what an earlier attempt did is kept apart."""
    call = made_up(trial)
    call.add(events.AttemptFailed("bot_gone", "gone", True)).begin(2)
    call.turn("agent", "Your order number?").turn("user", "I have none.").end()
    assert 'id="remarks"' not in get(trial)


def test_a_write_that_nobody_was_asked_about_is_marked_on_its_call(trial: Trial, get: Get) -> None:
    """B35: with the numbers of the turns; the outcome is what it was."""
    exchange_call(trial).end("pass", "")
    html = get(trial)
    assert 'data-caused-by="call-3" data-name="asked first?"' in html
    assert "was done in turn 5: spoken of in turn 3, but no plain yes of the caller between." in html
    assert Trial.objects.get(pk=trial.pk).outcome == "pass"


def test_remarks_are_text(trial: Trial, get: Get) -> None:
    """B83: what a party said stands in a remark as text."""
    call = Call(trial).begin().turn("user", f"{ATTACK} {ATTACK} A-77812")
    call.tool("cancel<img>", {"order_id": ATTACK}, action={"name": ATTACK}).turn("agent", ATTACK).end()
    html = get(trial)
    assert "cancel&lt;img&gt; (call 1)" in html
    assert "<img src=x" not in html


def test_a_reason_against_its_ruling_is_marked_and_the_ruling_stays(scored: Trial, get: Get) -> None:
    """B30: marked for a person, never flipped."""
    assert "seems to contradict the ruling" not in get(scored)
    Verdict.objects.filter(trial=scored, index=2).update(detail={"contradiction": True}, reason="It never says so.")
    html = get(scored)
    assert html.count("seems to contradict the ruling") == 1
    assert Verdict.objects.get(trial=scored, index=2).passed is True


def test_turns_that_address_the_judge_are_named_and_linked(scored: Trial, get: Get) -> None:
    """B27: the reviewer is shown where the transcript tells the judge what to rule."""
    assert "tell the judge what to rule" not in get(scored)
    detail(scored, "nl_assertion", suspicious_turns=[3, 5])
    html = get(scored)
    assert 'href="?at=turn-3#turn-3" data-caused-by="turn-3" data-name="addresses the judge?"' in html
    assert 'data-caused-by="turn-5"' in html


def test_a_record_that_the_judge_saw_only_in_part_is_said_beside_the_claims(scored: Trial, get: Get) -> None:
    """B28: the note on a shortened record stands with the verdicts."""
    scored.judgings.update(truncation="the first 12 of 40 lines were left out to fit the window")
    assert "The judge did not see the whole record: the first 12 of 40 lines" in get(scored)


def test_the_likeness_of_a_wrong_field_stands_beside_it(scored: Trial, get: Get) -> None:
    """B02, B04, B57: strictly wrong, and the reader is told in which way."""
    rows = SignalResult.objects.get(trial=scored, signal="db_state_match").detail["diff"]
    rows[0] |= {"note": "same items, other order"}
    detail(scored, "db_state_match", diff=rows)
    html = get(scored)
    assert html.count("same items, other order") == 1
    assert '<span class="field-state wrong">1 wrong</span>' in html


def test_a_table_of_plain_values_is_one_record(scored: Trial, get: Get) -> None:
    """A phone's database is a few flat tables, unlike one that holds records by their key."""
    field = {"state": "wrong", "seed": True, "expected": True, "actual": False}
    record = {**field, "seed": None, "expected": {"status": "active"}, "actual": None, "absent": ["seed", "actual"]}
    rows = [
        {**field, "path": ["device", "airplane_mode"]},
        {**field, "path": ["device", "data_enabled"]},
        {**record, "path": ["device", "vpn"]},
        {**field, "path": ["device", "apps", "messaging", "sms"]},
    ]
    detail(scored, "db_state_match", diff=[], user_diff=rows)
    html = get(scored).partition('id="signal-db_state_match"')[2]

    records, places = (re.findall(f'<{tag} class="mono">([^<]*)</', html) for tag in ("h4", 'div class="place"><span'))
    assert records[:3] == ["device", "device.vpn", "device.apps"]
    assert places[:4] == ["airplane_mode", "data_enabled", "the whole record", "messaging.sms"]


@pytest.mark.parametrize(("passed", "side", "whose"), [(True, "user", "caller's"), (False, "agent", "agent's")])
def test_a_predicate_names_its_database_and_says_what_is_wrong_only_when_it_is(
    scored: Trial, get: Get, passed: bool, side: str, whose: str
) -> None:
    signal = SignalResult.objects.filter(trial=scored).order_by("-pk").values_list("scoring", flat=True)[0]
    Verdict.objects.create(
        trial=scored,
        scoring=signal,
        signal="db_state_assertion",
        index=1,
        claim="assert_service_status() is True",
        passed=passed,
        detail={"side": side, "message": "Service status is not as expected"},
    )
    html = get(scored)

    assert f"asked of the {whose} database" in html
    assert ("Service status is not as expected" in html) is not passed


def test_what_is_not_compared_is_said(scored: Trial, get: Get) -> None:
    """B05: the list is stored with the verdict and shown."""
    detail(scored, "db_state_match", not_compared=["session"])
    assert 'Not compared: <span class="mono">session</span>' in get(scored)


def test_mixed_pairs_are_named_in_the_action_diff(scored: Trial, get: Get) -> None:
    """B03: each list alone looks right."""
    row = SignalResult.objects.get(trial=scored, signal="is_action_match")
    field = {"path": ["arguments", "item_ids with new_item_ids"], "expected": [["a", "x"]], "actual": [["a", "y"]]}
    row.detail["wrong"][0]["fields"] = [{**field, "note": "other pairs"}]
    row.save()
    html = get(scored)
    assert "item_ids with new_item_ids" in html
    assert "other pairs" in html


def test_the_limit_and_what_was_measured_stand_with_the_end(scored: Trial, get: Get) -> None:
    """B40, B41, B42: in the signal and in the transcript."""
    said = "limit 60 s, measured 60.2 s, in turn 9"
    detail(scored, "clean_exit", end_reason="time_limit", end_message=said)
    assert f"at the time limit: {said}." in get(scored)


def test_the_end_of_the_transcript_has_limit_and_measure(trial: Trial, get: Get) -> None:
    """B41: also where nothing was scored."""
    Call(trial).begin().add(events.CallEnded("turn_limit", None, 900, "limit 4 turns, measured 4"))
    assert "limit 4 turns, measured 4" in get(trial)


def test_a_turn_whose_control_tokens_were_taken_out_is_marked_and_has_the_raw_text(trial: Trial, get: Get) -> None:
    """B17: what was heard is clean, what the model wrote is kept."""
    raw = "<|channel|>analysis hm <|end|> Okay, thanks."
    Call(trial).begin().turn("user", "Okay, thanks.", raw=raw).turn("agent", "Bye.")
    html = get(trial)
    assert html.count("control tokens taken out") == 1
    assert "&lt;|channel|&gt;analysis hm" in html


def test_flat_records_of_actions_show_their_facts(scored: Trial, get: Get) -> None:
    flat = {"action_type": "assign_seat", "passenger_id": "PAX001", "seat_assigned": "21A", "side": "agent"}
    detail(scored, "is_action_match", matched=[{"predicted": flat, "reference": flat}], missing=[], wrong=[], extra=[])
    text = unescape(get(scored))
    assert '"seat_assigned": "21A"' in text
    assert '"action_type"' not in text
