import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scenarios import domains
from scenarios.domains.base import DbAssertion, GoldAction, ScenarioSpec
from scenarios.formats.exports import tau2
from scenarios.formats.exports.form import CannotExport
from scenarios.formats.exports.tau2_tasks import task
from scenarios.formats.imports.comparison import rescore
from scenarios.formats.imports.detect import open_import
from scenarios.formats.imports.records import ImportedRun, ImportedTrial
from scenarios.formats.imports.source import stream
from scenarios.formats.reference_records import ForeignRecord, SignalRecord, TrialExport, VerdictRecord
from scenarios.scoring.evidence import read_events
from scenarios.scoring.results import OUTCOMES
from tests.scenarios.formats.exports.samples import (
    ENDED,
    NASTY,
    ROW,
    STARTED,
    every_outcome,
    export,
    held,
    nasty,
    of_outcome,
    written,
)
from tests.scenarios.formats.exports.tau2_schema import Results
from tests.scenarios.formats.imports.files import real
from tests.scenarios.formats.records import RUN, claim, ended
from tests.scenarios.scoring.cases import spec
from tests.scenarios.scoring.whole_calls import play, score

DOMAINS = ("tau2_airline", "tau2_retail", "tau2_telecom")


def load(*trials: TrialExport, **facts: Any) -> tuple[Results, dict[str, Any]]:
    """Return a file as tau2's data model reads it, and as plain JSON."""
    text = written(tau2.FORMAT, export(trials, **facts))
    return Results.model_validate_json(text), json.loads(text)


def back(folder: Path, *trials: TrialExport, **facts: Any) -> tuple[ImportedRun, list[ImportedTrial]]:
    """Return a file as our own importer reads it; it must have nothing to remark on."""
    path = folder / "results.json"
    path.write_bytes(written(tau2.FORMAT, export(trials, **facts)))
    run = open_import(path)
    found = list(run.trials())
    assert (run.remarks, run.refused, [remark for trial in found for remark in trial.remarks]) == ([], [], [])
    return run, found


def played(of: ScenarioSpec, actions: Sequence[GoldAction], number: int = 1) -> TrialExport:
    """Return a call on a real domain in which these actions are made, scored as it would have been."""
    happened, scored = play(of, actions), score(of, actions)
    states = {name: state for state, names in scored.decision.success_breakdown.items() for name in names}
    return TrialExport(
        scenario=of.name,
        number=number,
        outcome=scored.decision.outcome,
        other_outcome=scored.decision.other_outcome or "",
        outcome_reason=scored.decision.reason,
        by_inaction=scored.decision.by_inaction,
        call=read_events(happened),
        events=happened,
        success_signals=of.success_signals,
        signals=tuple(
            SignalRecord(result.signal, states.get(result.signal, "not_applicable"), result.value, result.detail)
            for result in scored.results
        ),
        verdicts=tuple(
            VerdictRecord(row.signal, row.index, row.claim, row.passed, row.reason, row.error or "")
            for result in scored.results
            for row in result.verdicts
        ),
        spec=of,
        started_at=STARTED,
        ended_at=ENDED,
        row=ROW,
    )


def some(name: str, count: int) -> list[ScenarioSpec]:
    """Return scenarios of a domain, spread over all of it, those with calls by the agent to make first."""
    specs = [one for one in domains.load()[name].scenarios() if any(a.side == "agent" for a in one.gold_actions)]
    specs = [one for one in specs if not one.name.startswith("tau2_telecom_workflow")]
    return specs[:: max(1, len(specs) // count)][:count]


@pytest.mark.parametrize(
    "path",
    [
        "sierra-tau2-bench/text/gpt-4.1_airline_1trial.json.gz",
        "sierra-tau2-bench/text/gpt-4.1_telecom-no-user_5tasks_4trials.json.gz",
    ],
)
def test_the_data_model_reads_upstreams_own_files(path: str) -> None:
    (whole,) = stream(real(path), "")
    assert Results.model_validate_json(json.dumps(whole, default=float)).simulations


@pytest.mark.usefixtures("benchmarks")
@pytest.mark.parametrize("name", DOMAINS)
def test_the_importer_reads_a_run_back_and_its_verdicts_agree(name: str, tmp_path: Path) -> None:
    calls = []
    for one in some(name, 6):
        calls += [played(one, one.gold_actions), played(one, one.gold_actions[:1], number=2)]
    results, _ = load(*calls, domain=name)
    assert results.info.environment_info.domain_name == name.removeprefix("tau2_")
    run, trials = back(tmp_path, *calls, domain=name)
    assert len(trials) == len(results.simulations) == 12
    for call, trial in zip(calls, trials, strict=True):
        assert trial.task_id == call.spec.task_id  # type: ignore[union-attr]
        assert trial.trial == call.number - 1
        found = rescore(run, trial)
        assert found.agrees is True, (trial.task_id, found.reasons)
        assert found.replay.task.source == "file"
        assert [check.met for check in found.replay.action_checks] == [
            check["action_match"] for check in trial.verdict.action_checks
        ]
        assert {call.difference for call in found.replay.calls} == {""}
    assert {trial.verdict.mapped for trial in trials} <= {"pass", "fail"}


@pytest.mark.usefixtures("benchmarks")
@pytest.mark.parametrize("name", DOMAINS)
def test_a_task_is_the_one_of_the_benchmark(name: str) -> None:
    for each in domains.load()[name].scenarios():
        assert task(held(spec=each, scenario=each.name))["id"] == each.task_id
    (one, *_) = some(name, 1)
    made = task(held(spec=one, scenario=one.name))
    assert [action["name"] for action in made["evaluation_criteria"]["actions"]] == [a.tool for a in one.gold_actions]
    assert made["user_scenario"]["instructions"]["reason_for_call"] == one.caller.goal
    assert made["user_scenario"]["instructions"]["task_instructions"] == one.caller.personality


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_what_no_rate_counts_is_in_none_of_upstreams_figures(outcome: str, tmp_path: Path) -> None:
    _, (trial,) = back(tmp_path, of_outcome(outcome))
    expected = {"pass": "pass", "fail": "fail", "stalled": "fail"}.get(outcome, "excluded")
    assert trial.verdict.mapped == expected
    assert trial.verdict.reward == {"pass": 1.0, "fail": 0.0, "stalled": 0.0}.get(outcome)
    assert trial.facts["info"]["callboard"]["outcome"] == outcome
    assert trial.facts["info"]["callboard"]["in_rate"] is (expected != "excluded")


@pytest.mark.parametrize(
    ("end", "termination"),
    [
        ("end_tool", "agent_stop"),
        ("transfer", "agent_stop"),
        ("time_limit", "timeout"),
        ("silence", "timeout"),
        ("turn_limit", "max_steps"),
        ("loop", "max_steps"),
    ],
)
def test_how_a_call_ended_is_said_in_upstreams_words(end: str, termination: str) -> None:
    failed = held(happened=ended(end), outcome="fail", outcome_reason="it failed")  # type: ignore[arg-type]
    results, data = load(failed)
    (one,) = results.simulations
    assert one.termination_reason == termination
    assert one.reward_info is not None
    assert one.reward_info.reward == 0.0
    assert bool(one.reward_info.reward_basis) is (termination == "agent_stop")
    assert data["simulations"][0]["info"]["callboard"]["end_reason"] == end


def test_the_reward_is_by_upstreams_rule_and_ours_stands_beside() -> None:
    """A call that passes by the reference's rule and fails by upstream's has upstream's reward."""
    results, data = load(held(outcome="pass", other_outcome="fail"))
    assert results.simulations[0].reward_info is not None
    assert results.simulations[0].reward_info.reward == 0.0
    assert data["simulations"][0]["info"]["callboard"]["outcome"] == "pass"
    strict, _ = load(held(outcome="fail", other_outcome="pass"), config={**RUN.config, "strictness": "upstream"})
    assert strict.simulations[0].reward_info is not None
    assert strict.simulations[0].reward_info.reward == 0.0


def test_turns_and_tool_calls_stand_in_their_order() -> None:
    (one,) = load(held())[0].simulations
    told = [(message.role, message.content, bool(message.tool_calls)) for message in one.messages]
    assert told == [
        ("user", "Cancel W1.", False),
        ("assistant", None, True),
        ("tool", "{}", False),
        ("assistant", "=Done.", False),
        ("assistant", "Goodbye.", False),
    ]
    assert [message.turn_idx for message in one.messages] == [0, 1, 2, 3, 4]
    assert one.messages[2].error is False
    assert (one.start_time, one.end_time, one.duration) == ("2026-11-30T08:39:50", "2026-11-30T08:39:59.500000", 9.5)


def test_a_call_without_an_answer_is_left_out_and_said_so() -> None:
    call = held()
    call.call.tools[1] = replace(call.call.tools[1], ok=None, result=None)
    results, data = load(call)
    assert [message.role for message in results.simulations[0].messages] == ["user", "assistant", "assistant"]
    assert data["simulations"][0]["info"]["callboard"]["unanswered_calls"] == [1]


def test_a_rehearsal_is_labelled_in_the_run_and_in_each_call() -> None:
    config = {**RUN.config, "agent": {"slug": "faithful", "model": "s", "is_standin": True}}
    results, data = load(held(), config=config, is_rehearsal=True)
    assert results.info.agent_info.implementation == "callboard faithful (stand-in: a rehearsal)"
    assert data["simulations"][0]["info"]["callboard"]["is_rehearsal"] is True


def test_no_secret_is_in_the_file() -> None:
    text = written(tau2.FORMAT, export([held(outcome="fail", outcome_reason="top-secret-value")]))
    assert b"plain-secret" not in text
    assert b"hunter22" not in text
    assert b"top-secret-value" not in text


def test_hostile_texts_come_back(tmp_path: Path) -> None:
    _, (trial,) = back(tmp_path, nasty())
    assert trial.turns[0].spoken == NASTY.replace("\ud800", "?")
    assert trial.tool_calls[0].result == NASTY.replace("\ud800", "?")
    assert trial.tool_calls[0].is_error is True


def test_claims_a_broken_judge_and_people() -> None:
    rulings = (replace(claim(1, False), effective=True, ruled_by="reviewer"), claim(2, False, "outage", "HTTP 500"))
    results, _ = load(held(verdicts=rulings, outcome="fail"))
    assert results.simulations[0].reward_info is not None
    checks = results.simulations[0].reward_info.nl_assertions
    assert [(check.met, check.justification) for check in checks or ()] == [
        (True, "because"),
        (False, "Judge error: HTTP 500"),
    ]


def test_tasks_stand_once_and_ids_stay_the_same() -> None:
    first, _ = load(*every_outcome())
    again, _ = load(*every_outcome())
    assert [one.id for one in first.tasks] == ["1"]
    assert len({one.id for one in first.simulations}) == 9
    assert [one.id for one in first.simulations] == [one.id for one in again.simulations]


def test_two_domains_do_not_fit_into_one_file() -> None:
    manual, workflow = held(scenario="tau2_telecom__a"), held(scenario="tau2_telecom_workflow__a")
    with pytest.raises(CannotExport, match=r"telecom-workflow \(tau2_telecom_workflow__a\); choose those of one"):
        written(tau2.FORMAT, export([manual, workflow]))


def test_a_scenario_that_is_gone_has_what_its_row_knows() -> None:
    results, _ = load(held(spec=None, scenario="toy__gone"))
    assert results.tasks[0].id == "toy__gone"
    assert results.tasks[0].evaluation_criteria is None


def test_a_run_of_nothing_is_a_file() -> None:
    assert load()[0].simulations == []


def foreign(termination: str, written_: dict[str, Any] | None = None, **facts: Any) -> TrialExport:
    """Return a call that came from a file of tau2's."""
    told = {
        "id": "77",
        "description": None,
        "user_scenario": {"persona": None, "instructions": "Call."},
        "ticket": None,
        "initial_state": None,
        "evaluation_criteria": None,
    }
    record = ForeignRecord("tau2", termination, "77", told, written_, started_at="2025-08-01T16:16:37.053887")
    return held(foreign=record, row=replace(ROW, end_reason=""), **facts)


def test_what_came_from_tau2_goes_back_as_it_was() -> None:
    verdict = {"reward": 0.0, "db_check": {"db_match": True, "db_reward": 1.0}, "reward_basis": ["DB", "COMMUNICATE"]}
    results, data = load(foreign("max_steps", verdict, outcome="fail", other_outcome="fail"))
    (one,) = results.simulations
    assert (one.task_id, one.termination_reason, one.start_time) == ("77", "max_steps", "2025-08-01T16:16:37.053887")
    assert data["simulations"][0]["reward_info"] == verdict
    assert data["tasks"][0]["user_scenario"]["instructions"] == "Call."


def test_a_verdict_that_people_changed_is_ours() -> None:
    changed = foreign("user_stop", {"reward": 0.0}, outcome="pass", other_outcome="pass")
    results, _ = load(replace(changed, row=replace(changed.row, judged_outcome="fail")))
    assert results.simulations[0].reward_info is not None
    assert results.simulations[0].reward_info.reward == 1.0


def test_an_end_that_upstream_does_not_know_keeps_the_outcome_in_the_figures() -> None:
    told = {("goodbye", "pass"): "user_stop", ("goodbye", "fail"): "user_stop", ("timeout", "fail"): "timeout"}
    for (said, outcome), termination in told.items():
        results, _ = load(foreign(said, None, outcome=outcome, other_outcome=outcome))
        assert results.simulations[0].termination_reason == termination
    for outcome, termination in (("pass", "agent_stop"), ("fail", "unexpected_error")):
        nothing = held(happened=(), outcome=outcome, row=replace(ROW, end_reason=""))
        assert load(nothing)[0].simulations[0].termination_reason == termination


def test_a_run_that_came_from_tau2_has_its_own_head() -> None:
    config = {
        **RUN.config,
        "agent": {"slug": "a", "model": "m", "implementation": "llm_agent", "parameters": {"llm_args": {"seed": 1}}},
        "caller": {"slug": "u", "model": "m", "parameters": {"global_simulation_guidelines": "Play."}},
        "limits": {"max_steps": 200, "max_errors": 10},
        "imported": {"git_commit": "abc", "num_trials": 4, "seed": 300},
    }
    info = load(foreign("user_stop"), config=config, imported_from="results.json")[0].info
    assert (info.git_commit, info.num_trials, info.seed) == ("abc", 4, 300)
    assert (info.max_steps, info.max_errors) == (200, 10)
    assert (info.agent_info.implementation, info.agent_info.llm_args) == ("llm_agent", {"seed": 1})
    assert info.user_info.global_simulation_guidelines == "Play."


def test_a_call_without_times_says_so() -> None:
    unknown = foreign("user_stop")
    unknown = replace(unknown, row=replace(unknown.row, is_timed=False, duration_ms=None))
    results, data = load(unknown)
    assert results.simulations[0].duration == 0.0
    assert data["simulations"][0]["info"]["callboard"]["has_times"] is False


def test_an_assertion_that_is_no_yes_or_no_still_fits() -> None:
    asserted = DbAssertion("balance", {"guest": "g"}, "agent", assert_value=18.4, message="is 18.40")
    results, _ = load(held(spec=spec(db_assertions=(asserted,))))
    criteria = results.tasks[0].evaluation_criteria
    assert criteria is not None
    (one,) = criteria.env_assertions or []
    assert (one.arguments, one.assert_value) == ({"guest": "g", "expected_value": 18.4}, True)
