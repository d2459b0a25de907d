"""What a task file says beside a scenario's contract is shown in words, not as data."""

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evalsite.notes import benchmark_notes
from scenarios import domains


def test_objects_lists_and_texts_are_lines() -> None:
    extra = {
        "description": {"purpose": "To refuse.", "relevant_policies": ["one", "two"]},
        "reward_basis": ["DB", "COMMUNICATE"],
        "known_errors": ["shown elsewhere"],
        "issues": [],
        "premise": "A delay.",
    }
    spec = replace(domains.load()["frontdesk"].scenarios()[0], extra=extra)
    assert benchmark_notes(spec) == [
        ("description", ["purpose: To refuse.", "relevant policies: one, two"]),
        ("reward basis", ["DB", "COMMUNICATE"]),
        ("premise", ["A delay."]),
    ]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("scenario", "notes"),
    [
        ("tau2_airline/tau2_airline__0", ["assertions that do not count", "Agent should refuse to proceed"]),
        ("eva_airline/eva_airline__7_2_2", ["adversarial vector", "Exaggerated delay claim", "premise"]),
        ("eva_airline/eva_airline__1_1_3", ["reference calls", "other calls may lead there too"]),
    ],
)
def test_pages_show_the_notes(client: Client, viewer: User, benchmarks: Path, scenario: str, notes: list[str]) -> None:
    client.force_login(viewer)
    text = client.get(f"/scenarios/{scenario}/").content.decode()
    (section,) = re.findall(r"Notes of the benchmark</summary>.*?</details>", text, re.DOTALL)
    assert all(note in section for note in notes)
    assert not any(bracket in unescape(section) for bracket in ("['", "{'", '["'))
