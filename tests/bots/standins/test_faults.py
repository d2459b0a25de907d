"""Faults on demand: which request they hit."""

import json
from typing import Any

import pytest

from bots.standins import faults
from bots.standins.faults import Failure, Faults
from bots.standins.model_name import parse
from bots.standins.wire import read_request

OPENING = [{"role": "system", "content": "You are an agent."}]
LATER = [*OPENING, {"role": "assistant", "content": "Hello."}]


def failure(standing: Faults, model: str, messages: list[dict[str, Any]] | None = None) -> Failure:
    request = read_request(json.dumps({"model": model, "messages": messages or OPENING}).encode())
    return standing.of(parse(model), request)


@pytest.mark.parametrize(("option", "status"), [("429", 429), ("500", 500), ("outage", 503)])
def test_without_a_number_every_request_fails(option: str, status: int) -> None:
    standing = Faults()

    for messages in (OPENING, OPENING, LATER):
        assert failure(standing, f"standin-null+{option}:x", messages).status == status


def test_without_a_fault_none_fails() -> None:
    assert failure(Faults(), "standin-null+slow=5:x") == Failure()


def test_cut_and_empty_are_no_refusals() -> None:
    assert failure(Faults(), "standin-null+cut:x") == Failure(is_cut=True)
    assert failure(Faults(), "standin-null+empty:x") == Failure(is_empty=True)


def test_with_a_number_the_first_tries_fail_and_the_next_is_answered() -> None:
    standing = Faults()

    statuses = [failure(standing, "standin-null+429=2:x").status for _ in range(6)]

    assert statuses == [429, 429, 0, 429, 429, 0]  # the next trial of the scenario sees the same


def test_with_a_number_only_the_opening_fails() -> None:
    assert failure(Faults(), "standin-null+500=3:x", LATER).status == 0


def test_zero_tries_never_fail() -> None:
    assert failure(Faults(), "standin-null+500=0:x").status == 0


def test_conversations_are_told_apart_by_model_and_messages() -> None:
    standing = Faults()
    other = [{"role": "system", "content": "You are somebody else."}]

    assert failure(standing, "standin-null+429=1:x").status == 429
    assert failure(standing, "standin-null+429=1:y").status == 429
    assert failure(standing, "standin-null+429=1:x", other).status == 429
    assert failure(standing, "standin-null+429=1:x").status == 0


def test_two_faults_come_one_after_the_other() -> None:
    standing = Faults()

    kinds = [failure(standing, "standin-null+429=1+500=1:x").status for _ in range(3)]

    assert kinds == [429, 500, 429]


def test_openings_that_are_never_tried_again_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faults, "_REMEMBERED", 2)
    standing = Faults()
    for scenario in "abc":
        failure(standing, f"standin-null+429=1:{scenario}")

    assert failure(standing, "standin-null+429=1:c").status == 0
    assert failure(standing, "standin-null+429=1:a").status == 429
