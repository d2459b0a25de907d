"""Foreign files as runs: once a content, all or nothing, nothing invented, every file a line."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from scenarios import lifecycle
from scenarios.domains import load
from scenarios.importing import import_path, stop_import
from scenarios.importing.files import DEAD_AFTER
from scenarios.models import (
    Finding,
    ForeignResult,
    ImportedFile,
    Run,
    Scenario,
    SignalResult,
    Trial,
    TrialEvent,
    Verdict,
)
from scenarios.standing import findings, standings
from tests.scenarios.formats.imports.files import answer, call, real, results, simulation, task, write

pytestmark = pytest.mark.django_db
EMPTY = b'{"info": {}, "simulations": []}'
FAILED = {"reward": 0.0, "db_check": {"db_match": False, "db_reward": 0.0}, "reward_basis": ["DB"]}


def sims(*rewards: Any, task_id: str = "0") -> list[dict[str, Any]]:
    """Return one simulation a reward info; None leaves the passing one."""
    every = []
    for number, reward in enumerate(rewards):
        fields = {} if reward is None else {"reward_info": reward}
        every.append(simulation(id=f"s{number}", trial=number, task_id=task_id, **fields))
    return every


def test_a_file_becomes_a_run_with_the_files_own_verdicts(tmp_path: Path) -> None:
    result = import_path(write(tmp_path, results(sims(None, FAILED), num_trials=2)))
    assert result.result == "imported"
    run = result.run
    assert run is not None
    assert (run.domain, run.trial_count, run.config["trials"], run.channel) == ("tau2_retail", 2, 2, "text")
    assert (run.config["agent"]["model"], run.config["caller"]["model"]) == ("model-a", "model-b")
    trials = list(run.trials.order_by("number"))
    assert [(trial.number, trial.outcome, trial.status) for trial in trials] == [
        (1, "pass", "done"),
        (2, "fail", "done"),
    ]
    assert {trial.scenario.name for trial in trials} == {"tau2_retail__0"}
    standing = standings([run])[run.pk]
    assert (standing.rate.passes, standing.rate.total, standing.state) == (1, 2, "finished")
    assert findings(run).signals["db_state_match"].passes == 1
    events = list(trials[0].events.order_by("seq"))
    assert [event.kind for event in events] == [
        "call.started",
        "turn.ended",
        "turn.ended",
        "call.ended",
        "trial.finished",
    ]
    assert [event.seq for event in events] == list(range(1, trials[0].last_seq + 1))
    assert events[1].at_ms == 1500
    assert trials[0].duration_ms == 12_500
    # A time without a zone is no moment: it is kept as the file has it.
    assert trials[0].started_at is None
    foreign = trials[0].foreign
    assert foreign.facts["started_at"] == "2025-08-01T16:00:00.000000"
    assert (foreign.mapped, foreign.reward, foreign.stored_db_match) == ("pass", 1.0, True)
    assert (foreign.our_db_match, foreign.why_not_replayed[:13]) == (None, "not asked for")


@pytest.mark.parametrize(
    ("reward_info", "termination", "outcome", "status"),
    [
        (None, "user_stop", "unscored", "done"),
        ({"reward": 0.0, "reward_basis": ["DB"]}, "max_steps", "fail", "done"),
        ({"reward": 0.0}, "infrastructure_error", "infra_error", "error"),
        ({"reward": 1.0}, "agent_stop", "pass", "done"),
    ],
)
def test_foreign_verdicts_are_mapped(
    tmp_path: Path, reward_info: Any, termination: str, outcome: str, status: str
) -> None:
    one = simulation(reward_info=reward_info, termination_reason=termination)
    result = import_path(write(tmp_path, results([one])))
    assert result.run is not None
    trial = result.run.trials.get()
    assert (trial.outcome, trial.status) == (outcome, status)
    assert trial.foreign.termination_reason == termination
    assert trial.events.get(kind="call.ended").data["reason"] == termination


def test_a_judge_that_broke_is_no_failure_and_an_error_to_accept(tmp_path: Path) -> None:
    claims = [{"nl_assertion": "says 42", "met": False, "justification": "Judge error: timeout"}]
    broken = {"reward": 0.0, "reward_basis": ["NL_ASSERTION"], "nl_assertions": claims}
    run = import_path(write(tmp_path, results(sims(broken)))).run
    assert run is not None
    assert run.trials.get().outcome == "judge_error"
    assert standings([run])[run.pk].rate.total == 0
    assert Finding.objects.get(run=run, code="judge_error").severity == "error"


def test_the_same_content_is_stored_once_however_it_is_packed(tmp_path: Path) -> None:
    data = results(sims(None))
    first = import_path(write(tmp_path, data, "a.json"))
    again = import_path(write(tmp_path, data, "b.json.gz"))
    assert again.result == "already"
    assert again.run == first.run
    assert Run.objects.count() == 1
    assert "run" in again.why


def test_a_second_import_with_replay_adds_what_the_first_left_out(tmp_path: Path, benchmarks: Path) -> None:
    path = write(tmp_path, results(sims(None), tasks=[task("0")]))
    first = import_path(path)
    assert (first.replayed, first.agreeing) == (0, 0)
    again = import_path(path, replay=True)
    assert (again.result, again.replayed, again.agreeing) == ("already", 1, 1)
    assert ForeignResult.objects.get().agrees is True
    assert SignalResult.objects.get(signal="db_state_match").detail["ours"] is True


def test_trials_of_one_task_keep_their_numbers_and_doubles_get_their_own(tmp_path: Path) -> None:
    twice = [simulation(id="a", trial=0), simulation(id="b", trial=0), simulation(id="c", trial=3)]
    run = import_path(write(tmp_path, results(twice))).run
    assert run is not None
    assert sorted(run.trials.values_list("number", "foreign__foreign_id")) == [(1, "a"), (2, "b"), (4, "c")]
    assert Finding.objects.get(run=run, code="duplicate_trial").severity == "error"


def test_a_file_that_breaks_off_keeps_what_came_before(tmp_path: Path) -> None:
    import json

    whole = json.dumps(results(sims(None, None, None))).encode()
    path = write(tmp_path, whole[: whole.rindex(b'"s2"')])
    result = import_path(path)
    assert result.result == "partly"
    assert result.trials == 2
    assert "results.json" in result.why
    assert result.file.state == "partly"


@pytest.mark.parametrize("content", [b"", b"{", b"[]", EMPTY, b"\x1f\x8b123", b"PK\x03\x04"])
def test_what_cannot_be_read_is_refused_with_a_reason_and_leaves_no_run(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "odd.json"
    path.write_bytes(content)
    result = import_path(path)
    assert result.result == "refused"
    assert "odd.json" in result.why
    assert ImportedFile.objects.get().state == "refused"
    assert Run.objects.count() == 0


def test_a_refused_file_can_be_given_again(tmp_path: Path) -> None:
    path = write(tmp_path, results([]))
    assert import_path(path).result == "refused"
    assert import_path(path).result == "refused"


def test_stopping_takes_out_what_was_stored(tmp_path: Path) -> None:
    many = [simulation(id=f"s{number}", trial=number) for number in range(60)]

    def stop(done: int) -> None:
        stop_import(ImportedFile.objects.get())

    result = import_path(write(tmp_path, results(many)), progress=stop)
    assert result.result == "cancelled"
    assert (Run.objects.count(), Trial.objects.count()) == (0, 0)
    assert ImportedFile.objects.get().state == "cancelled"


def test_an_error_in_the_middle_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def burst(done: int) -> None:
        raise RuntimeError("the disk is full")

    path = write(tmp_path, results(sims(None)))
    broken = import_path(path, progress=burst)
    assert broken.result == "refused"
    assert "the disk is full" in broken.why
    assert Run.objects.count() == 0
    assert import_path(path).result == "imported"


def test_an_import_whose_worker_died_is_begun_anew(tmp_path: Path) -> None:
    path = write(tmp_path, results(sims(None)))
    first = import_path(path)
    ImportedFile.objects.update(state="importing", heartbeat_at=timezone.now())
    going = import_path(path)
    assert (going.result, going.run) == ("already", first.run)
    ImportedFile.objects.update(heartbeat_at=timezone.now() - 2 * DEAD_AFTER)
    result = import_path(path)
    assert result.result == "imported"
    assert Run.objects.get() == result.run
    assert sorted(ImportedFile.objects.values_list("state", flat=True)) == ["cancelled", "imported"]


def test_script_and_unstorable_text_stay_text(tmp_path: Path) -> None:
    nasty = "<script>alert(1)</script>\x00\ud800"
    messages = [{"role": "user", "content": nasty}, call("get_order_details", {"order_id": nasty}), answer(nasty)]
    run = import_path(write(tmp_path, results([simulation(messages=messages, id=nasty, task_id=nasty)]))).run
    assert run is not None
    trial = run.trials.get()
    assert trial.events.filter(kind="turn.ended")[0].data["said"].startswith("<script>alert(1)</script>")
    assert "/" not in trial.scenario.name
    assert trial.is_timed is False


def test_keys_are_not_stored(tmp_path: Path) -> None:
    secret = "sk-live-abcdefghijklmnop1234567890"
    data = results(sims(None))
    data["info"]["agent_info"]["llm_args"] = {"api_key": secret, "extra_headers": {"Authorization": f"Bearer {secret}"}}
    run = import_path(write(tmp_path, data)).run
    assert run is not None
    assert secret not in str(run.config)


def test_an_unknown_domain_is_kept_under_its_own_name(tmp_path: Path) -> None:
    run = import_path(write(tmp_path, results(sims(None), domain="mock/tighter"))).run
    assert run is not None
    assert run.domain == "mock-tighter"
    scenario = Scenario.objects.get(name="mock-tighter__0")
    assert scenario.is_registered is False


def test_two_runs_that_went_alike_under_different_models_are_named(tmp_path: Path) -> None:
    rewards = [None, FAILED] * 6
    first = results(sims(*rewards))
    import_path(write(tmp_path, first, "a.json"))
    second = results([{**one, "id": f"x{one['id']}"} for one in sims(*rewards)])
    second["info"]["agent_info"]["llm"] = "model-c"
    run = import_path(write(tmp_path, second, "b.json")).run
    found = Finding.objects.get(run=run, code="identical_results")
    assert found.severity == "error"
    assert "model-a" in found.text


def test_imported_calls_are_never_held_or_scored_by_a_lane(tmp_path: Path) -> None:
    run = import_path(write(tmp_path, results(sims(FAILED)))).run
    assert run is not None
    assert lifecycle.pending() == 0
    for ask in (lifecycle.rerun, lifecycle.rescore):
        with pytest.raises(ValueError, match="held elsewhere"):
            ask(run, ["unscored"])


def test_replay_shows_changes_and_the_diff_of_a_real_file(benchmarks: Path) -> None:
    path = real("whissle-tau2-bench/gpt-4.1_retail_5tasks.json.gz")
    result = import_path(path, replay=True)
    assert (result.trials, result.replayed, result.agreeing, result.differing) == (5, 5, 5, 0)
    failed = ForeignResult.objects.filter(our_db_match=False).first()
    assert failed is not None
    signal = failed.trial.signals.get(signal="db_state_match")
    assert signal.detail["diff_total"] > 0
    assert signal.state == "failed"
    returned = TrialEvent.objects.filter(trial__run=result.run, kind="tool.returned")
    writes = [event for event in returned if event.data["changes"]]
    assert writes
    assert Verdict.objects.filter(trial__run=result.run, signal="action").exists()


def test_toolorchestras_labels_are_repaired_or_refused_and_named(benchmarks: Path) -> None:
    path = real("sierra-tau2-bench/text/toolorchestra_airline_1trial_broken-ids.json.gz")
    result = import_path(path, replay=True)
    assert (result.trials, result.replayed, result.agreeing) == (50, 43, 43)
    assert Finding.objects.filter(run=result.run, code="task_label", severity="error").count() == 7
    assert Finding.objects.filter(run=result.run, code="task_label", severity="warning").count() == 43


def test_a_task_that_is_registered_here_is_its_scenario_whatever_the_file_calls_it(
    tmp_path: Path, benchmarks: Path
) -> None:
    """Telecom's task ids are no names: without this, imported and own runs would share no scenario."""
    for domain, name in (("telecom", "tau2_telecom"), ("retail", "tau2_retail")):
        spec = load()[name].scenarios()[3]
        one = [simulation(id=f"{name}{replay}", task_id=spec.task_id) for replay in (0, 1)]
        for number, replay in enumerate((False, True)):
            file = write(tmp_path, results([one[number]], tasks=[task(spec.task_id)], domain=domain), f"{number}.json")
            run = import_path(file, replay=replay).run
            assert run is not None
            assert run.trials.get().scenario.name == spec.name


def test_tau_benchs_numbers_never_meet_those_of_tau2(tmp_path: Path, benchmarks: Path) -> None:
    run = import_path(real("sierra-tau-bench-v1/gpt-4o-airline.json.gz")).run
    assert run is not None
    names = set(run.trials.values_list("scenario__name", flat=True))
    assert len(names) == 50
    assert all(name.startswith("tau2_airline__v1-") for name in names)


def test_a_task_that_did_not_change_has_the_fingerprint_of_the_scenario(tmp_path: Path, benchmarks: Path) -> None:
    path = "whissle-tau2-bench/gpt-4.1_retail_5tasks.json.gz"
    run = import_path(real(path)).run
    assert run is not None
    today = {spec.name: spec.fingerprint for spec in load()["tau2_retail"].scenarios()}
    kept = {ref["name"]: ref["fingerprint"] == today[ref["name"]] for ref in run.config["scenarios"]}
    assert sum(kept.values()) >= 2
    # Of the same tasks in another version of the file, those with null fields left out.
    again = json.loads(gzip.decompress(real(path).read_bytes()))
    again["tasks"] = [{name: value for name, value in one.items() if value is not None} for one in again["tasks"]]
    other = import_path(write(tmp_path, again)).run
    assert other is not None
    assert other.config["scenarios"] == run.config["scenarios"]
