from typing import Any
from xml.etree.ElementTree import Element

import pytest
from defusedxml import ElementTree

from scenarios.formats.exports import junit
from scenarios.formats.reference_records import TrialExport
from scenarios.scoring.results import OUTCOMES
from tests.scenarios.formats.exports.samples import (
    NASTY,
    every_outcome,
    export,
    held,
    nasty,
    of_outcome,
    ruled,
    written,
)


def suite(*trials: TrialExport, **facts: Any) -> Element:
    root = ElementTree.fromstring(written(junit.FORMAT, export(trials, **facts)))
    assert root.tag == "testsuites"
    found = root.find("testsuite")
    assert found is not None
    return found


def properties(element: Element) -> dict[str, str]:
    return {entry.get("name", ""): entry.get("value", "") for entry in element.findall("properties/property")}


def only(element: Element, tag: str) -> Element:
    (found,) = element.iter(tag)
    return found


@pytest.mark.parametrize(
    ("outcome", "tag"),
    [
        ("pass", None),
        ("fail", "failure"),
        ("stalled", "failure"),
        ("judge_error", "error"),
        ("infra_error", "error"),
        ("unscored", "skipped"),
        ("tainted", "skipped"),
        ("cancelled", "skipped"),
        ("over_budget", "skipped"),
        ("", "skipped"),
        ("of another tool", "skipped"),
    ],
)
def test_an_outcome_is_a_state_with_its_reason(outcome: str, tag: str | None) -> None:
    case = only(suite(of_outcome(outcome)), "testcase")
    states = [child for child in case if child.tag != "properties"]
    assert [state.tag for state in states] == ([tag] if tag else [])
    for state in states:
        assert state.get("message") == f"it is {outcome}".strip()
        assert state.get("type") == (outcome or "none")
        assert f"it is {outcome}" in (state.text or "")


def test_every_outcome_has_a_state() -> None:
    assert set(junit.STATES) == set(OUTCOMES) - {"pass"}


def test_head_and_cases_agree() -> None:
    found = suite(*every_outcome())
    assert [found.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["9", "2", "2", "4"]
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert len(list(found.iter(tag))) == int(found.get(name, ""))
    assert found.get("time") == "85.500"
    assert found.get("timestamp") == "2026-11-30T08:27:05"


def test_the_rate_stands_with_its_denominator_and_what_was_left_out() -> None:
    told = properties(suite(*every_outcome()))
    assert told["callboard.pass_rate"] == "0.3333 (1/3)"
    assert told["callboard.left_out"] == (
        "cancelled 1, infra_error 1, judge_error 1, over_budget 1, tainted 1, unscored 1"
    )
    nothing = properties(suite(of_outcome("cancelled")))
    assert nothing["callboard.pass_rate"] == "-"


def test_a_rehearsal_says_so_in_its_name_and_properties() -> None:
    found = suite(held(), is_rehearsal=True)
    assert found.get("name") == "Nightly (REHEARSAL)"
    assert properties(found)["callboard.rehearsal"] == "true"
    assert properties(suite(held()))["callboard.rehearsal"] == "false"


def test_a_case_is_named_by_scenario_and_trial() -> None:
    case = only(suite(held(number=2, by_inaction=True, other_outcome="fail")), "testcase")
    assert (case.get("classname"), case.get("name"), case.get("time")) == ("toy", "toy__1[t2]", "9.500")
    told = properties(case)
    assert told["callboard.id"] == "run7/toy__1/t2"
    assert (told["callboard.by_inaction"], told["callboard.other_outcome"]) == ("true", "fail")


def test_a_failure_names_the_claims_that_decided() -> None:
    text = only(suite(ruled()), "failure").text or ""
    assert "nl_assertion 2 does not hold: claim 2" in text
    assert "nl_assertion 3 does not hold, overruled by reviewer: claim 3" in text
    assert "nl_assertion 4 no ruling (unparseable): claim 4\n  no JSON" in text
    assert "claim 1" not in text


def test_script_and_control_characters_are_text() -> None:
    root = suite(nasty())
    failure = only(root, "failure")
    assert not list(root.iter("script"))
    assert "<script>alert(1)</script> & ]]> -->" in (failure.text or "")
    assert "\x00" not in (failure.get("message") or "")
    assert "日本 😀" in (failure.get("message") or "")
    assert NASTY.count("\ufffd") == 0


def test_huge_texts_are_cut_and_say_so() -> None:
    long = "x" * 3_000_000
    text = written(junit.FORMAT, export([held(outcome="fail", outcome_reason=long)]))
    assert len(text) < 50_000
    assert b"more characters" in text


def test_a_run_of_nothing_is_well_formed() -> None:
    assert suite().get("tests") == "0"


def test_known_keys_are_taken_out() -> None:
    text = written(junit.FORMAT, export([held(outcome="fail", outcome_reason="with top-secret-value")]))
    assert b"top-secret-value" not in text
    assert b"[REDACTED]" in text
