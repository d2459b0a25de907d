import json
from typing import Any

import pytest
from google.protobuf import json_format
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData

from scenarios.formats.exports import otel
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

NAME, LABEL = "gen_ai.evaluation.name", "gen_ai.evaluation.score.label"
VALUE, WHY = "gen_ai.evaluation.score.value", "gen_ai.evaluation.explanation"


def lines(*trials: TrialExport, **facts: Any) -> list[LogsData]:
    """Read each line as OpenTelemetry's own message; an unknown field or a wrong type is an error."""
    text = written(otel.FORMAT, export(trials, **facts))
    return [json_format.Parse(line, LogsData()) for line in text.splitlines()]


def plain(attributes: Any) -> dict[str, Any]:
    return {entry.key: getattr(entry.value, entry.value.WhichOneof("value")) for entry in attributes}


def events(trial: TrialExport, **facts: Any) -> list[dict[str, Any]]:
    (line,) = lines(trial, **facts)
    records = line.resource_logs[0].scope_logs[0].log_records
    assert {record.event_name for record in records} == {otel.EVENT}
    return [plain(record.attributes) for record in records]


def test_a_line_a_trial_with_time_version_and_run() -> None:
    first, second = lines(held(), held(number=2), is_rehearsal=True)
    (logs,) = first.resource_logs
    assert logs.schema_url == logs.scope_logs[0].schema_url == "https://opentelemetry.io/schemas/1.41.0"
    told = plain(logs.resource.attributes)
    assert (told["service.name"], told["callboard.run"], told["callboard.rehearsal"]) == ("callboard", 7, True)
    assert logs.scope_logs[0].log_records[0].time_unix_nano == 1_796_028_000_250_000_000
    assert plain(second.resource_logs[0].scope_logs[0].log_records[0].attributes)["callboard.trial"] == 2


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_an_outcome_has_a_score_only_where_a_rate_counts_it(outcome: str) -> None:
    event = events(of_outcome(outcome))[0]
    assert (event[NAME], event[LABEL]) == ("outcome", outcome)
    assert event.get(VALUE) == {"pass": 1.0, "fail": 0.0, "stalled": 0.0}.get(outcome)
    assert event["callboard.in_rate"] is (outcome in ("pass", "fail", "stalled"))
    assert event.get("error.type") == (outcome if outcome in ("judge_error", "infra_error") else None)
    assert event["gen_ai.conversation.id"] == "run7/toy__1/t1"


def test_signals_and_rulings_are_events_of_their_own() -> None:
    found = events(ruled())
    assert [event[NAME] for event in found] == [
        *("outcome", "is_action_match", "db_state_match", "clean_exit"),
        *["nl_assertion.claim"] * 4,
    ]
    rulings = found[4:]
    assert [event.get(LABEL) for event in rulings] == ["pass", "fail", "pass", None]
    assert [event.get(VALUE) for event in rulings] == [1.0, 0.0, 1.0, None]
    assert rulings[3]["error.type"] == "unparseable"
    assert rulings[3][WHY] == "no JSON"
    assert rulings[2]["callboard.ruled_by"] == "reviewer"
    assert len({event["callboard.claim.id"] for event in rulings}) == 4


def test_hostile_texts_are_values() -> None:
    found = events(nasty())
    assert found[0][WHY] == NASTY.replace("\ud800", "?")


def test_nothing_that_is_unknown_is_written() -> None:
    text = written(otel.FORMAT, export(every_outcome()))
    assert b"null" not in text
    assert len([json.loads(line) for line in text.splitlines()]) == 9
