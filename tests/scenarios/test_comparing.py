"""Runs as rows, read for a comparison."""

from collections.abc import Sequence
from typing import Any

import pytest
from django.utils import timezone

from scenarios import comparing
from scenarios.comparing import Compared, Refused, read
from scenarios.comparing_signals import by_signal
from scenarios.models import Finding, ImportedFile, Run, Scenario, Trial
from tests.factories import make_run, make_scenarios
from tests.scenarios.test_configurations import agent

pytestmark = pytest.mark.django_db


def other_agent() -> dict[str, Any]:
    return {"agent": agent(model="large-model")}


def pair(before: Sequence[str], after: Sequence[str], trials: int = 1) -> tuple[Run, Run]:
    """Make two runs of different agents over the same scenarios, outcomes repetition by repetition."""
    scenarios = make_scenarios(len(before) // trials)
    return make_run(scenarios, trials, before), make_run(scenarios, trials, after, config=other_agent())


def kinds(compared: Compared) -> dict[str, str]:
    return {change.scenario: change.kind for change in compared.comparisons[0].changes}


def test_two_runs_become_sets_and_a_topline() -> None:
    compared = read(pair(["pass", "fail", "fail", "pass"], ["fail", "pass", "fail", "pass"]))
    assert kinds(compared) == {
        "toy__1": "newly_failing",
        "toy__2": "newly_passing",
        "toy__3": "failing_in_both",
        "toy__4": "passing_in_both",
    }
    line = compared.comparisons[0].topline
    assert (line.baseline.passes, line.candidate.passes, line.scenarios, line.method) == (2, 2, 4, "exact McNemar")
    assert compared.changed(compared.sides[1])[0].field == "agent.model"
    assert compared.notes == []


def test_what_has_not_ended_or_failed_to_run_is_named() -> None:
    compared = read(pair(["pass", "infra_error", "pass"], ["pass", "pass", "running"]))
    (comparison,) = compared.comparisons
    assert [(one.scenario, one.run) for one in comparison.unpaired] == [
        ("toy__2", compared.baseline.name),
        ("toy__3", compared.sides[1].name),
    ]
    assert [note.text for note in compared.notes if "has not ended" in note.text] == [
        f"Run {compared.sides[1].name} has not ended: 1 of 3 calls are open and in no figure."
    ]


def test_a_person_s_ruling_counts_since_the_outcome_does() -> None:
    before, after = pair(["pass", "pass"], ["fail", "pass"])
    after.trials.filter(outcome="fail").update(outcome="pass", judged_outcome="fail")
    assert set(kinds(read([before, after])).values()) == {"passing_in_both"}


def test_earlier_runs_of_the_configuration_tell_of_flakiness_and_are_in_no_rate() -> None:
    scenarios = make_scenarios(2)
    make_run(scenarios, 4, ["fail", "pass"])
    compared = read(pair(["pass", "pass"] * 4, ["fail", "pass"] * 4, trials=4))
    change = compared.comparisons[0].changes[0]
    assert (change.before, change.kind) == ("flaky", "flaky")
    assert tuple(change.counts) == (4, 8, 0, 4)
    assert compared.comparisons[0].topline.baseline.rated == 8
    assert (compared.baseline.history_runs, compared.baseline.history_calls) == (1, 8)
    assert (compared.sides[1].history_runs, compared.sides[1].history_calls) == (0, 0)


def test_two_runs_of_one_configuration_do_not_count_the_same_history_twice() -> None:
    scenarios = make_scenarios(2)
    make_run(scenarios, 1, ["pass"])
    compared = read([make_run(scenarios, 1, ["pass"]), make_run(scenarios, 1, ["pass"])])
    assert [side.history_runs for side in compared.sides] == [1, 0]
    assert not compared.changed(compared.sides[1])


def test_a_scenario_that_was_changed_since_is_not_in_the_history() -> None:
    scenarios = make_scenarios(2)
    old = make_run(scenarios, 1, ["pass"])
    old.config["scenarios"][0]["fingerprint"] = "0" * 64
    old.save()
    compared = read(pair(["pass", "pass"], ["pass", "pass"]))
    assert compared.baseline.past == {"toy__2": (1, 1)}
    against = read([old, compared.sides[1].run])
    assert against.retold(against.sides[1]) == ["toy__1"]
    assert "1 scenarios were changed between" in against.notes[0].text


def test_history_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    scenarios = make_scenarios(2)
    for _ in range(5):
        make_run(scenarios, 1, ["pass"])
    runs = pair(["pass", "pass"], ["pass", "pass"])
    monkeypatch.setattr(comparing, "HISTORY_RUNS", 3)
    assert read(runs).baseline.history_runs == 3
    monkeypatch.setattr(comparing, "HISTORY_TRIALS", 4)
    assert read(runs).baseline.history_runs == 2


def test_both_runs_are_taken_by_the_baselines_strictness() -> None:
    scenarios = make_scenarios(2)
    before = make_run(scenarios, 1, ["pass", "pass"])
    after = make_run(scenarios, 1, ["fail", "pass"], config={"strictness": "upstream"})
    after.trials.update(other_outcome="pass")
    compared = read([before, after])
    assert set(kinds(compared).values()) == {"passing_in_both"}
    assert "all calls are taken by reference here" in compared.notes[0].text
    assert "newly_passing" in kinds(read([after, before])).values()


def test_a_rehearsal_beside_a_models_run_is_labelled() -> None:
    before, after = pair(["pass"], ["pass"])
    Run.objects.filter(pk=after.pk).update(is_rehearsal=True)
    after.refresh_from_db()
    (note,) = read([before, after]).notes
    assert (note.severity, note.text.split(",")[0]) == (
        "warning",
        f"Run {after.pk} is a rehearsal with stand-ins",
    )
    Run.objects.update(is_rehearsal=True)
    assert "All are rehearsals" in read(list(Run.objects.order_by("pk"))).notes[0].text


def refusal(*runs: Run) -> str:
    with pytest.raises(Refused) as refused:
        read(runs)
    return str(refused.value)


def test_what_cannot_be_compared_is_refused_with_the_remedy() -> None:
    scenarios = make_scenarios(4)
    one = make_run(scenarios[:2], 1, ["pass"])
    assert "needs two runs or more" in refusal(one)
    assert "cannot be compared with itself" in refusal(one, one)
    assert "share no scenario: choose runs that held" in refusal(one, make_run(scenarios[2:], 1, ["pass"]))
    assert f"run {one.pk} is of toy, run" in refusal(one, make_run(1, domain="other"))
    assert "compare at most 6" in refusal(*[one] * 7)


def test_a_run_with_errors_is_compared_once_a_person_accepted_them(operator: Any) -> None:
    before, after = pair(["pass"], ["pass"])
    errors = [Finding.objects.create(run=before, severity="error", code="x", text="x") for _ in range(2)]
    assert f"2 in run {before.pk}" in refusal(before, after)
    Finding.objects.filter(pk__in=[error.pk for error in errors]).update(accepted_at=timezone.now())
    assert read([before, after]).comparisons


def test_three_runs_are_held_against_the_first() -> None:
    before, after = pair(["pass", "pass"], ["fail", "pass"])
    third = make_run(make_scenarios(2), 1, ["pass", "fail"])
    compared = read([before, after, third])
    assert [one.candidate for one in compared.comparisons] == [str(after.pk), str(third.pk)]
    assert compared.side(compared.comparisons[1]).run == third


def test_persona_tag_and_prefix_part_the_scenarios() -> None:
    runs = pair(["pass", "pass", "pass"], ["fail", "pass", "pass"])
    Scenario.objects.filter(name="toy__1").update(persona_name="angry", tags=["returns", "hard"])
    Scenario.objects.filter(name="toy__2").update(persona_name="calm", tags=["returns"])
    Scenario.objects.filter(name="toy__3").update(name="toy_workflow__3")
    for run in runs:
        run.config["scenarios"][2]["name"] = "toy_workflow__3"
    compared = read(runs)
    assert compared.labels == {
        "persona": {"angry": ["toy__1"], "calm": ["toy__2"]},
        "tag": {"hard": ["toy__1"], "returns": ["toy__1", "toy__2"]},
    }
    assert list(compared.comparisons[0].domains) == ["toy", "toy_workflow"]


def test_signals_are_compared_where_they_gate() -> None:
    before, after = pair(["pass", "pass", "stalled"], ["fail", "pass", "judge_error"])
    found = by_signal(*(side.signals for side in read([before, after]).sides))
    assert {name: (line.scenarios, line.baseline.passes, line.candidate.passes) for name, line in found.items()} == {
        "db_state_match": (2, 2, 1),
        "clean_exit": (2, 2, 2),
    }


def test_faults_of_failed_calls_are_counted() -> None:
    before, after = pair(["fail", "fail", "pass"], ["fail", "fail", "fail"])
    Trial.objects.filter(run=after, scenario__name="toy__1").update(fault="caller")
    assert read([before, after]).sides[1].faults == {"caller": 1, "": 2}


def test_queries_do_not_grow_with_the_runs_size(django_assert_num_queries: Any) -> None:
    scenarios = make_scenarios(30)
    for _ in range(3):
        make_run(scenarios, 3, ["pass", "fail"])
    runs = [make_run(scenarios, 3, ["pass", "fail"]), make_run(scenarios, 3, ["pass"], config=other_agent())]
    # errors, scenarios, trials, configurations of either side, earlier runs and their counts
    with django_assert_num_queries(7):
        read(runs)


def test_a_run_of_another_tool_beside_ours_is_said_and_not_called_the_other_strictness() -> None:
    scenarios = make_scenarios(2)
    ours, theirs, third = (make_run(scenarios, 1, ["pass", "fail"]) for _ in range(3))
    file = ImportedFile.objects.create(name="results.json", state="imported")
    for run in (theirs, third):
        Run.objects.filter(pk=run.pk).update(config={**run.config, "strictness": "upstream"}, imported_from=file)
        run.refresh_from_db()

    mixed = [note for note in read([ours, theirs]).notes if "another tool" in note.text]
    assert [note.severity for note in mixed] == ["warning"]
    assert f"Run {theirs.pk} " in mixed[0].text
    assert not any("other strictness" in note.text for note in read([ours, theirs]).notes)
    assert not any("another tool" in note.text for note in read([theirs, third]).notes)
