"""The mirror of scenarios in the database."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pytest

from scenarios import catalogue, domains
from scenarios.models import Scenario

pytestmark = pytest.mark.django_db


@pytest.fixture
def frontdesk_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out every domain that needs a download."""
    loaded = {"frontdesk": domains.load()["frontdesk"]}
    monkeypatch.setattr(catalogue, "load", lambda: loaded)


def test_sync_mirrors_every_usable_scenario(benchmarks: Path) -> None:
    catalogue.sync()
    expected = {spec.name: spec.fingerprint for domain in catalogue.domains() for spec in catalogue.specs(domain)}
    assert dict(Scenario.objects.values_list("name", "fingerprint")) == expected
    assert Scenario.objects.filter(domain="tau2_retail").count() == 114
    assert Scenario.objects.filter(domain="tau2_retail", passes_by_inaction=True).count() == 6
    telecom = Scenario.objects.filter(domain="tau2_telecom")
    assert telecom.filter(passes_by_inaction=True).count() == 40
    assert telecom.filter(passes_upstream_by_inaction=True).count() == 0
    held = [len(health["true_at_start"]) for health in telecom.values_list("health", flat=True)]
    assert sum(count > 0 for count in held) >= 40


def test_a_row_says_what_the_launch_form_asks_for(benchmarks: Path) -> None:
    catalogue.sync()
    row = Scenario.objects.get(name="tau2_retail__105")
    assert (row.position, row.claim_count, row.gold_action_count, row.persona_name) == (105, 1, 1, "matt_delaney")
    assert row.success_signals == ["db_state_match", "nl_assertion", "clean_exit"]
    assert row.health["failing_writes"] == [0]
    assert row.health["gold_equals_seed"] is True
    assert row.search_text == row.search_text.lower()
    assert "tau2_retail__105" in row.search_text


def test_a_second_sync_writes_nothing_and_asks_two_questions(
    frontdesk_only: None, django_assert_max_num_queries: Callable[[int], AbstractContextManager[None]]
) -> None:
    assert catalogue.sync().written == 12
    with django_assert_max_num_queries(4):
        assert catalogue.sync() == catalogue.SyncReport(written=0, vanished=0)


@pytest.mark.parametrize(
    ("field", "stale"),
    [
        ("fingerprint", "0" * 64),
        ("title", "old"),
        ("is_registered", False),
        ("health", {"computed_by": "older code"}),
    ],
)
def test_a_row_that_differs_is_brought_up_to_date(frontdesk_only: None, field: str, stale: object) -> None:
    catalogue.sync()
    row = Scenario.objects.all()[3]
    was = getattr(row, field)
    Scenario.objects.filter(pk=row.pk).update(**{field: stale})
    assert catalogue.sync().written == 1
    row.refresh_from_db()
    assert getattr(row, field) == was


def test_a_scenario_that_is_gone_keeps_its_row(frontdesk_only: None) -> None:
    Scenario.objects.create(name="frontdesk__gone", domain="frontdesk", fingerprint="0" * 64)
    assert catalogue.sync().vanished == 1
    assert Scenario.objects.get(name="frontdesk__gone").is_registered is False
    assert catalogue.sync().vanished == 0


def test_a_domain_without_its_files_is_not_offered(
    tmp_path: Path, benchmarks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalogue.sync()
    from scenarios.domains.tau2_retail import Tau2Retail

    without = {**domains.load(), "tau2_retail": Tau2Retail()}
    monkeypatch.setattr(catalogue, "load", lambda: without)
    domains.set_data_root(tmp_path)
    try:
        assert "tau2_retail" not in catalogue.domains()
        with pytest.raises(ValueError, match="fetch_benchmarks"):
            catalogue.specs("tau2_retail")
        assert catalogue.sync().vanished == 114
    finally:
        domains.set_data_root(None)


def test_a_scenario_is_found_by_name(frontdesk_only: None) -> None:
    first = catalogue.specs("frontdesk")[0]
    assert catalogue.spec(first.name) is first
    with pytest.raises(ValueError, match="no scenario is called 'frontdesk__nobody'"):
        catalogue.spec("frontdesk__nobody")
    with pytest.raises(ValueError, match="no domain is called 'nowhere'"):
        catalogue.specs("nowhere")


def test_a_long_title_is_cut_to_its_column(frontdesk_only: None, monkeypatch: pytest.MonkeyPatch) -> None:
    home = domains.load()["frontdesk"]
    long = [replace(spec, title="x" * 500) for spec in home.scenarios()]
    monkeypatch.setattr(home, "scenarios", lambda: long)
    catalogue.sync()
    assert set(Scenario.objects.values_list("title", flat=True)) == {"x" * 199 + "\u2026"}
