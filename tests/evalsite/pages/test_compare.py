"""What changed beyond noise: the compare page."""

import re
from collections.abc import Sequence
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evalsite import comparison_rows
from evalsite.pages import compare
from scenarios.models import Finding, Run, Scenario, Trial
from tests.factories import make_run, make_scenarios
from tests.scenarios.test_configurations import agent

LARGE: dict[str, Any] = {"agent": agent(model="large-model")}


@pytest.fixture
def reader(client: Client, viewer: User) -> Client:
    client.force_login(viewer)
    return client


def two(before: Sequence[str], after: Sequence[str], trials: int = 1) -> tuple[Run, Run]:
    scenarios = make_scenarios(len(before) // trials)
    return make_run(scenarios, trials, before), make_run(scenarios, trials, after, config=LARGE)


def words(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def page(reader: Client, query: str, status: int = 200) -> str:
    answer = reader.get(f"/compare/?{query}")
    assert answer.status_code == status, answer.status_code
    return str(answer.content.decode())


def section(html: str, name: str) -> str:
    found = re.search(rf'<section[^>]*\bid="set-{name}".*?</section>', html, re.DOTALL)
    assert found, name
    return found[0]


def test_the_failure_sets_come_first_and_the_topline_second(reader: Client) -> None:
    before, after = two(["pass", "fail", "fail", "pass"], ["fail", "pass", "fail", "pass"])
    html = page(reader, f"runs={before.pk},{after.pk}")
    places = [html.index(f'id="set-{kind}"') for kind in comparison_rows.SETS] + [html.index('id="topline-title"')]
    assert places == sorted(places)
    assert "toy__<wbr>1" in section(html, "newly_failing")
    assert "toy__<wbr>2" in section(html, "newly_passing")
    assert "toy__<wbr>3" in section(html, "failing_in_both")
    assert "Passing in both 1" in words(html)
    assert "No scenario regressed beyond flakiness; topline not distinguishable (0.0 points)." in words(html)
    assert "exact McNemar: p = 1.000" in words(html)


def test_a_row_leads_to_its_calls_and_to_the_pair(reader: Client) -> None:
    before, after = two(["pass"] * 3, ["pass", "fail", "stalled"], trials=3)
    html = page(reader, f"runs={before.pk},{after.pk}")
    row = section(html, "flaky")
    for run in (before, after):
        for number in (1, 2, 3):
            assert f"/runs/{run.pk}/trials/toy__1/{number}/" in row
    first, failed = before.trials.get(number=1), after.trials.get(number=2)
    assert f"/compare/pair/?a={first.pk}&amp;b={failed.pk}" in row


def test_a_regression_is_beyond_flakiness(reader: Client) -> None:
    names = 40
    before, after = two(["pass"] * 8 * names, (["fail"] + ["pass"] * (names - 1)) * 8, trials=8)
    html = page(reader, f"runs={before.pk},{after.pk}")
    assert "1 scenario regressed beyond flakiness" in words(html)
    assert "1 beyond flakiness" in words(section(html, "newly_failing"))
    assert "data-failed" in section(html, "newly_failing")


def test_what_was_changed_is_listed_and_nothing_is_said_so(reader: Client) -> None:
    before, after = two(["pass"], ["pass"])
    assert "agent.model small-model large-model" in words(page(reader, f"runs={before.pk},{after.pk}"))
    same = make_run(1, 1, ["pass"])
    assert "Nothing in the configuration" in page(reader, f"runs={before.pk},{same.pk}")


def test_equivalence_is_asked_with_a_margin_in_points(reader: Client) -> None:
    before, after = two(["pass"] * 320, ["pass"] * 320, trials=4)
    runs = f"runs={before.pk},{after.pk}"
    assert "Within ±" not in page(reader, runs)
    assert "Within ±5.0 points equivalent" in words(page(reader, f"{runs}&margin=5"))
    for bad in ("0", "-3", "51", "nan", "inf", "five", "5e9"):
        assert f"A margin of '{bad}' is none" in words(page(reader, f"{runs}&margin={bad}"))


def test_persona_tag_and_signal_have_tables(reader: Client) -> None:
    before, after = two(["pass", "pass"], ["fail", "pass"])
    Scenario.objects.filter(name="toy__1").update(persona_name="angry <b>caller</b>", tags=["returns"])
    text = words(page(reader, f"runs={before.pk},{after.pk}"))
    assert "angry <b>caller</b> 1 100.0" in text
    assert "returns 1 100.0" in text
    assert "db_state_match 2 100.0" in text
    Trial.objects.filter(run=after, outcome="fail").update(fault="task")
    assert "task definition 0 of 0 1 of 1" in words(page(reader, f"runs={before.pk},{after.pk}"))


def test_what_is_left_out_is_told(reader: Client) -> None:
    before, after = two(["pass", "judge_error"], ["infra_error", "pass"])
    text = words(page(reader, f"runs={before.pk},{after.pk}"))
    assert f"Not counted in run {before.pk} 1 call: toy__2#1 judge_error" in text
    assert f"toy__1 in run {after.pk}: no rated trial: #1 infra_error" in text
    assert "topline nothing to compare" in text


def test_one_of_several_candidates_is_shown_and_the_rest_are_a_click_away(reader: Client) -> None:
    before, after = two(["pass", "pass"], ["fail", "pass"])
    third = make_run(make_scenarios(2), 1, ["fail", "fail"])
    runs = f"runs={before.pk},{after.pk},{third.pk}"
    assert "toy__<wbr>2" not in page(reader, runs)
    html = page(reader, f"{runs}&candidate={third.pk}")
    assert "toy__<wbr>2" in section(html, "newly_failing")
    assert "Holm" in html
    assert page(reader, f"{runs}&candidate=nonsense").count("toy__<wbr>1")


def test_a_long_set_is_cut_and_has_pages(reader: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = two(["pass"] * 30, ["fail"] * 30)
    runs = f"runs={before.pk},{after.pk}"
    html = page(reader, runs)
    assert section(html, "newly_failing").count("<tr data-row") == compare.ROWS_OF_A_SET
    assert "All 30 newly failing" in html
    monkeypatch.setattr(compare, "ROWS_A_PAGE", 20)
    html = page(reader, f"{runs}&set=newly_failing&page=2")
    assert section(html, "newly_failing").count("<tr data-row") == 10
    assert 'id="set-flaky"' not in html
    assert "21–30 of 30 scenarios" in html
    assert 'id="set-flaky"' in page(reader, f"{runs}&set=nonsense")


def test_ticked_runs_are_put_in_order_and_one_alone_meets_the_run_before_it(reader: Client) -> None:
    before, after = two(["pass"], ["pass"])
    answer = reader.get(f"/compare/?runs={after.pk}&runs={before.pk}&margin=5")
    assert answer["Location"] == f"/compare/?runs={before.pk},{after.pk}&margin=5"
    assert reader.get(f"/compare/?runs={after.pk}")["Location"] == f"/compare/?runs={before.pk},{after.pk}"
    assert "There is no earlier run to hold run" in page(reader, f"runs={before.pk}")


def test_the_run_before_is_of_the_same_kind(reader: Client) -> None:
    first, last = make_run(1, 1, ["pass"]), make_run(1, 1, ["pass"])
    rehearsal = make_run(1, 1, ["pass"], is_rehearsal=True)
    newest = make_run(1, 1, ["pass"])
    assert compare.previous(newest) == last
    assert compare.previous(rehearsal) is None
    assert list(compare.comparable(newest)) == [last, first, rehearsal]


def test_without_runs_one_chooses(reader: Client) -> None:
    assert "There is no run to compare yet" in page(reader, "")
    run = make_run(1, 1, ["pass"], title="Nightly <i>")
    html = page(reader, "")
    assert f'value="{run.pk}"' in html
    assert "Nightly &lt;i&gt;" in html


def test_runs_that_cannot_be_compared_are_refused_with_the_reason(reader: Client) -> None:
    toy, other = make_run(1, 1, ["pass"]), make_run(1, 1, ["pass"], domain="other")
    html = page(reader, f"runs={toy.pk},{other.pk}", 422)
    assert f"run {toy.pk} is of toy, run {other.pk} is of other" in html
    again = make_run(1, 1, ["pass"])
    Finding.objects.create(run=again, severity="error", code="x", text="x")
    assert "that nobody has accepted" in page(reader, f"runs={toy.pk},{again.pk}", 422)


@pytest.mark.parametrize("runs", ["999999999", "1,999999999", "abc", "1;drop", "%00", "²", "9" * 40, ",,", "-1"])
def test_odd_addresses_are_answered(reader: Client, runs: str) -> None:
    assert reader.get(f"/compare/?runs={runs}").status_code in (200, 404)


def test_a_rehearsal_beside_a_models_run_carries_a_warning(reader: Client) -> None:
    before, after = two(["pass"], ["pass"])
    Run.objects.filter(pk=after.pk).update(is_rehearsal=True)
    html = page(reader, f"runs={before.pk},{after.pk}")
    assert re.search(r'<p class="notice warning">[^<]*is a rehearsal with stand-ins', html)
    assert '<span class="rehearsal">' in html


def test_strangers_see_nothing(client: Client, db: None) -> None:
    for path in ("/compare/", "/compare/pair/", "/trends/"):
        assert client.get(path).status_code == 302


def test_the_list_of_runs_offers_a_comparison(reader: Client) -> None:
    run = make_run(1, 1, ["pass"])
    html = reader.get("/runs/").content.decode()
    assert f'<input type="checkbox" name="runs" value="{run.pk}" form="compare"' in html
    assert 'id="compare"' in html
    assert 'form="compare"' not in reader.get("/").content.decode()


def test_a_run_offers_the_runs_before_it(reader: Client) -> None:
    first, second, third = (make_run(1, 1, ["pass"]) for _ in range(3))
    html = reader.get(f"/runs/{third.pk}/").content.decode()
    assert f'href="/compare/?runs={second.pk},{third.pk}" data-key="c"' in html
    assert f'href="/compare/?runs={first.pk},{third.pk}"' in html
    assert "Compare with" not in reader.get(f"/runs/{first.pk}/").content.decode()
