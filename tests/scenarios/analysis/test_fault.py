import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.analysis.fault import (
    FAULT_SIDES,
    SIDE_WORDS,
    Clue,
    FaultRates,
    FaultSide,
    LedgerCall,
    attribute,
    fault_rates,
)
from scenarios.analysis.intervals import clustered, wilson

SURE = {side: Clue(side, "k", f"{side} did it", decides=True) for side in FAULT_SIDES}
HINT = {side: Clue(side, "k", f"perhaps {side}") for side in FAULT_SIDES}


@pytest.mark.parametrize("side", FAULT_SIDES)
def test_one_clue_that_decides_is_the_side(side: FaultSide) -> None:
    found = attribute([SURE[side]])
    assert (found.side, found.by, found.reason, found.suspected) == (side, "rule", f"{side} did it", (side,))


@pytest.mark.parametrize("side", FAULT_SIDES)
def test_a_hint_decides_nothing_and_is_offered(side: FaultSide) -> None:
    found = attribute([HINT[side], HINT[side]])
    assert (found.side, found.by, found.suspected) == (None, "", (side,))
    assert found.reason == f"the record hints at {SIDE_WORDS[side]}, which a person has to confirm"


def test_nothing_points_anywhere() -> None:
    found = attribute([])
    assert (found.side, found.by, found.suspected, found.clues) == (None, "", (), ())
    assert found.reason == "nothing in the record points to a side"


def test_two_sides_are_for_a_person() -> None:
    found = attribute([SURE["task"], SURE["caller"]])
    assert found.side is None
    assert found.reason == "the record speaks against simulated caller and task definition"
    assert found.suspected == ("caller", "task")


@pytest.mark.parametrize("other", [side for side in FAULT_SIDES if side != "agent"])
def test_the_agent_is_not_blamed_by_rule_while_anything_points_elsewhere(other: FaultSide) -> None:
    assert attribute([SURE["agent"], HINT[other]]).side is None
    assert attribute([SURE["agent"], HINT["agent"]]).side == "agent"
    # The other way round a hint at the agent does not keep what is certain.
    assert attribute([SURE[other], HINT["agent"]]).side == other


def test_a_persons_word_stands_above_every_rule() -> None:
    found = attribute([SURE["task"]], person="agent", person_reason="It never read the policy.")
    assert (found.side, found.by, found.reason) == ("agent", "person", "It never read the policy.")
    assert found.suspected == ("task",)


def ledger(passes: int, fails: dict[FaultSide | None, int], doubted: int = 0) -> list[LedgerCall]:
    calls = [LedgerCall(f"p{number}", True) for number in range(passes)]
    calls += [LedgerCall(f"d{number}", True, "task") for number in range(doubted)]
    return calls + [
        LedgerCall(f"f{side}{number}", False, side) for side, many in fails.items() for number in range(many)
    ]


def counts(found: FaultRates) -> list[tuple[int | None, int]]:
    return [(figure.count, figure.of) for figure in (found.raw, found.without, found.worst, found.best)]


def test_the_rates_by_hand() -> None:
    found = fault_rates(ledger(60, {"agent": 15, "caller": 6, "judge": 4, None: 10}, doubted=5))
    assert counts(found) == [(65, 100), (60, 85), (60, 100), (85, 100)]
    assert found.fails == {"agent": 15, "caller": 6, "judge": 4}
    assert (found.undecided, found.doubted_passes) == (10, 5)
    assert found.raw.interval == wilson(65, 100)


def test_trials_of_one_scenario_go_together() -> None:
    calls = [call._replace(scenario=call.call[-1]) for call in ledger(40, {"agent": 20})]
    groups: dict[str, list[bool]] = {}
    for call in calls:
        groups.setdefault(call.scenario, []).append(call.passed)
    assert fault_rates(calls).raw.interval == clustered((sum(group), len(group)) for group in groups.values())


def test_a_rate_over_nothing_is_none() -> None:
    found = fault_rates([])
    assert [figure.value for figure in (found.raw, found.without, found.worst, found.best)] == [None] * 4
    blameless = fault_rates(ledger(0, {"judge": 3}))
    assert (blameless.without.value, blameless.without.reason) == (None, "no call is rated")
    assert counts(blameless) == [(0, 3), (None, 0), (0, 3), (3, 3)]


SIDES = st.none() | st.sampled_from(FAULT_SIDES)
CALLS = st.lists(st.tuples(st.booleans(), SIDES), max_size=30).map(
    lambda rows: [LedgerCall(str(number), passed, side) for number, (passed, side) in enumerate(rows)]
)


@given(CALLS)
def test_the_bounds_hold_every_rate(calls: list[LedgerCall]) -> None:
    found = fault_rates(calls)
    if not calls:
        return
    assert found.worst.value is not None
    assert found.raw.value is not None
    assert found.best.value is not None
    assert found.worst.value <= found.raw.value <= found.best.value
    if found.without.value is not None:
        assert found.worst.value <= found.without.value <= found.best.value


@given(CALLS, st.booleans(), SIDES, SIDES)
def test_moving_one_call_changes_exactly_what_hangs_on_it(
    calls: list[LedgerCall], passed: bool, before: FaultSide | None, after: FaultSide | None
) -> None:
    first, second = (counts(fault_rates([*calls, LedgerCall("moved", passed, side)])) for side in (before, after))
    own = {side: side in (None, "agent") for side in (before, after)}
    assert second[0] == first[0]
    kept = own[after] - own[before]
    assert second[1][1] - first[1][1] == kept
    assert (second[1][0] or 0) - (first[1][0] or 0) == (kept if passed else 0)
    assert (second[2][0] or 0) - (first[2][0] or 0) == (kept if passed else 0)
    best = 0 if passed else (after != "agent") - (before != "agent")
    assert (second[3][0] or 0) - (first[3][0] or 0) == best


@given(CALLS, st.randoms(use_true_random=False))
def test_the_order_of_calls_does_not_matter(calls: list[LedgerCall], rng: object) -> None:
    expected = fault_rates(calls)
    shuffled = list(calls)
    rng.shuffle(shuffled)  # type: ignore[attr-defined]
    assert fault_rates(shuffled) == expected
