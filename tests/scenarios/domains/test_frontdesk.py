"""The built-in domain as a whole: its scenarios, their gold and what they are there to show."""

import json
from collections import Counter

import pytest

from scenarios.domains import load
from scenarios.domains.base import SIGNALS, ScenarioSpec
from scenarios.domains.environment import Environment
from scenarios.domains.frontdesk import FrontDesk
from scenarios.domains.frontdesk.loader import FOLDER, read_scenario
from scenarios.replay import gold_replay

DOMAIN = load()["frontdesk"]
SPECS = {spec.task_id: spec for spec in DOMAIN.scenarios()}
each = pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)


def test_it_is_registered_and_needs_no_download() -> None:
    assert isinstance(DOMAIN, FrontDesk)
    assert DOMAIN.missing_data() is None


def test_about_a_dozen_scenarios_use_every_signal() -> None:
    used = Counter(signal for spec in SPECS.values() for signal in spec.success_signals)

    assert len(SPECS) == 12
    assert set(used) == set(SIGNALS)
    assert used["clean_exit"] == 12


@each
def test_the_gold_works_on_the_first_try(spec: ScenarioSpec) -> None:
    gold = gold_replay(spec)

    assert gold.health.failing_writes == ()
    assert gold.health.failing_reads == ((1,) if spec.task_id == "wrong_number" else ())
    assert gold.health.duplicate_of is None
    assert all(call.error is None or call.error == "reservation_not_found" for call in gold.calls)


def test_what_each_odd_scenario_shows() -> None:
    equal_to_seed = {name for name, spec in SPECS.items() if gold_replay(spec).health.gold_equals_seed}
    by_inaction = {name for name, spec in SPECS.items() if gold_replay(spec).health.passes_by_inaction}

    assert equal_to_seed == {"saver_refusal", "large_refund", "bill_question", "second_thoughts"}
    assert by_inaction == {"second_thoughts"}


@each
def test_the_gold_satisfies_its_own_predicates_and_the_seed_does_not(spec: ScenarioSpec) -> None:
    predicates, gold = DOMAIN.predicates(), gold_replay(spec)
    start = Environment(DOMAIN, spec).databases["agent"]

    for assertion in spec.db_assertions:
        predicate = predicates[assertion.func_name]
        assert predicate(gold.databases["agent"], **assertion.arguments) == assertion.assert_value
    before = [predicates[a.func_name](start, **a.arguments) == a.assert_value for a in spec.db_assertions]
    assert not before or not all(before)


@each
def test_every_figure_of_a_claim_is_in_the_records_or_the_policy(spec: ScenarioSpec) -> None:
    known = DOMAIN.agent_prompt(spec) + json.dumps([call.value for call in gold_replay(spec).calls])
    for claim in spec.nl_assertions:
        for word in claim.replace("$", " ").split():
            if word[:1].isdigit():
                assert f"{float(word.rstrip('.')):g}" in known, claim


@each
def test_both_sides_are_told_their_part(spec: ScenarioSpec) -> None:
    caller, agent = DOMAIN.caller_prompt(spec), DOMAIN.agent_prompt(spec)

    assert spec.caller.goal in caller
    assert spec.caller.known_info in caller
    assert "{" not in caller
    assert spec.caller.goal not in agent
    assert "14 March 2026" in agent
    assert DOMAIN.tool_now(spec).startswith("2026-03-14")


def test_a_caller_who_knows_everything_is_told_so() -> None:
    spec = SPECS["breakfast"]

    assert not spec.caller.unknown_info
    assert "nothing in particular" in DOMAIN.caller_prompt(spec)
    assert "reservation number" in DOMAIN.caller_prompt(SPECS["late_checkout_gold"])


def test_only_the_agent_has_tools_and_a_database() -> None:
    spec = SPECS["breakfast"]

    assert [tool.model_name() for tool in DOMAIN.tools("agent")][-2:] == ["transfer_to_manager", "end_conversation"]
    assert DOMAIN.tools("user") == ()
    assert set(DOMAIN.seeds(spec)) == {"agent"}
    assert DOMAIN.seeds(spec)["agent"] is DOMAIN.seeds(SPECS["new_dates"])["agent"]


def test_fields_that_a_task_leaves_out_have_defaults() -> None:
    task = {
        "task_id": "t",
        "title": "T",
        "caller": {"goal": "g"},
        "success_signals": ["clean_exit"],
        "gold_actions": [],
    }
    spec = read_scenario(task)

    assert (spec.name, spec.max_duration_s, spec.tags, spec.db_assertions) == ("frontdesk__t", 300, (), ())


def test_the_hotel_is_consistent() -> None:
    data = json.loads((FOLDER / "database.json").read_text())
    reservations = data["reservations"]

    for key, reservation in reservations.items():
        guest, room = data["guests"][reservation["guest_id"]], data["rooms"][reservation["room"]]
        assert reservation["card_id"] in guest["cards"], key
        assert room["type"] == reservation["room_type"], key
        assert reservation["guests"] <= data["room_types"][room["type"]]["sleeps"], key
        assert reservation["price_per_night"] == data["room_types"][room["type"]]["price_per_night"], key
    stays = [(r["room"], r["arrival"], r["departure"]) for r in reservations.values()]
    clashes = [(a, b) for a in stays for b in stays if a < b and a[0] == b[0] and a[1] < b[2] and b[1] < a[2]]
    assert clashes == []
