"""The runner itself: what it recognises, counts, and says of vectors that do not hold."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from scenarios import domains
from scenarios.conformance import run_file, vector_files
from scenarios.conformance.compare import same_data, shown
from scenarios.domains.base import DbAssertion, GoldAction
from scenarios.state.canonical import canonical_hash
from tests.scenarios.domains.toy import SEED, Toy, spec

HASH = {"tag": "one", "input": {"a": 1.0}, "canonical": '{"a":1}', "sha256": canonical_hash({"a": 1})}
AGENT, USER = SEED["agent"].hash, SEED["user"].hash
# The agent's database once 2 was added to its counter.
GOLD = canonical_hash({"counters": {"A": {"value": 3, "labels": []}}, "log": [{"at": "2026-01-02", "number": 1}]})


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Toy:
    """Make the toy domain known to the runner."""
    domain = Toy()
    loaded = {**domains.load(), "toy": domain}
    monkeypatch.setattr(domains, "load", lambda: loaded)
    return domain


def written(folder: Path, *vectors: Any, name: str = "some.jsonl") -> Path:
    path = folder / name
    path.write_text("\n".join(vector if isinstance(vector, str) else json.dumps(vector) for vector in vectors))
    return path


def problems(path: Path) -> str:
    return "\n".join(str(failure) for failure in run_file(path).failures)


def tool_vector(**fields: Any) -> dict[str, Any]:
    return {
        "id": "toy/add/1",
        "seed": "toy:db",
        "side": "agent",
        "before": [],
        "tool": "AddTool",
        "args": {"counter": "a", "amount": 0},
        "ok": True,
        "result": "Already so.",
        "noop": True,
        "db_sha256_after": AGENT,
        "action_recorded": None,
        **fields,
    }


def test_vectors_are_recognised_by_content_whatever_the_file_is_called(tmp_path: Path) -> None:
    report = run_file(written(tmp_path, HASH, name="anything.jsonl"))
    assert str(report) == "anything.jsonl: 1 passed, 0 failed"


def test_every_difference_of_a_vector_is_said(tmp_path: Path) -> None:
    path = written(tmp_path, HASH, {**HASH, "canonical": "{}", "sha256": "0" * 64})
    report = run_file(path)
    assert (report.passed, len(report.failures)) == (1, 1)
    assert 'canonical: expected "{}", got' in problems(path)
    assert "sha256: expected" in problems(path)
    assert "line 2: one" in problems(path)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{not json", "this is no JSON"),
        ("[1]", "no JSON object"),
        ('{"a": 1}', "no known kind of vector"),
        ("[" * 100_000, "this is no JSON"),
    ],
)
def test_a_line_that_is_no_vector_fails_and_the_others_count(tmp_path: Path, line: str, said: str) -> None:
    path = written(tmp_path, HASH, line)
    assert run_file(path).passed == 1
    assert said in problems(path)


def test_an_empty_file_does_not_pass(tmp_path: Path) -> None:
    assert "holds no vectors" in problems(written(tmp_path, ""))


def test_a_domain_that_is_not_built_is_a_plain_failure(tmp_path: Path) -> None:
    path = written(tmp_path, tool_vector(seed="nowhere:db"))
    assert "domain nowhere is not built" in problems(path)


def test_a_tool_vector_that_holds(tmp_path: Path, toy: Toy) -> None:
    assert problems(written(tmp_path, tool_vector())) == ""


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"ok": False, "result": "too_big"}, "ok: expected false"),
        ({"result": "Done."}, 'result: expected "Done."'),
        ({"noop": False}, "noop: expected false"),
        ({"db_sha256_after": USER}, "db_sha256_after: expected"),
        ({"action_recorded": "add"}, 'action_recorded: expected "add"'),
        ({"invalid_fields": [["x", "missing"]]}, "invalid_fields: expected"),
        ({"after_sync": {"agent": AGENT, "user": AGENT}}, "after_sync: expected"),
        ({"empty_result": True}, "empty_result: expected true"),
        ({"seed": "toy:2"}, "db_sha256_after: expected"),
        (
            {"before": [{"tool": "AddTool", "args": {"counter": "A", "amount": 1}, "side": "agent"}]},
            "db_sha256_after: expected",
        ),
    ],
)
def test_a_tool_vector_that_differs_in_one_point(tmp_path: Path, toy: Toy, changed: dict[str, Any], said: str) -> None:
    assert said in problems(written(tmp_path, tool_vector(**changed)))


def test_where_the_reference_crashed_only_a_failure_is_asked_for(tmp_path: Path, toy: Toy) -> None:
    crash = {"ok": False, "result": "raised_key_error", "noop": False, "db_sha256_after": "half-way"}
    refused = {"counter": "Z", "amount": 1}
    assert problems(written(tmp_path, tool_vector(**crash, args=refused))) == ""
    assert "ok: expected false" in problems(written(tmp_path, tool_vector(**crash)))


def test_a_wrong_failure_kind_is_a_failure_but_not_with_a_line_break_in_an_id(tmp_path: Path, toy: Toy) -> None:
    refusal = {"ok": False, "result": "another_kind", "noop": False}
    assert 'failure: expected "another_kind"' in problems(
        written(tmp_path, tool_vector(**refusal, args={"counter": "Z", "amount": 1}))
    )
    assert problems(written(tmp_path, tool_vector(**refusal, args={"counter": "Z\n", "amount": 1}))) == ""


def test_initialisation_vectors(tmp_path: Path, toy: Toy) -> None:
    vector = {
        "seed": "toy:db",
        "today": "2026-01-02",
        "before": [],
        "function": "set",
        "side": "agent",
        "arguments": {"counter": "A", "value": 1},
        "ok": True,
        "after": {"agent": AGENT, "user": USER},
        "after_sync": {"agent": AGENT, "user": USER},
    }
    unknown = {**vector, "function": "nonsense", "ok": False}
    assert problems(written(tmp_path, vector, unknown)) == ""
    assert "after: expected" in problems(written(tmp_path, {**vector, "arguments": {"counter": "A", "value": 2}}))
    assert "ok: expected true" in problems(written(tmp_path, {**vector, "function": "nonsense"}))


def test_predicate_vectors(tmp_path: Path, toy: Toy) -> None:
    vector = {
        "predicate": "lamp_is_on",
        "side": "user",
        "seed": "toy:db",
        "today": "2026-01-02",
        "setup": [],
        "arguments": {"expected": True},
        "result": False,
        "assert_value": True,
        "passed": False,
        "db_sha256": USER,
    }
    raises = {**vector, "arguments": {"bogus": 1}, "result": None, "error": "raised_type_error"}
    switched = {**vector, "setup": [{"kind": "tool", "side": "user", "name": "switch_lamp", "args": {}}]}
    unknown = {**vector, "predicate": "nonsense", "result": None, "error": "unknown_predicate"}
    nobody = {**vector, "side": "assistant", "result": None, "error": "unknown_side"}
    del nobody["db_sha256"]
    assert problems(written(tmp_path, vector, raises, unknown, nobody)) == ""
    assert "passed: expected false" in problems(written(tmp_path, switched))
    assert "has an error: expected false" in problems(written(tmp_path, {**raises, "error": None}))
    assert "db_sha256: expected" in problems(written(tmp_path, {**unknown, "db_sha256": AGENT}))


def gold_vector(**fields: Any) -> dict[str, Any]:
    return {
        "scenario": "toy__3",
        "domain": "toy",
        "task_id": "3",
        "persona_name": None,
        "success_signals": ["db_state_match", "clean_exit"],
        "nl_assertions": 0,
        "max_duration": 900,
        "initial_db_sha256": AGENT,
        "initial_user_db_sha256": USER,
        "expected_user_db_sha256": USER,
        "expected_db_sha256": GOLD,
        "reference_actions": [
            {
                "type": "add",
                "name": "add",
                "args": {"counter": "a", "amount": 2, "factor": 1.0, "is_noted": False, "colour": None},
                "side": "agent",
                "result": {"counter": "a", "value": 3},
            }
        ],
        "gold_calls": [{"tool": "add", "ok": True}, {"tool": "add", "ok": False, "kind": "too_big"}],
        "db_state_assertions": [
            {
                "side": "user",
                "func_name": "lamp_is_on",
                "arguments": {"expected": False},
                "assert_value": True,
                "actual": True,
                "holds": True,
            }
        ],
        **fields,
    }


def test_gold_vectors(tmp_path: Path, toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    adds = (GoldAction("add", {"counter": "a", "amount": 2}), GoldAction("add", {"counter": "a", "amount": 100}))
    scenario = spec("3", gold_actions=adds, db_assertions=(DbAssertion("lamp_is_on", {"expected": False}, "user"),))
    monkeypatch.setattr(toy, "scenarios", lambda: (scenario,))
    assert problems(written(tmp_path, gold_vector())) == ""
    for field, value, said in (
        ("task_id", "4", "task_id: expected"),
        ("persona_name", "lisa", "persona_name: expected"),
        ("success_signals", ["clean_exit"], "success_signals: expected"),
        ("initial_db_sha256", USER, "initial_db_sha256: expected"),
        ("expected_db_sha256", AGENT, "expected_db_sha256: expected"),
        ("expected_user_db_sha256", None, "expected_user_db_sha256: expected"),
        ("start_db_sha256", USER, "start_db_sha256: expected"),
        ("reference_actions", [], "reference_actions: expected"),
        ("gold_calls", [], "gold_calls: expected"),
        ("db_state_assertions", [], "db_state_assertion: expected"),
        ("scenario", "toy__9", "has no scenario toy__9"),
    ):
        assert said in problems(written(tmp_path, gold_vector(**{field: value})))


def test_gold_calls_vectors(tmp_path: Path, toy: Toy) -> None:
    calls = [{"tool": "AddTool", "args": {"counter": "A", "amount": 2}}]
    arguments = {"counter": "A", "amount": 2, "factor": 1.0, "is_noted": False, "colour": None}
    record = {
        "action_type": "add",
        "name": "add",
        "arguments": arguments,
        "result": {"counter": "A", "value": 3},
    }
    vector = {
        "scenario": "toy__1",
        "seed": "toy:1",
        "calls": calls,
        "action_records": [record],
        "db_sha256_after": GOLD,
    }
    assert problems(written(tmp_path, vector)) == ""
    refused = {**vector, "calls": [{"tool": "AddTool", "args": {"counter": "Z", "amount": 2}}]}
    assert "failure of call 0: expected null" in problems(written(tmp_path, refused))


def test_schema_vectors(tmp_path: Path, toy: Toy) -> None:
    texts = {"counter": {"type": "string"}, "amount": {"type": "integer", "min": 0, "max": 100}}
    checks: dict[str, Any] = {
        "unknown_arguments": "rejected",
        "required": ["counter", "amount"],
        "fields": {
            **texts,
            "factor": {"type": "number", "default": 1.0},
            "is_noted": {"type": "boolean", "default": False},
            "colour": {"type": "string", "enum": ["red", "green"], "nullable": True, "default": None},
        },
    }
    shown_types = {"counter": "string", "amount": "integer", "factor": "number", "is_noted": "boolean"}
    properties: dict[str, Any] = {name: {"type": kind} for name, kind in shown_types.items()}
    properties["colour"] = {"type": "string", "enum": ["red", "green"]}
    parameters = {"type": "object", "properties": properties, "required": ["counter", "amount"]}
    tool = {
        "name": "AddTool",
        "kind": "write",
        "recorded_action": "add",
        "parameters": parameters,
        "argument_checks": checks,
        "gold_action_name": "add",
    }

    def schema(**changed: Any) -> str:
        data = {"domain": "toy_agent", "tools": [{**tool, **changed}]}
        return problems(written(tmp_path, json.dumps(data), name="schemas.json"))

    assert schema() == ""
    assert "kind: expected" in schema(kind="read")
    assert "parameters: expected" in schema(parameters={"type": "object", "properties": {}, "required": []})
    assert "unknown arguments" in schema(argument_checks={**checks, "unknown_arguments": "ignored"})
    assert "faults of no arguments" in schema(argument_checks={**checks, "required": ["counter"]})
    wrong_bound = {**checks, "fields": {**checks["fields"], "amount": {"type": "integer", "min": 1}}}
    assert "amount beyond min" in schema(argument_checks=wrong_bound)
    assert "has no tool Nonsense" in schema(name="Nonsense")


def test_a_schema_file_must_be_one(tmp_path: Path) -> None:
    assert "no schema file" in problems(written(tmp_path, "{}", name="schemas.json"))


def test_a_folder_gives_its_vector_files_only(tmp_path: Path) -> None:
    known = written(tmp_path, HASH, name="b.jsonl")
    written(tmp_path, {"something": "else"}, name="a.jsonl")
    written(tmp_path, "text", name="README.md")
    assert list(vector_files([tmp_path])) == [known]


@pytest.mark.parametrize(
    ("expected", "got", "same"),
    [
        (2, 2.0, True),
        (1, True, False),
        (True, 1, False),
        ("a", "a", True),
        ("1", 1, False),
        (None, 0, False),
        ({"message": "x", "a": 1}, {"message": "y", "a": 1}, True),
        ({"message": "x"}, {"message": None}, False),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ([1, [2]], [1.0, [2]], True),
        ([1, 2], [2, 1], False),
    ],
)
def test_data_is_compared_and_the_wording_of_messages_is_not(expected: Any, got: Any, same: bool) -> None:
    assert same_data(expected, got) is same


def test_long_values_are_cut_in_print() -> None:
    assert len(shown("x" * 10_000)) < 400


def test_the_command_prints_a_line_a_file_and_exits_with_1_on_a_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = written(tmp_path, HASH, name="good.jsonl")
    bad = written(tmp_path, HASH, {**HASH, "sha256": "0"}, name="bad.jsonl")
    call_command("conformance", str(good))
    assert capsys.readouterr().out == "good.jsonl: 1 passed, 0 failed\n"
    with pytest.raises(SystemExit) as caught:
        call_command("conformance", str(good), str(bad))
    assert caught.value.code == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["good.jsonl: 1 passed, 0 failed", "bad.jsonl: 1 passed, 1 failed"]
    assert "sha256: expected" in "\n".join(lines)


def test_the_command_names_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="there is no .*nothing"):
        call_command("conformance", str(tmp_path / "nothing"))
    with pytest.raises(CommandError, match="no vectors of a known kind"):
        call_command("conformance", str(tmp_path))
