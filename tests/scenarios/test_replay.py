"""Gold replay: expected states, recorded actions, and what is odd about a scenario itself."""

from dataclasses import replace
from pathlib import Path

import pytest

from scenarios import domains
from scenarios.domains.base import DbAssertion, GoldAction, InitAction
from scenarios.replay import Gold, gold_replay
from scenarios.state.diff import three_way
from tests.scenarios.domains.toy import Toy, spec


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Toy:
    domain = Toy()
    loaded = {**domains.load(), "toy": domain}
    monkeypatch.setattr(domains, "load", lambda: loaded)
    return domain


def retail(task_id: str) -> Gold:
    return gold_replay(next(spec for spec in domains.load()["tau2_retail"].scenarios() if spec.task_id == task_id))


@pytest.mark.parametrize(
    ("task_id", "digest"),
    [
        ("0", "ddb06c478ea9f39a0f51ad224ec332a4182079586c4d23967215b05bce96d08d"),
        ("16", "f98f39d340919833d2e4478c36074e84cd20e101da6ca823623448c6e36e93cb"),
    ],
)
def test_the_gold_hashes_of_the_reference(benchmarks: Path, task_id: str, digest: str) -> None:
    assert retail(task_id).expected_hashes == {"agent": digest}


def test_who_passes_by_doing_nothing(benchmarks: Path) -> None:
    health = {spec.task_id: gold_replay(spec).health for spec in domains.load()["tau2_retail"].scenarios()}
    equal = {task for task, found in health.items() if found.gold_equals_seed}
    assert equal == {"10", "12", "24", "25", "50", "57", "62", "65", "67", "68", "105"}
    inaction = {task for task, found in health.items() if found.passes_by_inaction}
    assert inaction == {"10", "12", "25", "50", "57", "65"}


def test_failing_reads_are_told_from_failing_writes(benchmarks: Path) -> None:
    health = {spec.task_id: gold_replay(spec).health for spec in domains.load()["tau2_retail"].scenarios()}
    assert {task for task, found in health.items() if found.failing_writes} == {"64", "105"}
    reads = {task for task, found in health.items() if found.failing_reads}
    assert reads == {"2", "3", "4", "35", "37", "38", "39", "46", "47", "54", "55", "67", "68"}


def test_a_gold_write_that_fails_leaves_the_database_unchanged(benchmarks: Path) -> None:
    gold = retail("105")
    assert [call.error for call in gold.calls] == ["gift_card_balance_too_low"]
    assert gold.expected_hashes == gold.start_hashes
    assert gold.reference_actions == ()


def test_which_domains_ship_their_end_state(benchmarks: Path) -> None:
    shipped = {name for name, domain in domains.load().items() if gold_replay(domain.scenarios()[0]).is_shipped}
    assert shipped == {"eva_airline"}


def test_the_gold_played_against_itself_has_only_right_fields(benchmarks: Path) -> None:
    for item in domains.load()["tau2_retail"].scenarios()[:20]:
        gold = gold_replay(item)
        expected = gold.databases["agent"]
        assert {row.state for row in three_way(expected, expected, [], gold.calls)} <= {"right"}


def test_a_replay_is_made_once_for_each_fidelity(toy: Toy) -> None:
    item = spec("once", gold_actions=(GoldAction("add", {"counter": "a", "amount": 1}),))
    assert gold_replay(item) is gold_replay(item)
    spoken = gold_replay(item, "reference").reference_actions[0]["arguments"]["counter"]
    assert (gold_replay(item).reference_actions[0]["arguments"]["counter"], spoken) == ("A", "a")


def test_both_sides_act_and_are_synced(toy: Toy) -> None:
    actions = (GoldAction("add", {"counter": "A", "amount": 60}), GoldAction("switch_lamp", {}, "user"))
    gold = gold_replay(spec("both", gold_actions=actions))
    assert gold.databases["user"].get("lamp") == {"is_on": True, "colour": "red"}
    assert [action["side"] for action in gold.reference_actions] == ["agent", "user"]
    assert gold.start_databases["user"].get("lamp") == {"is_on": False, "colour": None}
    assert not gold.health.gold_equals_seed
    written = [[(change["side"], change["path"][-1]) for change in call.changes] for call in gold.calls]
    assert written == [[("agent", "value"), ("agent", 0), ("user", "colour")], [("user", "is_on")]]


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (InitAction("nonsense", {}, "agent"), "toy has no initialisation function 'nonsense'"),
        (InitAction("set", {"counter": "Z", "value": 1}, "agent"), "set fails with KeyError: 'Z'"),
        (InitAction("set", {"counter": "A", "value": 1}, "robot"), "set names the side 'robot'"),  # type: ignore[arg-type]
    ],
)
def test_a_scenario_that_cannot_start_says_so_and_passes_nobody(toy: Toy, step: InitAction, said: str) -> None:
    gold = gold_replay(spec("broken", init_actions=(step,), gold_actions=WRITE, db_assertions=(DARK,)))
    assert said in gold.health.cannot_start
    assert not gold.health.passes_by_inaction
    assert (gold.health.true_at_start, gold.health.failing_writes, gold.reference_actions) == ((), (), ())
    assert [(call.ok, call.error) for call in gold.calls] == [(False, "cannot_start")]
    assert gold.databases["agent"].hash == toy.seeds(spec("1"))["agent"].hash


def test_an_unknown_gold_tool_is_a_failing_call(toy: Toy) -> None:
    gold = gold_replay(spec("unknown", gold_actions=(GoldAction("nonsense", {}),)))
    assert gold.health.failing_reads == (0,)
    assert gold.calls[0].error == "unknown_tool"


LIT = DbAssertion("lamp_is_on", {"expected": True}, "user")
DARK = DbAssertion("lamp_is_on", {"expected": False}, "user")
BROKEN = DbAssertion("lamp_is_on", {"bogus": 1}, "user")
WRITE = (GoldAction("add", {"counter": "A", "amount": 1}),)


@pytest.mark.parametrize(
    ("fields", "passes"),
    [
        ({}, True),
        ({"gold_actions": WRITE}, False),
        ({"success_signals": ("clean_exit",), "gold_actions": WRITE}, True),
        ({"success_signals": ("nl_assertion", "clean_exit"), "nl_assertions": ("Said so.",)}, False),
        ({"success_signals": ("nl_assertion", "clean_exit")}, True),
        ({"success_signals": ("judge_passed", "clean_exit")}, False),
        ({"success_signals": ("is_action_match",), "gold_actions": WRITE}, False),
        ({"success_signals": ("is_action_match",)}, True),
        ({"success_signals": ("db_state_assertion",), "db_assertions": (DARK,)}, True),
        ({"success_signals": ("db_state_assertion",), "db_assertions": (DARK, LIT)}, False),
        ({"success_signals": ("db_state_assertion",), "db_assertions": (BROKEN,)}, False),
    ],
)
def test_what_a_do_nothing_agent_passes(toy: Toy, fields: dict[str, object], passes: bool) -> None:
    assert gold_replay(spec(f"nothing {fields}", **fields)).health.passes_by_inaction is passes


def test_a_scenario_that_repeats_an_earlier_one_names_it(toy: Toy) -> None:
    first, other = toy.scenarios()
    copy = replace(first, name="toy__copy", task_id="copy")
    assert gold_replay(first).health.duplicate_of is None
    assert gold_replay(other).health.duplicate_of is None
    assert gold_replay(replace(copy, max_duration_s=7)).health.duplicate_of == "toy__1"


def test_the_same_task_under_another_policy_is_no_duplicate(toy: Toy) -> None:
    other = replace(toy.scenarios()[0], name="toy_variant__1")
    assert gold_replay(other).health.duplicate_of is None
