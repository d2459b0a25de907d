import pytest

from scenarios.scoring.rollup import (
    ItemCount,
    OutcomeCount,
    SignalCount,
    do_nothing_rate,
    inaction_count,
    item_rates,
    signal_rates,
    success_rate,
)


def counts(**outcomes: int) -> list[OutcomeCount]:
    return [OutcomeCount(outcome, False, number) for outcome, number in outcomes.items()]


def test_stalled_counts_as_failed_and_the_rest_is_left_out_by_name() -> None:
    rate = success_rate(
        [
            *counts(**{"pass": 6}, fail=2, stalled=2, judge_error=1, infra_error=3, cancelled=2),
            OutcomeCount("", False, 4),
        ]
    )
    assert (rate.passes, rate.total, rate.value) == (6, 10, 0.6)
    assert rate.left_out == {"judge_error": 1, "infra_error": 3, "cancelled": 2, "open": 4}
    assert rate.left_out_total == 10
    assert rate.left_out_text == "1 judge failed, 3 infrastructure failed, 2 cancelled, 4 not finished"
    assert rate.interval is not None


def test_two_of_two_beside_eight_errors_carries_a_warning() -> None:
    rate = success_rate(counts(**{"pass": 2}, infra_error=8))
    assert (rate.passes, rate.total) == (2, 2)
    assert rate.warning == "only 2 of 10 are in this rate"
    assert "left out: 8 infrastructure failed" in str(rate)


def test_six_of_eight_with_two_unscored() -> None:
    rate = success_rate(counts(**{"pass": 6}, fail=2, unscored=2))
    assert (rate.passes, rate.total, rate.left_out) == (6, 8, {"unscored": 2})


@pytest.mark.parametrize("empty", [[], counts(infra_error=3)])
def test_a_rate_over_nothing_is_a_dash(empty: list[OutcomeCount]) -> None:
    rate = success_rate(empty)
    assert (rate.value, rate.interval) == (None, None)
    assert str(rate).startswith("- (0 of 0")


def test_a_full_rate_has_no_warning() -> None:
    assert success_rate(counts(**{"pass": 5})).warning == ""
    assert success_rate([]).warning == ""


def test_passes_by_inaction_are_counted_and_can_be_left_out() -> None:
    rows = [OutcomeCount("pass", True, 3), OutcomeCount("pass", False, 5), OutcomeCount("fail", False, 2)]
    assert inaction_count(rows) == 3
    assert success_rate(rows).passes == 8
    without = success_rate(rows, without_inaction=True)
    assert (without.passes, without.total, without.left_out) == (5, 7, {"by_inaction": 3})


def test_repetitions_widen_the_interval() -> None:
    rows = counts(**{"pass": 60}, fail=40)
    plain = success_rate(rows).interval
    together = success_rate(rows, clusters=[(10, 10)] * 6 + [(0, 10)] * 4).interval
    assert plain is not None
    assert together is not None
    assert together.half_width > 2 * plain.half_width
    assert "clustered" in together.method


def test_clusters_that_do_not_add_up_are_refused() -> None:
    with pytest.raises(ValueError, match="do not add up to 1 passes of 1"):
        success_rate(counts(**{"pass": 1}), clusters=[(2, 2)])


def test_stalled_trials_leave_the_signal_rates() -> None:
    rates = signal_rates(
        [
            SignalCount("db_state_match", "passed", "pass", 5),
            SignalCount("db_state_match", "failed", "fail", 3),
            SignalCount("db_state_match", "failed", "stalled", 2),
            SignalCount("db_state_match", "passed", "infra_error", 1),
            SignalCount("db_state_match", "passed", "judge_error", 1),
            SignalCount("nl_assertion", "undecided", "judge_error", 1),
            SignalCount("nl_assertion", "not_applicable", "pass", 4),
        ]
    )
    match = rates["db_state_match"]
    assert (match.passes, match.total) == (6, 9)
    assert match.left_out == {"stalled": 2, "infra_error": 1}
    claims = rates["nl_assertion"]
    assert (claims.value, claims.left_out) == (None, {"undecided": 1, "not_applicable": 4})


def test_claims_are_counted_in_items_and_errors_left_out() -> None:
    rates = item_rates(
        [
            ItemCount("nl_assertion", True, False, "pass", 40),
            ItemCount("nl_assertion", False, False, "fail", 15),
            ItemCount("nl_assertion", False, True, "judge_error", 6),
            ItemCount("nl_assertion", False, False, "stalled", 2),
            ItemCount("db_state_assertion", True, False, "fail", 3),
        ]
    )
    assert (rates["nl_assertion"].passes, rates["nl_assertion"].total) == (40, 55)
    assert rates["nl_assertion"].left_out == {"error": 6, "stalled": 2}
    assert str(rates["db_state_assertion"]).startswith("100.0 % [")


def test_the_do_nothing_line_is_a_fact_without_an_interval() -> None:
    rate = do_nothing_rate(114, 6)
    assert (rate.passes, rate.total, rate.interval) == (6, 114, None)
    assert str(rate) == "5.3 % (6 of 114)"
