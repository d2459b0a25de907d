import csv
import io
import json
from dataclasses import asdict, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios.formats import labels as labels_format
from scenarios.formats.csv_cells import cell
from scenarios.formats.labels import (
    COLUMNS,
    MAX_PROBLEMS,
    STAGES,
    BadLine,
    Format,
    LabelRecord,
    claim_id,
    csv_lines,
    jsonl_lines,
    read_labels,
)

SCENARIO = "ab" * 32
CLAIM = "The agent says that order W1 is cancelled."
LABEL = LabelRecord(
    claim_id=claim_id(SCENARIO, "nl_assertion", CLAIM),
    run="17",
    scenario="tau2_retail__24",
    scenario_fingerprint=SCENARIO,
    trial=2,
    signal="nl_assertion",
    claim=CLAIM,
    rater="ada",
    stage="blind",
    ruling="fail",
    comment="It says so, but never did it.",
    judge_fingerprint="0f" * 32,
    at="2026-11-30T13:05:00+00:00",
)
ROW = asdict(LABEL) | {"blind": True}
FORMATS: list[Format] = ["jsonl", "csv"]


def written(form: Format, *labels: LabelRecord) -> str:
    return "".join(jsonl_lines(labels) if form == "jsonl" else csv_lines(labels))


def with_text(**texts: str) -> LabelRecord:
    label = replace(LABEL, **texts)  # type: ignore[arg-type]
    return replace(label, claim_id=claim_id(label.scenario_fingerprint, label.signal, label.claim))


def json_line(**changes: Any) -> str:
    """Return a line with fields changed; a field of None is left out."""
    row = {name: value for name, value in (ROW | changes).items() if value is not None}
    return json.dumps(row)


# Any text that a database and a browser can hold.
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=40)
TRICKY = st.sampled_from(
    ["=1+1", "'=1+1", "''@x", "-5", "+49 30", "'", "a\r\nb", '"', "a,b", "\n", "\t=x", "\u2028", "\r"]
)


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=150)
@given(
    texts=st.fixed_dictionaries({name: TEXT | TRICKY for name in ("run", "claim", "rater", "comment")}),
    stage=st.sampled_from(STAGES),
    ruling=st.sampled_from(["pass", "fail", "cannot_tell"]),
)
def test_every_text_comes_back_as_it_was(form: Format, texts: dict[str, str], stage: Any, ruling: Any) -> None:
    label = replace(with_text(**texts), stage=stage, ruling=ruling)
    found = read_labels(written(form, label), form)
    assert found.problems == ()
    assert found.labels == (label,)


@pytest.mark.parametrize("form", FORMATS)
def test_many_labels_keep_their_order(form: Format) -> None:
    given_labels = [replace(LABEL, trial=number, rater=rater) for number in range(1, 40) for rater in ("ada", "bo")]
    given_labels.append(replace(LABEL, stage="revealed", ruling="pass"))
    found = read_labels(written(form, *given_labels), form)
    assert (list(found.labels), found.problems) == (given_labels, ())
    assert len({label.item for label in found.labels}) == 39


def test_without_a_stage_the_blind_flag_says_which() -> None:
    for blind, stage in ((True, "blind"), (False, "revealed")):
        (found,) = read_labels(json_line(blind=blind, stage=None), "jsonl").labels
        assert (found.stage, found.blind) == (stage, blind)


@pytest.mark.parametrize("text", ["=HYPERLINK(1)", "+1+1", "@SUM(A1)", "-1+1", "\t=1", "  =1", "\uff1d1", "'=1"])
def test_no_cell_is_a_formula(text: str) -> None:
    cells = next(csv.reader(io.StringIO(list(csv_lines([with_text(comment=text, rater=text)]))[1], newline="")))
    for name in ("comment", "rater"):
        shown = cells[COLUMNS.index(name)]
        assert shown.startswith("'")
        assert cell(shown) == shown


def test_the_id_is_of_the_scenario_the_signal_and_the_words_of_the_claim() -> None:
    same = claim_id(SCENARIO, "nl_assertion", f"  {CLAIM} ".replace(" that ", "\n  that "))
    assert same == LABEL.claim_id
    # Fixed for ever: exported files hold it.
    assert claim_id("00" * 32, "nl_assertion", "The agent says goodbye.") == "07550a6df189b94cedfd4974"
    others = [
        claim_id("cd" * 32, "nl_assertion", CLAIM),
        claim_id(SCENARIO, "judge_passed", CLAIM),
        claim_id(SCENARIO, "nl_assertion", CLAIM + "!"),
    ]
    assert len({LABEL.claim_id, *others}) == 4


BAD: list[tuple[dict[str, Any], str, str]] = [
    ({"ruling": "PASS"}, "ruling", "is 'PASS': give one of pass, fail, cannot_tell"),
    ({"ruling": True}, "ruling", "is True: give one of pass, fail, cannot_tell"),
    ({"ruling": None}, "ruling", "is None: give one of"),
    ({"blind": "true"}, "blind", "is 'true': give true or false"),
    ({"blind": 1}, "blind", "is 1: give true or false"),
    ({"stage": "final"}, "stage", "is 'final': give one of blind, revealed, adjudication, or nothing"),
    ({"stage": "revealed"}, "stage", "is 'revealed', but blind is true: say the same in both"),
    ({"trial": 0}, "trial", "is 0: give the number of the trial, from 1"),
    ({"trial": True}, "trial", "is True: give the number"),
    ({"trial": "2"}, "trial", "is '2': give the number"),
    ({"trial": 1.0}, "trial", "is 1.0: give the number"),
    ({"rater": ""}, "rater", "is missing"),
    ({"rater": None}, "rater", "is missing"),
    ({"run": 17}, "run", "is 17: give text"),
    ({"claim_id": "abc"}, "claim_id", "is 'abc': give the 24 hexadecimal digits that the export wrote"),
    ({"claim_id": "0" * 24}, "claim_id", "the claim has changed"),
    ({"claim": "Something else."}, "claim_id", "the claim has changed"),
    ({"scenario_fingerprint": "cd" * 32}, "claim_id", "the claim has changed"),
    ({"scenario_fingerprint": "XY"}, "scenario_fingerprint", "give the 64 hexadecimal digits"),
    ({"judge_fingerprint": "gpt"}, "judge_fingerprint", "give the 64 hexadecimal digits of a verdict's"),
    ({"comment": "x" * 10_001}, "comment", "has 10001 characters: the limit is 10000"),
    ({"comment": ["x"]}, "comment", "is ['x']: give text"),
    ({"at": "yesterday"}, "at", "is 'yesterday': give an ISO time such as"),
    ({"at": "2026-11-30T13:05:00"}, "at", "has no time zone: add one"),
    ({"grade": 1}, "grade", "there is no such field; the fields are claim_id, run"),
]


@pytest.mark.parametrize(("changes", "name", "message"), BAD)
def test_a_bad_line_is_named_with_its_field_and_the_remedy(changes: dict[str, Any], name: str, message: str) -> None:
    text = "\n".join([json_line(rater="bo"), json_line(**changes), json_line(rater="cy")])
    found = read_labels(text, "jsonl")
    assert [label.rater for label in found.labels] == ["bo", "cy"]
    assert [(problem.line, problem.field) for problem in found.problems] == [(2, name)]
    assert message in found.problems[0].message


def test_all_that_is_wrong_with_a_line_is_said_at_once() -> None:
    found = read_labels(json_line(ruling="maybe", trial=-1, rater=None), "jsonl")
    assert {problem.field for problem in found.problems} == {"ruling", "trial", "rater"}
    assert str(BadLine(7, "trial", "is 0")) == "line 7, trial: is 0"
    assert str(BadLine(7, "", "is no JSON object")) == "line 7: is no JSON object"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("not json", "is no JSON object"),
        ('{"ruling": ', "is no JSON object"),
        ("[1, 2]", "is a JSON list: give one object a line"),
        ('"text"', "is a JSON str"),
        ('{"ruling": "pass", "ruling": "fail"}', "a field is given twice"),
        ("[" * 100_000, "is nested too deeply"),
    ],
)
def test_a_line_that_is_no_object_is_named(line: str, message: str) -> None:
    found = read_labels(f"{json_line()}\n\n{line}\n", "jsonl")
    assert len(found.labels) == 1
    assert [(problem.line, problem.field) for problem in found.problems] == [(3, "")]
    assert message in found.problems[0].message


@pytest.mark.parametrize("form", FORMATS)
def test_a_second_ruling_of_one_person_is_refused_and_the_first_stays(form: Format) -> None:
    found = read_labels(written(form, LABEL, replace(LABEL, ruling="pass")), form)
    assert found.labels == (LABEL,)
    assert "ada has a ruling of stage blind on this claim in line" in found.problems[0].message
    assert found.problems[0].line == (2 if form == "jsonl" else 3)


def test_a_table_with_other_columns_is_refused_at_its_head() -> None:
    found = read_labels("id,label\n1,good\n", "csv")
    assert found.labels == ()
    assert found.problems[0].line == 1
    assert found.problems[0].message.startswith("the head lacks claim_id, run")
    twice = read_labels(",".join([*COLUMNS, "run"]) + "\n", "csv")
    assert "names a column twice" in twice.problems[0].message
    assert read_labels("", "csv").problems[0].line == 1


def test_bad_rows_of_a_table_are_named_by_the_line_they_begin_in() -> None:
    good, other = replace(LABEL, comment="one\ntwo"), replace(LABEL, rater="bo")
    head, first, second = list(csv_lines([good, other]))
    found = read_labels(head + first + "a,b\n" + second.replace("true", "yes") + second.replace(",2,", ",two,"), "csv")
    assert found.labels == (good,)
    assert [(problem.line, problem.field) for problem in found.problems] == [(4, ""), (5, "blind"), (6, "trial")]
    assert found.problems[0].message == "has 2 cells, but the head has 14: quote cells with commas"


def test_a_broken_quote_ends_the_reading_with_its_line() -> None:
    head, first = list(csv_lines([LABEL]))
    found = read_labels(f'{head}{first}"never closed,', "csv")
    assert found.labels == (LABEL,)
    assert "is no CSV" in found.problems[0].message


def test_columns_that_may_be_empty_may_be_left_out_and_stand_in_any_order() -> None:
    names = [name for name in reversed(COLUMNS) if name not in ("stage", "comment", "judge_fingerprint", "at")]
    values = {name: str(value).lower() if name == "blind" else value for name, value in ROW.items()}
    buffer = io.StringIO()
    csv.writer(buffer).writerows([names, [values[name] for name in names]])
    expected = replace(LABEL, comment="", judge_fingerprint="", at="")
    assert read_labels("\ufeff" + buffer.getvalue(), "csv").labels == (expected,)


def test_a_file_of_another_kind_does_not_list_each_of_its_lines() -> None:
    found = read_labels("nonsense\n" * (MAX_PROBLEMS + 50), "jsonl")
    assert (len(found.problems), found.more_problems) == (MAX_PROBLEMS, 50)


def test_a_file_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labels_format, "MAX_LINES", 2)
    with pytest.raises(ValueError, match="more than 2 lines: split it"):
        read_labels(f"{json_line()}\n" * 3, "jsonl")


@settings(max_examples=150)
@given(text=st.text(max_size=200) | st.text('{}[]",:\n=truefals0', max_size=80))
def test_no_text_makes_the_reader_raise_or_a_label(text: str) -> None:
    for form in FORMATS:
        assert read_labels(text, form).labels == ()
