"""What a caller does with its own tools when an agent asks: the domain with phone tools, in any agent's words."""

import json
from typing import Any

import pytest

from bots.standins import errands
from bots.standins.cue import Cue, cue
from bots.standins.wire import ChatRequest, Message, Reply
from scenarios.domains import load
from scenarios.domains.base import GoldAction

pytestmark = pytest.mark.usefixtures("benchmarks")
GRANTS = "bad_network_preference__bad_wifi_calling__break_apn_mms_setting__break_app_both_permissions"
SCENARIO = f"tau2_telecom__mms_issue__airplane_mode_on__{GRANTS}__data_mode_off__data_usage_exceeded__unseat_sim_card"
SCENARIO += "__user_abroad_roaming_disabled_off__hard"


def request(*messages: Message) -> ChatRequest:
    return ChatRequest("standin-caller:x", (Message("system", "You are a caller."), *messages), False, False, 0)


def answer(line: str, earlier: tuple[str, ...] = (), scene: Cue | None = None) -> Reply | None:
    done = [Message("assistant", "", (tool,)) for tool in earlier]
    return errands.reply(scene or cue(SCENARIO), request(*done, Message("user", line)))


def call(line: str, earlier: tuple[str, ...] = ()) -> tuple[str, dict[str, Any]]:
    reply = answer(line, earlier)
    assert reply is not None
    (made,) = reply.tool_calls
    return made.name, json.loads(made.arguments)


def report(result: str) -> str:
    reply = errands.reply(cue(SCENARIO), request(Message("tool", result)))
    assert reply is not None
    return reply.text


def test_every_tool_of_the_phone_is_known_by_its_own_name() -> None:
    asked = [GoldAction(tool.model_name(), {}, "user") for tool in load()["tau2_telecom"].tools("user")]
    replies = {action.tool: answer(errands.instruction(action)) for action in asked}

    assert len(asked) == 30
    for tool, reply in replies.items():
        assert reply is not None, tool
        assert [made.name for made in reply.tool_calls] in ([tool], []), tool
    needing = {tool for tool, reply in replies.items() if reply and not reply.tool_calls}
    assert needing == {"set_apn_settings", "check_app_status", "check_app_permissions"}


@pytest.mark.parametrize(
    ("line", "tool"),
    [
        ("Could you turn airplane mode off for me?", "toggle_airplane_mode"),
        ("Please switch on Wi-Fi Calling, and tell me what you see.", "toggle_wifi_calling"),
        ("Please enable mobile data.", "toggle_data"),
        ("Please disable data saver mode.", "toggle_data_saver_mode"),
        ("Now I need you to restart your phone.", "reboot_device"),
        ("Can you take the SIM card out and put it back in?", "reseat_sim_card"),
        ("Can you check your status bar?", "check_status_bar"),
        ("Please grant app permission to it.", "grant_app_permission"),
        ("Let's run a speed test.", "run_speed_test"),
        ("Please turn off airplane mode and tell me what the status bar shows.", "toggle_airplane_mode"),
    ],
)
def test_an_agent_may_use_its_own_words(line: str, tool: str) -> None:
    assert call(line)[0] == tool


@pytest.mark.parametrize(
    "line",
    [
        "I will now refuel data: customer id C1001, gb amount 2.0. Shall I go ahead?",
        "That is done: enable roaming went through.",
        "May I have your name and something to verify your account, please?",
        "Please hold the line.",
        "Your airplane mode is on, I see.",
    ],
)
def test_other_lines_are_no_errands(line: str) -> None:
    assert answer(line) is None


def test_values_are_taken_from_the_line() -> None:
    asked = GoldAction("grant_app_permission", {"app_name": "messaging", "permission": "sms"}, "user")

    assert call(errands.instruction(asked)) == ("grant_app_permission", dict(asked.arguments))
    assert call("Please set network mode preference: mode 3g_only.") == (
        "set_network_mode_preference",
        {"mode": "3g_only"},
    )


def test_a_value_that_was_not_heard_is_the_golds_for_this_turn() -> None:
    line = "Please grant the app the missing permission."
    both = {"app_name": "messaging"}

    assert call(line) == ("grant_app_permission", {**both, "permission": "sms"})
    assert call(line, ("grant_app_permission",)) == ("grant_app_permission", {**both, "permission": "storage"})
    third = answer(line, ("grant_app_permission",) * 2)
    assert third is not None
    assert (third.text, third.tool_calls) == ("I can do that, but I need to know the app name first.", ())


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ('"Airplane mode is now OFF.\\nStatus: ok"', "Done. It says: Airplane mode is now OFF."),
        ("plain text", "Done. It says: plain text"),
        ('{"bars": 4}', 'Done. It says: {"bars": 4}'),
        ('{"status": "error", "message": "No SIM."}', "That did not work. It says: No SIM."),
    ],
)
def test_what_the_tool_showed_is_said_aloud(result: str, text: str) -> None:
    assert report(result) == text


def test_a_long_answer_is_cut() -> None:
    assert len(report("x" * 5000)) == 200


@pytest.mark.parametrize("domain", ["frontdesk", "tau2_retail", "eva_airline"])
def test_a_caller_without_tools_does_nothing(domain: str) -> None:
    scene = Cue(load()[domain], load()[domain].scenarios()[0])

    assert answer("Please turn airplane mode off.", scene=scene) is None
