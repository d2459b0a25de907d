"""Inspect's logs: read like Inspect's own reader reads them, member by member, with attachments put back."""

import dataclasses
import gzip
import json
import math
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, read_eval_log, write_eval_log
from inspect_ai.log._recorders.chunked import convert_eval_logs_to_chunked
from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageTool, ChatMessageUser, ContentText
from inspect_ai.scorer import Score
from inspect_ai.tool import ToolCall, ToolCallError

from scenarios.formats.imports import inspect_sample
from scenarios.formats.imports.detect import open_import
from scenarios.formats.imports.records import ImportedRun, ImportedTrial
from scenarios.formats.imports.source import DamagedFile
from tests.scenarios.formats.imports import folders
from tests.scenarios.formats.imports.files import real, write


def opened(path: Path) -> tuple[ImportedRun, list[ImportedTrial]]:
    run = open_import(path)
    return run, list(run.trials())


def one(folder: Path, **fields: Any) -> ImportedTrial:
    _, (trial,) = opened(write(folder, {**folders.inspect_header(), "samples": [folders.sample(**fields)]}))
    return trial


def test_a_log_is_read_with_all_its_parts(tmp_path: Path) -> None:
    run, trials = opened(write(tmp_path, folders.inspect_json(), "log.json"))

    assert (run.format, run.version, run.domain_name, run.num_trials) == ("inspect", "2", "tau2_retail", 2)
    assert (run.agent.model, run.agent.implementation, run.git_commit) == ("openai/gpt", "generate", "abc")
    assert [(trial.id, trial.task_id, trial.trial) for trial in trials] == [
        ("u1", "retail_24", 0),
        ("u2", "retail_24", 1),
    ]
    trial = trials[0]
    assert [message.content for message in trial.messages] == ["Be kind. " * 20, "Hi", "", "no such order", "Sorry."]
    (call,) = trial.tool_calls
    assert (call.tool, call.arguments, call.is_error) == ("get_order_details", {"order_id": "#W1"}, True)
    assert (call.result, call.paired_by, trial.termination_reason) == ("no such order", "id", "stop")
    assert [(turn.side, turn.spoken) for turn in trial.turns] == [("user", "Hi"), ("agent", "Sorry.")]
    assert trial.remarks == ()


def test_no_secret_or_address_of_the_settings_is_kept(tmp_path: Path) -> None:
    run, _ = opened(write(tmp_path, folders.inspect_json()))

    assert run.agent.settings == {"model_base_url": "[redacted]", "model_args": {"api_key": "[redacted]"}}
    assert "10.1.2.3" not in str(run.facts)
    assert "sk-" not in str(run.facts)


@pytest.mark.parametrize(
    ("fields", "mapped", "why"),
    [
        ({"scores": {"m": {"value": "C"}}}, "pass", ""),
        ({"scores": {"m": {"value": "I"}}}, "fail", ""),
        ({"scores": {"m": {"value": "P"}}}, "fail", "partly correct"),
        ({"scores": {"m": {"value": "N"}}}, "fail", "no answer"),
        ({"scores": {"m": {"value": True}}}, "pass", ""),
        ({"scores": {"m": {"value": 0.0}}}, "fail", ""),
        ({"scores": {"m": {"value": 0.4}}}, "not_scored", "0.4 is neither 0 nor 1"),
        ({"scores": {"m": {"value": "yes"}}}, "pass", "the value 'yes'"),
        ({"scores": {"m": {"value": "green"}}}, "not_scored", "the value is str"),
        ({"scores": {"m": {"value": {"a": 1}}}}, "not_scored", "the value is dict"),
        ({"scores": {"m": {"value": None}}}, "not_scored", "no value"),
        ({"scores": {"m": {"value": "C"}, "n": {"value": 1}}}, "pass", "all scorers agree"),
        ({"scores": {"m": {"value": "C"}, "n": {"value": "I"}}}, "not_scored", "several scorers"),
        ({"scores": {}}, "not_scored", "no score"),
        ({"scores": None}, "not_scored", "no score"),
        ({"error": {"message": "boom", "traceback": ""}}, "excluded", "boom"),
        ({"invalidation": {"author": "me"}}, "excluded", "declared invalid"),
    ],
)
def test_what_a_score_counts_as(tmp_path: Path, fields: Any, mapped: str, why: str) -> None:
    verdict = one(tmp_path, **fields).verdict

    assert verdict.mapped == mapped
    assert why in verdict.why if why else verdict.why == ""


def test_lost_and_monstrous_attachments_are_remarked_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lost = one(tmp_path, attachments={})
    assert lost.messages[0].content == "attachment://0123456789abcdef0123456789abcdef"
    assert "1 attachments are missing" in lost.remarks[0].text

    monkeypatch.setattr(inspect_sample, "_MOST_PUT_BACK", 100)
    assert "references stand in the place of the rest" in one(tmp_path).remarks[0].text


def test_a_cut_off_run_is_read_by_its_start(tmp_path: Path) -> None:
    start = {"version": 2, "eval": folders.inspect_header()["eval"], "plan": {"steps": []}}
    members = {"_journal/start.json": start, "samples/a_epoch_1.json": folders.sample(), "notes.txt": b"hello"}
    run, trials = opened(folders.inspect_zip(tmp_path / "log.eval", members))

    assert [trial.place for trial in trials] == ["samples/a_epoch_1.json"]
    assert [remark.text[:27] for remark in run.remarks] == [
        "the run's status is unknown",
        "there is no header.json: th",
        "no part of the layout; not ",
    ]


def test_a_damaged_sample_is_refused_alone(tmp_path: Path) -> None:
    members = {
        "samples/a_epoch_1.json": b'{"id": 1, "epoch"',
        "samples/b_epoch_1.json": folders.sample(),
        "samples/c_epoch_1.json": [1],
        "samples/d_epoch_1.json": b'{"a": ' * 300,
        "header.json": folders.inspect_header(),
    }
    run, trials = opened(folders.inspect_zip(tmp_path / "log.eval", members))

    assert [trial.place for trial in trials] == ["samples/b_epoch_1.json"]
    assert [(remark.place[8], remark.text.partition(".")[0].partition(": ")[2]) for remark in run.refused] == [
        ("a", "the JSON breaks off"),
        ("c", ""),
        ("d", "nested more than 200 deep"),
    ]


def chunked(**changed: Any) -> dict[str, Any]:
    """Return a log with one sample in chunks, as a reader finds it."""
    base = "samples/a_epoch_1"
    shell = {
        name: value for name, value in folders.sample().items() if name not in ("messages", "attachments", "metadata")
    }
    messages = folders.sample()["messages"]
    messages[0]["content"] = "attachment://1"
    parts = {
        f"{base}/sample.json": {**shell, "message_refs": [[0, 2], [2, 5]]},
        f"{base}/metadata.json": {"colour": "red"},
        f"{base}/messages/0.json": messages[:3],
        f"{base}/messages/3.json": messages[3:],
        f"{base}/attachments/0.json": ["", "Be kind."],
        f"{base}/events/0.json": b"never read",
        f"{base}/events/stats.json": {},
        "header.json": folders.inspect_header(),
    }
    return {**parts, **{f"{base}/{name}": content for name, content in changed.items()}}


def test_a_sample_in_chunks_is_put_together(tmp_path: Path) -> None:
    run, (trial,) = opened(folders.inspect_zip(tmp_path / "log.eval", chunked()))

    assert [message.content for message in trial.messages] == ["Be kind.", "Hi", "", "no such order", "Sorry."]
    assert trial.facts["metadata"] == {"colour": "red"}
    assert (trial.verdict.mapped, trial.place, run.remarks, run.refused) == ("pass", "samples/a_epoch_1", [], [])


@pytest.mark.parametrize(
    ("name", "content", "refused", "remark"),
    [
        ("messages/3.json", {}, "expected a list that begins with number 3", ""),
        ("messages/2.json", [], "expected a list that begins with number 3", ""),
        ("attachments/0.json", b"[", "the JSON breaks off", ""),
        ("sample.json", [], "expected a sample, found list", ""),
        ("sample.json", {"id": 1, "message_refs": [[0, 9], "x", [2, 1], [-1, 2]]}, "", "a range of messages"),
        ("sample.json", {"id": 1}, "", ""),
    ],
)
def test_damaged_chunks_are_named(tmp_path: Path, name: str, content: Any, refused: str, remark: str) -> None:
    run, trials = opened(folders.inspect_zip(tmp_path / "log.eval", chunked(**{name: content})))

    assert [refused in one.text for one in run.refused] == ([True] if refused else [])
    assert len(trials) == (0 if refused else 1)
    assert any(remark in one.text for trial in trials for one in trial.remarks) or not remark


@pytest.mark.parametrize("name", ["log_message_deduplication", "log_read_sample", "log_streaming"])
def test_chunks_that_inspect_makes_are_read_as_inspect_reads_them(tmp_path: Path, name: str) -> None:
    source = real(f"inspect-ai/tests/log/test_eval_log/{name}.eval")
    # This version of Inspect writes the form and does not read it yet: the whole log is what to compare with.
    convert_eval_logs_to_chunked(str(source), str(tmp_path), chunk_size=2, attachments_chunk_bytes=100)

    assert_as_inspect_reads_it(source, tmp_path / source.name)


@pytest.mark.parametrize("head", [b"[]", b"null", b"{", b""])
def test_a_log_without_a_head_is_refused(tmp_path: Path, head: bytes) -> None:
    path = folders.inspect_zip(tmp_path / "log.eval", {"header.json": head})

    with pytest.raises(DamagedFile, match=r"log\.eval"):
        open_import(path)


def test_samples_are_in_memory_one_at_a_time(tmp_path: Path) -> None:
    big = folders.sample(messages=[{"role": "user", "content": f"{number} words " * 2000} for number in range(20)])
    members = {f"samples/{number}_epoch_1.json": big for number in range(60)}
    path = folders.inspect_zip(tmp_path / "log.eval", {**members, "header.json": folders.inspect_header()})
    unpacked = 60 * len(json.dumps(big))

    tracemalloc.start()
    try:
        count = sum(1 for _ in open_import(path).trials())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 60
    assert peak < unpacked / 5


def written_by_inspect(path: Path) -> Path:
    """Let Inspect write a log: tool calls that fail and not, parts, several epochs, a score that is not a number."""
    long = "A very long answer that Inspect keeps apart from the message. " * 20
    call = ToolCall(id="t1", function="get_order_details", arguments={"order_id": "#W1", "n": 1.5}, type="function")
    messages: list[Any] = [
        ChatMessageSystem(content="Be kind."),
        ChatMessageUser(content=[ContentText(text="Hi"), ContentText(text="there")]),
        ChatMessageAssistant(content="", tool_calls=[call]),
        ChatMessageTool(content=long, tool_call_id="t1", function="get_order_details"),
        ChatMessageAssistant(content="Once more.", tool_calls=[dataclasses.replace(call, id="t2")]),
        ChatMessageTool(content="", tool_call_id="t2", error=ToolCallError("timeout", "too slow")),
        ChatMessageAssistant(content="Done <script>alert(1)</script>"),
    ]
    samples = [
        EvalSample(
            id=name, epoch=epoch, input="Hi", target="t", messages=messages, scores={"match": Score(value=value)}
        )
        for name, epoch, value in (("a", 1, "C"), ("a", 2, "I"), (7, 1, 1.0), (7, 2, math.nan))
    ]
    spec = EvalSpec(
        created="2026-01-01T00:00:00+00:00",
        task="retail",
        dataset=EvalDataset(),
        model="openai/gpt",
        config=EvalConfig(epochs=2),
    )
    write_eval_log(EvalLog(status="success", eval=spec, samples=samples), str(path))
    return path


def assert_as_inspect_reads_it(path: Path, ours: Path | None = None) -> None:
    log = read_eval_log(str(path), resolve_attachments=True)
    run, trials = opened(ours or path)

    assert run.refused == []
    assert (run.version, run.agent.model, run.num_trials) == (str(log.version), log.eval.model, log.eval.config.epochs)
    theirs = {(str(one.id), one.epoch): one for one in log.samples or []}
    assert {(trial.task_id, (trial.trial or 0) + 1) for trial in trials} == theirs.keys()
    for trial in trials:
        their = theirs[trial.task_id or "", (trial.trial or 0) + 1]
        assert [(m.role, m.content or "") for m in trial.messages] == [(m.role, m.text) for m in their.messages]
        asked = [call for m in their.messages if isinstance(m, ChatMessageAssistant) for call in m.tool_calls or []]
        answered = {m.tool_call_id: m for m in their.messages if isinstance(m, ChatMessageTool)}
        assert [(call.id, call.tool, call.arguments) for call in trial.tool_calls] == [
            (call.id, call.function, call.arguments) for call in asked
        ]
        for call in trial.tool_calls:
            answer = answered[call.id or ""]
            assert (call.result, call.is_error) == (answer.text, answer.error is not None)
        values = [score.value for score in (their.scores or {}).values()]
        plain = {"C": "pass", "I": "fail", 1.0: "pass", 0.0: "fail"}
        expected = plain.get(values[0], "not_scored") if values else "not_scored"
        assert trial.verdict.mapped == expected


@pytest.mark.parametrize("name", ["log.eval", "log.json"])
def test_what_inspect_writes_today_is_read_as_inspect_reads_it(tmp_path: Path, name: str) -> None:
    assert_as_inspect_reads_it(written_by_inspect(tmp_path / name))


REAL = (
    "log/test_eval_log/log_formats.eval",
    "log/test_eval_log/log_message_deduplication.eval",
    "log/test_eval_log/log_read_sample.eval",
    "log/test_eval_log/log_streaming.eval",
    "log/test_list_logs/2024-11-05T13-32-37-05-00_input-task_hxs4q9azL3ySGkjJirypKZ.eval",
    "scorer/logs/2025-02-11T15-17-00-05-00_popularity_dPiJifoWeEQBrfWsAopzWr.eval",
    "analysis/test_logs/2025-05-12T20-27-36-04-00_browser.json.gz",
    "analysis/test_logs/2025-05-12T20-28-13-04-00_no-samples.json.gz",
    "analysis/test_logs/2025-05-12T20-28-13-04-00_popularity.json.gz",
    "analysis/test_logs/2025-05-12T20-28-26-04-00_security-guide.json.gz",
    "log/test_eval_log/log_read_sample.json.gz",
)


@pytest.mark.parametrize("name", REAL)
def test_stored_logs_are_read_as_inspect_reads_them(tmp_path: Path, name: str) -> None:
    path = real(f"inspect-ai/tests/{name}")
    if path.suffix == ".gz":
        data = gzip.decompress(path.read_bytes())
        path = tmp_path / path.stem
        path.write_bytes(data)

    assert_as_inspect_reads_it(path)
