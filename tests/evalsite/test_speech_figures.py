"""Figures of speech over a call and over the calls of a run."""

from typing import Any

import pytest

from evalsite import speech_figures
from scenarios.models import Run, TrialEvent
from scenarios.scoring.evidence import read_events
from tests.factories import make_run
from tests.spoken import DIALOGUE, Line, speak, voice_run


@pytest.fixture(autouse=True)
def nothing_known() -> None:
    """Forget the calls of other tests, whose rows were rolled back and had the same keys."""
    speech_figures.forget()


@pytest.fixture
def run(db: None) -> Run:
    """Return a voice run of five calls that were held, and one that never began."""
    run = voice_run(make_run(6, outcomes=["running"]))
    for trial in run.trials.order_by("position")[:5]:
        trial.last_seq = 0
        speak(trial).end("pass", "")
    return run


def ledgers(run: Run) -> list[speech_figures.SideLedger]:
    events = list(TrialEvent.objects.filter(trial__run=run, trial__position=0).order_by("seq"))
    return speech_figures.ledgers_of_call(read_events(events), events)


def test_a_calls_words_are_counted_by_side() -> None:
    record = read_events([])
    assert speech_figures.words_of_call(record) == []
    assert speech_figures.talk_of_call(record) is None


def test_a_ledger_balances_and_names_what_is_missing(run: Run) -> None:
    user, agent = ledgers(run)
    assert (user.side, user.turns, agent.side, agent.turns) == ("user", 1, "agent", 2)
    response = agent.summary.response
    assert (response.measured, response.p50, response.p95) == (1, 900.0, 900.0)
    assert [(row.name, row.figures.p50) for row in agent.parts] == [("endpointing", 400.0), ("model", 150.0)]
    assert agent.summary.residual.p50 == 350.0
    assert agent.unmeasured == ["stt", "tools", "tts", "transport"]
    assert agent.barge_ins == 0


def test_a_barge_in_is_counted_apart(db: None) -> None:
    run = voice_run(make_run(1, outcomes=["running"]))
    lines = (Line("agent", "Let me explain.", None, 0, 3000), Line("user", "Wait!", "Wait!", 2000, 2600))
    speak(run.trials.get(last_seq=0), lines).end("fail", "")
    user, agent = ledgers(run)
    assert (user.barge_ins, agent.barge_ins) == (1, 0)
    assert user.summary.response.measured == 0


def test_a_run_is_read_step_by_step_and_says_how_far(run: Run, django_assert_num_queries: Any) -> None:
    first = speech_figures.of_run(run, step=2)
    assert (first.counted, first.total, first.left) == (2, 5, 3)
    second = speech_figures.of_run(run, step=2)
    assert (second.counted, second.left) == (4, 1)
    whole = speech_figures.of_run(run)
    assert (whole.counted, whole.left) == (5, 0)
    with django_assert_num_queries(1):  # all are known: no event is read again
        assert speech_figures.of_run(run) == whole
    caller, agent = sorted(whole.words, key=lambda row: row.side, reverse=True)
    assert (caller.errors.errors, caller.errors.words, caller.errors.not_measured) == (5, 40, 0)
    assert (agent.errors.errors, agent.errors.words, agent.errors.not_measured) == (0, 25, 5)
    assert agent.interval is not None
    assert (agent.interval.low, agent.interval.method) == (0.0, "Wilson over words")
    assert agent.interval.high > 0.05
    ledger = next(ledger for ledger in whole.ledgers if ledger.side == "agent")
    assert (ledger.turns, ledger.summary.response.measured, ledger.summary.residual.p95) == (10, 5, 350.0)


def test_a_call_that_went_on_is_read_again(run: Run) -> None:
    speech_figures.of_run(run)
    trial = run.trials.order_by("position")[0]
    speak(trial, DIALOGUE[:2]).end("pass", "")  # another attempt in the same record
    (agent,) = (row for row in speech_figures.of_run(run).ledgers if row.side == "agent")
    assert agent.turns == 9
    assert agent.summary.response.measured == 4


def test_an_empty_run_has_nothing(db: None) -> None:
    empty = speech_figures.of_run(make_run(2))
    assert (empty.counted, empty.total) == (0, 0)
    assert [row.errors.rate for row in empty.words] == [None, None]
    assert [row.summary.response.p50 for row in empty.ledgers] == [None, None]


def test_memory_is_bounded(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speech_figures, "_REMEMBERED", 3)
    speech_figures.of_run(run)
    assert len(speech_figures._known) <= 3
