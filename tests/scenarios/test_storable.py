"""What a model says, made fit for every database."""

from typing import Any

import pytest
from django.utils import timezone

from scenarios.models import TrialEvent
from scenarios.storable import storable
from tests.factories import make_trial


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        ("a\x00b", "a\ufffdb"),
        ("\ud83d alone", "\ufffd alone"),
        ("😀 \u202e \x07 </script>", "😀 \u202e \x07 </script>"),
        ({"k\x00": ["\udfff", 1, None, True]}, {"k\ufffd": ["\ufffd", 1, None, True]}),
        ({"deep": [{"x": float("nan")}, float("inf"), -float("inf")]}, {"deep": [{"x": "nan"}, "inf", "-inf"]}),
        (("tu", "ple"), ["tu", "ple"]),
        ("a literal \\u0000 is text", "a literal \\u0000 is text"),
        ({}, {}),
    ],
)
@pytest.mark.django_db
def test_odd_values_can_be_stored_and_read(value: Any, stored: Any) -> None:
    made = storable(value)
    assert TrialEvent(data=made).data == made
    trial = make_trial(state="running")
    TrialEvent.objects.create(trial=trial, seq=1, at_ms=0, kind="note", data={"value": made}, created_at=timezone.now())
    assert TrialEvent.objects.get().data == {"value": stored}


def test_what_is_fine_is_not_copied() -> None:
    value = {"a": [1, "x"]}
    assert storable(value) is value


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(TypeError):
        storable({"a": object()})
