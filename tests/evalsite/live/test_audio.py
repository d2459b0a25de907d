"""Listening to a call while it is held: what the socket gives, to whom, and how old it is."""

import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session

from bots.bridge.audio.wav import StereoWav
from evalsite.live import audio
from evalsite.live.audio_tail import LEAD_MS, Tail
from scenarios.models import Trial
from scenarios.playback import path_of, recording_of
from tests.evalsite.live.sockets import WAIT_S, Socket, in_db, sign_in
from tests.factories import make_trial
from tests.spoken import keep_in, voice_run

SECOND = b"\x01\x02" * 16_000


@pytest.fixture(autouse=True)
def storage(tmp_path: Path, settings: Any) -> None:
    """Keep recordings in the test's own folder."""
    keep_in(tmp_path, settings)


@pytest.fixture
def trial(transactional_db: None) -> Trial:
    """Return a real-time voice call that is held."""
    trial = make_trial(state="running", last_seq=0)
    voice_run(trial.run, "realtime")
    return trial


def recorded(trial: Trial) -> StereoWav:
    path = path_of(recording_of(trial))
    assert path is not None
    return StereoWav(path)


async def listen(trial: Trial, user: User) -> Socket:
    socket = Socket(f"/ws/trials/{trial.pk}/audio/", await in_db(sign_in)(user))
    connected, _ = await socket.connect()
    assert connected
    return socket


async def heard(socket: Socket) -> tuple[int, int, bytes]:
    """Return position, age and sound of the next piece."""
    while True:
        output = await socket.receive_output(WAIT_S)
        assert output["type"] == "websocket.send", output
        if output.get("bytes"):
            sent, position, age = audio.HEADER.unpack(output["bytes"][: audio.HEADER.size])
            assert abs(time.time() * 1000 - sent) < WAIT_S * 1000
            return position, age, output["bytes"][audio.HEADER.size :]


async def told(socket: Socket) -> dict[str, Any]:
    while True:
        output = await socket.receive_output(WAIT_S)
        assert output["type"] == "websocket.send", output
        if output.get("text"):
            return dict(json.loads(output["text"]))


async def test_a_listener_hears_both_sides_as_they_are_written(trial: Trial, operator: User) -> None:
    with recorded(trial) as wav:
        wav.write(SECOND, bytes(32_000))
        socket = await listen(trial, operator)
        position, age, pcm = await heard(socket)
        assert (position, len(pcm)) == (1000 - LEAD_MS, LEAD_MS * 64)
        assert age < WAIT_S * 1000
        assert pcm[:4] == b"\x01\x02\0\0"  # left the caller, right the agent
        wav.write(bytes(6_400), SECOND[:6_400])
        position, _, pcm = await heard(socket)
        assert (position, len(pcm)) == (1000, 200 * 64)
        assert pcm[:4] == b"\0\0\x01\x02"
        await socket.disconnect()


async def test_the_end_of_the_call_ends_the_listening(trial: Trial, operator: User, monkeypatch: Any) -> None:
    monkeypatch.setattr(audio, "LOOK_S", 0.05)
    with recorded(trial) as wav:
        wav.write(SECOND, SECOND)
        socket = await listen(trial, operator)
        await heard(socket)
        await in_db(Trial.objects.filter(pk=trial.pk).update)(status="scoring")
        assert await told(socket) == {"type": "over", "why": "The call is over."}
        assert await socket.close_code() == 1000


async def test_another_attempt_is_followed(trial: Trial, operator: User, monkeypatch: Any) -> None:
    monkeypatch.setattr(audio, "LOOK_S", 0.05)
    with recorded(trial) as wav:
        wav.write(SECOND, SECOND)
    socket = await listen(trial, operator)
    await heard(socket)
    trial.attempts += 1
    await in_db(Trial.objects.filter(pk=trial.pk).update)(attempts=trial.attempts)
    with recorded(trial) as wav:
        wav.write(bytes(6_400), SECOND[:6_400])
        position, _, pcm = await heard(socket)
        assert (position, pcm[:4]) == (0, b"\0\0\x01\x02")
    await socket.disconnect()


@pytest.mark.parametrize(
    ("facts", "clock", "channel", "why"),
    [
        ({}, "lockstep", "voice", audio.LOCKSTEP),
        ({"status": "done"}, "realtime", "voice", "The call is over."),
        ({}, "realtime", "text", "This call is held in writing: there is nothing to hear."),
    ],
)
async def test_what_cannot_be_heard_says_why(
    trial: Trial, operator: User, facts: dict[str, str], clock: str, channel: str, why: str
) -> None:
    def change() -> None:
        Trial.objects.filter(pk=trial.pk).update(**facts)
        voice_run(trial.run, clock)
        trial.run.channel = channel
        trial.run.save()

    await in_db(change)()
    socket = await listen(trial, operator)
    assert await told(socket) == {"type": "over", "why": why}
    assert await socket.close_code() == 1000


async def test_a_call_that_was_deleted_is_over(trial: Trial, operator: User) -> None:
    trial.pk = 987_654
    assert (await told(await listen(trial, operator)))["why"] == "This call was deleted."


async def test_a_storage_without_files_says_so(trial: Trial, operator: User, settings: Any) -> None:
    memory = {"BACKEND": "django.core.files.storage.InMemoryStorage"}
    settings.STORAGES = {**settings.STORAGES, "default": memory}
    assert (await told(await listen(trial, operator)))["why"] == audio.NO_FILES


@pytest.mark.parametrize(("status", "words"), [("queued", "has not begun"), ("running", "shares no folder")])
async def test_silence_is_explained(trial: Trial, operator: User, monkeypatch: Any, status: str, words: str) -> None:
    monkeypatch.setattr(audio, "QUIET_S", 0.05)
    await in_db(Trial.objects.filter(pk=trial.pk).update)(status=status)
    socket = await listen(trial, operator)
    said = await told(socket)
    assert said["type"] == "waiting"
    assert words in said["why"]
    await socket.disconnect()


@pytest.mark.parametrize("role", ["viewer", "reviewer"])
async def test_only_operators_listen(trial: Trial, person: Any, role: str) -> None:
    cookie = await in_db(lambda: sign_in(person(role)))()
    connected, _ = await Socket(f"/ws/trials/{trial.pk}/audio/", cookie).connect()
    assert not connected


async def test_strangers_and_foreign_pages_are_refused(trial: Trial, operator: User) -> None:
    path = f"/ws/trials/{trial.pk}/audio/"
    connected, _ = await Socket(path).connect()
    assert not connected
    connected, _ = await Socket(path, await in_db(sign_in)(operator), "http://evil.example").connect()
    assert not connected


async def test_a_page_that_sends_anything_is_shut_out(trial: Trial, operator: User) -> None:
    socket = await listen(trial, operator)
    await socket.send_to(bytes_data=b"my own voice")
    assert await socket.close_code() == 4400


async def test_the_end_of_a_session_ends_the_listening(trial: Trial, operator: User, monkeypatch: Any) -> None:
    monkeypatch.setattr(audio, "LOOK_S", 0.05)
    socket = await listen(trial, operator)
    await in_db(Session.objects.all().delete)()
    assert await socket.close_code() == 4401


async def test_who_is_no_operator_any_more_hears_nothing_more(trial: Trial, operator: User, monkeypatch: Any) -> None:
    monkeypatch.setattr(audio, "LOOK_S", 0.05)
    socket = await listen(trial, operator)
    await in_db(operator.groups.clear)()
    assert await socket.close_code() == 4401


async def test_a_failure_closes_the_socket(trial: Trial, operator: User, monkeypatch: Any) -> None:
    def broken(pk: int) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr(audio, "look", broken)
    assert await (await listen(trial, operator)).close_code() == 1011


class TestTail:
    """One listener's place in a file."""

    @pytest.fixture
    def wav(self, tmp_path: Path) -> Any:
        with StereoWav(tmp_path / "call.wav") as wav:
            yield wav

    def test_nothing_new_is_nothing(self, wav: StereoWav) -> None:
        tail = Tail(wav.path)
        with pytest.raises(FileNotFoundError):
            Tail(wav.path.with_name("other.wav")).read()
        assert tail.read() is None
        wav.write(SECOND, SECOND)
        assert tail.read() is not None
        assert tail.read() is None

    def test_half_a_frame_is_left_for_the_next_time(self, tmp_path: Path) -> None:
        path = tmp_path / "call.wav"
        path.write_bytes(bytes(44) + bytes(8) + b"\x01")
        tail = Tail(path)
        piece = tail.read()
        assert piece is not None
        assert piece.pcm == bytes(8)
        path.write_bytes(bytes(44) + bytes(8) + b"\x01\x02\x03\x04")
        piece = tail.read()
        assert piece is not None
        assert piece.pcm == b"\x01\x02\x03\x04"

    def test_who_is_far_behind_goes_on_at_the_end(self, wav: StereoWav) -> None:
        tail = Tail(wav.path)
        wav.write(SECOND, SECOND)
        tail.read()
        for _ in range(5):
            wav.write(SECOND, SECOND)
        piece = tail.read()
        assert piece is not None
        assert (piece.position_ms, tail.skipped) == (6000 - LEAD_MS, 1)

    def test_the_age_is_that_of_the_last_sample(self, wav: StereoWav) -> None:
        wav.write(SECOND, SECOND)
        os.utime(wav.path, (time.time() - 0.75, time.time() - 0.75))
        piece = Tail(wav.path).read()
        assert piece is not None
        assert 700 <= piece.age_ms < WAIT_S * 1000


def test_what_was_said_is_in_the_file_a_fifth_of_a_second_later(tmp_path: Path) -> None:
    with StereoWav(tmp_path / "call.wav") as wav:
        sizes = []
        for _ in range(25):  # 20 ms each
            wav.write(SECOND[:640], SECOND[:640])
            sizes.append((wav.path.stat().st_size - 44) // 64)
    written = [20 * count for count in range(1, 26)]
    assert max(at - size for at, size in zip(written, sizes, strict=True)) < 200


async def test_listeners_do_not_keep_the_loop_from_others(trial: Trial, operator: User) -> None:
    with recorded(trial) as wav:
        wav.write(SECOND, SECOND)
        sockets = [await listen(trial, operator) for _ in range(5)]
        pieces = await asyncio.gather(*(heard(socket) for socket in sockets))
        assert {piece[0] for piece in pieces} == {1000 - LEAD_MS}
        for socket in sockets:
            await socket.disconnect()
