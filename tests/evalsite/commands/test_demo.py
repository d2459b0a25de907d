import re
from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client

from scenarios.domains import load
from scenarios.models import Run, Trial

pytestmark = pytest.mark.django_db


def demo(**options: str) -> str:
    out = StringIO()
    call_command("demo", stdout=out, no_color=True, **options)
    return out.getvalue()


def link_in(said: str) -> str:
    found = re.search(r"http://site:81(/\S+)", said)
    assert found, said
    return found[1]


def test_two_rehearsals_and_a_link_that_signs_in() -> None:
    said = demo(domain="frontdesk", address="http://site:81/")

    agents = {run.config["agent"]["slug"] for run in Run.objects.all()}
    assert agents == {"standin-faithful", "standin-careless"}
    assert all(run.is_rehearsal for run in Run.objects.all())
    assert Trial.objects.count() == 2 * len(load()["frontdesk"].scenarios())
    client = Client()
    page = client.get(link_in(said), follow=True)
    assert page.status_code == 200


def test_a_second_time_launches_nothing_and_prints_a_fresh_link() -> None:
    first = demo(domain="frontdesk", address="http://site:81")
    trials = Trial.objects.count()

    second = demo(domain="frontdesk", address="http://site:81")

    assert Run.objects.count() == 2
    assert Trial.objects.count() == trials
    assert [line for line in first.splitlines() if line.startswith("run ")] == [
        line for line in second.splitlines() if line.startswith("run ")
    ]


def test_without_benchmark_files_it_says_so_and_uses_the_built_in_domain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(load()["tau2_retail"]), "missing_data", lambda self: "tau2_retail: db.json is absent")

    said = demo()

    assert "db.json is absent" in said
    assert "The sweeps are of frontdesk instead." in said
    assert set(Run.objects.values_list("domain", flat=True)) == {"frontdesk"}
