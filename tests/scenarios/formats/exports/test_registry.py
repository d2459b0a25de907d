"""What every form must do, whichever it is."""

import io
import json
import weakref
import zipfile
from collections.abc import Iterator
from dataclasses import replace

import pytest

from scenarios import events
from scenarios.formats.exports.form import Export, Format
from scenarios.formats.exports.registry import CALL_FORMATS, RUN_FORMATS, RUN_GROUPS
from scenarios.formats.reference_records import TrialExport
from tests.scenarios.formats.exports.samples import every_outcome, export, held, nasty, ruled, written
from tests.scenarios.formats.records import HAPPENED, RUN, claim
from tests.scenarios.scoring.cases import said

FORMS = [*RUN_FORMATS.values(), *CALL_FORMATS.values()]
each_form = pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form.of}-{form.name}")
# Forms without a place to say it; the menus do.
UNLABELLED = {"rttm", "srt"}
SECRET = "top-secret-value"


def text_of(data: bytes) -> str:
    """Return all of a file's text, that of a zip's entries one after the other."""
    if not zipfile.is_zipfile(io.BytesIO(data)):
        return data.decode("utf-8")
    archive = zipfile.ZipFile(io.BytesIO(data))
    return "\n".join(archive.read(name).decode("utf-8") for name in archive.namelist())


def test_names_are_unique_and_good_for_addresses_and_files() -> None:
    assert sum(map(len, RUN_GROUPS.values())) == len(RUN_FORMATS)
    for form in FORMS:
        assert form.name.replace("-", "").isalnum()
        assert form.suffix.startswith(".")
        assert form.lacks
        assert form.title
    assert {form.of for form in RUN_FORMATS.values()} == {"run"}
    assert {form.of for form in CALL_FORMATS.values()} == {"call"}
    assert len({form.suffix for form in RUN_FORMATS.values()}) == len(RUN_FORMATS)


@each_form
def test_every_outcome_and_hostile_texts_are_written(form: Format) -> None:
    trials = [*every_outcome(), replace(nasty(), number=10), replace(ruled(), number=11)]
    assert text_of(written(form, export(trials)))


@each_form
def test_a_file_is_the_same_however_often_it_is_written(form: Format) -> None:
    trials = every_outcome()
    assert text_of(written(form, export(trials))) == text_of(written(form, export(trials)))


@each_form
def test_a_run_of_nothing_is_written(form: Format) -> None:
    text_of(written(form, export([])))


@each_form
def test_a_rehearsal_is_labelled_where_there_is_a_place(form: Format) -> None:
    if form.name == "reference":
        config = {**RUN.config, "agent": {**RUN.config["agent"], "is_standin": True}}
        assert '"is_standin": true' in text_of(written(form, export([held()], config=config)))
        return
    labelled = text_of(written(form, export([ruled()], is_rehearsal=True)))
    plain = text_of(written(form, export([ruled()])))
    assert (labelled != plain) is (form.name not in UNLABELLED)
    if form.name in UNLABELLED:
        assert "a rehearsal is not labelled" in form.lacks


@each_form
def test_no_known_key_is_written(form: Format) -> None:
    spoken = said("user", 1, f"My key is {SECRET}.")
    called = events.ToolCalled("agent", 1, "cancel", {"order_id": SECRET}, "id")
    answered = events.ToolReturned("agent", 1, "cancel", True, {"echo": SECRET}, 1.0)
    leaky = held(happened=(HAPPENED[0], spoken, called, answered, HAPPENED[-1]), outcome="fail", outcome_reason=SECRET)
    text = text_of(written(form, export([leaky], title=f"Run with {SECRET}")))
    assert SECRET not in text
    assert "plain-secret" not in text


@each_form
def test_one_trial_is_in_memory_at_a_time(form: Format) -> None:
    alive: list[int] = []
    most = 0

    def trials() -> Iterator[TrialExport]:
        nonlocal most
        for number in range(1, 61):
            one = held(number=number)
            alive.append(number)
            weakref.finalize(one, alive.remove, number)
            most = max(most, len(alive))
            yield one
            del one

    form.write(Export(export([]).run, trials), io.BytesIO())
    assert 1 <= most <= 2


@pytest.mark.parametrize("form", [form for form in FORMS if not form.reads_calls], ids=lambda form: form.name)
def test_a_form_that_says_it_reads_no_call_reads_none(form: Format) -> None:
    whole = ruled()
    without = replace(whole, call=type(whole.call)(), events=())
    assert written(form, export([whole])) == written(form, export([without]))


@each_form
def test_huge_texts_are_written(form: Format) -> None:
    spoken = events.TurnEnded("user", 1, "x" * 1_000_000, None, 100)
    ruling = replace(claim(1, False), claim="c" * 1_000_000, reason="r" * 1_000_000)
    facts = {"outcome": "fail", "outcome_reason": "y" * 1_000_000, "verdicts": (ruling,)}
    huge = held(happened=(HAPPENED[0], spoken, HAPPENED[-1]), **facts)
    assert written(form, export([huge]))


def test_forms_of_a_call_hold_one_call() -> None:
    head = json.loads(written(CALL_FORMATS["jsonl"], export([held()])).splitlines()[0])
    assert head["trial_id"] == "run7/toy__1/t1"
