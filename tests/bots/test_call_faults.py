"""Endpoints, sockets and parties that break: a party's failure, never the agent's."""

import asyncio

import pytest

from bots.bridge.wire import MAX_FRAME_BYTES, encode
from scenarios.launch import FrozenProfile, RunConfig, ScenarioRef
from scenarios.sides import SIDES, Side
from tests.bots.conftest import Held, PartyServer, Stage, start_party
from tests.bots.endpoint import Ask, Step, say
from tests.bots.fake_party import FakeParty, fake_party

GREETING = say("Hello!")
END = say("Bye.", Ask("end_conversation"))
SLOW_DOWN = Step(status=429, retry_after="0.01")


def failed(held: Held) -> tuple[str, bool]:
    """Return the failure's kind and whether another attempt is worth it; the record must agree."""
    assert held.failure is not None
    assert held.end["reason"] == "party_failed"
    assert held.failure.kind in held.end["message"]
    return held.failure.kind, held.failure.retry


@pytest.mark.parametrize(
    ("fault", "noted"),
    [
        (SLOW_DOWN, "answered 429"),
        (Step(status=500, retry_after="0"), "answered 500"),
        (Step("Half a sen", cut=True), "broke off"),
        (Step(body="<html>busy</html>"), "nonsense"),
    ],
)
async def test_a_passing_fault_is_noted_and_the_talk_goes_on(stage: Stage, fault: Step, noted: str) -> None:
    stage.script([GREETING, fault, END], [say("Hi.")])
    held = await stage.hold()
    assert held.failure is None
    assert held.record.said() == [("agent", "Hello!"), ("user", "Hi."), ("agent", "Bye.")]
    assert noted in held.record.notes()
    (pulled,) = held.record.of("context.pulled", "agent")
    assert "Half a sen" not in str(pulled)


@pytest.mark.parametrize(
    ("fault", "kind", "retry"),
    [
        (SLOW_DOWN, "llm_http_429", True),
        (Step(status=500, retry_after="0"), "llm_http_500", True),
        (Step(status=401), "llm_http_401", False),
        (Step(status=404), "llm_http_404", False),
        (Step("Half", cut=True), "llm_stream_cut", True),
        (Step(body="I am no endpoint."), "llm_nonsense", True),
    ],
)
async def test_a_lasting_fault_is_the_partys_failure(stage: Stage, fault: Step, kind: str, retry: bool) -> None:
    stage.script([GREETING, fault], [say("Hi.")])
    held = await stage.hold()
    assert failed(held) == (kind, retry)
    assert held.end["by"] == "agent"


async def test_a_callers_endpoint_fails_too(stage: Stage) -> None:
    stage.script([GREETING], [Step(status=403)])
    held = await stage.hold()
    assert failed(held) == ("llm_http_403", False)
    assert held.end["by"] == "user"


async def test_an_endpoint_that_is_too_slow(stage: Stage) -> None:
    stage.agent = {"parameters": {"timeout_s": 0.1}}
    stage.script([GREETING, Step("Late.", hang_s=2)], [say("Hi.")])
    held = await stage.hold()
    assert failed(held) == ("llm_timeout", True)


async def test_an_endpoint_that_is_down(stage: Stage) -> None:
    stage.agent = {"base_url": "http://127.0.0.1:9/v1"}
    stage.script([], [say("Hi.")])
    held = await stage.hold()
    assert failed(held) == ("llm_unreachable", True)


async def test_a_party_server_that_is_not_there(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bots.bridge.link.CONNECT_WAITS_S", (0.01,))
    stage.set_address("agent", "ws://127.0.0.1:9")
    held = await stage.hold()
    assert held.failure is not None
    assert (held.failure.kind, held.failure.side) == ("party_unreachable", "agent")
    assert "is its server running?" in str(held.failure)
    assert held.record.kinds() == []


@pytest.mark.parametrize("name", ["NOT_SET_ANYWHERE", "SECRET_KEY"])
async def test_a_key_that_is_missing_or_no_models_is_named(stage: Stage, name: str) -> None:
    stage.agent = {"key_env": name}
    held = await stage.hold()
    assert held.failure is not None
    assert name in str(held.failure)
    assert not held.failure.retry


async def test_the_key_is_read_by_the_party_and_never_travels(stage: Stage) -> None:
    stage.agent = {"key_env": "PARTY_TEST_KEY"}
    stage.script([GREETING, END], [say("Hi.")])
    held = await stage.hold()
    assert held.end["reason"] == "end_tool"
    assert stage.endpoint.keys == {"agent": "Bearer sesame", "caller": "Bearer none"}
    assert "sesame" not in str([dict(event.data) for event in held.record.events])


async def test_request_parameters_reach_the_endpoint(stage: Stage) -> None:
    stage.agent = {"parameters": {"temperature": 0.2, "reasoning_effort": "low"}, "model": "m:{scenario}"}
    stage.script([], [say("Hi.")])
    stage.endpoint.scripts["m:toy_calls__sell"] = [END]
    held = await stage.hold()
    request = stage.endpoint.requests["m:toy_calls__sell"][0]
    assert (request["temperature"], request["reasoning_effort"]) == (0.2, "low")
    assert request["messages"][0] == {"role": "system", "content": "You sell tickets."}
    assert request["tools"][0]["function"]["name"] == "look_up"
    assert held.record.of("party.prepared", "agent")[0]["model"] == "m:toy_calls__sell"


@pytest.mark.parametrize("persona", [False, True])
async def test_the_caller_is_told_its_persona_only_where_the_run_asks_for_it(stage: Stage, persona: bool) -> None:
    stage.script([END], [say("Hi.")])
    held = await stage.hold(persona=persona)
    prompts = {side: held.record.of("party.prepared", side)[0]["prompt"] for side in SIDES}
    assert ("in a hurry" in prompts["user"]) == persona
    assert "in a hurry" not in prompts["agent"]


async def test_a_party_killed_in_the_middle_of_a_call(stage: Stage) -> None:
    victim = start_party("agent")
    stage.set_address("agent", victim.address)
    stage.script([GREETING, Step("Late.", hang_s=30)], [say("Hi.")])
    holding = asyncio.create_task(stage.hold())
    while len(stage.endpoint.requests["agent"]) < 2:
        assert not holding.done()
        await asyncio.sleep(0.01)
    victim.kill()
    held = await asyncio.wait_for(holding, 120)
    assert failed(held) == ("party_gone", True)
    assert held.record.said() == [("agent", "Hello!"), ("user", "Hi.")]


def frame_over_the_limit() -> bytes:
    return encode("server-message", {"type": "turn-complete", "turn": 1, "text": "x" * MAX_FRAME_BYTES})


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        (frame_over_the_limit(), "party_frame_too_large"),
        (b"\xff\xff\xff", "bad_frame"),
        (encode("server-message", {"type": "failed", "kind": "gpu_gone", "message": "no GPU"}), "gpu_gone"),
        (encode("error", {"error": "pipeline broke", "fatal": True}), "bot_error"),
    ],
)
async def test_a_party_that_breaks_the_protocol(stage: Stage, payload: bytes, kind: str) -> None:
    async def answer(party: FakeParty, turn: int, heard: str) -> None:
        await party.raw(payload)

    async with fake_party(answer) as address:
        stage.agent = {"address": address}
        held = await stage.hold()
    assert failed(held) == (kind, True)


async def test_a_party_that_floods_the_call(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bots.bridge.conversation.MAX_MESSAGES_PER_TURN", 20)

    async def answer(party: FakeParty, turn: int, heard: str) -> None:
        for _ in range(50):
            await party.server_message("working")

    async with fake_party(answer) as address:
        stage.agent = {"address": address}
        held = await stage.hold()
    assert failed(held) == ("party_flood", True)


async def test_a_stale_turn_complete_and_a_bots_warning_are_noted(stage: Stage) -> None:
    async def answer(party: FakeParty, turn: int, heard: str) -> None:
        await party.complete(turn - 1, "from before")
        await party.raw(encode("error", {"error": "a hiccup"}))
        await party.server_message("tool-call", call_id="c1", name="end_conversation", arguments={})
        await party.complete(turn, "Bye.")

    async with fake_party(answer) as address:
        stage.agent = {"address": address}
        held = await stage.hold()
    assert held.end["reason"] == "end_tool"
    assert "a turn-complete for turn 0 was ignored" in held.record.notes()
    assert "a hiccup" in held.record.notes()
    assert held.record.said() == [("agent", "Bye.")]


async def test_control_tokens_are_not_said_but_kept(stage: Stage) -> None:
    leaky = "<|channel|>analysis the user wants... <|end|> Okay,\x00 thanks."
    stage.script([GREETING, END], [say(leaky)])
    held = await stage.hold()
    turn = held.record.of("turn.ended", "user")[0]
    assert turn["said"].endswith("thanks.")
    assert turn["said"].startswith("Okay,")
    assert "<|channel|>" in turn["raw"]
    assert "<|" not in stage.endpoint.messages("agent")[-1]["content"]


def test_a_bot_that_keeps_its_tools_needs_an_address() -> None:
    profile = FrozenProfile(slug="nemo", kind="agent", model="m", tools_run="theirs")
    caller = FrozenProfile(slug="c", kind="caller", model="m")
    refs = [ScenarioRef(name="x", fingerprint="f")]
    with pytest.raises(ValueError, match="agent: 'nemo' keeps its tools with the bot but names no bot"):
        RunConfig(domain="d", scenarios=refs, trials=1, agent=profile, caller=caller, judge=None)


async def test_what_cannot_be_held_is_refused_before_any_socket(stage: Stage) -> None:
    held = await stage.hold(domain="nowhere")
    assert held.failure is not None
    assert (held.failure.kind, held.failure.retry) == ("unknown_domain", False)


async def test_sixteen_calls_at_once_keep_their_contexts_apart(stage: Stage, parties: dict[Side, PartyServer]) -> None:
    stage.endpoint.stateless = {"agent", "caller"}
    look = say("One moment.", Ask("look_up", {"ticket_id": "A1"}))
    # Assistant messages so far: greeting 1, look 2 (text and call), answer 1.
    agent = [say("Hello!"), look, look, say("It is free."), END]
    stage.script(agent, [say("Is A1 free?"), say("Thanks.")])
    calls = await asyncio.gather(*(stage.hold() for _ in range(16)))
    for held in calls:
        assert held.failure is None
        assert held.record.said() == [
            ("agent", "Hello!"),
            ("user", "Is A1 free?"),
            ("agent", "One moment.\nIt is free."),
            ("user", "Thanks."),
            ("agent", "Bye."),
        ]
        (pulled,) = held.record.of("context.pulled", "agent")
        assert [m["role"] for m in pulled["messages"]].count("tool") == 2
