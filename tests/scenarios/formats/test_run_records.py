from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scenarios.formats.exports.tables import TRIALS_CSV
from scenarios.formats.run_records import export_of, run_export, trial_exports
from scenarios.models import EffectiveVerdict, ForeignResult, JudgeVersion, Review, Scenario, TrialEvent, Verdict
from tests.factories import make_run, make_scenario
from tests.scenarios.formats.stored import NAMES, store_call, stored_run
from tests.spoken import keep, keep_in

pytestmark = pytest.mark.django_db


def test_ended_trials_come_in_their_order_with_all_that_was_stored() -> None:
    run = stored_run(trials=2)
    exports = list(trial_exports(run))
    assert [(export.scenario, export.number) for export in exports] == [(name, n) for n in (1, 2) for name in NAMES]
    first, second = exports[:2]
    assert first.success_signals == ("db_state_match", "nl_assertion", "clean_exit")
    assert first.call.end_reason == "end_tool"
    assert [verdict.signal for verdict in first.verdicts] == ["nl_assertion"]
    assert first.judging is not None
    assert first.signal("clean_exit")
    assert len(second.verdicts) == 2
    assert second.judging is None
    assert second.reference_actions


def test_only_the_last_scoring_counts_and_earlier_ones_stay() -> None:
    run = stored_run()
    trial = run.trials.get(scenario__name=NAMES[0])
    store_call(trial, claims_hold=False, scoring=2)
    export = next(iter(trial_exports(run)))
    assert [verdict.passed for verdict in export.verdicts] == [False]
    assert len(export.signals) == 6
    assert trial.verdicts.count() == 2


def test_open_trials_are_left_out() -> None:
    run = make_run(4, 1, ("queued", "running", "pass", "infra_error"))
    assert [export.outcome for export in trial_exports(run)] == ["pass", "infra_error"]


def test_a_scenario_that_the_code_dropped_is_exported_from_its_row() -> None:
    run = make_run(1, 1, ("pass",))
    (export,) = trial_exports(run)
    assert (export.spec, export.reference_actions) == (None, None)
    assert export.success_signals == ("db_state_match", "clean_exit")


@pytest.mark.usefixtures("benchmarks")
@pytest.mark.parametrize(("domain", "task", "expected"), [("tau2_airline", "0", ()), ("eva_airline", "1_1_3", None)])
def test_an_empty_answer_of_reference_is_told_from_none(domain: str, task: str, expected: Any) -> None:
    """reference-system.md 2.4: eva ships its end state; a tau2 task without a write has an answer without actions."""
    (export,) = trial_exports(make_run([make_scenario(f"{domain}__{task}", domain)], 1, ("pass",), domain=domain))
    assert export.spec is not None
    assert export.reference_actions == expected


def test_many_trials_are_read_in_batches_with_few_queries() -> None:
    run = make_run(30, 4, ("pass", "fail"))
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert len(list(trial_exports(run, batch=50))) == 120
    assert len(queries) == 1 + 3 * 5


def test_values_of_keys_that_are_set_here_are_known_and_short_ones_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(1)
    run.config["agent"]["key_env"] = "AGENT_KEY"
    run.config["judge"]["key_env"] = "JUDGE_KEY"
    monkeypatch.setenv("AGENT_KEY", "a-long-secret-value")
    monkeypatch.setenv("JUDGE_KEY", "short")
    assert run_export(run).secrets == ("a-long-secret-value",)


def test_a_run_without_a_judge_has_a_record() -> None:
    run = make_run(1, config={"judge": None})
    assert run_export(run).run_id == run.pk


def test_rows_are_only_read() -> None:
    run = stored_run()
    before = TrialEvent.objects.count(), Scenario.objects.count()
    list(trial_exports(run))
    assert (TrialEvent.objects.count(), Scenario.objects.count()) == before


def test_an_imported_call_has_the_task_and_the_words_of_its_file() -> None:
    run = make_run(1, 1, ("fail",))
    run.config["imported"] = {"format": "tau_bench"}
    trial = run.trials.get()
    ForeignResult.objects.create(
        trial=trial,
        place="[0]",
        task_id="5",
        mapped="fail",
        task={"instruction": "Cancel.", "actions": [{"name": "cancel", "kwargs": {}}], "outputs": []},
        written={"reward": 0.0},
        facts={"started_at": "2025-08-01T16:00:00"},
    )
    run.trials.update(is_timed=False, duration_ms=None)
    (export,) = trial_exports(run)
    assert export.foreign is not None
    assert (export.foreign.format, export.foreign.started_at) == ("tau_bench", "2025-08-01T16:00:00")
    assert export.spec is not None
    assert (export.spec.task_id, export.spec.caller.goal) == ("5", "Cancel.")
    assert export.reference_actions is None
    assert export.duration_ms is None


def test_without_calls_no_event_is_read() -> None:
    run = stored_run()
    with CaptureQueriesContext(connection) as queries:
        exports = list(trial_exports(run, with_calls=False))
    assert not any("scenarios_trialevent" in query["sql"] for query in queries)
    assert [export.call.end_reason for export in exports] == [None, None]
    assert all(export.verdicts for export in exports)


def test_people_who_ruled_and_judges_are_named() -> None:
    run = stored_run()
    verdict = Verdict.objects.get(trial__run=run, signal="nl_assertion")
    verdict.judge = JudgeVersion.objects.get()
    verdict.save()
    review = Review.objects.create(verdict=verdict, rater="kim", stage="revealed", ruling="fail")
    EffectiveVerdict.objects.create(verdict=verdict, passed=False, by="reviewer", review=review, is_overruling=True)
    (first, _) = trial_exports(run)
    (ruling,) = first.verdicts
    assert (ruling.passed, ruling.effective, ruling.ruled_by, ruling.judge) == (True, False, "reviewer", "strict m f")


def test_an_export_chooses_among_ended_trials() -> None:
    run = make_run(3, 1, ("pass", "fail", "queued"))
    export = export_of(run, TRIALS_CSV, trials=run.trials.exclude(outcome="pass"), chosen="no pass")
    assert [trial.outcome for trial in export.trials()] == ["fail"]
    assert [trial.outcome for trial in export.trials()] == ["fail"]  # read anew
    assert (export.run.not_ended, export.run.trial_count, export.chosen) == (1, 3, "no pass")


def test_the_recording_of_the_attempt_that_counts_is_opened_when_it_is_wanted(tmp_path: Path, settings: Any) -> None:
    keep_in(tmp_path, settings)
    run = make_run(2, 1, ("pass",))
    trial = run.trials.order_by("position")[0]
    trial.attempts = 2
    trial.save()
    keep(trial, b"of the first attempt", attempt=1)
    keep(trial, b"of the second attempt")
    recorded, silent = trial_exports(run)
    assert recorded.open_recording is not None
    assert silent.open_recording is not None
    file = recorded.open_recording(None)
    assert file is not None
    with file:
        assert file.read() == b"of the second attempt"
    before = recorded.open_recording(1)
    assert before is not None
    with before:
        assert before.read() == b"of the first attempt"
    assert silent.open_recording(None) is None
