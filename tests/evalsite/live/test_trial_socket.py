"""The socket of one call: what it sends, in which order, and to whom."""

import asyncio
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session

from evalsite.live import consumers, hub, trial_feed
from evalsite.live.fragments import Fragment, fragment
from scenarios.models import Trial, TrialEvent
from tests.calls import Call
from tests.evalsite.live.sockets import Socket, in_db, open_socket, sign_in
from tests.factories import make_trial


@pytest.fixture
def trial(transactional_db: None) -> Trial:
    return make_trial(state="running", last_seq=0)


@pytest.fixture
def call(trial: Trial) -> Call:
    return Call(trial).begin()


async def seqs(socket: Socket, count: int) -> list[int]:
    return [row["seq"] for row in await socket.rows(count)]


async def test_a_stranger_is_refused_in_the_handshake(trial: Trial) -> None:
    connected, _ = await Socket(f"/ws/trials/{trial.pk}/").connect()
    assert not connected


@pytest.mark.parametrize("path", ["trials/{}/", "runs/{}/", "live/"])
async def test_who_has_no_role_is_refused_as_by_the_pages(trial: Trial, path: str) -> None:
    cookie = await in_db(lambda: sign_in(User.objects.create_user("nobody")))()
    connected, _ = await Socket("/ws/" + path.format(trial.pk), cookie).connect()
    assert not connected


@pytest.mark.parametrize("origin", ["http://evil.example", "null", ""])
async def test_a_foreign_origin_is_refused_even_with_a_session(trial: Trial, viewer: User, origin: str) -> None:
    connected, _ = await Socket(f"/ws/trials/{trial.pk}/", await in_db(sign_in)(viewer), origin).connect()
    assert not connected


async def test_what_the_page_lacks_comes_first_then_what_happens(call: Call, viewer: User) -> None:
    await in_db(call.turn)("agent", "Hello")
    socket = await open_socket(f"/ws/trials/{call.trial.pk}/", viewer, after=4)
    assert await seqs(socket, 3) == [5, 6, 7]
    await in_db(call.turn)("user", "Hi")
    rows = await socket.rows(2)
    assert [row["kind"] for row in rows] == ["turn.started", "turn.ended"]
    assert "Hi" in rows[1]["html"]
    await socket.disconnect()


async def test_two_viewers_at_different_places_both_get_the_whole(call: Call, viewer: User) -> None:
    for _ in range(10):
        await in_db(call.turn)("agent", "so")
    late = await open_socket(f"/ws/trials/{call.trial.pk}/", viewer, after=call.seq - 1)
    early = await open_socket(f"/ws/trials/{call.trial.pk}/", viewer, after=0)
    assert await seqs(late, 1) == [call.seq]
    assert await seqs(early, call.seq) == list(range(1, call.seq + 1))
    await late.disconnect()
    await early.disconnect()


async def test_viewers_that_drop_and_come_back_all_the_time_miss_and_double_nothing(call: Call, viewer: User) -> None:
    async def watch(stay: int) -> list[int]:
        seen = [0]
        while seen[-1] < 203:
            socket = await open_socket(f"/ws/trials/{call.trial.pk}/", viewer, after=seen[-1])
            for _ in range(stay):
                if seen[-1] < 203:
                    seen += [row["seq"] for row in (await socket.next("events"))["rows"]]
            await socket.disconnect()
        return seen

    async def speak() -> None:
        while call.seq < 203:
            await in_db(call.turn)("user", "and so on")

    speaking = asyncio.create_task(speak())
    seen = await asyncio.gather(*(watch(stay) for stay in (1, 2, 3, 5)))
    await speaking
    assert [part[:204] for part in seen] == [list(range(204))] * 4


async def test_two_runs_of_one_scenario_and_number_do_not_mix(call: Call, viewer: User) -> None:
    """B68: what is watched is the trial of a run, not the scenario and its number."""
    twin = await in_db(make_trial)(scenario=call.trial.scenario, state="running", last_seq=0)
    assert (twin.scenario_id, twin.number) == (call.trial.scenario_id, call.trial.number)
    assert twin.run_id != call.trial.run_id
    other = await in_db(lambda: Call(twin).begin())()
    one = await open_socket(f"/ws/trials/{call.trial.pk}/", viewer, after=call.seq)
    two = await open_socket(f"/ws/trials/{twin.pk}/", viewer, after=other.seq)
    await in_db(call.turn)("agent", "for the first")
    await in_db(other.turn)("agent", "for the second")
    assert "for the first" in (await one.rows(3))[1]["html"]
    assert "for the second" in (await two.rows(3))[1]["html"]
    await one.disconnect()
    await two.disconnect()


async def test_no_message_is_large_however_much_happened(
    call: Call, viewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B75: 1.2 MB of tool output goes as a short form, and many long rows as several messages."""
    monkeypatch.setattr(trial_feed, "MESSAGE_SIZE", 20_000)
    await in_db(call.tool)("dump", {}, "x" * 1_200_000)
    for _ in range(12):
        await in_db(call.turn)("agent", "y" * 3_900)
    socket = await open_socket(f"/ws/trials/{call.trial.pk}/", viewer, after=0)
    sent: list[dict[str, Any]] = []
    while not sent or sent[-1]["rows"][-1]["seq"] < call.seq:
        sent.append(await socket.next("events"))
    assert [row["seq"] for message in sent for row in message["rows"]] == list(range(1, call.seq + 1))
    assert len(sent) > 2
    assert max(len(str(message)) for message in sent) < 30_000
    await socket.disconnect()


async def test_an_event_is_rendered_once_for_all_viewers(
    call: Call, viewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    rendered: list[int] = []

    def counting(event: Any) -> Fragment:
        rendered.append(event.seq)
        return fragment(event)

    monkeypatch.setattr(trial_feed, "fragment", counting)
    sockets = [await open_socket(f"/ws/trials/{call.trial.pk}/", viewer) for _ in range(5)]
    for socket in sockets:
        assert await seqs(socket, call.seq) == list(range(1, call.seq + 1))
        await socket.disconnect()
    assert sorted(rendered) == list(range(1, call.seq + 1))


async def test_rows_wait_for_a_batch_that_is_not_committed_yet(
    call: Call, viewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial_feed, "GAP_S", 600.0)
    socket = await open_socket(f"/ws/trials/{call.trial.pk}/", viewer, after=call.seq)
    hole = call.seq + 1
    call.seq += 1
    await in_db(call.turn)("agent", "after the hole")
    await asyncio.sleep(4 * hub.TICK_S)
    events = TrialEvent.objects.filter(trial=call.trial)
    first = await in_db(lambda: events.get(seq=1))()
    await in_db(lambda: TrialEvent.objects.create(**{**vars_of(first), "seq": hole}))()
    assert await seqs(socket, 4) == [hole, hole + 1, hole + 2, hole + 3]
    await socket.disconnect()


async def test_a_hole_that_stays_is_passed_over_and_told(
    call: Call, viewer: User, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(trial_feed, "GAP_S", 0.0)
    socket = await open_socket(f"/ws/trials/{call.trial.pk}/", viewer, after=call.seq)
    hole = call.seq + 1
    call.seq += 1
    await in_db(call.turn)("agent", "after the hole")
    message = await socket.next("events")
    assert message["lost"] == hole
    assert message["rows"][0]["seq"] == hole + 1
    assert f"events {hole} to {hole} of trial {call.trial.pk} are missing" in caplog.text
    await socket.disconnect()


async def test_a_page_that_confirms_nothing_gets_no_more_than_its_window(
    call: Call, viewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "BEAT_S", 600.0)  # one sign of life, at the beginning
    monkeypatch.setattr(hub, "WINDOW", 8)
    monkeypatch.setattr(trial_feed, "STEP", 4)
    for _ in range(8):
        await in_db(call.turn)("user", "well")
    socket = await open_socket(f"/ws/trials/{call.trial.pk}/", viewer)
    assert await seqs(socket, 8) == list(range(1, 9))
    assert await socket.receive_nothing(6 * hub.TICK_S)
    await socket.say(after=8)
    assert await seqs(socket, 8) == list(range(9, 17))
    await socket.disconnect()


async def test_the_end_is_told_after_the_last_event(call: Call, viewer: User) -> None:
    socket = await open_socket(f"/ws/trials/{call.trial.pk}/", viewer)
    assert (await socket.next("state"))["status"] == "running"
    await in_db(call.end)("fail", "1 of 2 claims failed")
    seen = 0
    while True:
        message = await socket.next("events", "state")
        if message["type"] == "state":
            break
        seen = message["rows"][-1]["seq"]
    assert message == {
        "type": "state",
        "status": "done",
        "outcome": "fail",
        "reason": "1 of 2 claims failed",
        "ended": True,
        "last_seq": call.seq,
        "reviewed": 0,
    }
    assert seen == call.seq
    await socket.disconnect()


async def test_a_trial_that_is_not_there_is_said_to_be_gone(viewer: User) -> None:
    socket = await open_socket("/ws/trials/987654/", viewer)
    assert (await socket.next("gone"))["type"] == "gone"
    await socket.disconnect()


@pytest.mark.parametrize(
    "text",
    [
        " ",
        "nonsense",
        "[]",
        '"after"',
        "{}",
        '{"after": -1}',
        '{"after": "1"}',
        '{"after": true}',
        '{"after": 1.5}',
        '{"after": 0, "known": []}',
        '{"after": 0, "known": {"x": "y"}}',
        '{"after": 0, "known": {"1": 2}}',
    ],
)
async def test_what_pages_never_say_closes_the_socket(trial: Trial, viewer: User, text: str) -> None:
    socket = Socket(f"/ws/trials/{trial.pk}/", await in_db(sign_in)(viewer))
    await socket.connect()
    await socket.send_to(text_data=text)
    assert await socket.close_code() == consumers.BAD_MESSAGE


async def test_bytes_close_the_socket(trial: Trial, viewer: User) -> None:
    socket = Socket(f"/ws/trials/{trial.pk}/", await in_db(sign_in)(viewer))
    await socket.connect()
    await socket.send_to(bytes_data=b"\x00")
    assert await socket.close_code() == consumers.BAD_MESSAGE


async def test_a_session_that_ended_is_dropped_with_its_own_code(
    trial: Trial, viewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "BEAT_S", 0.02)
    monkeypatch.setattr(consumers, "MISSED_BEATS", 1_000)
    socket = await open_socket(f"/ws/trials/{trial.pk}/", viewer)
    await socket.next("beat")
    await in_db(Session.objects.all().delete)()
    assert await socket.close_code() == consumers.SIGNED_OUT


async def test_a_person_who_was_shut_out_is_dropped(
    trial: Trial, viewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "BEAT_S", 0.02)
    monkeypatch.setattr(consumers, "MISSED_BEATS", 1_000)
    socket = await open_socket(f"/ws/trials/{trial.pk}/", viewer)
    await socket.next("beat")
    await in_db(User.objects.filter(pk=viewer.pk).update)(is_active=False)
    assert await socket.close_code() == consumers.SIGNED_OUT


async def test_a_person_whose_role_was_taken_is_dropped(
    trial: Trial, viewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "BEAT_S", 0.02)
    monkeypatch.setattr(consumers, "MISSED_BEATS", 1_000)
    socket = await open_socket(f"/ws/trials/{trial.pk}/", viewer)
    await socket.next("beat")
    await in_db(viewer.groups.clear)()
    assert await socket.close_code() == consumers.SIGNED_OUT


async def test_a_page_that_does_not_answer_is_asked_to_come_again(
    trial: Trial, viewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "BEAT_S", 0.02)
    socket = await open_socket(f"/ws/trials/{trial.pk}/", viewer)
    assert await socket.close_code() == consumers.TRY_AGAIN


async def test_a_socket_that_breaks_says_so(trial: Trial, viewer: User, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: Any) -> bool:
        raise RuntimeError("no database")

    monkeypatch.setattr(consumers, "still_has_role", broken)
    socket = await open_socket(f"/ws/trials/{trial.pk}/", viewer)
    assert await socket.close_code() == consumers.BROKEN


def vars_of(event: TrialEvent) -> dict[str, Any]:
    names = ("trial_id", "seq", "at_ms", "kind", "side", "data", "created_at")
    return {name: getattr(event, name) for name in names}
