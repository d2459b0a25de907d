"""Checking arguments: which spellings pass, and what is said of those that do not (README "Argument kinds")."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from scenarios.domains.arguments import InvalidArguments, check, parameters_schema
from scenarios.domains.base import ToolArguments


class Leg(BaseModel):
    """An object inside a list: unknown keys are dropped."""

    number: str
    stops: int


class Everything(ToolArguments):
    """Each kind once."""

    text: str = "x"
    whole: int = 1
    number: float = 1.0
    flag: bool = False
    choice: Literal["a", "b"] = "a"
    code: str = Field(default="AB", pattern="^[A-Z]{2}$")
    bounded: int = Field(default=1, ge=1, le=3)
    above: float = Field(default=1.0, gt=0)
    legs: list[Leg] = []
    maybe: str | None = None


def found(**arguments: Any) -> tuple[tuple[str, str], ...]:
    try:
        check(Everything, arguments)
    except InvalidArguments as error:
        return error.fields
    return ()


def value(name: str, given: Any) -> Any:
    return getattr(check(Everything, {name: given}), name)


@pytest.mark.parametrize("given", [2, 2.0, "2", " 2 ", "+2", "2.0"])
def test_spellings_of_a_whole_number(given: Any) -> None:
    assert value("whole", given) == 2


@pytest.mark.parametrize(("given", "read"), [("2_000", 2000), (True, 1), (False, 0), ("-3", -3)])
def test_odder_spellings_of_a_whole_number(given: Any, read: int) -> None:
    assert value("whole", given) == read


@pytest.mark.parametrize("given", ["2e0", "", "２", "two", "2.5.1", "0x2", "2,000"])
def test_what_is_no_whole_number(given: str) -> None:
    assert found(whole=given) == (("whole", "not_a_number"),)


@pytest.mark.parametrize("given", [2.5, 1e-9])
def test_a_fraction_is_no_whole_number(given: float) -> None:
    assert found(whole=given) == (("whole", "fractional"),)


@pytest.mark.parametrize(("given", "read"), [("1.5", 1.5), ("1e2", 100.0), (True, 1.0), (3, 3.0)])
def test_spellings_of_a_number(given: Any, read: float) -> None:
    assert value("number", given) == read


@pytest.mark.parametrize("given", [True, 1, 1.0, "1", "t", "TRUE", "Yes", "y", "on"])
def test_spellings_of_true(given: Any) -> None:
    assert value("flag", given) is True


@pytest.mark.parametrize("given", [False, 0, 0.0, "0", "F", "false", "No", "n", "OFF"])
def test_spellings_of_false(given: Any) -> None:
    assert value("flag", given) is False


@pytest.mark.parametrize(
    ("arguments", "fields"),
    [
        ({"text": 1}, [("text", "wrong_type")]),
        ({"text": True}, [("text", "wrong_type")]),
        ({"text": None}, [("text", "wrong_type")]),
        ({"text": ["x"]}, [("text", "wrong_type")]),
        ({"whole": None}, [("whole", "wrong_type")]),
        ({"whole": [1]}, [("whole", "wrong_type")]),
        ({"number": "$5"}, [("number", "not_a_number")]),
        ({"flag": "sure"}, [("flag", "not_a_boolean")]),
        ({"flag": 2}, [("flag", "not_a_boolean")]),
        ({"choice": "A"}, [("choice", "not_in_enum")]),
        ({"choice": True}, [("choice", "not_in_enum")]),
        ({"choice": None}, [("choice", "not_in_enum")]),
        ({"code": "ABC"}, [("code", "bad_format")]),
        ({"bounded": 0}, [("bounded", "below_minimum")]),
        ({"bounded": 4}, [("bounded", "above_maximum")]),
        ({"above": 0}, [("above", "below_minimum")]),
        ({"legs": {}}, [("legs", "wrong_type")]),
        ({"legs": "x"}, [("legs", "wrong_type")]),
        ({"legs": [{"number": 1, "stops": "x"}]}, [("legs.0.number", "wrong_type"), ("legs.0.stops", "not_a_number")]),
        ({"legs": [{"number": "x"}]}, [("legs.0.stops", "missing")]),
        ({"legs": [None]}, [("legs.0", "wrong_type")]),
        ({"Text": "x", "a b": 1}, [("Text", "unexpected"), ("a b", "unexpected")]),
    ],
)
def test_what_is_wrong_is_named_by_path_and_kind(arguments: dict[str, Any], fields: list[tuple[str, str]]) -> None:
    assert list(found(**arguments)) == fields


def test_unknown_keys_of_an_inner_object_are_dropped() -> None:
    assert value("legs", [{"number": "x", "stops": 1, "gate": 7}]) == [Leg(number="x", stops=1)]


def test_null_passes_only_where_it_may() -> None:
    assert value("maybe", None) is None


@pytest.mark.parametrize("arguments", [None, [], "{}", 3])
def test_arguments_that_are_no_object(arguments: Any) -> None:
    with pytest.raises(InvalidArguments) as caught:
        check(Everything, arguments)
    assert caught.value.fields == (("", "wrong_type"),)
    assert str(caught.value) == "arguments must be a JSON object"


def test_the_given_value_is_never_echoed() -> None:
    with pytest.raises(InvalidArguments) as caught:
        check(Everything, {"text": ["secret"], "choice": "secret"})
    assert "secret" not in str(caught.value.details)


def test_the_shown_schema_has_inner_objects_in_line_and_no_bounds() -> None:
    class Shown(ToolArguments):
        """Not shown."""

        legs: list[Leg]
        only: Literal["x"]
        note: Annotated[str | None, Field(description="Shown.", max_length=3)] = None

    leg = {
        "type": "object",
        "description": "An object inside a list: unknown keys are dropped.",
        "properties": {"number": {"type": "string"}, "stops": {"type": "integer"}},
        "required": ["number", "stops"],
    }
    assert parameters_schema(Shown) == {
        "type": "object",
        "properties": {
            "legs": {"type": "array", "items": leg},
            "only": {"type": "string", "enum": ["x"]},
            "note": {"type": "string", "description": "Shown."},
        },
        "required": ["legs", "only"],
    }
