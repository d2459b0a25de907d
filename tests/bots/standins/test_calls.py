"""Whole calls between the real party servers and the real stand-in endpoint, faults included."""

from dataclasses import replace
from typing import Any

import pytest

from bots.call import PartyFailed, Stop, hold_call
from scenarios.scoring.evidence import Evidence
from tests.bots.conftest import Stage
from tests.bots.record import ListRecord
from tests.bots.standins.conversation import Conversation

SCENARIO = "frontdesk__upgrade_price"


async def hold(
    stage: Stage, base_url: str, agent: str = "faithful", caller: str = "caller", scenario: str = SCENARIO
) -> Evidence:
    """Hold one call; ``agent`` and ``caller`` are what comes between ``standin-`` and the scenario."""
    profiles: dict[str, Any] = {
        kind: {
            "slug": kind,
            "kind": kind,
            "model": f"standin-{name}:{{scenario}}",
            "base_url": base_url,
            "is_standin": True,
        }
        for kind, name in (("agent", agent), ("caller", caller))
    }
    domain, _, _ = scenario.partition("__")
    claim = replace(stage.claim(domain=domain, **profiles), scenario=scenario)
    return await hold_call(claim, ListRecord(), Stop())


def said(evidence: Evidence) -> list[tuple[str, str]]:
    return [(turn.side, turn.said) for turn in evidence.turns]


async def test_the_call_is_the_one_that_is_held_in_process(stage: Stage, base_url: str) -> None:
    evidence = await hold(stage, base_url)
    expected = Conversation(SCENARIO).hold()

    assert said(evidence) == said(expected.evidence)
    assert [use.tool for use in evidence.tools] == expected.tools
    assert evidence.end_reason == "end_tool"
    assert evidence.databases["agent"].hash == expected.scene.gold.expected_hashes["agent"]


@pytest.mark.usefixtures("benchmarks")
async def test_both_sides_work_on_their_own_databases(stage: Stage, base_url: str) -> None:
    scenario = "tau2_telecom__service_issue__overdue_bill_suspension__unseat_sim_card__easy"
    evidence = await hold(stage, base_url, scenario=scenario)
    expected = Conversation(scenario).hold()

    assert said(evidence) == said(expected.evidence)
    assert [(use.side, use.tool) for use in evidence.tools] == [(use.side, use.tool) for use in expected.evidence.tools]
    assert {use.side for use in evidence.tools} == {"agent", "user"}
    hashes = {side: database.hash for side, database in evidence.databases.items()}
    assert hashes == expected.scene.gold.expected_hashes


@pytest.mark.parametrize("fault", ["429=1", "500=1", "cut=1", "empty=1", "slow=1", "long", "badjson", "unknown-tool"])
async def test_a_fault_that_passes_does_not_spoil_the_call(stage: Stage, base_url: str, fault: str) -> None:
    evidence = await hold(stage, base_url, agent=f"faithful+{fault}")

    assert evidence.end_reason == "end_tool"
    assert evidence.databases["agent"].hash == Conversation(SCENARIO).scene.gold.expected_hashes["agent"]


@pytest.mark.parametrize("fault", ["500", "cut"])
async def test_a_fault_that_stays_is_the_partys_failure(stage: Stage, base_url: str, fault: str) -> None:
    with pytest.raises(PartyFailed):
        await hold(stage, base_url, agent=f"faithful+{fault}")


@pytest.mark.parametrize(("agent", "end"), [("never-ends", "loop"), ("silent", "silence"), ("null", "end_tool")])
async def test_how_the_others_end(stage: Stage, base_url: str, agent: str, end: str) -> None:
    assert (await hold(stage, base_url, agent=agent)).end_reason == end
