"""Single fields: what is there is read, what is of the wrong type is unknown and named, nothing is guessed."""

from pathlib import Path
from typing import Any

import pytest

from scenarios.formats.imports.fields import Fields
from scenarios.formats.imports.pairing import Calls, content_of
from scenarios.formats.imports.records import Remark
from tests.scenarios.formats.imports.files import answer, call, imported, results, simulation


def _fields(**data: Any) -> tuple[Fields, list[Remark]]:
    remarks: list[Remark] = []
    return Fields(data, "here", remarks), remarks


@pytest.mark.parametrize(
    ("kind", "value", "read"),
    [
        ("text", "x", "x"),
        ("text", "", ""),
        ("label", 5, "5"),
        ("label", "5", "5"),
        ("number", 5, 5.0),
        ("number", 0.5, 0.5),
        ("integer", 5, 5),
        ("integer", 5.0, 5),
        ("boolean", False, False),
        ("object", {"a": 1}, {"a": 1}),
    ],
)
def test_a_value_of_the_right_type_is_read(kind: str, value: Any, read: Any) -> None:
    fields, remarks = _fields(name=value)

    assert getattr(fields, kind)("name") == read
    assert remarks == []


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("text", 5),
        ("text", ["x"]),
        ("label", True),
        ("label", 1.5),
        ("number", "5"),
        ("number", True),
        ("number", float("inf")),
        ("number", float("nan")),
        ("integer", 5.5),
        ("integer", True),
        ("integer", "5"),
        ("boolean", 1),
        ("boolean", "true"),
        ("object", [1]),
        ("object", "x" * 900),
    ],
)
def test_a_value_of_the_wrong_type_is_unknown_and_remarked_on(kind: str, value: Any) -> None:
    fields, remarks = _fields(name=value)

    assert not getattr(fields, kind)("name")
    assert [(remark.place, "read as unknown" in remark.text) for remark in remarks] == [("here.name", True)]
    assert len(remarks[0].text) < 200


@pytest.mark.parametrize("kind", ["text", "label", "number", "integer", "boolean"])
def test_what_is_absent_or_null_is_unknown_without_a_word(kind: str) -> None:
    fields, remarks = _fields(null=None)

    assert (getattr(fields, kind)("null"), getattr(fields, kind)("absent")) == (None, None)
    assert (fields.object("null"), list(fields.each("null")), remarks) == ({}, [], [])


def test_lists_give_their_objects_and_name_the_rest() -> None:
    fields, remarks = _fields(items=[{"a": 1}, 2, {"a": 3}], other={"a": 1})

    assert [(item.place, item.data) for item in fields.each("items")] == [
        ("here.items[0]", {"a": 1}),
        ("here.items[2]", {"a": 3}),
    ]
    assert list(fields.each("other")) == []
    assert [remark.place for remark in remarks] == ["here.items[1]", "here.other"]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        (None, None),
        ([{"type": "text", "text": "a"}, {"type": "image"}, "x", {"text": "b"}], "a\nb"),
        ([], ""),
        (5, None),
    ],
)
def test_content_may_be_a_list_of_parts(content: Any, text: Any) -> None:
    assert content_of(_fields(content=content)[0]) == text


@pytest.mark.parametrize(
    ("arguments", "read", "raw"),
    [
        ({"a": 1}, {"a": 1}, None),
        ('{"a": 1}', {"a": 1}, None),
        ("{}", {}, None),
        ("[1]", None, "[1]"),
        ("{broken", None, "{broken"),
        ("[" * 100_000, None, "[" * 100_000),
        ([1, 2], None, "[1, 2]"),
        (5, None, "5"),
        (None, None, None),
    ],
)
def test_arguments_are_an_object_or_kept_as_they_are(arguments: Any, read: Any, raw: Any) -> None:
    calls = Calls()
    fields, remarks = _fields(id="x", name="tool", arguments=arguments)
    calls.call(fields, "agent")

    assert (calls.made[0].arguments, calls.made[0].raw_arguments) == (read, raw)
    assert bool(remarks) is (read is None)


@pytest.mark.parametrize("named", ["", None, "x"])
def test_calls_without_telling_ids_are_paired_in_order(named: Any) -> None:
    calls = Calls()
    for tool in ("first", "second"):
        calls.call(_fields(id=named, name=tool, arguments={})[0], "agent")
    for content in ("1", "2"):
        calls.answer(_fields(id=named, content=content)[0])

    assert [(one.tool, one.result) for one in calls.made] == [("first", "1"), ("second", "2")]
    assert calls.repeated_ids() == (("x",) if named else ())


@pytest.mark.parametrize(
    ("content", "executed"),
    [
        ("Error: 503 Service Unavailable", False),
        ("Error: 429 Too Many Requests", False),
        ("Error: 5 items are needed", True),
        ("Error: order not found", True),
        ('{"error": 503}', True),
    ],
)
def test_an_answer_that_the_harness_made_up_means_the_tool_did_not_run(content: str, executed: bool) -> None:
    calls = Calls()
    calls.call(_fields(id="x", name="tool", arguments={})[0], "agent")
    calls.answer(_fields(id="x", content=content)[0])

    assert calls.made[0].is_executed is executed


def test_a_new_message_with_calls_ends_the_wait_for_answers(tmp_path: Path) -> None:
    messages = [call("lost", {}, "a"), call("kept", {}, "b"), answer("late", "b"), answer("nobody's", "a")]
    _, (trial,) = imported(tmp_path, results([simulation(messages=messages)]))

    assert [(one.tool, one.result, one.paired_by) for one in trial.tool_calls] == [
        ("lost", None, "none"),
        ("kept", "late", "id"),
    ]
    assert [message.answers for message in trial.messages] == [None, None, 1, None]
    assert [message.calls for message in trial.messages] == [(0,), (1,), (), ()]


def test_duplicate_simulations_are_all_read(tmp_path: Path) -> None:
    run, trials = imported(tmp_path, results([simulation(), simulation(), simulation(trial=None)]))

    assert [(trial.place, trial.id, trial.trial) for trial in trials] == [
        ("simulations[0]", "s1", 0),
        ("simulations[1]", "s1", 0),
        ("simulations[2]", "s1", None),
    ]
    assert run.refused == []


def test_script_is_kept_as_the_text_it_is(tmp_path: Path) -> None:
    script = "<script>alert(1)</script>\u0000\u202e"
    run, (trial,) = imported(
        tmp_path,
        results(
            [simulation(id=script, task_id=script, messages=[{"role": script, "content": script}])], git_commit=script
        ),
    )

    assert (run.git_commit, trial.id, trial.task_id) == (script, script, script)
    assert (trial.messages[0].role, trial.turns) == (script, ())
