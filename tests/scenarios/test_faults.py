"""Fault sides in the database: by rule, by a person, again after scoring, and what a run's rates make of them."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connections

from scenarios import catalogue, faults
from scenarios.events import AttemptStarted, CallEnded, CallStarted, PartyPrepared
from scenarios.faults import FAILED, Refused, attribute, attribution_of, counting, due, ledger, rule_on
from scenarios.lifecycle import settle
from scenarios.models import FaultRuling, ImportedFile, JudgeVersion, Review, Run, SignalResult, Trial, Verdict
from tests.calls import Call
from tests.factories import make_run, make_scenario

pytestmark = pytest.mark.django_db
SILENT = CallEnded("silence", None, 9000, "the agent owed turn 2 and gave no sign")
TASK = "frontdesk__breakfast"


def scenario_row(name: str = TASK) -> Any:
    return make_scenario(name, "frontdesk", fingerprint=catalogue.spec(name).fingerprint)


def front_run(trials: int = 1, name: str = TASK, **fields: Any) -> Run:
    """Make a run of one task of the built-in domain, all calls failed."""
    run = make_run([scenario_row(name)], trials, ["fail"], domain="frontdesk", **fields)
    run.config["scenarios"][0]["fingerprint"] = catalogue.spec(name).fingerprint
    run.save()
    Trial.objects.filter(run=run).update(last_seq=0)
    for trial in run.trials.all():
        SignalResult.objects.create(trial=trial, signal="db_state_match", state="failed", is_gating=True, value=False)
    return run


def held(trial: Trial, end: CallEnded = SILENT, said: str = "I would like breakfast for LH101.") -> Trial:
    """Give a call a record that ends so; the caller was told the reservation."""
    prompt = PartyPrepared("user", "patient", "m", "You have the reservation LH101.", [], False)
    Call(trial).add(AttemptStarted(1, "toy-lane"), prompt, CallStarted("text")).turn("user", said).add(end)
    trial.refresh_from_db()
    return trial


@pytest.fixture
def run() -> Run:
    return front_run(2)


@pytest.fixture
def trial(run: Run) -> Trial:
    """Return a call that the agent let die, beside one that nothing explains."""
    first, second = run.trials.order_by("pk")
    held(second, CallEnded("end_tool", "user", 9000))
    return held(first)


class TestByRule:
    def test_what_the_record_decides_is_stored_with_its_reason_and_cached(self, run: Run, trial: Trial) -> None:
        assert attribute(due(run)) == 1
        row = trial.fault_rulings.get()
        assert (row.side, row.is_by_rule, row.person) == ("agent", True, None)
        assert "gave no sign" in row.reason
        assert row.rule.endswith("silent")
        assert Trial.objects.get(pk=trial.pk).fault == "agent"

    def test_what_it_does_not_decide_has_a_row_that_says_why(self, run: Run, trial: Trial) -> None:
        attribute(due(run))
        other = run.trials.exclude(pk=trial.pk).get()
        assert (other.fault, other.fault_rulings.get().side) == ("", "")
        assert other.fault_rulings.get().reason

    def test_a_second_time_adds_nothing(self, run: Run, trial: Trial) -> None:
        attribute(due(run))
        assert due(run) == []
        attribute(run.trials.values_list("pk", flat=True))
        assert FaultRuling.objects.count() == 2

    @pytest.mark.parametrize("again", ["event", "scoring", "overruled", "outcome"])
    def test_a_call_that_was_scored_or_reviewed_again_is_due(self, run: Run, trial: Trial, again: str) -> None:
        attribute(due(run))
        if again == "event":
            Call(trial).turn("agent", "Sorry.")
        elif again == "scoring":
            SignalResult.objects.create(
                trial=trial, scoring=2, signal="db_state_match", state="failed", is_gating=True, value=False
            )
        else:
            Trial.objects.filter(pk=trial.pk).update(
                **({"outcome": "stalled"} if again == "outcome" else {"overruled_count": 1})
            )
        assert due(run) == [trial.pk]
        attribute(due(run))
        assert due(run) == []
        assert trial.fault_rulings.count() == 2

    def test_a_call_that_passes_now_has_no_fault(self, run: Run, trial: Trial) -> None:
        attribute(due(run))
        Trial.objects.filter(pk=trial.pk).update(outcome="pass")
        assert due(run) == [trial.pk]
        assert attribute(due(run)) == 0
        assert Trial.objects.get(pk=trial.pk).fault == ""
        assert counting(Trial.objects.get(pk=trial.pk)) is None

    def test_calls_without_a_score_are_passed_over(self, run: Run, trial: Trial) -> None:
        run.trials.update(outcome="infra_error")
        assert due(run) == []
        Trial.objects.filter(pk=trial.pk).update(outcome="fail", status="scoring")
        assert due(run) == []
        assert attribute([trial.pk]) == 0
        assert not FaultRuling.objects.exists()

    def test_looking_at_one_call_writes_nothing(self, trial: Trial) -> None:
        assert attribution_of(trial).side == "agent"
        assert not FaultRuling.objects.exists()

    def test_what_the_caller_was_told_is_not_made_up(self, run: Run) -> None:
        """The prompt is part of what clues are read from."""
        told, invented = run.trials.order_by("pk")
        assert attribution_of(held(told)).suspected == ("agent",)
        assert attribution_of(held(invented, said="For LH101 and LH999.")).suspected == ("agent", "caller")

    def test_a_task_that_is_gone_or_changed_decides_nothing(self, run: Run, trial: Trial) -> None:
        run.config["scenarios"][0]["fingerprint"] = "0" * 64
        run.save()
        found = attribution_of(Trial.objects.get(pk=trial.pk))
        assert (found.side, found.reason) == (None, "the task was changed after this call, so no rule can read it")
        gone = make_run([make_scenario("toy__gone")], 1, ["fail"]).trials.get()
        assert "not known here any more" in attribution_of(gone).reason

    def test_the_clues_of_a_judge_that_contradicts_itself_go_once_a_person_ruled(self) -> None:
        run = front_run(1, "frontdesk__upgrade_price")
        trial = held(run.trials.get(), CallEnded("end_tool", "user", 9000))
        trial.signals.update(signal="nl_assertion")
        verdict = Verdict.objects.create(
            trial=trial, signal="nl_assertion", index=1, claim="c", passed=False, detail={"contradiction": True},
            judge=JudgeVersion.objects.create(fingerprint="j" * 64, profile="j"), subject="s",
        )  # fmt: skip
        assert attribution_of(trial).side == "judge"
        Review.objects.create(verdict=verdict, rater="ann", stage="blind", ruling="fail")
        settle([trial.pk])
        assert "judge" not in attribution_of(Trial.objects.get(pk=trial.pk)).suspected

    def test_a_lane_attributes_and_an_error_of_a_rule_costs_no_call(
        self, trial: Trial, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setattr(connections, "close_all", lambda: None)  # the test's own connection
        faults.attribute_after_call(trial.pk)
        assert trial.fault_rulings.count() == 1
        monkeypatch.setattr(faults, "attribute", lambda trials: 1 / 0)
        faults.attribute_after_call(trial.pk)
        assert f"attributing trial {trial.pk}" in caplog.text


class TestImported:
    @pytest.fixture
    def run(self) -> Run:
        return front_run(2, imported_from=ImportedFile.objects.create(name="results.json"))

    def test_only_what_the_record_alone_shows_decides(self, run: Run, trial: Trial) -> None:
        attribute(due(run))
        assert [row.fault for row in run.trials.order_by("pk")] == ["agent", ""]
        other = run.trials.exclude(pk=trial.pk).get().fault_rulings.get()
        assert other.reason.startswith("held elsewhere: ")
        assert due(run) == []

    def test_a_clue_that_leans_on_the_task_is_offered_only(self, run: Run) -> None:
        """An agent that ends the call without any tool call is idle only by what the task asks for."""
        idle = CallEnded("end_tool", "agent", 9000)
        imported, own = held(run.trials.all()[0], idle), held(front_run().trials.get(), idle)
        assert attribution_of(own).side == "agent"
        found = attribution_of(imported)
        assert (found.side, found.suspected) == (None, ("agent",))


class TestByAPerson:
    def test_their_word_counts_over_the_rules(self, run: Run, trial: Trial, reviewer: User) -> None:
        attribute(due(run))
        rule_on(trial, reviewer, "speech", "  the line was dead ")
        trial.refresh_from_db()
        found = attribution_of(trial)
        assert (trial.fault, found.side, found.by, found.reason) == ("speech", "speech", "person", "the line was dead")
        word = counting(trial)
        assert word is not None
        assert word.person == reviewer

    def test_it_survives_scoring_again(self, run: Run, trial: Trial, reviewer: User) -> None:
        rule_on(trial, reviewer, "speech", "the line was dead")
        Call(trial).turn("agent", "Sorry.")
        attribute(due(run))
        assert Trial.objects.get(pk=trial.pk).fault == "speech"

    def test_taking_it_back_brings_the_rules_back_and_all_stay_in_the_history(
        self, run: Run, trial: Trial, reviewer: User
    ) -> None:
        attribute(due(run))
        rule_on(trial, reviewer, "speech", "the line was dead")
        rule_on(trial, reviewer, "", "it was not")
        assert Trial.objects.get(pk=trial.pk).fault == "agent"
        assert [row.side for row in trial.fault_rulings.all()] == ["agent", "speech", ""]

    def test_a_word_on_a_fail_says_nothing_about_a_pass(self, run: Run, trial: Trial, reviewer: User) -> None:
        rule_on(trial, reviewer, "caller", "hung up")
        Trial.objects.filter(pk=trial.pk).update(outcome="pass")
        assert ledger(run).doubted_passes == 0
        attribute(due(run))
        trial.refresh_from_db()
        assert trial.fault == ""
        rule_on(trial, reviewer, "task", "the gold accepts anything")
        assert Trial.objects.get(pk=trial.pk).fault == "task"
        assert ledger(run).doubted_passes == 1
        assert due(run) == []

    @pytest.mark.parametrize(
        ("side", "reason", "words"),
        [("moon", "x", "no side"), ("caller", "  ", "say why"), ("", "x", "no word of a person")],
    )
    def test_what_is_refused(self, trial: Trial, reviewer: User, side: str, reason: str, words: str) -> None:
        with pytest.raises(Refused, match=words):
            rule_on(trial, reviewer, side, reason)
        assert not FaultRuling.objects.exists()

    def test_a_call_without_a_score_has_no_side(self, trial: Trial, reviewer: User) -> None:
        trial.outcome = "infra_error"
        with pytest.raises(Refused, match="only passed, failed and stalled"):
            rule_on(trial, reviewer, "harness", "it broke")


class TestLedger:
    def test_rates_and_bounds(self, reviewer: User) -> None:
        run = make_run(10, 1, ["pass"] * 5 + ["fail"] * 4 + ["infra_error"])
        caller, agent, *_ = run.trials.filter(outcome__in=FAILED).order_by("pk")
        rule_on(caller, reviewer, "caller", "hung up")
        rule_on(agent, reviewer, "agent", "wrong order")
        rule_on(run.trials.filter(outcome="pass")[0], reviewer, "task", "too easy")
        rates = ledger(run)
        assert (rates.raw.count, rates.raw.of) == (5, 9)
        assert (rates.without.count, rates.without.of) == (4, 7)
        assert (rates.worst.count, rates.best.count) == (4, 8)
        assert (dict(rates.fails), rates.undecided, rates.doubted_passes) == ({"agent": 1, "caller": 1}, 2, 1)

    def test_a_few_queries_whatever_the_size(self, django_assert_num_queries: Callable[[int], Any]) -> None:
        run = make_run(30, 2, ["pass", "fail", "stalled"])
        with django_assert_num_queries(2):
            assert ledger(run).undecided == 40
        with django_assert_num_queries(5):
            assert len(due(run)) == 40
