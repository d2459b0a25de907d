"""One check a kind of vector: a line in, its problems out."""

from collections.abc import Mapping
from dataclasses import asdict
from itertools import zip_longest
from typing import Any

from scenarios.conformance import worlds
from scenarios.conformance.compare import Problems
from scenarios.domains.base import DbAssertion, Domain, InitAction, MatchOptions, ToolResult
from scenarios.domains.environment import Environment
from scenarios.domains.predicates import evaluate
from scenarios.replay import Gold, gold_replay
from scenarios.scoring.action_match import match_episode, match_single
from scenarios.sides import SIDES
from scenarios.state.canonical import canonical_database_text, canonical_hash
from scenarios.state.overlay import Seed

Line = Mapping[str, Any]


def hash_line(line: Line) -> Problems:
    """Check the canonical text and the SHA-256, of an object also as an overlay works it out."""
    problems = Problems()
    problems.expect("canonical", line["canonical"], canonical_database_text(line["input"]))
    problems.expect("sha256", line["sha256"], canonical_hash(line["input"]))
    if isinstance(line["input"], dict):
        problems.expect("sha256 of the overlay", line["sha256"], Seed(line["input"]).hash)
    return problems


def tool_line(line: Line) -> Problems:
    """Check one tool call: its result or failure, the database after it, and what was recorded."""
    problems = Problems()
    world = worlds.environment(line["seed"], line.get("today"))
    worlds.take(world, line["before"])
    side = line.get("side", "agent")
    result = world.call_tool(side, line["tool"], line["args"])
    problems.expect("ok", line["ok"], result.ok)
    if str(line["result"]).startswith("raised_") and not line["ok"]:
        return problems
    _check_outcome(problems, line, result)
    problems.expect("db_sha256_after", line["db_sha256_after"], world.databases[side].hash)
    if "after_sync" in line:
        world.sync()
        problems.expect("after_sync", line["after_sync"], worlds.hashes(world))
    return problems


def _check_outcome(problems: Problems, line: Line, result: ToolResult) -> None:
    if line["ok"]:
        problems.expect_result(line["result"], result.value)
    elif not _has_line_break(line["args"]):
        # The recorder told failures apart by one-line messages, so an id with a line break in it got any kind.
        problems.expect("failure", line["result"], result.error)
    invalid = [list(pair) for pair in result.invalid_fields]
    problems.expect("invalid_fields", sorted(line.get("invalid_fields", [])), sorted(invalid))
    problems.expect("noop", line.get("noop", False), result.is_noop)
    problems.expect("empty_result", line.get("empty_result", False), result.is_empty)
    if result.is_empty:
        problems.expect("status shown of an empty result", "success", result.for_model.get("status"))
    recorded = dict(result.action) if result.action else None
    problems.expect("action_recorded", line["action_recorded"], recorded and recorded["action_type"])
    if recorded and "action_record" in line:
        problems.expect("action_record", line["action_record"], {k: v for k, v in recorded.items() if k != "side"})


def _has_line_break(arguments: Line) -> bool:
    return any(isinstance(value, str) and "\n" in value for value in arguments.values())


def gold_line(line: Line) -> Problems:
    """Check a scenario as it is loaded, and its gold replay."""
    problems = Problems()
    domain = worlds.domain_named(line["domain"])
    spec = worlds.scenario_named(domain, line["scenario"])
    problems.expect("task_id", line["task_id"], spec.task_id)
    problems.expect("persona_name", line["persona_name"] or "", spec.persona_name)
    problems.expect("success_signals", line["success_signals"], list(spec.success_signals))
    problems.expect("max_duration", line["max_duration"], spec.max_duration_s)
    problems.expect("nl_assertions", line["nl_assertions"], len(spec.nl_assertions))
    problems.expect("init_actions", line.get("init_actions", 0), len(spec.init_actions))
    seeds = domain.seeds(spec)
    gold = gold_replay(spec, "reference")
    start, expected = gold.start_hashes, gold.expected_hashes
    for side in SIDES:
        infix = "user_" if side == "user" else ""
        for field, got in (
            (f"initial_{infix}db_sha256", seeds[side].hash if side in seeds else None),
            (f"start_{infix}db_sha256", start.get(side)),
            (f"expected_{infix}db_sha256", expected.get(side)),
        ):
            if field in line:
                problems.expect(field, line[field], got)
    if "gold_calls" in line:
        problems.expect("gold_calls", line["gold_calls"], [_gold_call(call) for call in gold.calls])
    if line["reference_actions"] is not None:
        actions = [_reference_action(action) for action in gold.reference_actions]
        problems.expect("reference_actions", line["reference_actions"], actions)
    for assertion, entry in zip_longest(spec.db_assertions, line.get("db_state_assertions") or ()):
        _check_assertion(problems, domain, gold, assertion, entry)
    return problems


def _check_assertion(
    problems: Problems, domain: Domain, gold: Gold, assertion: DbAssertion | None, entry: Line | None
) -> None:
    """Check that an assertion is the recorded one and answers on the gold state as recorded."""
    if assertion is None or entry is None:
        problems.expect("db_state_assertion", entry, assertion and asdict(assertion))
        return
    for name in ("side", "func_name", "arguments", "assert_value"):
        problems.expect(f"{name} of a db_state_assertion", entry[name], getattr(assertion, name))
    verdict = evaluate(assertion, domain.predicates(), gold.databases)
    problems.expect("actual", entry["actual"], verdict.actual)
    problems.expect("holds", entry["holds"], verdict.passed)


def _gold_call(call: ToolResult) -> dict[str, Any]:
    outcome = {"tool": call.tool, "ok": call.ok}
    return outcome if call.ok else {**outcome, "kind": call.error}


def _reference_action(action: Line) -> dict[str, Any]:
    fields = {"type": "action_type", "name": "name", "args": "arguments", "side": "side", "result": "result"}
    return {short: action.get(long) for short, long in fields.items()}


def gold_calls_line(line: Line) -> Problems:
    """Check that a found sequence of calls leads to the expected database."""
    problems = Problems()
    world = worlds.environment(line["seed"], None)
    for position, call in enumerate(line["calls"]):
        result = world.call_tool("agent", call["tool"], call["args"])
        problems.expect(f"failure of call {position}", None, worlds.failure_kind(result))
    records = [{key: value for key, value in action.items() if key != "side"} for action in world.actions]
    problems.expect("action_records", line["action_records"], records)
    problems.expect("db_sha256_after", line["db_sha256_after"], world.databases["agent"].hash)
    return problems


def match_line(line: Line) -> Problems:
    """Check a comparison of recorded actions."""
    problems = Problems()
    if line["kind"] == "single_action":
        got = match_single(line["reference"], line["predicted"])
    else:
        got = match_episode(line["reference"], line["predicted"], MatchOptions(**line["options"]))
    problems.expect("match", line["match"], got)
    return problems


def init_line(line: Line) -> Problems:
    """Check an initialisation function: whether it can be done, and both databases before and after a sync."""
    problems = Problems()
    world = worlds.environment(line["seed"], line["today"])
    worlds.take(world, line["before"])
    problems.expect(
        "ok", line["ok"], _initialized(world, InitAction(line["function"], line["arguments"], line["side"]))
    )
    problems.expect("after", line["after"], worlds.hashes(world))
    world.sync()
    problems.expect("after_sync", line["after_sync"], worlds.hashes(world))
    return problems


def _initialized(world: Environment, action: InitAction) -> bool:
    try:
        world.initialize(action)
    except Exception:  # a step with wrong arguments may fail in any way; the vector only says that it does
        return False
    return True


def predicate_line(line: Line) -> Problems:
    """Check what a predicate answers, and whether that passes."""
    problems = Problems()
    world = worlds.environment(line["seed"], line["today"])
    worlds.take(world, line["setup"])
    assertion = DbAssertion(line["predicate"], line["arguments"], line["side"], line["assert_value"])
    predicates = worlds.domain_named(line["seed"].partition(":")[0]).predicates()
    verdict = evaluate(assertion, predicates, world.databases)
    problems.expect("result", line["result"], verdict.actual)
    problems.expect("passed", line["passed"], verdict.passed)
    problems.expect("has an error", bool(line.get("error")), verdict.error is not None)
    if "db_sha256" in line:  # a side that does not exist has none
        problems.expect("db_sha256", line["db_sha256"], world.databases[assertion.side].hash)
    return problems
