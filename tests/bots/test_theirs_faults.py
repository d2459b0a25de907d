"""Bots that keep their own tools and misbehave: an infra error with a reason, never a score."""

import asyncio
from typing import Any

import pytest

from bots.bridge.theirs import control
from scenarios.domains.base import ScenarioSpec
from tests.bots.conftest import Stage
from tests.bots.endpoint import say
from tests.bots.reference_bot import EXIT, Faults, ReferenceBot, Use, serving
from tests.bots.theirs_stage import Result, gold_script, hold, spec_of

CALLER = [say("I need help with my order."), say("Thank you, bye then.")]


@pytest.fixture(scope="module")
def spec() -> ScenarioSpec:
    return spec_of("tau2_retail", "tau2_retail__81")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bots.bridge.theirs.preparing.READY_S", 1)
    monkeypatch.setattr("bots.bridge.theirs.pulling.EXIT_SETTLE_S", 0.05)
    monkeypatch.setattr("bots.bridge.theirs.side.EXIT_SETTLE_S", 0.05)


async def held_with(stage: Stage, spec: ScenarioSpec, faults: Faults, script: Any = None) -> Result:
    stage.script([], CALLER)
    return await hold(stage, spec, [ReferenceBot("agent", script or gold_script(spec), faults)])


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Wait for answers no longer than a test should, where one is not coming."""
    expected = request.node.callspec.params
    if "party_no_answer" in expected.values() or "did not answer" in expected.values():
        monkeypatch.setattr(control, "ANSWER_S", 0.5)


def only(name: str) -> frozenset[str]:
    return frozenset({name})


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("faults", "kind", "retry", "words"),
    [
        (Faults(silent=only("reset")), "party_no_answer", True, "did not answer 'reset'"),
        (Faults(silent=only("apply_initialization")), "party_no_answer", True, "within 0.5 s"),
        (Faults(foreign=only("apply_initialization")), "party_no_answer", True, "did not answer"),
        (Faults(late_s={"apply_initialization": 1.0}), "party_no_answer", True, "did not answer"),
        (Faults(garbage=only("apply_initialization")), "bad_frame", True, "not a protobuf frame"),
        (Faults(closes=only("apply_initialization")), "party_gone", True, "closed the socket"),
        (Faults(errors=only("reset")), "party_refused", False, "no reset here"),
        (Faults(answers={"reset": False}), "reset_refused", True, "could not be reset"),
        (Faults(answers={"update_system_prompt": False}), "prompt_refused", False, "EndConversationTool"),
        (Faults(answers={"apply_initialization": {"success": False, "errors": ["no such file"]}}),
         "apply_initialization_failed", False, "no such file"),
        (Faults(answers={"apply_initialization": {"success": True, "errors": ["half of it"]}}),
         "apply_initialization_failed", False, "half of it"),
        (Faults(answers={"apply_initialization": "yes"}), "apply_initialization_failed", False, "answered 'yes'"),
    ],
)  # fmt: skip
async def test_a_bot_that_cannot_be_prepared(
    stage: Stage, spec: ScenarioSpec, faults: Faults, kind: str, retry: bool, words: str
) -> None:
    held = await held_with(stage, spec, faults)
    assert held.failure is not None
    assert (held.failure.kind, held.failure.retry, held.failure.side) == (kind, retry, "agent")
    assert words in str(held.failure)
    assert "call.started" not in held.record.kinds()


SUMMARY = "get_scenario_summary"


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("faults", "kind", "words"),
    [
        (Faults(silent=only(SUMMARY)), "party_no_answer", "did not answer"),
        (Faults(foreign=only(SUMMARY)), "party_no_answer", "did not answer"),
        (Faults(late_s={SUMMARY: 1.0}), "party_no_answer", "did not answer"),
        (Faults(garbage=only(SUMMARY)), "bad_frame", "not a protobuf frame"),
        (Faults(closes=only(SUMMARY)), "party_gone", "closed the socket"),
        (Faults(errors=only(SUMMARY)), "party_refused", "no get_scenario_summary here"),
        (Faults(huge=only("summary")), "party_frame_too_large", "1048576 bytes"),
        (Faults(hash="ABCD"), "bad_summary", "64 small hex digits"),
        (Faults(answers={SUMMARY: {"actions": "none", "db_hash": None}}), "bad_summary", "list of objects"),
        (Faults(answers={SUMMARY: [1]}), "bad_summary", "no object"),
    ],
)
async def test_a_bot_without_a_usable_end_state_is_not_scored(
    stage: Stage, spec: ScenarioSpec, faults: Faults, kind: str, words: str
) -> None:
    held = await held_with(stage, spec, faults)
    assert held.failure is not None
    assert held.failure.kind == kind
    assert words in str(held.failure)
    assert held.end["reason"] == "end_tool"
    assert held.record.said()[-1] == ("agent", "Goodbye.")
    decision = held.scored().decision
    assert decision.outcome == "infra_error"
    assert "none was pulled" in decision.reason


async def test_a_null_hash_is_no_database_and_no_score(stage: Stage, spec: ScenarioSpec) -> None:
    held = await held_with(stage, spec, Faults(answers={SUMMARY: {"actions": [], "db_hash": None}}))
    assert held.failure is None
    decision = held.scored().decision
    assert (decision.outcome, "hash null" in decision.reason) == ("infra_error", True)


async def test_a_database_with_another_hash_contradicts_itself(stage: Stage) -> None:
    eva = spec_of("eva_airline", "eva_airline__voluntary_date_change")
    held = await held_with(stage, eva, Faults(hash="ab" * 32))
    assert held.failure is not None
    assert held.failure.kind == "state_contradicts_itself"
    assert held.scored().decision.outcome == "infra_error"


@pytest.mark.parametrize(
    ("faults", "words"),
    [
        (Faults(hides=only("db")), "the bot gave only a hash"),
        (Faults(huge=only("db")), "more than 1048576 bytes"),
    ],
)
async def test_a_hash_alone_is_enough_where_it_proves_our_copy(stage: Stage, faults: Faults, words: str) -> None:
    eva = spec_of("eva_airline", "eva_airline__voluntary_date_change")
    faults.reports_calls = True  # flat records: without the arguments our copy cannot follow
    held = await held_with(stage, eva, faults)
    assert held.failure is None
    (pulled,) = held.record.of("state.pulled")
    assert words in pulled["no_database"]
    assert held.scored().decision.outcome == "pass"


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("faults", "noted"),
    [
        (Faults(huge=only("history")), "the context could not be read"),
        (Faults(answers={"get_context_history": {"context": "[<object at 0x1>]"}}), "not readable"),
        (Faults(answers={"get_context_history": {"context": "__import__('os').system('true')"}}), "not readable"),
        (Faults(silent=only("get_context_history")), "did not answer"),
        (Faults(hides=only("ready")), "did not say within"),
    ],
)
async def test_what_does_not_decide_is_noted(stage: Stage, spec: ScenarioSpec, faults: Faults, noted: str) -> None:
    held = await held_with(stage, spec, faults)
    assert held.failure is None, held.failure
    assert noted in held.record.notes()
    assert held.scored().decision.outcome == "pass"


async def test_a_bot_that_hangs_up_in_the_middle(stage: Stage, spec: ScenarioSpec) -> None:
    held = await held_with(stage, spec, Faults(closes=only("send-text")))
    assert held.failure is not None
    assert (held.failure.kind, held.end["reason"]) == ("party_gone", "party_failed")
    assert held.scored().decision.outcome == "infra_error"


async def test_a_bot_that_never_speaks_is_silent(stage: Stage, spec: ScenarioSpec) -> None:
    stage.script([], CALLER)
    bot = ReferenceBot("agent", [[]])
    held = await hold(stage, spec, [bot], limits={"silence_s": 0.3})
    assert held.end["reason"] == "silence"
    assert held.record.of("state.pulled")
    assert held.scored().decision.outcome == "fail"


async def test_a_bot_in_another_call_is_waited_for(
    stage: Stage, spec: ScenarioSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bots.bridge.theirs.preparing.BUSY_WAITS_S", (0.01, 0.3))
    stage.script([], [*CALLER, *CALLER])
    bot = ReferenceBot("agent", gold_script(spec))
    async with serving(bot) as address:
        stage.agent = {"address": address}
        bot._socket = object()  # type: ignore[assignment]
        asyncio.get_running_loop().call_later(0.15, setattr, bot, "_socket", None)
        held = await hold(stage, spec, [bot])
    assert held.failure is None, held.failure
    assert held.end["reason"] == "end_tool"


async def test_a_bot_that_stays_in_another_call(
    stage: Stage, spec: ScenarioSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bots.bridge.theirs.preparing.BUSY_WAITS_S", (0.01,))
    bot = ReferenceBot("agent", gold_script(spec))
    bot._socket = object()  # type: ignore[assignment]
    held = await hold(stage, spec, [bot])
    assert held.failure is not None
    assert held.failure.kind == "party_busy"
    assert "one call at a time" in str(held.failure)


TELECOM = "tau2_telecom__service_issue__airplane_mode_on__overdue_bill_suspension"


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("faults", "kind"),
    [
        (Faults(silent=only("apply_sync_delta")), "party_no_answer"),
        (Faults(late_s={"apply_sync_delta": 1.0}), "party_no_answer"),
        (Faults(answers={"apply_sync_delta": {"success": False, "errors": ["no"]}}), "apply_sync_delta_failed"),
    ],
)
async def test_a_delta_that_is_not_acknowledged_ends_the_call(stage: Stage, faults: Faults, kind: str) -> None:
    telecom = spec_of("tau2_telecom", TELECOM)
    agent = ReferenceBot("agent", [["Hello."]])
    held = await hold(stage, telecom, [agent, ReferenceBot("user", [["Hi."]], faults)])
    assert held.failure is not None
    assert (held.failure.kind, held.failure.side) == (kind, "user")
    synced = held.record.of("state.synced")[0]
    assert synced["deltas"]["user"]
    assert synced["acknowledged_ms"] == {}


async def test_an_acknowledgement_that_takes_a_while_is_waited_for(stage: Stage) -> None:
    telecom = spec_of("tau2_telecom", TELECOM)
    slow = Faults(late_s={"apply_sync_delta": 0.2})
    agent = ReferenceBot("agent", [["Hello."], ["Bye.", EXIT]])
    held = await hold(stage, telecom, [agent, ReferenceBot("user", [["Hi."]], slow)])
    assert held.failure is None, held.failure
    assert held.record.of("state.synced")[0]["acknowledged_ms"]["user"] >= 200


@pytest.mark.parametrize(("domain", "name"), [("tau2_retail", "tau2_retail__81"), ("tau2_telecom", TELECOM)])
async def test_an_action_that_the_domain_does_not_know(stage: Stage, domain: str, name: str) -> None:
    class Inventive(ReferenceBot):
        async def _use(self, use: Use) -> None:
            action = {"action_type": use.tool, "name": use.tool, "arguments": {}, "result": {}}
            self._actions.append(action)
            report = {"type": "action-applied", "action": action, "tool_domain": domain}
            await self.send("server-message", report)

    stage.script([], CALLER)
    held = await hold(stage, spec_of(domain, name), [Inventive("agent", [["Hi."], [Use("fly"), "Bye."], [EXIT]])])
    if domain == "tau2_telecom":
        # What the other side must be told cannot be known.
        assert held.failure is not None
        assert held.failure.kind == "unknown_action"
    else:
        assert held.failure is None
        assert "has no tool 'fly'" in held.record.notes()
        assert held.scored().decision.outcome == "fail"
