import csv
import io
import json
from dataclasses import replace
from typing import Any

from scenarios.formats.exports import tables
from scenarios.formats.exports.form import Format
from scenarios.formats.exports.results import claim_id, verdict_id
from scenarios.formats.reference_records import TrialExport, VerdictRecord
from scenarios.scoring.results import OUTCOMES
from tests.scenarios.formats.exports.samples import NASTY, every_outcome, export, held, nasty, ruled, written
from tests.scenarios.formats.records import RUN, claim


def read_csv(form: Format, *trials: TrialExport, **facts: Any) -> list[dict[str, str]]:
    text = written(form, export(trials, **facts)).decode("utf-8")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def read_lines(form: Format, *trials: TrialExport, **facts: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in written(form, export(trials, **facts)).splitlines()]


def test_a_row_a_trial_with_every_outcome() -> None:
    rows = read_csv(tables.TRIALS_CSV, *every_outcome())
    assert [row["outcome"] for row in rows] == list(OUTCOMES)
    assert [row["outcome"] for row in rows if row["in_rate"] == "true"] == ["pass", "fail", "stalled"]
    assert rows[0]["trial_id"] == "run7/toy__1/t1"
    assert (rows[0]["duration_ms"], rows[0]["cost_usd"], rows[0]["response_p50_ms"]) == ("9500", "0.25", "")
    assert (rows[0]["db_state_match"], rows[0]["is_action_match"]) == ("passed", "excluded")
    assert rows[0]["ended_at"] == "2026-11-30T08:40:00.250000+00:00"


def test_both_forms_have_the_same_columns() -> None:
    assert tuple(read_lines(tables.TRIALS_JSONL, held())[0]) == tables.TRIAL_COLUMNS
    assert tuple(read_lines(tables.VERDICTS_JSONL, ruled())[0]) == tables.VERDICT_COLUMNS
    assert tuple(read_csv(tables.TRIALS_CSV, held())[0]) == tables.TRIAL_COLUMNS
    assert tuple(read_csv(tables.VERDICTS_CSV, ruled())[0]) == tables.VERDICT_COLUMNS


def test_rehearsal_and_strictness_stand_in_each_row() -> None:
    config = {**RUN.config, "strictness": "upstream"}
    for form in (tables.TRIALS_CSV, tables.VERDICTS_CSV):
        (row, *_) = read_csv(form, ruled(), is_rehearsal=True, config=config)
        assert (row["is_rehearsal"], row["strictness"], row["agent"]) == ("true", "upstream", "careful")


def test_a_row_a_ruling_says_which_count_and_who_ruled() -> None:
    rows = read_lines(tables.VERDICTS_JSONL, ruled())
    assert [row["counts"] for row in rows] == [True, True, True, False]
    assert [row["passed"] for row in rows] == [True, False, False, False]
    assert [row["effective_passed"] for row in rows] == [True, False, True, None]
    assert [row["ruled_by"] for row in rows] == ["unknown", "unknown", "reviewer", "unknown"]
    predicate = VerdictRecord("db_state_assertion", 1, "x", True, "", "")
    (by_rule, by_judge) = read_lines(
        tables.VERDICTS_JSONL, held(verdicts=(predicate, replace(claim(1, True), judge="j")))
    )
    assert (by_rule["ruled_by"], by_judge["ruled_by"]) == ("rule", "judge")


def test_no_cell_is_a_formula_and_numbers_stay_numbers() -> None:
    for start in ("=1+1", "+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\uff1d1"):
        (row,) = read_csv(tables.TRIALS_CSV, held(outcome_reason=start))
        assert row["outcome_reason"] == f"'{start}"
        (ruling,) = read_csv(tables.VERDICTS_CSV, held(verdicts=(replace(claim(1, True), claim=start, reason=start),)))
        assert (ruling["claim"], ruling["reason"]) == (f"'{start}", f"'{start}")
        (line,) = read_lines(tables.TRIALS_JSONL, held(outcome_reason=start))
        assert line["outcome_reason"] == start
    (row,) = read_csv(tables.TRIALS_CSV, held(outcome_reason="-12.5"))
    assert row["outcome_reason"] == "-12.5"


def test_hostile_texts_stay_in_their_cell() -> None:
    (row,) = read_csv(tables.VERDICTS_CSV, nasty())
    whole = NASTY.replace("\ud800", "?")
    assert row["claim"] == whole
    assert json.loads(row["evidence"]) == [{"text": whole, "turn": 1}]
    (line,) = read_lines(tables.VERDICTS_JSONL, nasty())
    assert line["reason"] == whole


def test_a_cell_fits_a_spreadsheet_and_a_line_keeps_all() -> None:
    long = held(outcome_reason="x" * 100_000)
    (row,) = read_csv(tables.TRIALS_CSV, long)
    assert len(row["outcome_reason"]) == 32_001
    (line,) = read_lines(tables.TRIALS_JSONL, long)
    assert len(line["outcome_reason"]) == 100_000


def test_a_run_of_nothing_is_a_head() -> None:
    assert written(tables.TRIALS_CSV, export([])).decode() == ",".join(tables.TRIAL_COLUMNS) + "\n"
    assert written(tables.TRIALS_JSONL, export([])) == b""


def test_a_claim_keeps_its_id_from_run_to_run_wherever_it_stands() -> None:
    first, moved = claim(1, True), replace(claim(1, False), index=5, scoring=3)
    assert claim_id("toy__1", first) == claim_id("toy__1", moved)
    assert claim_id("toy__1", first) == "toy__1/nl_assertion/b0f22ca043cd"
    assert claim_id("toy__1", first) != claim_id("toy__2", first)
    assert claim_id("toy__1", first) != claim_id("toy__1", claim(2, True))


def test_each_ruling_has_an_id_of_its_own() -> None:
    one = held()
    ids = {
        verdict_id(RUN, one, verdict)
        for verdict in (claim(1, True), claim(2, True), replace(claim(1, True), scoring=2))
    }
    assert ids == {f"run7/toy__1/t1/nl_assertion/{rest}" for rest in ("1/s1", "2/s1", "1/s2")}
