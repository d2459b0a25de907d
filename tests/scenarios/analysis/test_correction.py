import random
from itertools import permutations

import pytest

from scenarios.analysis.correction import (
    MIN_LABELS,
    RatedCall,
    Stratum,
    Undecided,
    correct,
    depends_on_judge,
    headline,
    outcome_by_people,
    strata_of,
)
from scenarios.analysis.intervals import clustered, wilson


def calls(*groups: tuple[int, RatedCall]) -> list[RatedCall]:
    """Return so many of each call, named one after the other."""
    made = [call for count, call in groups for _ in range(count)]
    return [call._replace(call=f"{call.call}{number}") for number, call in enumerate(made)]


def judged(passed: bool, people: str | None = None, sampled: bool = True) -> RatedCall:
    return RatedCall("c", passed, True, people, sampled and people is not None)  # type: ignore[arg-type]


def test_a_call_is_labelled_once_all_its_claims_are() -> None:
    assert outcome_by_people(["pass", "pass"]) == "pass"
    assert outcome_by_people(["pass", "fail"]) == "fail"
    assert outcome_by_people(["fail", "cannot_tell"]) == "fail"
    assert outcome_by_people(["pass", "cannot_tell"]) == "cannot_tell"
    assert outcome_by_people(["fail", None]) is None
    assert outcome_by_people([]) is None


def test_the_judge_decides_a_call_only_where_nothing_else_failed_it() -> None:
    judges = ("nl_assertion", "judge_passed")
    assert depends_on_judge({"db_state_match": True, "nl_assertion": False}, judges)
    assert depends_on_judge({"nl_assertion": True}, judges)
    assert not depends_on_judge({"db_state_match": False, "nl_assertion": False}, judges)
    assert not depends_on_judge({"db_state_match": True, "clean_exit": True}, judges)
    assert not depends_on_judge({"db_state_match": None, "nl_assertion": True}, judges)


def test_the_three_forms_by_hand() -> None:
    rated = calls(
        (20, RatedCall("db", False, False)),
        (10, RatedCall("db", True, False)),
        (40, judged(True)),
        (8, judged(True, "pass")),
        (2, judged(True, "fail")),
        (16, judged(False)),
        (1, judged(False, "pass")),
        (3, judged(False, "fail")),
        # Picked by hand: it overrules, and says nothing of the others.
        (1, judged(True, "fail", sampled=False)),
    )
    found = headline(rated)
    assert (found.raw.count, found.raw.of) == (61, 101)
    assert (found.overridden.count, found.to_pass, found.to_fail) == (61 - 3 + 1, 1, 3)
    assert found.overridden.interval == wilson(59, 101)


def test_the_corrected_rate_by_hand() -> None:
    rated = calls(
        (30, RatedCall("db", False, False)),
        (10, RatedCall("db", True, False)),
        (31, judged(True)),
        (7, judged(True, "pass")),
        (1, judged(True, "fail")),
        (1, judged(True, "fail", sampled=False)),
        (12, judged(False)),
        (2, judged(False, "pass")),
        (5, judged(False, "fail")),
        (1, judged(False, "cannot_tell")),
    )
    found = headline(rated).corrected
    assert found.strata == (Stratum(True, 40, 8, 7), Stratum(False, 20, 7, 2))
    assert found.figure.value == pytest.approx((10 + 40 * 7 / 8 + 20 * 2 / 7) / 100)
    assert (found.cannot_tell, found.not_random, found.missing) == (1, 1, {})
    assert found.figure.interval is not None
    assert found.figure.interval.low < 0.5071 < found.figure.interval.high
    assert found.run_half_width is not None
    assert found.label_half_width is not None
    # Two independent parts: wider than either, narrower than both end to end.
    both = (found.run_half_width, found.label_half_width)
    assert max(both) < found.figure.interval.half_width < sum(both)


def test_it_refuses_with_the_labels_that_each_class_lacks() -> None:
    found = headline(
        calls((60, judged(True)), (9, judged(True, "pass")), (30, judged(False)), (2, judged(False, "fail")))
    )
    assert found.raw.value == pytest.approx(69 / 101)
    assert found.corrected.figure.value is None
    assert found.corrected.figure.interval is None
    assert found.corrected.missing == {"calls that the judge failed": MIN_LABELS - 2}
    assert found.corrected.figure.reason == "too few random labels: 3 more of calls that the judge failed"


def test_labels_of_a_sample_that_is_not_random_do_not_lift_the_refusal() -> None:
    found = headline(calls((50, judged(True, "fail", sampled=False)), (50, judged(True)))).corrected
    assert found.figure.value is None
    assert found.not_random == 50
    assert found.missing == {"calls that the judge passed": MIN_LABELS}


def test_a_class_that_is_labelled_whole_needs_no_more() -> None:
    found = headline(calls((95, judged(True)), (20, judged(True, "pass")), (2, judged(False, "pass")))).corrected
    assert found.missing == {}
    assert found.figure.value == pytest.approx(1.0)


def test_with_every_call_labelled_it_is_peoples_rate() -> None:
    rated = calls((30, judged(True, "pass")), (20, judged(True, "fail")), (10, judged(False, "pass")))
    found = headline(rated)
    expected = wilson(40, 60)
    interval = found.corrected.figure.interval
    assert expected is not None
    assert interval is not None
    assert found.corrected.figure.value == pytest.approx(40 / 60) == found.overridden.value
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high))
    assert found.corrected.label_half_width == pytest.approx(0.0)


def test_a_run_that_no_judge_decides_needs_no_label() -> None:
    found = headline(calls((3, RatedCall("a", True, False)), (7, RatedCall("b", False, False))))
    expected, interval = wilson(3, 10), found.corrected.figure.interval
    assert expected is not None
    assert interval is not None
    assert found.corrected.figure.value == found.raw.value == 0.3
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high))


def test_nothing_rated_is_no_rate() -> None:
    found = headline([])
    for figure in (found.raw, found.overridden, found.corrected.figure):
        assert (figure.value, figure.interval, figure.of, figure.reason) == (None, None, 0, "no call is rated")


def test_a_call_that_comes_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="call a comes twice"):
        headline([RatedCall("a", True, False), RatedCall("a", False, False)])


def test_a_property_known_of_every_call_may_be_sampled_by() -> None:
    def flagged(call: RatedCall) -> RatedCall:
        return call._replace(stratum="flagged")

    rated = calls(
        (5, flagged(judged(True, "fail"))),
        (5, flagged(judged(True, "pass"))),
        (80, judged(True)),
        (10, judged(True, "pass")),
    )
    found = headline(rated).corrected
    assert [str(stratum) for stratum in found.strata] == [
        "calls that the judge passed (flagged)",
        "calls that the judge passed",
    ]
    # Thrown together, 15 of 20 labels would say 75 %.
    assert found.figure.value == pytest.approx((5 + 90) / 100)


def test_trials_of_one_scenario_go_together() -> None:
    alone = calls((60, judged(True, "pass")), (40, judged(False, "fail")))
    together = [call._replace(scenario=f"s{number // 4}") for number, call in enumerate(alone)]
    wide, narrow = headline(together).corrected.figure, headline(alone).corrected.figure
    expected = clustered([(4, 4)] * 15 + [(0, 4)] * 10)
    assert wide.interval is not None
    assert narrow.interval is not None
    assert expected is not None
    assert (wide.interval.low, wide.interval.high) == pytest.approx((expected.low, expected.high))
    assert wide.interval.half_width > 1.5 * narrow.interval.half_width


def test_the_order_of_calls_does_not_matter() -> None:
    groups = [
        (9, judged(True, "pass")),
        (5, judged(False, "fail")),
        (30, judged(True)),
        (4, RatedCall("d", False, False)),
    ]
    rated = calls(*groups)
    expected = headline(rated)
    random.Random(1).shuffle(rated)
    assert headline(rated) == expected
    for order in permutations(strata_of(rated)):
        found = correct(Undecided(4, 0), order)
        assert found.figure.value == pytest.approx(expected.corrected.figure.value)


def test_the_interval_stays_within_0_and_1() -> None:
    for passes in range(11):
        interval = correct(Undecided(0, 0), [Stratum(True, 400, 10, passes)]).figure.interval
        assert interval is not None
        assert 0 <= interval.low <= passes / 10 <= interval.high <= 1
