"""Checking the tools of a domain against a schema file: what a model is shown, and what is enforced."""

from collections.abc import Mapping
from typing import Any

from scenarios.conformance import worlds
from scenarios.conformance.compare import Problems
from scenarios.domains.arguments import InvalidArguments, check, parameters_schema
from scenarios.domains.base import Tool
from scenarios.sides import SIDES

# A value of each kind, to fill in what a probe of one argument is not about.
_SAMPLES: dict[str, Any] = {"string": "x", "integer": 1, "number": 1.0, "boolean": True, "array": [], "object": {}}


def schema_line(line: Mapping[str, Any]) -> Problems:
    """Check one tool of a schema file; ``line`` is its entry with the file's ``domain``."""
    tool = _find(line["domain"], line["name"])
    problems = Problems()
    problems.expect("kind", line["kind"], tool.kind)
    if line["recorded_action"] is not None:
        problems.expect("recorded_action", line["recorded_action"], tool.model_name())
    if "gold_action_name" in line:
        problems.expect("gold_action_name", line["gold_action_name"], tool.model_name())
    problems.expect("parameters", line["parameters"], _undescribed(parameters_schema(tool.Arguments)))
    _probe(problems, tool, line["argument_checks"])
    return problems


def _find(domain: str, name: str) -> Tool:
    """Return a tool by class or model name; a file of one side is called ``<domain>_agent`` or ``<domain>_user``."""
    base, _, side = domain.rpartition("_")
    sides = [side] if side in SIDES else ["agent"]
    for wanted in sides:
        for tool in worlds.domain_named(base if side in SIDES else domain).tools(wanted):  # type: ignore[arg-type]
            if name in (type(tool).__name__, tool.model_name()):
                return tool
    raise worlds.NotBuilt(f"domain {domain} has no tool {name}")


def _undescribed(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            key: {name: _undescribed(item) for name, item in value.items()}
            if key == "properties"
            else _undescribed(value)
            for key, value in schema.items()
            if key != "description"
        }
    return schema


def _probe(problems: Problems, tool: Tool, checks: Mapping[str, Any]) -> None:
    """Send arguments that each break one rule, and see that exactly this is found."""
    fields, required = checks["fields"], checks["required"]
    problems.expect("arguments", sorted(fields), sorted(tool.Arguments.model_fields))
    missing = sorted((name, "missing") for name in required)
    problems.expect("faults of no arguments", missing, sorted(_faults(tool, {})))
    unexpected = ("surely unknown", "unexpected") in _faults(tool, {"surely unknown": 1})
    problems.expect("unknown arguments are rejected", checks["unknown_arguments"] == "rejected", unexpected)
    for name, rule in fields.items():
        null_kinds = [kind for path, kind in _faults(tool, {name: None}) if path == name]
        problems.expect(f"{name} may be null", bool(rule.get("nullable")), not null_kinds)
        if "default" in rule:
            problems.expect(f"default of {name}", rule["default"], tool.Arguments.model_fields[name].default)
        _probe_values(problems, tool, name, rule)


def _probe_values(problems: Problems, tool: Tool, name: str, rule: Mapping[str, Any]) -> None:
    def kinds(value: Any) -> list[str]:
        return [kind for path, kind in _faults(tool, {name: value}) if path == name]

    for allowed in rule.get("enum", ()):
        problems.expect(f"{name} = {allowed!r}", [], kinds(allowed))
    if "enum" in rule:
        problems.expect(f"{name} = 'surely not'", ["not_in_enum"], kinds("surely not"))
    elif "format" not in rule:
        sample = rule.get("min", rule.get("above", 0) + 1 if "above" in rule else _SAMPLES[rule["type"]])
        if rule["type"] != "object":
            problems.expect(f"{name} = {sample!r}", [], kinds(sample))
    for bound, beyond, kind in (
        ("min", -1, "below_minimum"),
        ("above", 0, "below_minimum"),
        ("max", 1, "above_maximum"),
    ):
        if bound in rule:
            problems.expect(f"{name} beyond {bound}", [kind], kinds(rule[bound] + beyond))


def _faults(tool: Tool, arguments: Mapping[str, Any]) -> list[tuple[str, str]]:
    try:
        check(tool.Arguments, arguments)
    except InvalidArguments as error:
        return list(error.fields)
    return []
