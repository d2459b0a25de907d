"""Which runs are of one configuration."""

from typing import Any

import pytest
from django.utils import timezone

from scenarios.configurations import Changed, alike, changed, identities, identity, sound
from scenarios.launch import FrozenProfile, Limits
from scenarios.models import Finding, Run
from tests.factories import make_run, make_scenarios

pytestmark = pytest.mark.django_db


def agent(**fields: Any) -> FrozenProfile:
    facts = {"slug": "careful", "kind": "agent", "model": "small-model", "base_url": "http://127.0.0.1:9/v1", **fields}
    return FrozenProfile(**facts)


def run(**config: Any) -> Run:
    return make_run(2, 1, ["pass"], config=config)


SAME: list[dict[str, Any]] = [
    {"agent": agent(prompt_price=3.0, completion_price=9.0)},
    {"agent": agent(key_env="OTHER_KEY")},
    {"limits": Limits(concurrency=4)},
    {"pace_s": 1.0},
    {"versions": {"git": "abc"}},
]
OTHER: list[dict[str, Any]] = [
    {"agent": agent(model="large-model")},
    {"agent": agent(parameters={"temperature": 0.5})},
    {"agent": agent(base_url="http://127.0.0.1:10/v1")},
    {"judge": None},
    {"strictness": "upstream"},
    {"persona": True},
    {"channel": "voice"},
    {"min_agent_turns": 0},
    {"limits": Limits(max_turns=20)},
]


@pytest.mark.parametrize("config", SAME)
def test_what_changes_no_call_is_no_other_configuration(config: dict[str, Any]) -> None:
    earlier = run(**config)
    assert alike(run()) == [earlier.pk]


@pytest.mark.parametrize("config", OTHER)
def test_what_changes_calls_is_another_configuration(config: dict[str, Any]) -> None:
    run(**config)
    assert alike(run()) == []


def test_a_run_of_other_scenarios_is_of_the_same_configuration() -> None:
    earlier = make_run(make_scenarios(5)[3:], 3, ["pass"])
    assert alike(run()) == [earlier.pk]


def test_only_earlier_runs_of_the_domain_count_newest_first() -> None:
    first, second = run(), run()
    make_run(1, domain="other")
    mine = run()
    run()
    assert alike(mine) == [second.pk, first.pk]


def test_the_database_reads_what_the_configuration_says() -> None:
    runs = [run(), *(run(**config) for config in OTHER)]
    assert identities(Run.objects.all()) == {one.pk: identity(one.config) for one in runs}


def test_a_run_with_an_error_counts_once_a_person_accepted_it(operator: Any) -> None:
    earlier = run()
    Finding.objects.create(run=earlier, severity="warning", code="odd", text="odd")
    assert alike(run()) == [earlier.pk]
    error = Finding.objects.create(run=earlier, severity="error", code="twice", text="a trial is there twice")
    assert earlier not in sound(Run.objects.all())
    error.accepted_by, error.accepted_at = operator, timezone.now()
    error.save()
    assert earlier in sound(Run.objects.all())


def test_changes_are_named_field_by_field() -> None:
    before = run().config
    after = run(agent=agent(parameters={"temperature": 0.5}), judge=None, persona=True).config
    found = changed(before, after)
    assert Changed("agent.parameters.temperature", None, 0.5) in found
    assert Changed("persona", False, True) in found
    assert ("judge.slug", "strict", None) in found
    assert {one.field.partition(".")[0] for one in found} == {"agent", "persona", "judge"}
    assert changed(before, before) == []


def test_when_an_imported_run_was_is_no_change() -> None:
    before, after = ({"imported": {"timestamp": when, "result_vector": when, "seed": 3}} for when in ("then", "now"))
    assert changed(before, after) == []


def test_a_configuration_that_lacks_parts_can_be_read() -> None:
    """An imported run says only what its file says."""
    assert identity({"domain": "toy", "agent": {"model": "m"}, "judge": None}) == {"agent.model": "m"}
    assert changed({"agent": {"model": "m"}}, {}) == [Changed("agent.model", "m", None)]
