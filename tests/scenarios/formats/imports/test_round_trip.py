"""What we export comes back in: the same calls, verdicts and times, and the same end when the calls run again."""

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scenarios import catalogue, domains, events
from scenarios.formats.exports.form import Export
from scenarios.formats.exports.inspect_log import write_eval, write_json
from scenarios.formats.imports.comparison import rescore
from scenarios.formats.imports.detect import open_import
from scenarios.formats.imports.events import events_of
from scenarios.formats.imports.everything import open_all
from scenarios.formats.imports.records import ImportedRun, ImportedTrial
from scenarios.formats.reference_records import SignalRecord, TrialExport, VerdictRecord
from scenarios.formats.reference_run import export_folder, export_zip
from scenarios.replay import gold_replay
from scenarios.scoring.evidence import read_events
from tests.scenarios.formats.records import HAPPENED, RUN, claim, judged, trial
from tests.scenarios.scoring.cases import said
from tests.scenarios.scoring.whole_calls import play, score

# One side only, both sides, a database of its own, and ours.
NAMES = (
    "tau2_retail__0",
    "tau2_airline__7",
    "eva_airline__voluntary_date_change",
    "frontdesk__minibar_refund",
    "telecom",
)


def exported(name: str, drop: int = 0) -> TrialExport:
    """Return a call on a real scenario that makes the reference calls, but for the last few, scored as it deserves."""
    if name == "telecom":
        found = domains.load()["tau2_telecom"].scenarios()
        spec = next(one for one in found if {action.side for action in one.gold_actions} == {"user", "agent"})
    else:
        spec = catalogue.spec(name)
    actions = spec.gold_actions[: len(spec.gold_actions) - drop]
    happened, scored = play(spec, actions), score(spec, actions)
    states = {one: state for state, names in scored.decision.success_breakdown.items() for one in names}
    return TrialExport(
        scenario=spec.name,
        number=1,
        outcome=scored.decision.outcome,
        outcome_reason=scored.decision.reason,
        by_inaction=False,
        call=read_events(happened),
        events=happened,
        success_signals=spec.success_signals,
        signals=tuple(
            SignalRecord(one.signal, states.get(one.signal, "not_applicable"), one.value, one.detail)
            for one in scored.results
        ),
        verdicts=tuple(
            VerdictRecord(one.signal, one.index, one.claim, one.passed, one.reason, "", one.detail)
            for result in scored.results
            for one in result.verdicts
        ),
        spec=spec,
        reference_actions=gold_replay(spec).reference_actions,
    )


def back(tmp_path: Path, *trials: TrialExport) -> tuple[ImportedRun, list[ImportedTrial]]:
    run = open_import(export_folder(RUN, trials, tmp_path))
    found = list(run.trials())
    assert run.refused == []
    return run, found


def tool_events(rows: Any) -> list[tuple[Any, ...]]:
    """Return of each call's events what a record must keep."""
    names = ("call", "tool", "arguments", "ok", "changes", "after_call")
    kinds = (events.ToolCalled.kind, events.ToolReturned.kind, events.StateSynced.kind)
    kept = [row for row in rows if row.kind in kinds and (row.kind != kinds[2] or row.data["changes"])]
    return [(row.kind, row.side or None, *(row.data.get(name) for name in names)) for row in kept]


@pytest.mark.usefixtures("benchmarks")
@pytest.mark.parametrize("name", NAMES)
def test_a_call_comes_back_and_ends_as_it_did(tmp_path: Path, name: str) -> None:
    ours = exported(name)
    run, (theirs,) = back(tmp_path, ours)
    rescored = rescore(run, theirs)

    assert (theirs.task_id, theirs.trial, theirs.verdict.mapped) == (ours.scenario, 0, "pass")
    assert rescored.ours
    assert rescored.agrees in (True, None)
    assert set(rescored.same_end.values()) <= {True}
    assert tool_events(events_of(theirs, rescored.replay)) == tool_events(ours.events)
    turns = [(turn.side, turn.said, turn.started_ms, turn.ended_ms) for turn in ours.call.turns.values()]
    assert [(turn.side, turn.spoken, turn.started_ms, turn.ended_ms) for turn in theirs.turns] == turns
    assert theirs.duration_s == ours.call.duration_ms / 1000


@pytest.mark.usefixtures("benchmarks")
@pytest.mark.parametrize("name", ["tau2_retail__0", "frontdesk__minibar_refund"])
def test_a_failed_call_comes_back_as_failed(tmp_path: Path, name: str) -> None:
    run, (theirs,) = back(tmp_path, exported(name, drop=1))
    rescored = rescore(run, theirs)

    assert theirs.verdict.mapped == "fail"
    assert (rescored.stored, rescored.ours, rescored.agrees) == (False, False, True)


@pytest.mark.usefixtures("benchmarks")
@pytest.mark.parametrize("write", [write_eval, write_json])
@pytest.mark.parametrize("name", ["tau2_retail__0", "eva_airline__voluntary_date_change", "frontdesk__minibar_refund"])
def test_an_inspect_log_of_ours_comes_back(tmp_path: Path, write: Any, name: str) -> None:
    ours, other = exported(name), exported(name, drop=1)
    rows = [ours, replace(other, number=2), replace(other, number=3, outcome="judge_error")]
    path = tmp_path / "log"
    with path.open("wb") as file:
        write(Export(RUN, lambda: rows), file)
    run = open_import(path)
    trials = list(run.trials())

    assert [(one.task_id, one.trial, one.verdict.mapped) for one in trials] == [
        (ours.scenario, 0, "pass"),
        (ours.scenario, 1, "fail"),
        (ours.scenario, 2, "judge_error"),
    ]
    rescored = [rescore(run, one) for one in trials]
    assert [(one.stored, one.ours) for one in rescored] == [(True, True), (False, False), (False, False)]
    turns = [(turn.side, turn.said, turn.started_ms, turn.ended_ms) for turn in ours.call.turns.values()]
    assert [(turn.side, turn.spoken, turn.started_ms, turn.ended_ms) for turn in trials[0].turns] == turns
    assert tool_events(events_of(trials[0], rescored[0].replay)) == tool_events(ours.events)


@pytest.mark.usefixtures("benchmarks")
def test_the_callers_own_tool_calls_come_back_in_their_places(tmp_path: Path) -> None:
    """Inspect has no tool calls of users: without them, or at another time, telecom would end otherwise."""
    ours = exported("telecom")
    path = tmp_path / "log.json"
    with path.open("wb") as file:
        write_json(Export(RUN, lambda: [ours]), file)
    run = open_import(path)
    (trial_back,) = run.trials()
    rescored = rescore(run, trial_back)

    assert {use.side for use in ours.call.tools.values()} == {"user", "agent"}
    assert [(call.side, call.tool, call.arguments) for call in trial_back.tool_calls] == [
        (use.side, use.tool, use.arguments) for use in ours.call.tools.values()
    ]
    assert tool_events(events_of(trial_back, rescored.replay)) == tool_events(ours.events)
    assert (rescored.stored, rescored.ours) == (True, True)
    assert trial_back.remarks == ()


def test_outcomes_trials_and_claims_come_back(tmp_path: Path) -> None:
    outcomes = {"stalled": "fail", "judge_error": "judge_error", "unscored": "not_scored", "infra_error": "excluded"}
    rows = [trial(outcome=outcome, number=number) for number, outcome in enumerate(outcomes, 2)]
    run, trials = back(tmp_path, judged(claim(1, True), claim(2, False), outcome="fail"), *rows)

    assert [(one.trial, one.verdict.mapped) for one in trials] == [(0, "fail"), *enumerate(outcomes.values(), 1)]
    assert [one["met"] for one in trials[0].verdict.nl_assertions] == [True, False]
    assert (run.agent.implementation, run.user.implementation, run.num_trials) == ("careful", "patient", 1)
    assert run.timestamp == RUN.started_at.isoformat()


def test_of_several_attempts_the_last_comes_back_with_what_was_heard(tmp_path: Path) -> None:
    heard = events.TurnEnded("agent", 1, "It is W one.", "It is double you one.", 700)
    again = (*HAPPENED[:4], events.AttemptStarted(2, "l"), heard, said("user", 2, 'Odd: \u2028 "\\ {[ \ud800'))
    _, (theirs,) = back(tmp_path, trial(happened=again))

    assert [(turn.said, turn.spoken) for turn in theirs.turns] == [
        ("It is W one.", "It is double you one."),
        (None, 'Odd: \u2028 "\\ {[ ?'),
    ]
    assert theirs.tool_calls == ()


def test_the_packed_export_is_the_same_run(tmp_path: Path) -> None:
    stream = io.BytesIO()
    export_zip(RUN, [trial()], stream)
    path = tmp_path / "run.zip"
    path.write_bytes(stream.getvalue())
    folder = open_import(export_folder(RUN, [trial()], tmp_path / "out"))
    kept = [(found.run.source.content_sha256, found.run.format) for found in open_all([path]) if found.run]

    assert kept == [(folder.source.content_sha256, "reference")]
