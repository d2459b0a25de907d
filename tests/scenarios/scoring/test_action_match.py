import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scenarios.domains.base import GoldAction, MatchOptions
from scenarios.scoring.action_match import action_diff, best_fit, match_episode, match_single, match_value, score
from scenarios.scoring.config import ScoringConfig
from tests.scenarios.scoring.cases import CANCEL, CONFIG, evidence, gold, no_gold, spec, use

EXACT = MatchOptions()


def is_match(vector: dict[str, Any]) -> bool:
    if vector["kind"] == "single_action":
        return match_single(vector["reference"], vector["predicted"])
    return match_episode(vector["reference"], vector["predicted"], MatchOptions(**vector["options"]))


def test_the_comparison_is_the_references(conformance: Path) -> None:
    vectors = [json.loads(line) for line in (conformance / "actions_match.jsonl").read_text().splitlines()]
    assert len(vectors) == 131
    assert [vector["tag"] for vector in vectors if is_match(vector) is not vector["match"]] == []


def action(**arguments: Any) -> dict[str, Any]:
    return {"action_type": "x", "name": "x", "arguments": arguments, "side": "agent"}


@pytest.mark.parametrize(
    ("reference", "predicted", "matches"),
    [
        (1.5, "1.50", True),
        (True, 1, True),
        (None, "None", True),
        (float("inf"), "inf", True),
        (float("nan"), float("nan"), False),
        (5, "inf", False),
        ("inf", 5, False),
        ("inf", "-inf", False),
        ("100", "1e999", False),
        pytest.param(10**400, 10**400, True, id="beyond-float"),
        ({"a": 1}, {"a": 1, "b": 2}, True),
        ({"a": 1}, None, False),
        ([1], None, False),
        ([], [1, 2], True),
    ],
)
def test_values_compare_as_numbers_before_text(reference: Any, predicted: Any, matches: bool) -> None:
    assert match_value(reference, predicted, EXACT) is matches


def test_clean_text_ignores_case() -> None:
    assert match_value("Economy", "economy", MatchOptions(clean_text=True))


def test_strict_reaches_nested_lists_which_the_references_does_not() -> None:
    reference, predicted = {"actions": [action(n=1)]}, {"actions": [action(n=1), action(n=2)]}
    assert match_episode(reference, predicted, MatchOptions(disallow_extra_items=True))
    assert not match_value(reference, predicted, EXACT, strict=True)
    assert not match_value({"l": ["a"]}, {"l": ["a", "b"]}, EXACT, strict=True)


def test_a_matching_call_passes_and_lists_what_matched() -> None:
    result = score(spec(), gold(), evidence(), CONFIG)
    assert (result.applicable, result.passed, result.value) == (True, True, True)
    assert result.detail["matched"] == [{"reference": CANCEL, "predicted": CANCEL}]
    assert result.detail["missing"] == result.detail["extra"] == result.detail["wrong"] == []


def test_a_missing_action_is_named() -> None:
    result = score(spec(), gold(), evidence(tools=()), CONFIG)
    assert result.passed is False
    assert result.detail["missing"] == [CANCEL]
    assert result.detail["reference_match"] is False


def test_a_wrong_argument_is_named_field_by_field() -> None:
    wrong = {**CANCEL, "arguments": {"order_id": "W2"}}
    result = score(spec(), gold(), evidence(tools=(use(action=wrong),)), CONFIG)
    assert result.passed is False
    assert result.detail["missing"] == result.detail["extra"] == []
    assert result.detail["wrong"] == [
        {
            "reference": CANCEL,
            "predicted": wrong,
            "fields": [{"path": ["arguments", "order_id"], "expected": "W1", "actual": "W2"}],
        }
    ]


def test_the_closest_of_several_wrong_actions_is_paired() -> None:
    reference = action(a=1, b=2, c=3)
    far, near = action(a=9, b=9, c=9), action(a=1, b=2, c=9)
    diff = action_diff([reference], [far, near], EXACT)
    assert diff["wrong"][0]["predicted"] == near
    assert diff["extra"] == [far]


def test_an_extra_action_fails_only_under_strict_matching_and_both_figures_are_kept() -> None:
    extra = use(2, action={**CANCEL, "arguments": {"order_id": "W9"}}, changes=())
    call = evidence(tools=(use(), extra))
    assert score(spec(), gold(), call, CONFIG).passed is True
    strict = score(spec(), gold(), call, ScoringConfig(strict_match=True))
    assert strict.passed is False
    assert strict.detail["reference_match"] is True
    assert strict.detail["extra"] == [extra.action]
    by_scenario = score(spec(match=MatchOptions(disallow_extra_items=True)), gold(), call, CONFIG)
    assert by_scenario.passed is False


def test_a_fit_is_found_where_the_greedy_one_misses_it() -> None:
    references = [action(a=1), action(a=1, b=2)]
    predictions = [action(a=1, b=2), action(a=1)]
    assert not match_episode({"actions": references}, {"actions": predictions})
    diff = action_diff(references, predictions, EXACT)
    assert len(diff["matched"]) == 2


def test_compare_args_of_the_gold_action_are_honoured() -> None:
    other_reason = {**CANCEL, "arguments": {"order_id": "W1", "reason": "bored"}, "result": {"note": "other"}}
    arguments = {"order_id": "W1", "reason": "late"}
    wanted = {**CANCEL, "arguments": arguments}
    call = evidence(tools=(use(action=other_reason),))
    loose = spec(gold_actions=(GoldAction("cancel", arguments, compare_args=("order_id",)),))
    result = score(loose, gold(wanted), call, CONFIG)
    assert result.passed is True
    assert result.detail["reference_match"] is False
    full = spec(gold_actions=(GoldAction("cancel", arguments),))
    assert score(full, gold(wanted), call, CONFIG).passed is False
    name_only = spec(gold_actions=(GoldAction("cancel", arguments, compare_args=()),))
    assert score(name_only, gold(wanted), evidence(tools=(use(),)), CONFIG).passed is True


def test_a_gold_without_actions_has_nothing_to_match() -> None:
    result = score(spec(gold_actions=()), no_gold(), evidence(), CONFIG)
    assert (result.applicable, result.passed) == (False, None)
    assert result.detail["reference_match"] is True
    assert result.detail["extra"] == [CANCEL]


def test_a_scenario_that_ships_its_end_state_has_no_figure_of_the_reference() -> None:
    """reference-system.md 2.4 and 6.1: eva has no reference answer, so the signal is "N/A" there and not true."""
    result = score(spec(gold_actions=()), replace(no_gold(), is_shipped=True), evidence(), CONFIG)
    assert (result.applicable, result.passed) == (False, None)
    assert "reference_match" not in result.detail


def test_best_fit_is_as_large_as_can_be() -> None:
    edges = {(0, 0), (0, 1), (1, 0), (2, 1), (2, 2)}
    assert len(best_fit(3, 3, lambda i, j: (i, j) in edges)) == 3
    assert best_fit(2, 0, lambda i, j: True) == {}


@pytest.mark.parametrize(
    ("old", "new", "matches"),
    [
        (["b", "a"], ["y", "x"], True),
        (["b", "a"], ["x", "y"], False),
        (["a", "b"], ["x", "y"], True),
        (["a", "b", "c"], ["x", "y", "z"], True),
        (["a", "b", "c"], ["z", "y", "x"], False),
        (["a", "a"], ["x", "y"], False),
    ],
)
def test_lists_that_belong_together_match_pair_by_pair(old: list[str], new: list[str], matches: bool) -> None:
    """B03: pairs in another order match, mixed pairs do not; the reference's figure sees two separate lists."""
    wanted = {**CANCEL, "arguments": {"item_ids": ["a", "b"], "new_item_ids": ["x", "y"]}}
    call = evidence(tools=(use(action={**CANCEL, "arguments": {"item_ids": old, "new_item_ids": new}}),))
    result = score(spec(), gold(wanted), call, CONFIG)
    assert result.passed is matches
    assert result.detail["reference_match"] is (old != ["a", "a"])
    assert bool(result.detail["matched"]) is matches


def test_mixed_pairs_are_named_in_the_action_diff() -> None:
    """B03: the diff shows the pairs, since each list alone looks right."""
    reference = action(item_ids=["a", "b"], new_item_ids=["x", "y"])
    diff = action_diff([reference], [action(item_ids=["b", "a"], new_item_ids=["x", "y"])], EXACT)
    assert diff["wrong"][0]["fields"] == [
        {
            "path": ["arguments", "item_ids with new_item_ids"],
            "expected": [["a", "x"], ["b", "y"]],
            "actual": [["b", "x"], ["a", "y"]],
            "note": "other pairs",
        }
    ]


def test_pairs_need_two_lists_of_one_length_on_both_sides() -> None:
    """B03: a lone list, or lists of different length, are compared as the lists they are."""
    lone, reversed_lone = action(item_ids=["a", "b"]), action(item_ids=["b", "a"])
    assert action_diff([lone], [reversed_lone], EXACT)["matched"]
    uneven = action(item_ids=["a", "b"], new_item_ids=["x", "y"])
    assert action_diff([uneven], [action(item_ids=["b", "a"], new_item_ids=["y", "x", "z"])], EXACT)["matched"]


@pytest.mark.parametrize(
    ("expected", "actual", "matches"),
    [
        ("6469567736", "6469567737", False),
        ("01234", "1234", False),
        ("6469567736", "6469567736", True),
        (100, 100.0005, True),
        ("1.50", "1.5", True),
        ("2", 2.0, True),
        ("2", "2.0", True),
        (["6469567736", "1"], ["1", "6469567736"], True),
        (["6469567736"], ["6469567737"], False),
    ],
)
def test_identifiers_of_digits_are_not_rounded(expected: Any, actual: Any, matches: bool) -> None:
    """To the reference, ids that are numbers match where they are close: its figure is kept, the shown one is exact."""
    wanted = {**CANCEL, "arguments": {"item_id": expected}}
    call = evidence(tools=(use(action={**CANCEL, "arguments": {"item_id": actual}}),))
    result = score(spec(), gold(wanted), call, CONFIG)
    assert result.detail["reference_match"] is True
    assert result.passed is matches
    if not matches:
        row = {"path": ["arguments", "item_id"], "expected": expected, "actual": actual}
        assert result.detail["wrong"][0]["fields"] == [row]


def test_pairs_of_identifiers_are_not_rounded() -> None:
    reference = action(item_ids=["1000000001", "1000000002"], new_item_ids=["2000000001", "2000000002"])
    mixed = action(item_ids=["1000000002", "1000000001"], new_item_ids=["2000000001", "2000000002"])
    assert action_diff([reference], [mixed], EXACT)["wrong"][0]["fields"][0]["note"] == "other pairs"
