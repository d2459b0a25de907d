"""Two calls side by side."""

import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evalsite import pairs
from evalsite.pairs import pair_of
from scenarios.models import SignalResult, Trial
from tests.calls import Call, exchange_call, score_exchange
from tests.evalsite.test_transcript import ATTACK
from tests.factories import make_scenario, make_trial


@pytest.fixture
def reader(client: Client, viewer: User) -> Client:
    client.force_login(viewer)
    return client


def held(**fields: object) -> Trial:
    trial = make_trial(state="running", last_seq=0, **fields)  # type: ignore[arg-type]
    exchange_call(trial).end()
    score_exchange(trial)
    return trial


def shorter() -> Trial:
    """Make a call that looks another order up and writes nothing."""
    trial = make_trial(state="running", last_seq=0)
    call = Call(trial).begin().turn("agent", "Hello, how can I help you today?").turn("user", "An exchange, please.")
    call.tool("get_order_details", {"order_id": "#W2"}, {"order_id": "#W2"}).turn("agent", "Which size?").end(
        "pass", ""
    )
    return trial


def page(reader: Client, left: Trial, right: Trial) -> str:
    answer = reader.get(f"/compare/pair/?a={left.pk}&b={right.pk}")
    assert answer.status_code == 200
    return str(answer.content.decode())


def words(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


@pytest.mark.django_db
def test_calls_are_aligned_by_their_tool_calls() -> None:
    pair = pair_of(held(), shorter())
    assert pair.counts == {"alike": 0, "changed": 1, "only_left": 2, "only_right": 0}
    (changed,) = [row for row in pair.rows if row.state == "changed"]
    assert [name for name, _, differs in changed.left[0].arguments if differs] == ["order_id"]
    assert changed.results_differ
    assert pair.rows[0].state is None
    assert [line.said.text for line in pair.rows[0].left] == [
        "Hello, how can I help you today?",
        "Hi, I want to exchange two shirts of order W 2378156.",
    ]
    assert [line.side for line in pair.rows[0].right] == ["agent", "user"]


@pytest.mark.django_db
def test_a_call_beside_itself_differs_in_nothing() -> None:
    trial = held()
    pair = pair_of(trial, trial)
    assert pair.counts == {"alike": 3, "changed": 0, "only_left": 0, "only_right": 0}
    assert not any(row.results_differ for row in pair.rows)
    assert not any(row["differs"] for row in [*pair.claims, *pair.fields])
    assert all(left == right for _, left, right in pair.signals)


@pytest.mark.django_db
def test_verdicts_that_differ_come_first() -> None:
    left, right = held(), held()
    right.verdicts.filter(index=2).update(passed=False, reason="It never says so.")
    SignalResult.objects.filter(trial=right, signal="db_state_match").update(state="passed")
    pair = pair_of(left, right)
    assert [row["differs"] for row in pair.claims] == [True, False, False]
    assert pair.claims[0]["rulings"] == [("passed", "It says so."), ("failed", "It never says so.")]
    assert ("db_state_match", "failed", "passed") in pair.signals
    assert [ruling[0] for ruling in pair.claims[2]["rulings"] if ruling] == ["judge_error", "judge_error"]


@pytest.mark.django_db
def test_end_states_are_held_against_each_other() -> None:
    left, right = held(), held()
    whole = pair_of(left, right)
    assert whole.fields
    assert not any(row["differs"] for row in whole.fields)
    signal = right.signals.get(signal="db_state_match")
    dropped = signal.detail["diff"].pop(0)
    signal.save()
    place = ".".join(map(str, dropped["path"]))
    (row,) = [row for row in pair_of(left, right).fields if row["place"] == place]
    assert [end["state"] for end in row["ends"]] == [dropped["state"], "right"]
    assert row["differs"]


@pytest.mark.django_db
def test_a_call_that_was_not_scored_has_no_state_rather_than_a_right_one() -> None:
    fields = pair_of(held(), shorter()).fields
    assert fields
    assert {row["ends"][1]["state"] for row in fields} == {""}


@pytest.mark.django_db
def test_only_the_attempt_that_counts_is_shown() -> None:
    trial = make_trial(state="running", last_seq=0)
    call = Call(trial).begin().turn("agent", "Lost words").tool("lost_tool", {})
    call.begin(2).turn("agent", "Hello").tool("look", {}).end("pass", "")
    pair = pair_of(trial, trial)
    assert [line.said.text for row in pair.rows for line in row.left if line.said] == ["Hello"]
    assert pair.counts["alike"] == 1


@pytest.mark.django_db
def test_an_endless_call_is_cut_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    trial = held()
    assert not pair_of(trial, trial).cut
    monkeypatch.setattr(pairs, "MOST_EVENTS", 4)
    assert pair_of(trial, trial).cut


def test_the_page_marks_what_differs(reader: Client) -> None:
    html = page(reader, held(), shorter())
    assert '<div class="pair-row changed" role="row" data-row data-failed>' in html
    assert "not called" in html
    assert "Tool calls: 0 alike, 1 with other arguments, 2 only before, 0 only after." in words(html)
    assert re.search(r"<mark title=\"differs from the other call\">\s*<span class=\"text\">#W2</span>", html)


def test_what_models_say_is_text(reader: Client) -> None:
    trial = make_trial(state="running", last_seq=0)
    Call(trial).begin().turn("agent", ATTACK).tool(ATTACK, {ATTACK: ATTACK}, ATTACK).turn("user", "x" * 9000).end()
    html = page(reader, trial, trial)
    assert ATTACK not in html
    assert "9,000 characters" in html
    assert "x" * 300 not in html


def test_calls_of_other_scenarios_carry_a_warning(reader: Client) -> None:
    other = make_trial(scenario=make_scenario("toy__2"))
    assert "These calls are of different scenarios" in page(reader, held(), other)
    assert "different scenarios" not in page(reader, held(), shorter())


def test_calls_without_a_record_can_be_opened(reader: Client) -> None:
    trial = make_trial(state="queued")
    assert "Neither call has a record" in page(reader, trial, trial)


@pytest.mark.parametrize("query", ["", "a=1", "a=x&b=y", "a=999999999&b=1", "a=%00&b=²", f"a={'9' * 30}&b=1"])
def test_unknown_calls_are_named(reader: Client, query: str) -> None:
    answer = reader.get(f"/compare/pair/?{query}")
    assert answer.status_code == 404
    assert "There is no call" in answer.content.decode()
