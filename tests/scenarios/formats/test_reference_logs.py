import json
from datetime import UTC, datetime

from scenarios import events
from scenarios.formats.reference_logs import bridge_log, evaluation_line
from tests.scenarios.formats.records import HAPPENED, trial
from tests.scenarios.scoring.cases import rows, said


def test_every_event_has_one_line_with_its_side_and_tag() -> None:
    lines = list(bridge_log(rows(*HAPPENED)))
    assert len(lines) == len(HAPPENED)
    assert all(line.startswith(f"#{number} ") and line.count("\n") == 1 for number, line in enumerate(lines, 1))
    assert [" METRICS " in line for line in lines] == [
        event.kind in ("latency.measured", "usage.reported") for event in HAPPENED
    ]
    assert "[agent] EVENT tool.called" in next(line for line in lines if "tool.called" in line)


def test_what_was_understood_is_a_line_of_the_side_that_listened() -> None:
    spoken = (
        said("user", 1, "Cancel W1.", heard="Council W1."),
        said("agent", 2, "Done.", heard=""),
        said("user", 3, "Bye."),
    )
    lines = [line for line in bridge_log(rows(*spoken)) if " STT " in line]
    assert lines == [
        '#1 1.000s [agent] STT {"turn":1,"text":"Council W1."}\n',
        '#2 2.000s [user] STT {"turn":2,"text":""}\n',
    ]


def test_what_has_files_of_its_own_is_not_repeated() -> None:
    text = "".join(bridge_log(rows(*HAPPENED)))
    assert "party.prepared" in text
    assert "context.pulled" in text
    assert "Be kind." not in text


def test_text_of_a_model_cannot_begin_a_line_and_keys_are_taken_out() -> None:
    note = events.Noted("warning", "first\n#99 forged Bearer abcdefghijkl", "agent")
    (line,) = bridge_log(rows(note))
    data = json.loads(line[line.index("{") :])
    assert data["text"] == "first\n#99 forged [REDACTED]"


def test_a_trial_is_one_line_of_the_evaluation_log() -> None:
    ended = datetime(2026, 11, 30, 8, 30, tzinfo=UTC)
    found = trial(outcome="fail", outcome_reason="the final database\nis not the expected one", ended_at=ended)
    assert evaluation_line(found) == (
        "2026-11-30 08:30:00Z toy__1 trial 1: fail (the final database is not the expected one)\n"
    )
    assert evaluation_line(trial(outcome="", outcome_reason="")) == "- toy__1 trial 1: no outcome ()\n"
