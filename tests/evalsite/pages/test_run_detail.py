"""One run: how good, where it fails, whether that can be trusted; a grid that stays usable with 10,000 trials."""

import re
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.template.loader import render_to_string
from django.test import Client

from scenarios.models import Run, Scenario, SignalResult, Trial, Verdict
from tests.factories import add_signals, make_run, make_scenario, make_scenarios

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader(client: Client, viewer: User) -> Client:
    client.force_login(viewer)
    return client


def page(reader: Client, run: Run, query: str = "") -> str:
    response = reader.get(f"/runs/{run.pk}/{query}")
    assert response.status_code == 200
    return response.content.decode()


def shown(text: str) -> list[str]:
    """Return the scenarios of the grid's rows."""
    body = text[text.index("<tbody>", text.index('class="grid"')) :] if 'class="grid"' in text else ""
    return [part.split("<")[0] for part in body.split('/">') if part.startswith("toy__")]


def test_an_unknown_run_says_so(reader: Client) -> None:
    response = reader.get("/runs/999/")
    assert response.status_code == 404
    assert "There is no run 999" in response.content.decode()


def test_the_headline_has_all_its_parts(reader: Client) -> None:
    run = make_run(10, 1, ["pass"] * 6 + ["fail", "stalled", "judge_error", "tainted"], cost=4.31)
    text = page(reader, run)
    assert "75.0\u00a0%" in text
    assert "6/8" in text
    assert "1 judge failed, 1 touched by a person" in text
    assert "would pass 0 of 10 scenarios" in text
    assert "$4.31" in text
    assert "only 8 of 10 are in this rate" in text


@pytest.mark.parametrize(("cost", "warned"), [(7.99, False), (8.0, True), (10.5, True), (None, False)])
def test_a_cap_on_money_is_warned_of_before_it_is_reached(reader: Client, cost: float | None, warned: bool) -> None:
    """L14: at 80 % of the cap."""
    run = make_run(2, 1, ["pass"], cost=cost)
    run.config["limits"]["max_cost"] = 10.0
    run.save()
    assert ("over 80 % is spent" in page(reader, run)) is warned
    uncapped = make_run(2, 1, ["pass"], cost=cost)
    assert "over 80 % is spent" not in page(reader, uncapped)


def test_a_cell_says_how_its_call_ended(reader: Client) -> None:
    """B42: on the list as on the page of the call, whatever the outcome."""
    run = make_run(1, 1, ["pass"])
    run.trials.update(end_reason="turn_limit")
    assert "; ended at the turn limit" in page(reader, run)


def test_every_trial_is_one_cell_that_links_to_its_call(reader: Client) -> None:
    run = make_run(2, 3, ["pass", "fail"])
    text = page(reader, run)
    for trial in run.trials.select_related("scenario"):
        assert f'href="/runs/{run.pk}/trials/{trial.scenario.name}/{trial.number}/"' in text
        assert f'id="cell-{trial.pk}"' in text
    assert text.count('data-state="done.') == 6


def test_the_cell_on_the_page_is_the_cell_of_the_stream(reader: Client) -> None:
    run = make_run(1, 1, ["fail"])
    trial = run.trials.select_related("scenario").get()
    assert render_to_string("runs/_trial_cell.html", {"trial": trial}).strip() in page(reader, run)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", ["toy__1", "toy__2", "toy__3", "toy__4"]),
        ("?outcome=fail", ["toy__2"]),
        ("?outcome=queued", ["toy__4"]),
        ("?signal=db_state_match", ["toy__2"]),
        ("?signal=clean_exit", ["toy__3"]),
        ("?signal=is_action_match", ["toy__1", "toy__2"]),
        ("?outcome=fail&signal=clean_exit", []),
        ("?tag=refund", ["toy__3"]),
        ("?q=TOY__1", ["toy__1"]),
        ("?outcome=nonsense", ["toy__1", "toy__2", "toy__3", "toy__4"]),
    ],
)
def test_filters_live_in_the_address(reader: Client, query: str, names: list[str]) -> None:
    scenarios = make_scenarios(4)
    Scenario.objects.filter(name="toy__3").update(tags=["refund"])
    run = make_run(scenarios, 1, ["pass", "fail", "stalled", "queued"])
    add_signals(run)
    assert shown(page(reader, run, query)) == names


def test_scoring_again_changes_what_failed(reader: Client) -> None:
    run = make_run(1, 1, ["fail"])
    add_signals(run)
    SignalResult.objects.create(
        trial=run.trials.get(), signal="db_state_match", state="passed", is_gating=True, value=True, scoring=2
    )
    assert shown(page(reader, run, "?signal=db_state_match")) == []


def test_only_what_went_wrong_is_explained(reader: Client) -> None:
    run = make_run(2, 1, ["pass", "fail"])
    Trial.objects.filter(outcome="pass").update(outcome_reason="every gating signal passed")
    Trial.objects.filter(outcome="fail").update(outcome_reason="the database differs")
    grid = page(reader, run).split('class="grid"')[1]
    assert "the database differs</td>" in grid
    assert "every gating signal passed</td>" not in grid


def test_a_mistyped_filter_is_named(reader: Client) -> None:
    text = page(reader, make_run(1), "?signal=db_hash")
    assert "There is no signal &#x27;db_hash&#x27;; there are is_action_match" in text


def test_other_trials_of_a_match_are_dimmed(reader: Client) -> None:
    run = make_run(1, 3, ["pass", "fail", "pass"])
    text = page(reader, run, "?outcome=fail")
    assert text.count(' other"') == 2


def test_signal_rates_stand_with_their_denominators(reader: Client) -> None:
    run = make_run(2, 1, ["pass", "fail"])
    for trial in run.trials.all():
        SignalResult.objects.create(
            trial=trial, signal="db_state_match", state="passed", is_gating=True, value=True, detail={}
        )
    assert "2/2" in page(reader, run)


def test_passes_by_inaction_can_be_left_out(reader: Client) -> None:
    run = make_run([make_scenario("toy__1", passes_by_inaction=True), make_scenario("toy__2")], 1, ["pass", "fail"])
    run.trials.filter(scenario__name="toy__1").update(by_inaction=True)
    assert "1/2" in page(reader, run)
    text = page(reader, run, "?inaction=out")
    assert "0/1" in text
    assert "1 passed by inaction" in text


@pytest.mark.parametrize(("strictness", "other"), [("reference", "upstream"), ("upstream", "reference")])
def test_the_headline_says_its_strictness_and_shows_the_other(reader: Client, strictness: str, other: str) -> None:
    run = make_run(4, 1, ["pass"], config={"strictness": strictness})
    run.trials.filter(scenario__name="toy__1").update(other_outcome="fail")
    text = page(reader, run)
    assert f"<dt>Strictness</dt><dd><b>{strictness}</b>" in text
    assert re.search(rf"<dt>By {other}</dt><dd>.*3/4", text)
    listed = reader.get("/runs/").content.decode()
    assert ("upstream strictness" in listed) == (strictness == "upstream")


def test_prefixes_stand_apart_in_the_headline(reader: Client) -> None:
    run = make_run([make_scenario("toy__1"), make_scenario("toy_workflow__1")], 1, ["pass", "fail"])
    text = page(reader, run)
    assert re.search(r'<code>toy</code></dt><dd class="whole">.*1/1', text)
    assert re.search(r'<code>toy_workflow</code></dt><dd class="whole">.*0/1', text)


def test_demands_of_upstream_are_counted_in_items(reader: Client) -> None:
    run = make_run(1, 1, ["pass"])
    for index, passed in enumerate((True, False), 1):
        Verdict.objects.create(trial=run.trials.get(), signal="communicate", index=index, claim="says 4", passed=passed)
    SignalResult.objects.create(trial=run.trials.get(), signal="clean_exit", state="passed", is_gating=True, value=True)
    text = page(reader, run)
    assert re.search(r"facts to say \(upstream\)</th>\s*<td>.*1/2", text)


def test_a_rehearsal_is_labelled(reader: Client) -> None:
    text = page(reader, make_run(1, 1, ["pass"], is_rehearsal=True))
    assert "says nothing about a model" in text


def test_errors_are_shown_by_kind(reader: Client) -> None:
    text = page(reader, make_run(4, 1, ["infra_error"]))
    assert "<b>4×</b> <code>llm_http_429</code>" in text


def test_an_open_run_keeps_itself_up_to_date_and_a_closed_one_does_not(reader: Client) -> None:
    going = page(reader, make_run(2, 1, ["pass", "queued"]))
    assert 'data-live="run"' in going
    assert "/headline/" in going
    done = page(reader, make_run(2, 1, ["pass"]))
    assert 'data-live="run"' not in done
    assert "hx-get" not in done.partition('id="headline"')[2].partition(">")[0]


def test_the_headline_alone_can_be_asked_for(reader: Client) -> None:
    run = make_run(2, 1, ["pass", "queued"])
    text = reader.get(f"/runs/{run.pk}/headline/").content.decode()
    assert text.lstrip().startswith('<div id="headline"')
    assert "<html" not in text
    assert "1/1" in text


def test_viewers_get_no_buttons_that_act(reader: Client, client: Client, operator: User) -> None:
    run = make_run(2, 1, ["infra_error", "queued"])
    assert "/cancel/" not in page(reader, run)
    client.force_login(operator)
    text = page(client, run)
    for action in ("pause", "cancel", "rerun"):
        assert f'action="/runs/{run.pk}/{action}/"' in text
    assert "1 of 2 calls have not ended" in text


def test_untrusted_text_is_text(reader: Client) -> None:
    run = make_run(1, 1, ["fail"], title="<script>alert(1)</script>")
    Trial.objects.update(outcome_reason='"><img src=x onerror=alert(1)>')
    text = page(reader, run)
    assert "<script>alert" not in text
    assert "<img src=x" not in text


def test_no_inline_script_or_style(reader: Client) -> None:
    text = page(reader, make_run(2, 1, ["pass", "queued"]))
    assert " style=" not in text
    assert "<style" not in text
    assert all("src=" in tag.split(">")[0] for tag in text.split("<script")[1:])


def test_ten_thousand_trials_take_few_queries_and_one_page_of_rows(
    reader: Client, django_assert_max_num_queries: Callable[[int], object]
) -> None:
    add_signals(make_run(2, 1, ["pass", "fail"]))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")  # the planner of PostgreSQL knows nothing of what comes now, as after an import
    run = make_run(2500, 4, ["pass", "fail", "judge_error", "infra_error", "queued"])
    add_signals(run)
    reader.get("/runs/")  # once, so that what a process loads once is loaded
    with django_assert_max_num_queries(22):  # type: ignore[attr-defined]
        text = page(reader, run, "?signal=db_state_match")
    assert len(shown(text)) == 50
    assert "2,500 scenarios" in text
    assert len(text.encode()) < 300_000
