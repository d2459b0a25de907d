"""Arguments of tools: the schema a model is shown, and what is wrong with what it sent."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError

# Kinds of failure by pydantic's error type; whatever else is of the wrong type.
_KINDS = {
    "missing": "missing",
    "extra_forbidden": "unexpected",
    "invalid_key": "unexpected",
    "literal_error": "not_in_enum",
    "enum": "not_in_enum",
    "string_pattern_mismatch": "bad_format",
    "string_too_short": "bad_format",
    "string_too_long": "bad_format",
    "value_error": "bad_format",
    "assertion_error": "bad_format",
    "greater_than": "below_minimum",
    "greater_than_equal": "below_minimum",
    "less_than": "above_maximum",
    "less_than_equal": "above_maximum",
    "int_from_float": "fractional",
    "int_parsing": "not_a_number",
    "int_parsing_size": "not_a_number",
    "float_parsing": "not_a_number",
    "finite_number": "not_a_number",
    "bool_parsing": "not_a_boolean",
}
# What the reference shows of a schema; bounds and formats are enforced but not shown.
_SHOWN = ("type", "enum", "description", "items", "properties", "required")
_MOST_DETAILS = 20
_LONGEST_PATH = 120


class InvalidArguments(Exception):
    """``fields`` are (path, kind); ``details`` is what a model reads: field, error and type."""

    def __init__(self, fields: tuple[tuple[str, str], ...], details: list[dict[str, str]]) -> None:
        # A fault of the whole has no path to name, and some models read this text alone.
        super().__init__(
            ", ".join(
                f"{path}: {kind}" if path else fault["error"]
                for (path, kind), fault in zip(fields, details, strict=True)
            )
        )
        self.fields = fields
        self.details = details


def check(model: type[BaseModel], arguments: Any) -> BaseModel:
    """Return the validated arguments or raise InvalidArguments, which names each field."""
    if not isinstance(arguments, Mapping):
        raise InvalidArguments(
            (("", "wrong_type"),), [{"field": "", "error": "arguments must be a JSON object", "type": "wrong_type"}]
        )
    try:
        return model.model_validate(dict(arguments))
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)[:_MOST_DETAILS]
    except RecursionError:
        found = [{"loc": (), "type": "nested_too_deep", "msg": "arguments are nested too deep", "input": None}]
    paths = [".".join(map(str, item["loc"]))[:_LONGEST_PATH] for item in found]
    kinds = [_KINDS.get(item["type"], "wrong_type") for item in found]
    raise InvalidArguments(
        tuple(zip(paths, kinds, strict=True)),
        [
            {"field": path, "error": item["msg"], "type": kind}
            for path, kind, item in zip(paths, kinds, found, strict=True)
        ],
    )


@cache
def parameters_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments as a model is shown it; shared, so not to be written."""
    schema = model.model_json_schema()
    return _shown(schema, schema.get("$defs", {}), is_top=True)


def _shown(schema: Mapping[str, Any], definitions: Mapping[str, Any], *, is_top: bool = False) -> dict[str, Any]:
    if "$ref" in schema:
        target = definitions[schema["$ref"].rsplit("/", 1)[-1]]
        schema = {**target, **{key: value for key, value in schema.items() if key != "$ref"}}
    if "anyOf" in schema:
        # An optional argument: null is accepted and not advertised.
        (only,) = [option for option in schema["anyOf"] if option.get("type") != "null"]
        schema = {**only, **{key: value for key, value in schema.items() if key != "anyOf"}}
        return _shown(schema, definitions)
    if "const" in schema:
        schema = {**schema, "enum": [schema["const"]]}
    shown = {key: schema[key] for key in _SHOWN if key in schema}
    if is_top:
        shown.pop("description", None)
    if "items" in shown:
        shown["items"] = _shown(shown["items"], definitions)
    if "properties" in shown or is_top:
        properties = shown.get("properties", {})
        shown["properties"] = {name: _shown(item, definitions) for name, item in properties.items()}
        shown.setdefault("required", [])
    return shown
