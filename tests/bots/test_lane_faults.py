"""A lane says whose fault a failed call is as soon as it has ended, and asks nothing of one that passed."""

import logging
import time
from dataclasses import replace

import pytest

import bots.recorder
from bots.bridge.contract import Record, Stop
from bots.lane import ScoredCall
from scenarios import faults
from scenarios.events import CallEnded, CallStarted
from scenarios.lifecycle import Claim
from scenarios.models import FaultRuling, Trial
from scenarios.scoring.evidence import Evidence
from tests.bots import fake_calls
from tests.bots.fake_calls import run_lane
from tests.scenarios.test_faults import front_run

pytestmark = pytest.mark.django_db(transaction=True)


async def hold_silent(claim: Claim, record: Record, stop: Stop) -> Evidence:
    """Hold a call in which the agent never says a word."""
    record.start_clock()
    record(CallStarted("text"))
    record(CallEnded("silence", None, record.now_ms, "the agent owed turn 1 and gave no sign"))
    return fake_calls.evidence("silence")


async def score_failed(claim: Claim, held: Evidence | None) -> ScoredCall:
    """Fail every call."""
    scored = await fake_calls.score(claim, held)
    return scored._replace(decision=replace(scored.decision, outcome="fail", reason="it ended badly"))


def test_a_failed_call_has_a_side_when_its_lane_is_done() -> None:
    run = front_run(1, "frontdesk__minibar_refund")
    Trial.objects.filter(run=run).update(status="queued", outcome="", attempts=0)
    run_lane(hold_silent, score_failed)
    trial = run.trials.get()
    ruling = FaultRuling.objects.get()
    assert (trial.outcome, trial.fault, ruling.side) == ("fail", "agent", "agent")
    assert "gave no sign" in ruling.reason


def test_a_passed_call_has_none() -> None:
    run = front_run(1, "frontdesk__minibar_refund")
    Trial.objects.filter(run=run).update(status="queued", outcome="", attempts=0)
    run_lane()
    assert run.trials.get().outcome == "pass"
    assert not FaultRuling.objects.exists()


def test_a_call_that_is_over_is_not_taken_for_a_lost_one(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """While its side is sought, the recorder looks at the lane's leases many times."""
    monkeypatch.setattr(bots.recorder, "FLUSH_S", 0.01)
    monkeypatch.setattr(bots.recorder, "LOOK_S", 0.0)
    monkeypatch.setattr(faults, "attribute_after_call", lambda trial: time.sleep(0.3))
    run = front_run(1, "frontdesk__minibar_refund")
    Trial.objects.filter(run=run).update(status="queued", outcome="", attempts=0)
    with caplog.at_level(logging.WARNING, logger="bots"):
        run_lane(hold_silent, score_failed)
    assert run.trials.get().outcome == "fail"
    assert [record.getMessage() for record in caplog.records] == []
