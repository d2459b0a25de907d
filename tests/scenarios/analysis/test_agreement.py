import random
import subprocess
import sys
from itertools import permutations

import krippendorff
import numpy as np
import pytest

from scenarios.analysis.agreement import Agreement, Label, Ruling, agreement, agreement_table
from scenarios.analysis.intervals import wilson
from scenarios.analysis.reliability import Confusion, Figure, alpha, kappa


def labels(text: str, *, blind: bool = True, domain: str = "", kind: str = "") -> list[Label]:
    """Return labels of raters A, B, C...: one column an item, one line a rater, "+", "-", "?" or "." for none."""
    meaning: dict[str, Ruling] = {"+": "pass", "-": "fail", "?": "cannot_tell"}
    return [
        Label(f"i{column}", "ABCDEFG"[row], meaning[sign], blind, domain, kind)
        for row, line in enumerate(text.split())
        for column, sign in enumerate(line)
        if sign in meaning
    ]


def judge(text: str) -> dict[str, bool | None]:
    return {f"i{column}": {"+": True, "-": False}.get(sign) for column, sign in enumerate(text) if sign != "."}


def figures(found: Agreement) -> list[Figure]:
    return [found.accuracy, found.tpr, found.tnr, found.kappa, found.people_alpha, found.all_alpha]


def test_the_confusion_matrix_and_its_rates() -> None:
    found = agreement(labels("++++++---?"), judge("+++++-+--+"))
    assert found.confusion == Confusion(both_pass=5, false_pass=1, false_fail=1, both_fail=2)
    assert (found.accuracy.count, found.accuracy.of) == (7, 9)
    assert (found.tpr.count, found.tpr.of, found.tpr.interval) == (5, 6, wilson(5, 6))
    assert (found.tnr.count, found.tnr.of, found.tnr.interval) == (2, 3, wilson(2, 3))
    assert (found.labels, found.cannot_tell, found.split, found.unruled) == (10, 1, 0, 0)


def test_kappa_by_hand() -> None:
    # Cohen's textbook table: 20 both yes, 5 and 10 apart, 15 both no: 0.4.
    found = kappa(Confusion(20, 5, 10, 15), seed=1)
    assert found.value == pytest.approx(0.4)
    assert found.interval is not None
    assert found.interval.low < 0.4 < found.interval.high
    assert found.interval == kappa(Confusion(20, 5, 10, 15), seed=1).interval


def test_most_people_count_and_a_split_is_left_out_and_counted() -> None:
    found = agreement(labels("++- -+- .+-"), judge("+++"))
    assert (found.split, found.confusion) == (1, Confusion(both_pass=1, false_pass=1, false_fail=0, both_fail=0))
    found = agreement(labels("+-+ -++ ..+"), judge("++-"))
    assert found.split == 2
    assert found.confusion == Confusion(0, 0, 1, 0)


def test_only_blind_labels_decide() -> None:
    seen = labels("+++++", blind=False)
    found = agreement_table([*labels("+-+-+"), *seen], judge("+++++"))
    assert found.not_blind == 5
    assert found.overall == agreement(labels("+-+-+"), judge("+++++"))
    assert agreement(seen, judge("+++++")).accuracy.value is None


def test_cannot_tell_is_counted_apart_and_is_no_ruling() -> None:
    with_doubt = agreement(labels("++--? ++--+ ????+"), judge("++--+"))
    without = agreement(labels("++--. ++--+ ....+"), judge("++--+"))
    assert with_doubt.cannot_tell == 5
    assert with_doubt.confusion == without.confusion
    assert with_doubt.people_alpha == without.people_alpha


def test_a_verdict_without_a_ruling_is_no_disagreement() -> None:
    found = agreement(labels("+-+-"), judge("+-?"))
    assert found.unruled == 2
    assert (found.accuracy.count, found.accuracy.of) == (2, 2)


ONE_CLASS = "every ruling is pass"
DEGENERATE: list[tuple[str, str, str, list[str]]] = [
    # people, judge, which figures are defined (accuracy, tpr, tnr, kappa, people_alpha, all_alpha), some reasons
    (
        "",
        "+-",
        "------",
        ["no item has a ruling of both the judge and people", "no item has two rulings that could agree"],
    ),
    ("", "", "------", []),
    ("+-+", "", "------", ["no item has a ruling of both the judge and people"]),
    (
        "+++",
        "+++",
        "++----",
        ["people failed none", "the judge ruled pass on all 3 and people ruled pass on all 3", ONE_CLASS],
    ),
    ("---", "---", "+-+---", ["people passed none", "every ruling is fail"]),
    ("+-+-", "++++", "+++--+", ["the judge ruled pass on all 4", "no item has two rulings"]),
    ("++++", "+-+-", "++---+", ["people ruled pass on all 4"]),
    ("???", "+-+", "------", []),
    ("+-", "??", "------", []),
    ("+- -+", "++", "----++", ["no item has a ruling of both"]),
]


@pytest.mark.parametrize(("people", "ruled", "defined", "reasons"), DEGENERATE)
def test_what_cannot_be_said_is_not_defined_and_says_why(
    people: str, ruled: str, defined: str, reasons: list[str]
) -> None:
    found = figures(agreement(labels(people), judge(ruled)))
    for figure, sign in zip(found, defined, strict=True):
        assert (figure.value is not None) == (sign == "+"), figure
        if figure.value is None:
            assert figure.interval is None
            assert figure.reason
        else:
            assert figure.value == figure.value  # not NaN
    said = " / ".join(figure.reason for figure in found)
    assert [reason for reason in reasons if reason not in said] == []


def test_alpha_by_hand() -> None:
    # Two coders, ten units: 4 apart, 14 rulings of one value and 6 of the other. 1 - (20 - 1) x 4 / (14 x 6).
    found = agreement(labels("-+-------- +++--+--+-"), {})
    assert found.people_alpha.value == pytest.approx(1 - 19 * 4 / 84) == pytest.approx(0.095, abs=0.0005)


def strict_lenient_odd(seed: int, items: int = 40) -> list[list[str]]:
    """Return the rulings of three raters of different strictness on the same items."""
    rng = random.Random(seed)
    quality = [rng.random() for _ in range(items)]
    return [
        ["+" if good + rng.gauss(0, 0.25) > bar else "-" if rng.random() < 0.95 else "." for good in quality]
        for bar in (0.3, 0.5, 0.75)
    ]


@pytest.mark.parametrize("seed", range(5))
def test_no_figure_depends_on_the_order_of_raters_or_rows(seed: int) -> None:
    rows = strict_lenient_odd(seed)
    ruled = judge("".join(random.Random(seed).choice("++-") for _ in range(40)))
    expected = None
    for order in permutations(rows):
        given = labels(" ".join("".join(row) for row in order))
        random.Random(seed).shuffle(given)
        found = agreement(given, ruled)
        expected = expected or found
        assert found == expected


@pytest.mark.parametrize("seed", range(5))
def test_alpha_with_holes_is_that_of_the_library_on_the_raw_table(seed: int) -> None:
    rows = strict_lenient_odd(seed)
    table = [[{"+": 1.0, "-": 0.0, ".": np.nan}[sign] for sign in row] for row in rows]
    found = agreement(labels(" ".join("".join(row) for row in rows)), {}).people_alpha
    assert found.value == pytest.approx(krippendorff.alpha(reliability_data=table, level_of_measurement="nominal"))


def test_the_bootstrap_is_that_of_items_drawn_one_by_one() -> None:
    rows = strict_lenient_odd(3, items=60)
    given = labels(" ".join("".join(row) for row in rows))
    interval = agreement(given, {}).people_alpha.interval
    by_item: dict[str, list[float]] = {}
    for label in given:
        by_item.setdefault(label.item, [0, 0])[label.ruling == "fail"] += 1
    counts = np.array([count for count in by_item.values() if sum(count) > 1])
    rng = np.random.default_rng(1)
    drawn = [counts[rng.integers(len(counts), size=len(counts))] for _ in range(800)]
    values = [krippendorff.alpha(value_counts=one, level_of_measurement="nominal") for one in drawn]
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx(np.quantile(values, [0.025, 0.975]), abs=0.03)


def test_no_interval_where_resamples_often_lack_a_class() -> None:
    found = alpha({(2, 0): 30, (1, 1): 1}, seed=1)
    assert found.value is not None
    assert found.interval is None
    assert found.reason.startswith("no interval: 3")
    rare = kappa(Confusion(30, 0, 0, 1), seed=1)
    assert rare.value == 1.0
    assert rare.interval is None


def test_groups_have_their_own_figures() -> None:
    retail = labels("++-- ++-+", domain="retail", kind="said")
    airline = [label._replace(item=f"a{label.item}") for label in labels("++--", domain="airline", kind="done")]
    ruled = judge("++-+") | {f"a{item}": passed for item, passed in judge("+-+-").items()}
    found = agreement_table([*retail, *airline], ruled)
    assert set(found.by_domain) == {"retail", "airline"}
    assert found.by_domain["retail"] == found.by_kind["said"] == agreement(retail, ruled)
    assert found.by_domain["airline"] == agreement(airline, ruled)
    assert list(found.by_rater) == ["A", "B"]
    assert found.by_rater["B"].labels == 4
    assert found.by_rater["B"].people_alpha.value is None


def test_the_worst_disagreements_come_first() -> None:
    found = agreement_table(labels("-+-+- -++?- --+?."), judge("+++--"))
    assert [one.item for one in found.worst] == ["i0", "i3"]
    assert found.worst[0]._replace(item="") == ("", True, 3, 0, 0)
    assert found.worst[1]._replace(item="") == ("", False, 1, 0, 2)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (Label("i0", "A", "maybe"), "A on i0: 'maybe' is none of pass, fail, cannot_tell"),  # type: ignore[arg-type]
        (Label("i0", "A", "fail"), "A has two blind labels on i0"),
    ],
)
def test_bad_labels_are_named(bad: Label, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        agreement_table([*labels("+"), bad], judge("+"))


def test_ten_thousand_verdicts_of_three_raters_are_counted_right() -> None:
    rng = random.Random(1)
    ruled = {f"i{number}": rng.random() < 0.7 for number in range(10_000)}
    given = [
        Label(item, rater, "pass" if passed == (rng.random() < 0.9) else "fail", True, f"d{item[-1]}", f"k{item[-2:]}")
        for item, passed in ruled.items()
        for rater in "ABC"
    ]
    found = agreement_table(given, ruled)
    assert found.overall.confusion.total == 10_000
    assert found.overall.accuracy.value == pytest.approx(0.972, abs=0.005)  # two of three right
    assert found.by_rater["A"].accuracy.value == pytest.approx(0.9, abs=0.01)
    assert sum(one.confusion.total for one in found.by_domain.values()) == 10_000


def test_importing_it_loads_no_numbers_library_and_no_django() -> None:
    modules = ", ".join(
        f"scenarios.analysis.{name}" for name in ("agreement", "anchoring", "correction", "label_value")
    )
    code = f"import {modules}, sys; print({{'scipy', 'numpy', 'django'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
