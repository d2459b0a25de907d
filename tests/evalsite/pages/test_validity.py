"""The domain's page: is the task set sound, by either strictness, and what is each scenario's record over runs."""

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from scenarios import catalogue
from scenarios.models import Scenario
from tests.factories import make_run

pytestmark = pytest.mark.django_db
TELECOM = ("tau2_telecom", "tau2_telecom_workflow")


@pytest.fixture
def reader(client: Client, viewer: User, benchmarks: Path) -> Client:
    catalogue.sync()
    client.force_login(viewer)
    return client


def page(reader: Client, path: str) -> str:
    response = reader.get(f"/scenarios/{path}")
    assert response.status_code == 200, path
    return response.content.decode()


def plain(text: str) -> str:
    """Return a page's words, a blank between any two."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", text)).split())


def sections(text: str) -> dict[str, str]:
    """Return the words about each reporting prefix."""
    parts = re.split(r'<section class="stack" aria-labelledby="sound-', text)[1:]
    return {part.partition('"')[0]: plain(part.partition("<form")[0].partition(">")[2]) for part in parts}


def listed(text: str) -> list[str]:
    return re.findall(r'class="cover" href="/scenarios/\w+/([^/]+)/"', text)


@pytest.mark.parametrize(
    ("domain", "reference", "upstream"),
    [
        ("tau2_airline", "24/50 48.0 % 0/26 24/24", "23/50 46.0 % 0/26 23/24"),
        ("tau2_retail", "6/114 5.3 % 0/103 6/11", "6/114 5.3 % 0/103 6/11"),
        ("eva_airline", "6/50 12.0 % 0/44 6/6", "6/50 12.0 % 0/44 6/6"),
    ],
)
def test_the_idle_lines_stand_by_both_strictnesses(reader: Client, domain: str, reference: str, upstream: str) -> None:
    (text,) = sections(page(reader, f"{domain}/")).values()
    assert f"reference {reference}" in text
    assert f"upstream {upstream}" in text


def test_reporting_prefixes_stand_apart(reader: Client) -> None:
    found = sections(page(reader, "tau2_telecom/"))
    assert tuple(found) == TELECOM
    for text in found.values():
        assert "reference 20/114 17.5 % 0/94 20/20" in text
        assert "upstream 0/114 0.0 % 0/94 0/20" in text
        assert "23 of 209 predicates hold before the first word" in text
    overview = plain(page(reader, ""))
    for prefix in TELECOM:
        assert f"{prefix} 17.5 % 20/114 by upstream 0/114" in overview


def test_strictness_in_the_address_decides_what_is_odd(reader: Client) -> None:
    by_reference = listed(page(reader, "tau2_telecom/?health=inaction&prefix=tau2_telecom"))
    assert len(by_reference) == 20
    assert not listed(page(reader, "tau2_telecom/?health=inaction&strictness=upstream"))
    text = page(reader, "tau2_telecom/?strictness=upstream")
    assert "Known task errors by upstream" in plain(text)
    assert 'type="hidden" name="strictness" value="upstream"' in text


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("health=read", 13),
        ("health=write", 2),
        ("health=start", 0),
        ("health=duplicate", 0),
        ("health=too_easy", 1),
    ],
)
def test_findings_can_be_listed(reader: Client, query: str, expected: int) -> None:
    assert len(listed(page(reader, f"tau2_retail/?{query}"))) == expected


def test_every_count_links_to_as_many_scenarios(reader: Client) -> None:
    text = page(reader, "tau2_airline/?strictness=upstream")
    rows = re.findall(r'<dt><a href="(\?[^"#]+)#list">[^<]+</a></dt><dd>(\d+)</dd>', text)
    assert len(rows) >= 6
    for address, count in rows:
        assert len(listed(page(reader, "tau2_airline/" + unescape(address)))) == int(count)


def test_odd_means_something_is_odd(reader: Client) -> None:
    odd, everything = (len(listed(page(reader, f"eva_airline/{query}"))) for query in ("?health=odd", ""))
    assert 0 < odd < everything


@pytest.mark.parametrize(("name", "value"), [("strictness", "lax"), ("record", "lucky"), ("parties", "people")])
def test_what_an_address_gets_wrong_is_named(reader: Client, name: str, value: str) -> None:
    text = page(reader, f"tau2_airline/?{name}={value}")
    assert f"&#x27;{value}&#x27;; there are" in text
    assert len(listed(text)) == 50


def test_records_over_runs_keep_rehearsals_apart(reader: Client) -> None:
    rows = list(Scenario.objects.filter(domain="frontdesk")[:3])
    make_run(rows, 2, ["pass", "fail", "pass", "pass", "fail", "fail"], domain="frontdesk")
    make_run(rows[:1], 2, ["fail", "fail"], domain="frontdesk", is_rehearsal=True)
    make_run(rows[1:2], 1, ["pass"], domain="frontdesk", is_rehearsal=True)
    text = page(reader, "frontdesk/")
    (words,) = sections(text).values()
    assert (
        "stable pass 1 0 stable fail 1 1 flaky 1 0 one call only 0 1 depends on the agent 0 0 never run 9 10" in words
    )
    assert listed(page(reader, "frontdesk/?record=stable_fail")) == [rows[1].name]
    assert listed(page(reader, "frontdesk/?record=stable_fail&parties=rehearsal")) == [rows[0].name]
    own = plain(page(reader, f"frontdesk/{rows[2].name}/"))
    assert "Models flaky 50.0 % 1/2" in own
    assert "Rehearsals never run" in own


def test_a_record_goes_by_the_strictness_asked_for(reader: Client) -> None:
    (row,) = Scenario.objects.filter(name="tau2_airline__3")
    make_run([row], 2, ["pass"], domain="tau2_airline").trials.update(other_outcome="fail")
    assert listed(page(reader, "tau2_airline/?record=stable_pass")) == [row.name]
    assert listed(page(reader, "tau2_airline/?record=stable_fail&strictness=upstream")) == [row.name]


def test_a_known_error_says_what_it_does_to_a_score(reader: Client) -> None:
    name = next(iter(listed(page(reader, "tau2_telecom/?health=inaction"))))
    text = plain(page(reader, f"tau2_telecom/{name}/"))
    assert "A wrong call may pass." in text
    assert "By upstream strictness no score depends on it." in text
    assert "Such passes are counted beside each rate. By upstream strictness it fails." in text
    assert "1 of 1 predicates hold before the first word" in text
    assert "ACTION all reference calls must be made; gates under strictness upstream" in text


def test_what_is_not_written_is_said(reader: Client) -> None:
    assert "NL_ASSERTION nothing written" in plain(page(reader, "tau2_retail/tau2_retail__6/"))
    assert "COMMUNICATE nothing written" in plain(page(reader, "tau2_airline/tau2_airline__0/"))
    assert "gates under strictness upstream" in plain(page(reader, "tau2_airline/tau2_airline__3/"))


def test_the_page_takes_few_queries(reader: Client, django_assert_max_num_queries: Any) -> None:
    rows = list(Scenario.objects.filter(domain="tau2_telecom"))
    for _ in range(3):
        make_run(rows, 2, ["pass", "fail"], domain="tau2_telecom")
    page(reader, "tau2_telecom/")  # once, so that what a process loads once is loaded
    with django_assert_max_num_queries(14):
        assert len(listed(page(reader, "tau2_telecom/?page=3"))) == 50
