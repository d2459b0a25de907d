"""What upstream demands beside the signals: facts said, calls made; and the outcome by either strictness."""

from pathlib import Path
from typing import Any

import pytest

from scenarios import domains
from scenarios.domains.base import GoldAction, ScenarioSpec
from scenarios.replay import gold_replay
from scenarios.scoring import upstream
from scenarios.scoring.config import ScoringConfig
from scenarios.scoring.evidence import Evidence
from scenarios.scoring.results import Decision
from scenarios.scoring.success import score_trial
from tests.scenarios.scoring.cases import END, evidence, gold, idle, spec, turns, use
from tests.scenarios.scoring.whole_calls import score

TRANSFER = GoldAction("transfer", {"summary": "cannot be mended"}, compare_args=())
HANDED_OVER = use(8, "transfer", arguments={"summary": "whatever"}, changes=(), action=None, ends_call=True)


def facts(*texts: str, **fields: Any) -> ScenarioSpec:
    return spec(communicate_info=texts, reward_basis=("DB", "COMMUNICATE"), **fields)


def calls(*actions: GoldAction, **fields: Any) -> ScenarioSpec:
    return spec(gold_actions=actions, reward_basis=("ENV_ASSERTION", "ACTION"), **fields)


def said(*texts: str) -> Evidence:
    return evidence(turns=turns(*texts))


@pytest.mark.parametrize(
    ("fact", "words", "expected"),
    [
        ("1628", "That is $1,628 in all.", True),
        ("1628", "That is 1628 dollars.", True),
        ("1,628", "That is 1628 dollars.", True),
        ("1000000", "You won 1,000,000!", True),
        ("1628", "That is 16,28.", False),
        ("1628", "That is 16 28.", False),
        ("481.5", "It costs 481.50.", True),
        ("481.50", "It costs 481.5.", False),
        ("Mastercard", "By your MASTERCARD.", True),
        ("943 Maple Drive", "It goes to 943 maple drive, Suite 356.", True),
        ("4", "There are 14 of them.", True),  # upstream's own laxity
        ("4", "There are four.", False),
    ],
)
def test_a_fact_is_said_when_a_turn_of_the_agent_contains_it(fact: str, words: str, expected: bool) -> None:
    (verdict,) = upstream.checks(facts(fact), said("Hello?", words))
    assert (verdict.signal, verdict.index, verdict.passed) == ("communicate", 1, expected)
    if expected:
        assert [(quote.turn, quote.seq, quote.found) for quote in verdict.evidence] == [(2, 20, True)]
    else:
        assert "no turn" in verdict.reason
        assert verdict.evidence == ()


def test_what_the_caller_says_is_not_said_and_turns_are_not_joined() -> None:
    (verdict,) = upstream.checks(facts("1628"), said("It was 1628.", "Was it 16", "Yes.", "28?"))
    assert not verdict.passed


def test_each_fact_has_its_own_verdict() -> None:
    found = upstream.checks(facts("327", "1000", "1786"), said("?", "327 and 1,786 dollars."))
    assert [(verdict.index, verdict.passed) for verdict in found] == [(1, True), (2, False), (3, True)]


def test_facts_and_calls_outside_the_basis_demand_nothing() -> None:
    bare = spec(communicate_info=("1628",), gold_actions=(TRANSFER,), reward_basis=("DB", "NL_ASSERTION"))
    assert upstream.checks(bare, evidence()) == ()


@pytest.mark.parametrize(
    ("action", "tools", "expected"),
    [
        (TRANSFER, (HANDED_OVER,), True),
        (TRANSFER, (END,), False),
        (TRANSFER, (use(1, "transfer", side="user"),), False),
        (GoldAction("cancel", {"order_id": "W1"}), (use(),), True),
        (GoldAction("cancel", {"order_id": "W2"}), (use(),), False),
        (GoldAction("cancel", {"order_id": "W2"}, compare_args=()), (use(),), True),
        (GoldAction("cancel", {"order_id": "W1", "why": "x"}, compare_args=("order_id",)), (use(),), True),
        (GoldAction("cancel", {"order_id": "W1", "why": "x"}), (use(),), False),
        (GoldAction("cancel", {"order_id": "W2"}), (use(1), use(2, arguments={"order_id": "W2"})), True),
        (GoldAction("press", {}, side="user"), (use(1, "press", side="user", arguments={}),), True),
    ],
)
def test_a_call_is_made_when_name_and_compared_arguments_agree(action: GoldAction, tools: Any, expected: bool) -> None:
    (verdict,) = upstream.checks(calls(action), evidence(tools=tools))
    assert (verdict.signal, verdict.passed) == ("action", expected)
    assert bool(verdict.evidence) == expected


def test_a_missed_call_says_whether_it_was_tried() -> None:
    wrong = GoldAction("cancel", {"order_id": "W2"})
    first, second = upstream.checks(calls(wrong, TRANSFER), evidence())
    assert first.claim == "cancel(order_id='W2') is called"
    assert first.reason == "called, but never with these arguments"
    assert (second.claim, second.reason) == ("transfer is called", "never called")


def decided(scenario: ScenarioSpec, call: Evidence, strictness: Any) -> Decision:
    return score_trial(scenario, gold(), call, ScoringConfig(strictness=strictness), None).decision


@pytest.mark.parametrize(
    ("call", "reference", "strict"),
    [
        (said("Cancel W1.", "The refund is 1,628.", "Thanks.", "Bye."), "pass", "pass"),
        (evidence(), "pass", "fail"),
        (idle(), "fail", "fail"),
        (evidence(agent_turns=1), "stalled", "stalled"),
        (evidence(intervened_by="mia"), "tainted", "tainted"),
        (evidence(end_reason="cancelled"), "cancelled", "cancelled"),
    ],
)
def test_both_outcomes_are_known_whichever_the_run_wants(call: Evidence, reference: str, strict: str) -> None:
    scenario = facts("1628")
    asked = decided(scenario, call, "reference")
    assert (asked.outcome, asked.other_outcome) == (reference, strict)
    other = decided(scenario, call, "upstream")
    assert (other.outcome, other.other_outcome) == (strict, reference)
    assert asked.upstream_checks == other.upstream_checks
    assert asked.success_breakdown == other.success_breakdown


def test_a_missed_demand_is_the_reason_and_no_success() -> None:
    decision = decided(facts("1628"), evidence(), "upstream")
    assert decision.reason == "upstream also demands: The agent says '1628'. (no turn of the agent contains it)"
    assert (decision.is_successful, decision.is_task_successful) == (False, False)


def test_a_demand_that_is_met_gives_a_scenario_without_signals_its_pass() -> None:
    bare = facts("1628", success_signals=("nl_assertion", "clean_exit"))
    call = said("Cancel W1.", "The refund is 1628.", "Thanks.", "Bye.")
    assert decided(bare, call, "reference").outcome == "unscored"
    assert decided(bare, call, "upstream").outcome == "pass"


@pytest.mark.parametrize(
    ("fields", "unwritten"),
    [
        ({"reward_basis": ("DB", "NL_ASSERTION")}, ("NL_ASSERTION",)),
        ({"reward_basis": ("DB", "NL_ASSERTION"), "nl_assertions": ("a",)}, ()),
        ({"reward_basis": ("DB", "COMMUNICATE")}, ("COMMUNICATE",)),
        ({"reward_basis": ("DB",)}, ()),
        ({"reward_basis": ("ENV_ASSERTION", "ACTION"), "gold_actions": ()}, ("ENV_ASSERTION", "ACTION")),
    ],
)
def test_parts_of_the_reward_with_nothing_written_are_named(fields: dict[str, Any], unwritten: Any) -> None:
    assert upstream.nothing_written(spec(**fields)) == unwritten


def inaction(domain: str, prefix: str) -> tuple[int, int, int]:
    """Return how many scenarios there are, and how many an idle agent passes by either strictness."""
    specs = [item for item in domains.load()[domain].scenarios() if item.name.startswith(f"{prefix}__")]
    golds = [(item, gold_replay(item)) for item in specs]
    by_reference = sum(replay.health.passes_by_inaction for _, replay in golds)
    return len(specs), by_reference, sum(upstream.passes_by_inaction(*pair) for pair in golds)


@pytest.mark.parametrize(
    ("domain", "prefix", "expected"),
    [
        ("tau2_airline", "tau2_airline", (50, 24, 23)),
        ("tau2_retail", "tau2_retail", (114, 6, 6)),
        ("tau2_telecom", "tau2_telecom", (114, 20, 0)),
        ("tau2_telecom", "tau2_telecom_workflow", (114, 20, 0)),
        ("eva_airline", "eva_airline", (50, 6, 6)),
    ],
)
def test_doing_nothing_passes_as_measured(
    benchmarks: Path, domain: str, prefix: str, expected: tuple[int, int, int]
) -> None:
    """reference-system.md 9, fact 1; upstream's transfers and facts stop the idle agent."""
    assert inaction(domain, prefix) == expected


def test_the_tasks_that_demand_more_are_those_of_the_files(benchmarks: Path) -> None:
    airline = domains.load()["tau2_airline"].scenarios()
    assert [item.task_id for item in airline if upstream.demanded_facts(item)] == ["3", "7", "11", "14", "18", "23"]
    telecom = domains.load()["tau2_telecom"].scenarios()
    demanding = [item for item in telecom if upstream.demanded_calls(item)]
    assert len(demanding) == 2 * 20
    assert {action.tool for item in demanding for action in item.gold_actions} == {"transfer_to_human_agents"}
    retail = domains.load()["tau2_retail"].scenarios()
    assert not any(upstream.demanded_facts(item) or upstream.demanded_calls(item) for item in retail)
    assert sum("NL_ASSERTION" in upstream.nothing_written(item) for item in retail) == 72


def test_a_real_transfer_task_is_passed_by_transferring(benchmarks: Path) -> None:
    item = next(item for item in domains.load()["tau2_telecom"].scenarios() if upstream.demanded_calls(item))
    idle_call = score(item, []).decision
    assert (idle_call.outcome, idle_call.other_outcome, idle_call.by_inaction) == ("pass", "fail", True)
    transferred = score(item, item.gold_actions).decision
    assert (transferred.outcome, transferred.other_outcome) == ("pass", "pass")
