"""How a domain or a scenario fared over runs."""

import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from scenarios import catalogue
from scenarios.models import Scenario
from tests.factories import make_run, make_scenarios


@pytest.fixture
def reader(client: Client, viewer: User) -> Client:
    client.force_login(viewer)
    return client


def page(reader: Client, path: str) -> str:
    answer = reader.get(path)
    assert answer.status_code == 200, answer.status_code
    return str(answer.content.decode())


def words(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def test_plot_and_table_have_the_same_runs(reader: Client) -> None:
    scenarios = make_scenarios(4)
    first, second = make_run(scenarios, 1, ["pass", "fail"]), make_run(scenarios, 1, ["pass", "judge_error"])
    html = page(reader, "/trends/?domain=toy")
    assert html.count('class="dot reactive tooltip-trigger"') == 2
    text = words(html)
    assert "50.0\u00a0% 2/4".replace("\u00a0", " ") in text.replace("\u00a0", " ")
    assert "2 judge failed" in text
    assert f"/compare/?runs={first.pk},{second.pk}" in html
    assert "<style" not in html
    assert " style=" not in html


def test_models_and_rehearsals_are_never_in_one_plot(reader: Client) -> None:
    model, rehearsal = make_run(2, 1, ["pass"]), make_run(2, 1, ["pass"], is_rehearsal=True)
    html = page(reader, "/trends/?domain=toy")
    assert f'href="/runs/{model.pk}/"' in html
    assert f'href="/runs/{rehearsal.pk}/"' not in html
    html = page(reader, "/trends/?domain=toy&parties=rehearsal")
    assert f'href="/runs/{rehearsal.pk}/"' in html
    assert f'href="/runs/{model.pk}/"' not in html
    assert "scripts, not models" in html


def test_cancelled_runs_are_asked_for_and_marked(reader: Client) -> None:
    run = make_run(2, 1, ["pass", "cancelled"], cancel_requested_at=timezone.now())
    assert "with a rated call yet" in page(reader, "/trends/")
    html = page(reader, "/trends/?cancelled=1")
    assert f"#{run.pk}" in html
    assert "· cancelled</span>" in html


def test_a_scenario_has_its_own(reader: Client) -> None:
    make_run(make_scenarios(2), 1, ["pass", "fail"])
    assert "0/1" in words(page(reader, "/trends/?domain=toy&scenario=toy__2"))


def test_what_is_empty_says_what_will_be_here(reader: Client) -> None:
    assert "No run yet" in page(reader, "/trends/")
    make_run(1, 1, ["queued"])
    assert "with a rated call yet" in page(reader, "/trends/")


@pytest.mark.parametrize("query", ["domain=nowhere", "domain=%00", "domain=toy&scenario=none", "scenario=%00"])
def test_unknown_names_are_answered(reader: Client, query: str) -> None:
    make_run(1, 1, ["pass"])
    assert reader.get(f"/trends/?{query}").status_code == 404


def test_the_page_of_a_scenario_shows_its_trend(reader: Client) -> None:
    catalogue.sync()
    rows = list(Scenario.objects.filter(domain="frontdesk")[:2])
    path = f"/scenarios/frontdesk/{rows[0].name}/"
    assert "<figure" not in page(reader, path)
    make_run(rows[:1], 1, ["pass"], domain="frontdesk", is_rehearsal=True)
    html = page(reader, path)
    assert '<figure class="trend"' in html
    assert "rehearsals only" in html
    make_run(rows[:1], 1, ["pass"], domain="frontdesk")
    assert "rehearsals only" not in page(reader, path)
    assert "<figure" not in page(reader, f"/scenarios/frontdesk/{rows[1].name}/")
