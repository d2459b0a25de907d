"""The list of runs: filters in the address, rates with what is left out, pages made on the server."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from scenarios.models import Run
from tests.factories import make_run, make_scenarios

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader(client: Client, viewer: User) -> Client:
    client.force_login(viewer)
    return client


def page(reader: Client, query: str = "") -> str:
    response = reader.get(f"/runs/{query}")
    assert response.status_code == 200
    return response.content.decode()


def test_an_empty_list_says_what_will_be_here_and_what_to_do(client: Client, operator: User) -> None:
    client.force_login(operator)
    text = page(client)
    assert "No run yet" in text
    assert 'href="/runs/new"' in text


def test_a_viewer_is_not_offered_what_they_may_not(reader: Client) -> None:
    assert 'href="/runs/new"' not in page(reader)


def test_a_rate_stands_with_its_denominator_and_what_was_left_out(reader: Client) -> None:
    make_run(10, 1, ["pass", "pass", *["infra_error"] * 8], title="Endpoint down")
    text = page(reader)
    assert "2/2" in text
    assert "8 infrastructure failed" in text
    assert "only 2 of 10 are in this rate" in text


def test_a_cancelled_run_is_no_success(reader: Client) -> None:
    run = make_run(10, 1, ["pass"] * 3 + ["cancelled"] * 7)
    Run.objects.update(cancel_requested_at=timezone.now())
    text = page(reader)
    row = text[text.index(f'id="run-{run.pk}"') :]
    assert "Cancelled" in row
    assert "3/3" in row
    assert "7 cancelled" in row


def test_what_people_typed_is_shown_as_text(reader: Client) -> None:
    make_run(1, title="<img src=x onerror=alert(1)>")
    text = page(reader)
    assert "<img src=x" not in text
    assert "&lt;img src=x onerror=alert(1)&gt;" in text


@pytest.fixture
def four_runs(viewer: User) -> dict[str, Run]:
    runs = {
        "open": make_run(2, 1, ["pass", "queued"], title="open run"),
        "paused": make_run(2, 1, ["pass", "queued"], title="paused run", paused_at=timezone.now()),
        "finished": make_run(2, 1, ["pass"], title="finished run", is_rehearsal=True, launched_by=viewer),
        "cancelled": make_run(make_scenarios(2, "other"), 1, ["cancelled"], domain="other", title="cancelled run"),
    }
    Run.objects.filter(pk=runs["cancelled"].pk).update(cancel_requested_at=timezone.now())
    return runs


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("?state=open", {"open", "paused"}),
        ("?state=paused", {"paused"}),
        ("?state=finished", {"finished"}),
        ("?state=cancelled", {"cancelled"}),
        ("?domain=other", {"cancelled"}),
        ("?kind=rehearsal", {"finished"}),
        ("?kind=model", {"open", "paused", "cancelled"}),
        ("?agent=careful", {"open", "paused", "finished", "cancelled"}),
        ("?agent=nobody", set()),
        ("?mine=1", {"finished"}),
        ("?q=CANCEL", {"cancelled"}),
        ("?state=nonsense", {"open", "paused", "finished", "cancelled"}),
    ],
)
def test_filters(reader: Client, four_runs: dict[str, Run], query: str, shown: set[str]) -> None:
    text = page(reader, query)
    assert {key for key in four_runs if f">{key} run</a>" in text} == shown


def test_a_number_finds_its_run(reader: Client, four_runs: dict[str, Run]) -> None:
    pk = four_runs["paused"].pk
    assert ">paused run</a>" in page(reader, f"?q=%23{pk}")


def test_a_filter_that_cannot_be_met_is_named(reader: Client, four_runs: dict[str, Run]) -> None:
    assert "There is no state &#x27;nonsense&#x27;; there are open, paused" in page(reader, "?state=nonsense")
    assert "&#x27;yesterday&#x27; is no day; write it like 2026-11-30." in page(reader, "?day=yesterday")


def test_no_match_offers_the_way_back(reader: Client, four_runs: dict[str, Run]) -> None:
    assert "No run matches these filters" in page(reader, "?q=zzz")


def test_the_day_is_the_readers_day(reader: Client) -> None:
    run = make_run(1, title="late run")
    # 23:30 in New York on the 29th; the 30th in Berlin and in UTC.
    Run.objects.filter(pk=run.pk).update(launched_at=datetime(2026, 11, 30, 4, 30, tzinfo=UTC))
    reader.cookies["tz"] = "America/New_York"
    assert "late run" in page(reader, "?day=2026-11-29")
    assert "late run" not in page(reader, "?day=2026-11-30")
    reader.cookies["tz"] = "Europe/Berlin"
    text = page(reader, "?day=2026-11-30")
    assert "late run" in text
    assert 'title="2026-11-30 05:30:00 CET"' in text


@pytest.mark.parametrize("zone", ["Nowhere/Land", "../../etc/passwd", "", "\x00"])
def test_a_zone_that_does_not_exist_is_utc(reader: Client, zone: str) -> None:
    make_run(1)
    reader.cookies["tz"] = zone
    assert " UTC" in page(reader)


def test_long_lists_come_in_pages_with_constant_queries(
    reader: Client, django_assert_max_num_queries: Callable[[int], object]
) -> None:
    scenarios = make_scenarios(2)
    for number in range(30):
        make_run(scenarios, 1, ["pass"], title=f"run number {number:02}")
    with django_assert_max_num_queries(12):  # type: ignore[attr-defined]
        text = page(reader)
    assert text.count("run number") == 25
    assert "1–25 of 30 runs" in text
    assert 'href="?page=2"' in text
    assert page(reader, "?page=2").count("run number") == 5
    assert page(reader, "?page=999").count("run number") == 5
    assert page(reader, "?page=x").count("run number") == 25


def test_a_title_is_found_in_any_normal_form(reader: Client) -> None:
    """B57: typed as ``e`` and U+0308, stored as U+00EB."""
    make_run(1, title="Zo\u00eb's sweep")
    make_run(1, title="Another")
    html = str(reader.get("/runs/?q=Zoe\u0308").content.decode())
    assert "Zo\u00eb&#x27;s sweep" in html
    assert "Another" not in html
