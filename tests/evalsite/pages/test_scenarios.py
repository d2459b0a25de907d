"""Domains and scenarios: what is asked, what must be true, whether the task is sound."""

from dataclasses import replace
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils.html import escape

from scenarios import catalogue, domains
from scenarios.models import Scenario
from scenarios.replay import gold_replay
from tests.factories import make_run, make_scenario

pytestmark = pytest.mark.django_db
FRONTDESK = "frontdesk"


@pytest.fixture
def reader(client: Client, viewer: User) -> Client:
    catalogue.sync()
    client.force_login(viewer)
    return client


def page(reader: Client, path: str) -> str:
    response = reader.get(f"/scenarios/{path}")
    assert response.status_code == 200, path
    return response.content.decode()


def test_domains_are_listed_with_what_doing_nothing_scores(reader: Client) -> None:
    text = page(reader, "")
    scenarios = Scenario.objects.filter(domain=FRONTDESK)
    idle = scenarios.filter(passes_by_inaction=True).count()
    assert domains.load()[FRONTDESK].title in text
    assert f"{idle}/{scenarios.count()}" in text


def test_a_domain_without_its_files_says_which_and_what_to_do(reader: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = "tasks.json is absent. Run `manage.py fetch_benchmarks`."
    monkeypatch.setattr(type(domains.load()["tau2_retail"]), "missing_data", lambda self: missing)
    for path in ("", "tau2_retail/"):
        assert missing in page(reader, path)
    response = reader.get("/scenarios/tau2_retail/tau2_retail__0/")
    assert response.status_code == 404
    assert missing in response.content.decode()


def test_all_scenarios_of_a_domain_are_listed(reader: Client) -> None:
    text = page(reader, f"{FRONTDESK}/")
    for spec in domains.load()[FRONTDESK].scenarios():
        assert f'href="/scenarios/{FRONTDESK}/{spec.name}/"' in text


def listed(text: str) -> set[str]:
    return {name for name in Scenario.objects.values_list("name", flat=True) if f"/{name}/" in text}


def test_filters(reader: Client) -> None:
    rows = Scenario.objects.filter(domain=FRONTDESK)
    with_claims = set(rows.filter(claim_count__gt=0).values_list("name", flat=True))
    idle = set(rows.filter(passes_by_inaction=True).values_list("name", flat=True))
    everything = set(rows.values_list("name", flat=True))
    assert with_claims
    assert with_claims != everything
    assert listed(page(reader, f"{FRONTDESK}/?claims=1")) == with_claims
    assert listed(page(reader, f"{FRONTDESK}/?health=inaction")) == idle
    one = min(everything)
    assert listed(page(reader, f"{FRONTDESK}/?q={one.upper()}")) == {one}
    assert "No scenario matches" in page(reader, f"{FRONTDESK}/?q=zzzz")
    text = page(reader, f"{FRONTDESK}/?health=nonsense")
    assert listed(text) == everything
    assert "There is no kind of oddity" in text


def test_rates_are_those_of_models_and_rehearsals_stay_out(reader: Client) -> None:
    first = Scenario.objects.filter(domain=FRONTDESK)[0]
    make_run([first], 4, ["pass", "fail", "pass", "infra_error"], domain=FRONTDESK)
    make_run([first], 5, ["fail"], domain=FRONTDESK, is_rehearsal=True)
    assert "2/3" in page(reader, f"{FRONTDESK}/")


@pytest.mark.parametrize("spec", domains.load()[FRONTDESK].scenarios(), ids=lambda spec: spec.name)
def test_a_scenario_shows_brief_claims_and_expected_changes(reader: Client, spec: object) -> None:
    assert isinstance(spec, domains.base.ScenarioSpec)
    text = page(reader, f"{FRONTDESK}/{spec.name}/")
    assert escape(spec.caller.goal.splitlines()[0]) in text
    for claim in spec.nl_assertions:
        assert escape(claim) in text
    for signal in spec.success_signals:
        assert f"<code>{signal}</code>" in text
    for call in gold_replay(spec).calls:
        for change in call.changes[:20]:
            assert escape(".".join(map(str, change["path"]))) in text
    if not spec.nl_assertions:
        assert "Nothing written" in text


def test_health_is_said_in_words(reader: Client) -> None:
    for spec in domains.load()[FRONTDESK].scenarios():
        text = page(reader, f"{FRONTDESK}/{spec.name}/")
        health = gold_replay(spec).health
        assert ("An agent that does nothing but end the call passes" in text) == health.passes_by_inaction
        assert ("is a write that is refused" in text) == bool(health.failing_writes)


def test_a_scenario_without_criteria_is_called_so(reader: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """B09, B62: "nothing asserted" stands on its page."""
    spec = domains.load()[FRONTDESK].scenarios()[0]
    assert "Nothing is asserted" not in page(reader, f"{FRONTDESK}/{spec.name}/")
    bare = replace(spec, success_signals=("nl_assertion", "clean_exit"), nl_assertions=())
    monkeypatch.setattr("evalsite.pages.scenarios._spec", lambda domain, name: bare)
    assert "Nothing is asserted" in page(reader, f"{FRONTDESK}/{spec.name}/")


def test_known_errors_of_a_task_are_explained(reader: Client, benchmarks: Path) -> None:
    text = page(reader, "tau2_retail/tau2_retail__105/")
    assert "the gift card does not hold enough" in text
    assert "is a write that is refused" in text
    assert "refused: gift_card_balance_too_low" in text


def test_reference_calls_of_both_sides_name_the_side_and_what_they_change(reader: Client, benchmarks: Path) -> None:
    text = page(reader, "tau2_telecom/tau2_telecom__service_issue__overdue_bill_suspension__unseat_sim_card__easy/")

    assert '<b class="mono">make_payment</b> <span class="chip">caller</span>' in text
    assert "caller's surroundings.line_active" in text
    assert '<code class="soft">bills.6.status</code>' in text
    # A restart is a write, which in this scenario finds nothing to do.
    assert '<b class="mono">reboot_device</b>' in text
    assert text.count("changes nothing") == 1


def test_prompts_come_on_demand(reader: Client) -> None:
    domain = domains.load()[FRONTDESK]
    spec = domain.scenarios()[0]
    line = escape(domain.agent_prompt(spec).strip().splitlines()[0])
    assert line not in page(reader, f"{FRONTDESK}/{spec.name}/")
    text = page(reader, f"{FRONTDESK}/{spec.name}/?show=prompts")
    assert line in text
    assert escape(domain.caller_prompt(spec).strip().splitlines()[0]) in text


def test_history_links_to_each_call_and_labels_rehearsals(reader: Client) -> None:
    first, second = Scenario.objects.filter(domain=FRONTDESK)[:2]
    run = make_run([first], 2, ["pass", "fail"], domain=FRONTDESK, is_rehearsal=True)
    text = page(reader, f"{FRONTDESK}/{first.name}/")
    assert f'href="/runs/{run.pk}/trials/{first.name}/2/"' in text
    assert ">rehearsal</span>" in text
    assert "No run has held it yet" in page(reader, f"{FRONTDESK}/{second.name}/")


def test_neighbours_follow_the_domains_order(reader: Client) -> None:
    specs = domains.load()[FRONTDESK].scenarios()
    first = page(reader, f"{FRONTDESK}/{specs[0].name}/")
    assert 'data-key="k"' not in first
    assert f'data-key="j" rel="next" href="/scenarios/{FRONTDESK}/{specs[1].name}/"' in first


@pytest.mark.parametrize("path", ["nowhere/", "nowhere/x/", "frontdesk/frontdesk__nothing/"])
def test_unknown_names_are_named(reader: Client, path: str) -> None:
    response = reader.get(f"/scenarios/{path}")
    assert response.status_code == 404
    assert "There is no domain" in response.content.decode() or "has no scenario" in response.content.decode()


def test_a_scenario_that_only_imports_know_leads_to_its_runs(client: Client, viewer: User) -> None:
    make_run([make_scenario("mock__create_task", "mock", is_registered=False)], 1, ["pass"], domain="mock")
    client.force_login(viewer)
    shown = client.get("/scenarios/mock/mock__create_task/", follow=True)
    assert shown.status_code == 200
    page = shown.content.decode()
    assert "mock__create_task" in page
    assert "The scenario</a>" not in page
