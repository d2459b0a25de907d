"""Whole calls with bots that keep their own tools and database, scored on what they gave at the end."""

import asyncio
import json
from dataclasses import replace

import pytest

from scenarios.domains.base import ScenarioSpec
from tests.bots.conftest import Stage
from tests.bots.endpoint import Ask, say, use
from tests.bots.reference_bot import EXIT, Faults, ReferenceBot, Step, Use
from tests.bots.theirs_stage import Result, gold_script, hold, spec_of

CALLER = [say("I need help with my order."), say("Thank you, bye then.")]
Script = list[list[Step]]
OVERDUE = "tau2_telecom__service_issue__airplane_mode_on__overdue_bill_suspension"


@pytest.fixture(scope="module")
def retail() -> ScenarioSpec:
    return spec_of("tau2_retail", "tau2_retail__65")


@pytest.fixture(scope="module")
def cancels() -> ScenarioSpec:
    return spec_of("tau2_retail", "tau2_retail__81")


@pytest.fixture(scope="module")
def eva() -> ScenarioSpec:
    return spec_of("eva_airline", "eva_airline__voluntary_date_change")


@pytest.fixture(scope="module")
def telecom() -> ScenarioSpec:
    return spec_of("tau2_telecom", OVERDUE)


async def test_a_retail_agent_passes_on_the_hash_it_gave(stage: Stage, cancels: ScenarioSpec) -> None:
    stage.script([], CALLER)
    bot = ReferenceBot("agent", gold_script(cancels))
    held = await hold(stage, cancels, [bot])
    assert held.failure is None, held.failure
    assert (held.end["reason"], held.end["by"]) == ("end_tool", "agent")
    assert bot.heard == ["Hello", "I need help with my order.", "Thank you, bye then."]
    assert held.record.said()[:2] == [
        ("agent", "Hello, how can I help?"),
        ("user", "I need help with my order."),
    ]
    (pulled,) = held.record.of("state.pulled")
    assert (pulled["db_hash"], pulled["copy_hash"]) == (bot.db.hash, bot.db.hash)
    assert pulled["changes"] is None
    assert "too large" in pulled["no_database"]
    match = held.signal("db_state_match")
    assert match.passed
    assert match.detail["actual_hash"] == bot.db.hash
    # The hash proves that our copy is its database, so there is a diff although the database was not sent.
    assert {row["state"] for row in match.detail["diff"]} == {"right"}
    assert held.signal("is_action_match").passed
    assert held.scored().decision.outcome == "pass"
    assert held.record.of("usage.reported", "agent")


async def test_the_six_messages_come_in_the_references_order(stage: Stage, cancels: ScenarioSpec) -> None:
    stage.script([], CALLER)
    bot = ReferenceBot("agent", gold_script(cancels))
    held = await hold(stage, cancels, [bot])
    kinds = [kind for kind, _ in bot.asked]
    assert kinds[:3] == ["reset", "update_system_prompt", "apply_initialization"]
    assert set(kinds[3:]) == {"get_scenario_summary", "get_context_history"}
    prompt, init = bot.asked[1][1], bot.asked[2][1]
    assert prompt["tool_domain"] == "tau2_retail"
    assert prompt["add_suffix"] is False
    assert "EndConversationTool" in json.loads(prompt["tools"])
    assert json.loads(init["shared_state_init"]) == {"db_path": "tau2_retail/db"}
    prepared = held.record.of("party.prepared", "agent")[0]
    assert (prepared["tools_run"], prepared["prompt"]) == ("theirs", prompt["prompt"])


async def test_a_wrong_end_state_fails_with_the_call_that_made_it(stage: Stage, cancels: ScenarioSpec) -> None:
    first = cancels.gold_actions[0]
    wrong = Use(first.tool, {**first.arguments, "reason": "ordered by mistake"})
    stage.script([], CALLER)
    bot = ReferenceBot("agent", [["Hello."], [wrong, "Done."], ["Bye.", EXIT]])
    held = await hold(stage, cancels, [bot])
    assert held.scored().decision.outcome == "fail"
    detail = held.signal("db_state_match").detail
    faulty = [row for row in detail["diff"] if row["state"] != "right"]
    assert faulty
    wrong_rows = [row for row in faulty if row["state"] in ("wrong", "unexpected")]
    assert all(row["tool"] == first.tool for row in wrong_rows)


async def test_the_state_of_the_seed_never_scores(stage: Stage, retail: ScenarioSpec) -> None:
    """A scenario whose expected state is the seed: a bot that gives no state must not pass by our seed."""
    stage.script([], CALLER)
    bot = ReferenceBot("agent", gold_script(retail), Faults(silent=frozenset({"get_scenario_summary"})))
    held = await hold_quickly(stage, retail, bot)
    assert held.failure is not None
    assert held.failure.kind == "party_no_answer"
    assert held.end["reason"] == "end_tool"
    decision = held.scored().decision
    assert decision.outcome == "infra_error"
    assert "state_not_pulled" in decision.reason
    honest = await hold(stage, retail, [ReferenceBot("agent", gold_script(retail))])
    assert honest.scored().decision.outcome == "pass"


async def hold_quickly(stage: Stage, spec: ScenarioSpec, *bots: ReferenceBot) -> Result:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bots.bridge.theirs.control.ANSWER_S", 2)
        return await hold(stage, spec, bots)


@pytest.mark.parametrize("reports", [True, False])
async def test_reads_stand_in_the_record_however_they_were_told(
    stage: Stage, retail: ScenarioSpec, reports: bool
) -> None:
    stage.script([], CALLER)
    bot = ReferenceBot("agent", gold_script(retail), Faults(reports_calls=reports))
    held = await hold(stage, retail, [bot])
    called = [call["tool"] for call in held.record.of("tool.called")]
    assert called == [action.tool for action in retail.gold_actions]
    assert all(answer["ok"] for answer in held.record.of("tool.returned"))
    assert ("known from the bot's history only" in held.record.notes()) == (not reports)
    assert not held.scored().decision.by_inaction


async def test_a_database_that_is_sent_is_the_one_compared(stage: Stage, eva: ScenarioSpec) -> None:
    stage.script([], CALLER)
    bot = ReferenceBot("agent", gold_script(eva), Faults(reports_calls=True))
    held = await hold(stage, eva, [bot])
    assert held.failure is None, held.failure
    (pulled,) = held.record.of("state.pulled")
    assert pulled["changes"]
    assert held.evidence is not None
    assert held.evidence.databases["agent"].to_json() == bot.db.to_json()
    assert held.scored().decision.outcome == "pass"


async def test_a_hash_that_nothing_leads_to_gives_no_diff_and_says_why(stage: Stage, cancels: ScenarioSpec) -> None:
    stage.script([], CALLER)
    bot = ReferenceBot("agent", gold_script(cancels), Faults(hash="ab" * 32))
    held = await hold(stage, cancels, [bot])
    match = held.signal("db_state_match")
    assert match.passed is False
    assert match.detail["actual_hash"] == "ab" * 32
    assert "diff" not in match.detail
    assert "only a hash is known" in match.detail["no_diff"]["agent"]
    assert "not what its reported actions make" in held.record.notes()


async def test_actions_that_were_never_reported_count_from_the_bots_log(stage: Stage, cancels: ScenarioSpec) -> None:
    stage.script([], CALLER)
    bot = ReferenceBot("agent", gold_script(cancels), Faults(hides=frozenset({"actions"})))
    held = await hold(stage, cancels, [bot])
    assert "2 actions of the bot's own log were never reported" in held.record.notes()
    assert held.signal("is_action_match").passed
    assert held.signal("db_state_match").detail["diff"]
    assert held.scored().decision.outcome == "pass"


def telecom_scripts(spec: ScenarioSpec) -> tuple[Script, Script]:
    """Return both sides' scripts with the gold's own arguments."""
    gold = {action.tool: Use(action.tool, action.arguments) for action in spec.gold_actions}
    agent: Script = [
        ["Hello, how can I help?"],
        ["Please turn airplane mode off."],
        [gold["send_payment_request"], "Please pay the bill I sent you."],
        [gold["resume_line"], "Now restart your phone."],
        ["Goodbye.", EXIT],
    ]
    caller: Script = [
        ["I have no service."],
        [gold["toggle_airplane_mode"], "It is off."],
        [gold["make_payment"], "I paid."],
        [gold["reboot_device"], "It works now."],
    ]
    return agent, caller


def check_telecom(held: Result, deltas_to: set[str]) -> None:
    assert held.failure is None, held.failure
    synced = held.record.of("state.synced")
    told = [(side, path) for event in synced for side, delta in event["deltas"].items() for path in delta]
    assert {side for side, _ in told} == deltas_to
    assert all(event["acknowledged_ms"].keys() == event["deltas"].keys() for event in synced)
    if "user" in deltas_to:
        assert ("user", "surroundings.payment_request") in told
        assert ("user", "surroundings.line_active") in told
    if "agent" in deltas_to:
        assert any(path.startswith("bills[") and path.endswith("].status") for _, path in told)
    assert held.scored().decision.outcome == "pass", held.scored().decision.reason
    for pulled in held.record.of("state.pulled"):
        assert pulled["db_hash"] == pulled["copy_hash"]


async def test_telecom_with_both_sides_keeping_their_own(stage: Stage, telecom: ScenarioSpec) -> None:
    agent, caller = telecom_scripts(telecom)
    bots = [ReferenceBot("agent", agent), ReferenceBot("user", caller)]
    held = await hold(stage, telecom, bots)
    check_telecom(held, {"agent", "user"})
    assert held.evidence is not None
    assert {action["side"] for action in held.evidence.actions} == {"agent", "user"}
    before = [kind for kind, _ in bots[1].asked]
    assert before[:4] == ["reset", "update_system_prompt", "apply_initialization", "apply_sync_delta"]


async def test_telecom_with_our_caller(stage: Stage, telecom: ScenarioSpec) -> None:
    agent, _ = telecom_scripts(telecom)
    stage.script(
        [],
        [
            say("I have no service."),
            use(Ask("toggle_airplane_mode")),
            say("It is off."),
            use(Ask("make_payment")),
            say("I paid."),
            use(Ask("reboot_device")),
            say("It works now."),
        ],
    )
    check_telecom(await hold(stage, telecom, [ReferenceBot("agent", agent)]), {"agent"})


async def test_telecom_with_our_agent(stage: Stage, telecom: ScenarioSpec) -> None:
    _, caller = telecom_scripts(telecom)
    gold = {action.tool: dict(action.arguments) for action in telecom.gold_actions}
    stage.script(
        [
            say("Hello, how can I help?"),
            say("Please turn airplane mode off."),
            use(Ask("send_payment_request", gold["send_payment_request"])),
            say("Please pay the bill I sent you."),
            use(Ask("resume_line", gold["resume_line"])),
            say("Now restart your phone."),
            say("Goodbye.", Ask("end_conversation")),
        ],
        [],
    )
    check_telecom(await hold(stage, telecom, [ReferenceBot("user", caller)]), {"user"})


async def test_predicates_of_an_unknown_database_are_no_verdict(stage: Stage, telecom: ScenarioSpec) -> None:
    agent, caller = telecom_scripts(telecom)
    unread = Faults(hides=frozenset({"db"}), hash="cd" * 32)
    bots = [ReferenceBot("agent", agent), ReferenceBot("user", caller, unread)]
    held = await hold(stage, telecom, bots)
    signal = held.signal("db_state_assertion")
    assert (signal.passed, signal.undecided) == (None, "no_state")
    decision = held.scored().decision
    assert decision.outcome == "infra_error"
    assert "state_unknown" in decision.reason


async def test_an_end_marker_that_is_spoken_ends_nothing(stage: Stage, retail: ScenarioSpec) -> None:
    stage.script([], CALLER)
    script = [["Hello."], ["He said: <exit> now.", "And more."], ["Bye.", EXIT]]
    held = await hold(stage, retail, [ReferenceBot("agent", script)])
    assert ("agent", "He said: <exit> now.\nAnd more.") in held.record.said()
    assert held.end["reason"] == "end_tool"


async def test_no_seed_is_touched(stage: Stage, cancels: ScenarioSpec) -> None:
    """Two calls after another with one bot: the second begins afresh."""
    stage.script([], [*CALLER, *CALLER])
    bot = ReferenceBot("agent", gold_script(cancels))
    for _ in range(2):
        held = await hold(stage, replace(cancels), [bot])
        assert held.scored().decision.outcome == "pass"


async def test_words_after_the_turn_are_heard_with_the_next(stage: Stage, retail: ScenarioSpec) -> None:
    class Hesitant(ReferenceBot):
        async def _say(self, text: str) -> None:
            if text == "And more.":
                await asyncio.sleep(1)  # longer than its profile's turn_settle_s
            await super()._say(text)

    stage.script([], [say("Help me.", hang_s=3), say("Thanks.")])
    script = [["Hello.", "And more."], ["Sure."], ["Bye.", EXIT]]
    held = await hold(stage, retail, [Hesitant("agent", script)])
    agent = [said for side, said in held.record.said() if side == "agent"]
    assert agent[:2] == ["Hello.", "And more.\nSure."]
    assert "heard with its next one" in held.record.notes()
