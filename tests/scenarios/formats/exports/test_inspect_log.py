from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog, EvalSample, read_eval_log, read_eval_log_sample, read_eval_log_sample_summaries
from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, ChatMessageUser

from scenarios.formats.exports import inspect_log
from scenarios.formats.exports.form import Format, write_file
from scenarios.formats.reference_records import TrialExport
from scenarios.scoring.results import OUTCOMES
from tests.scenarios.formats.exports.samples import NASTY, every_outcome, export, held, nasty, of_outcome, ruled
from tests.scenarios.formats.records import RUN
from tests.scenarios.scoring.cases import spec

FORMS = (inspect_log.EVAL, inspect_log.JSON)


def log_of(form: Format, folder: Path, *trials: TrialExport, **facts: Any) -> EvalLog:
    """Open a log with Inspect's own reader."""
    return read_eval_log(str(write_file(form, export(trials, **facts), folder)))


def sample_of(folder: Path, trial: TrialExport, **facts: Any) -> EvalSample:
    log = log_of(inspect_log.EVAL, folder, trial, **facts)
    assert log.samples is not None
    return log.samples[0]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_both_forms_open_with_all_outcomes(form: Format, tmp_path: Path) -> None:
    log = log_of(form, tmp_path, *every_outcome())
    assert log.status == "success"
    assert log.results is not None
    assert log.samples is not None
    assert [sample.metadata["outcome"] for sample in log.samples] == list(OUTCOMES)
    assert [(sample.id, sample.epoch) for sample in log.samples] == [("toy__1", number) for number in range(1, 10)]
    (score,) = log.results.scores
    assert score.name == "outcome"
    assert score.metrics["accuracy"].value == pytest.approx(1 / 3)
    assert (score.scored_samples, score.unscored_samples) == (3, 6)
    assert score.metadata is not None
    assert score.metadata["left_out"]["judge_error"] == 1
    assert (log.results.total_samples, log.results.completed_samples) == (9, 8)


def test_both_forms_hold_the_same(tmp_path: Path) -> None:
    one, other = (log_of(form, tmp_path, *every_outcome(), replace(nasty(), number=10)) for form in FORMS)
    without: dict[str, Any] = {"exclude": {"location", "etag", "log_updates"}}
    assert one.model_dump(**without) == other.model_dump(**without)


def test_the_head_can_be_read_alone(tmp_path: Path) -> None:
    for form in FORMS:
        path = write_file(form, export(every_outcome(), is_rehearsal=True, not_ended=2, trial_count=11), tmp_path)
        head = read_eval_log(str(path), header_only=True)
        assert head.samples is None
        assert head.status == "started"
        assert head.eval.tags == ["rehearsal"]
        assert head.eval.metadata is not None
        assert (head.eval.metadata["is_rehearsal"], head.eval.metadata["not_ended"]) == (True, 2)
        assert head.eval.task_display_name == "Nightly (REHEARSAL; 2 of 11 trials have not ended)"
        assert head.eval.dataset.sample_ids == ["toy__1"]


def test_single_samples_and_summaries_are_found(tmp_path: Path) -> None:
    path = str(write_file(inspect_log.EVAL, export(every_outcome()), tmp_path))
    assert read_eval_log_sample(path, "toy__1", 2).metadata["outcome"] == "fail"
    summaries = read_eval_log_sample_summaries(path)
    assert [summary.metadata["outcome"] for summary in summaries] == list(OUTCOMES)
    assert [summary.epoch for summary in summaries if not summary.completed] == [5]


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_only_what_a_rate_counts_has_a_score(outcome: str, tmp_path: Path) -> None:
    sample = sample_of(tmp_path, of_outcome(outcome))
    assert sample.scores is not None
    score = sample.scores.get("outcome")
    assert (score.value if score else None) == {"pass": "C", "fail": "I", "stalled": "I"}.get(outcome)
    assert bool(sample.error) is (outcome == "infra_error")
    assert bool(sample.invalidation) is (outcome == "tainted")


def test_a_call_is_messages_with_its_tool_calls_and_what_was_heard(tmp_path: Path) -> None:
    sample = sample_of(tmp_path, held())
    roles = [message.role for message in sample.messages]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user", "assistant"]
    asked, answered = sample.messages[2:4]
    assert isinstance(asked, ChatMessageAssistant)
    assert isinstance(answered, ChatMessageTool)
    assert asked.tool_calls is not None
    assert (asked.tool_calls[0].function, asked.tool_calls[0].arguments) == ("cancel", {"order_id": "W1"})
    assert (answered.tool_call_id, answered.function, answered.error) == (asked.tool_calls[0].id, "cancel", None)
    assert sample.messages[1].metadata is not None
    assert sample.messages[1].metadata["start_ms"] == 100
    assert sample.total_time == 9.5
    assert sample.input == "Cancel my order W1."
    (usage,) = sample.model_usage.values()
    assert (usage.input_tokens, usage.output_tokens) == (100, 7)


def test_claims_are_scores_with_their_ids_and_people_have_the_last_word(tmp_path: Path) -> None:
    scores = sample_of(tmp_path, ruled()).scores
    assert scores is not None
    claims = {name: score for name, score in scores.items() if name.startswith("nl_assertion.")}
    assert {name: score.value for name, score in claims.items()} == {
        "nl_assertion.1": "C",
        "nl_assertion.2": "I",
        "nl_assertion.3": "C",
    }
    metadata = claims["nl_assertion.3"].metadata
    assert metadata is not None
    assert (metadata["ruled_by"], metadata["claim"]) == ("reviewer", "claim 3")
    assert metadata["claim_id"].startswith("toy__1/nl_assertion/")


def test_hostile_texts_come_back(tmp_path: Path) -> None:
    sample = sample_of(tmp_path, nasty())
    first = sample.messages[0]
    assert isinstance(first, ChatMessageUser)
    assert first.content == NASTY.replace("\ud800", "?")
    tool = sample.messages[2]
    assert isinstance(tool, ChatMessageTool)
    assert tool.error is not None
    assert tool.error.message == "refused"


def test_a_huge_result_is_kept_whole(tmp_path: Path) -> None:
    call = held()
    call.call.tools[1] = replace(call.call.tools[1], result="x" * 2_000_000)
    assert len(str(sample_of(tmp_path, call).messages[3].content)) == 2_000_000


def test_what_the_caller_did_with_its_own_tools_is_kept_beside(tmp_path: Path) -> None:
    call = held()
    call.call.tools[1] = replace(call.call.tools[1], side="user")
    sample = sample_of(tmp_path, call)
    assert "tool" not in [message.role for message in sample.messages]
    assert sample.metadata["caller_tool_calls"][0]["tool"] == "cancel"


def test_a_scenario_that_is_gone_and_a_run_of_nothing_still_open(tmp_path: Path) -> None:
    assert sample_of(tmp_path, held(spec=None)).input == "toy__1"
    for form in FORMS:
        folder = tmp_path / form.name
        folder.mkdir()
        log = log_of(form, folder)
        assert log.results is not None
        assert log.results.scores[0].metrics == {}


def test_claims_are_the_target_and_secrets_are_out(tmp_path: Path) -> None:
    asked = held(spec=spec(nl_assertions=("The agent says top-secret-value.",)))
    log = log_of(inspect_log.JSON, tmp_path, asked, config={**RUN.config, "agent": {"slug": "a", "model": "m"}})
    assert log.samples is not None
    assert log.samples[0].target == ["The agent says [REDACTED]."]
    assert log.eval.model == "m"
    assert log.eval.model_roles is not None
    role = log.eval.model_roles["judge"]
    assert not isinstance(role, list)
    assert role.model == "j"
