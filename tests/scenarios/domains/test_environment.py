"""One call's tools: what they return, refuse, record, and that nothing a model sends can break them."""

import json
import logging
from collections.abc import Mapping
from typing import Any

import pytest

from scenarios.domains.base import Fidelity, InitAction, Refusal, ScenarioSpec
from scenarios.domains.environment import Environment
from scenarios.sides import Side
from scenarios.state.overlay import Overlay, Seed
from tests.scenarios.domains.toy import Toy, spec


@pytest.fixture
def environment() -> Environment:
    return Environment(Toy(), spec("1"))


def test_a_write_returns_changes_and_records_an_action(environment: Environment) -> None:
    result = environment.call_tool("agent", "add", {"counter": "A", "amount": 2})
    assert (result.ok, result.error, result.value["value"]) == (True, None, 3.0)
    assert result.changes == (
        {"side": "agent", "path": ["counters", "A", "value"], "before": 1, "after": 3.0, "op": "set"},
        {
            "side": "agent",
            "path": ["log", 0],
            "before": None,
            "after": {"at": "2026-01-02", "number": 1},
            "op": "add",
        },
    )
    arguments = {"counter": "A", "amount": 2, "factor": 1.0, "is_noted": False, "colour": None}
    action = {
        "action_type": "add",
        "name": "add",
        "arguments": arguments,
        "result": {"counter": "A", "value": 3.0},
        "side": "agent",
    }
    assert result.action == action
    assert environment.actions == [action]


@pytest.mark.parametrize("name", ["add", "AddTool"])
def test_a_tool_answers_to_both_names(environment: Environment, name: str) -> None:
    assert environment.call_tool("agent", name, {"counter": "A", "amount": 2}).tool == "add"


@pytest.mark.parametrize(("fidelity", "spelled"), [("canonical", "A"), ("reference", "a")])
def test_fidelity_decides_how_an_identifier_is_recorded(fidelity: Fidelity, spelled: str) -> None:
    environment = Environment(Toy(), spec("1"), fidelity)
    action = environment.call_tool("agent", "add", {"counter": "a", "amount": 2}).action
    assert action is not None
    assert (action["arguments"]["counter"], action["result"]["counter"]) == (spelled, spelled)


@pytest.mark.parametrize(
    ("arguments", "kind", "error_type"),
    [
        ({"counter": "Z", "amount": 1}, "counter_not_found", "not_found"),
        ({"counter": "A", "amount": 100}, "too_big", "value_error"),
    ],
)
def test_a_refusal_changes_and_records_nothing(
    environment: Environment, arguments: dict[str, Any], kind: str, error_type: str
) -> None:
    before = environment.databases["agent"].hash
    result = environment.call_tool("agent", "add", arguments)
    assert (result.ok, result.error, result.error_type, result.changes, result.action) == (
        False,
        kind,
        error_type,
        (),
        None,
    )
    assert result.for_model["status"] == "error"
    assert environment.databases["agent"].hash == before
    assert environment.actions == []


def test_what_is_already_so_is_a_success_that_is_not_recorded(environment: Environment) -> None:
    result = environment.call_tool("agent", "add", {"counter": "A", "amount": 0})
    assert (result.ok, result.is_noop, result.changes, result.action) == (True, True, (), None)


@pytest.mark.parametrize(
    ("what", "shown"),
    [
        ("list", {"status": "success", "results": [], "count": 0}),
        ("object", {"status": "success", "results": {}}),
        ("text", {"status": "success", "result": ""}),
        ("nothing", {"status": "success", "result": None}),
        ("zero", {"status": "success", "result": 0}),
    ],
)
def test_nothing_found_cannot_be_taken_for_done(environment: Environment, what: str, shown: dict[str, Any]) -> None:
    result = environment.call_tool("agent", "find", {"what": what})
    assert result.is_empty
    assert {key: value for key, value in result.for_model.items() if key != "message"} == shown


def test_a_full_result_is_shown_as_it_is(environment: Environment) -> None:
    result = environment.call_tool("agent", "find", {"what": "something"})
    assert (result.is_empty, result.for_model, result.action) == (False, [1], None)


def test_an_unknown_tool_is_told_the_available_ones(environment: Environment) -> None:
    result = environment.call_tool("agent", "switch_lamp", {})
    assert (result.ok, result.error) == (False, "unknown_tool")
    assert result.for_model["available_tools"] == ["add", "break", "end_conversation", "find", "sneak"]


def test_a_tool_that_crashes_rolls_back_and_is_logged(
    environment: Environment, caplog: pytest.LogCaptureFixture
) -> None:
    before = environment.databases["agent"].hash
    with caplog.at_level(logging.ERROR):
        result = environment.call_tool("agent", "break", {})
    assert (result.ok, result.error, result.changes) == (False, "tool_failed", ())
    assert environment.databases["agent"].hash == before
    assert "ZeroDivisionError" in caplog.text


def test_a_reading_tool_cannot_write(environment: Environment) -> None:
    assert environment.call_tool("agent", "sneak", {}).error == "tool_failed"


def test_the_end_tool_ends_the_call_and_is_no_action(environment: Environment) -> None:
    result = environment.call_tool("agent", "end_conversation", {})
    assert (result.ok, result.ends_call, result.action) == (True, "end_tool", None)
    assert environment.call_tool("agent", "end_conversation", {"x": 1}).ends_call is None


def test_each_side_works_on_its_own_database_and_sync_brings_them_together(environment: Environment) -> None:
    environment.call_tool("user", "switch_lamp", {})
    assert environment.sync() == []
    environment.call_tool("agent", "add", {"counter": "A", "amount": 60})
    assert environment.sync() == [
        {"side": "user", "path": ["lamp", "colour"], "before": None, "after": "red", "op": "set"}
    ]
    assert [action["side"] for action in environment.actions] == ["user", "agent"]


def test_initialisation_is_done_and_synced_before_the_call() -> None:
    environment = Environment(Toy(), Toy().scenarios()[1])
    assert environment.databases["agent"].get("counters", "A")["value"] == 50
    assert environment.databases["user"].get("lamp")["colour"] == "red"
    assert environment.actions == []


def test_an_unknown_initialisation_step_is_named() -> None:
    with pytest.raises(Refusal, match="toy has no initialisation function 'nonsense'"):
        Environment(Toy(), spec("3", init_actions=(InitAction("nonsense", {}, "user"),)))


@pytest.mark.parametrize("side", ["assistant", "", None])
def test_an_initialisation_step_of_no_side_is_refused_rather_than_left_out(side: Any) -> None:
    step = InitAction("set", {"counter": "A", "value": 50}, side)
    with pytest.raises(Refusal, match="set.* names the side .*; the sides are user, agent"):
        Environment(Toy(), spec("3", init_actions=(step,)))


def test_minted_numbers_count_the_successful_calls_of_this_conversation_only() -> None:
    for _ in range(2):
        environment = Environment(Toy(), spec("1"))
        for amount in (1, 100, 1):
            environment.call_tool("agent", "add", {"counter": "A", "amount": amount})
        numbers = [entry["number"] for entry in environment.databases["agent"].table("log").values()]
        assert numbers == [1, 2]


def test_a_date_of_ones_own() -> None:
    environment = Environment(Toy(), spec("1"), now="2030-12-31")
    environment.call_tool("agent", "add", {"counter": "A", "amount": 1})
    assert environment.databases["agent"].get("log", 0)["at"] == "2030-12-31"


def _deep(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "arguments",
    [
        None,
        "x",
        [],
        7,
        '{"counter": "A"}',
        {},
        {"counter": None, "amount": None},
        {"counter": "A" * 200_000, "amount": 1},
        {"counter": "\ud800", "amount": 1},
        {"counter": "\x00\u202e", "amount": 1},
        {"counter": "A", "amount": 10**4000},
        {"counter": "A", "amount": float("nan")},
        {"counter": "A", "amount": float("inf"), "factor": float("nan")},
        {"counter": "A", "amount": _deep(5_000)},
        {"counter": {"a": _deep(900)}, "amount": 1},
        {f"unknown {number}": number for number in range(10_000)},
        {"k" * 200_000: 1},
        {"": 1},
    ],
    ids=lambda value: type(value).__name__,
)
def test_no_arguments_whatever_can_raise(environment: Environment, arguments: Any) -> None:
    before = environment.databases["agent"].hash
    result = environment.call_tool("agent", "add", arguments)
    assert not result.ok
    assert len(json.dumps(result.for_model)) < 20_000
    assert environment.databases["agent"].hash == before


def test_what_is_wrong_with_arguments_is_told_one_by_one(environment: Environment) -> None:
    answer = environment.call_tool("agent", "add", {"counter": 5}).for_model
    assert (answer["error_type"], [(one["field"], one["type"]) for one in answer["details"]]) == (
        "validation_error",
        [("counter", "wrong_type"), ("amount", "missing")],
    )


def test_a_tool_of_a_side_without_a_database_says_so() -> None:
    class Bare(Toy):
        def seeds(self, spec: ScenarioSpec) -> Mapping[Side, Seed]:
            return {"agent": super().seeds(spec)["agent"]}

        def sync(self, databases: Mapping[Side, Overlay]) -> None:
            return

    environment = Environment(Bare(), spec("1"))
    result = environment.call_tool("user", "switch_lamp", {})
    assert (result.ok, result.error, result.error_type) == (False, "db_not_initialized", "db_not_initialized")
    assert "user" in result.for_model["message"]
    assert environment.actions == []
    assert environment.call_tool("agent", "add", {"counter": "A", "amount": 1}).ok


@pytest.mark.parametrize("name", ["", "x" * 200_000, "\ud800", "add ", None, 7])
def test_no_tool_name_whatever_can_raise(environment: Environment, name: Any) -> None:
    result = environment.call_tool("agent", name, {})
    assert result.error == "unknown_tool"
    assert len(json.dumps(result.for_model)) < 1_000


def test_schemas_are_what_a_model_is_shown(environment: Environment) -> None:
    schemas = {schema["name"]: schema for schema in environment.tool_schemas("agent")}
    assert list(schemas) == ["add", "find", "break", "sneak", "end_conversation"]
    assert schemas["add"]["description"] == "Add to a counter."
    assert schemas["add"]["parameters"] == {
        "type": "object",
        "properties": {
            "counter": {"type": "string"},
            "amount": {"type": "integer"},
            "factor": {"type": "number"},
            "is_noted": {"type": "boolean"},
            "colour": {"type": "string", "enum": ["red", "green"]},
        },
        "required": ["counter", "amount"],
    }
    assert schemas["break"]["parameters"] == {"type": "object", "properties": {}, "required": []}
    assert [schema["name"] for schema in environment.tool_schemas("user")] == ["switch_lamp"]
