"""Guessing passwords: after ten failures a name waits, from that address, right password or wrong."""

from collections.abc import Iterator

import pytest
import time_machine
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client

from evalsite import sign_in
from evalsite.access import make_sign_in_link
from evalsite.sign_in import MAX_FAILURES, WAIT_S

pytestmark = pytest.mark.django_db
REFUSED = "Too many wrong passwords for this name"


@pytest.fixture(autouse=True)
def nobody_has_tried() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


def attempt(client: Client, password: str = "wrong", name: str = "viewer", address: str = "10.0.0.1") -> str:
    """Return the page that an attempt gets; nothing of the one behind the form where it signs in."""
    response = client.post("/sign-in/", {"username": name, "password": password}, REMOTE_ADDR=address)
    return response.content.decode()


def fail(client: Client, times: int = MAX_FAILURES, **of: str) -> None:
    for _ in range(times):
        assert REFUSED not in attempt(client, **of)


def is_signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def test_after_ten_failures_even_the_right_password_has_to_wait(client: Client, viewer: User) -> None:
    with time_machine.travel("2026-01-01 12:00", tick=False) as clock:
        fail(client)
        page = attempt(client, "viewer-password")
        assert REFUSED in page
        assert "15 minutes" in page
        assert not is_signed_in(client)
        clock.shift(WAIT_S - 1)
        assert REFUSED in attempt(client, "viewer-password")
        clock.shift(2)
        attempt(client, "viewer-password")
        assert is_signed_in(client)


def test_an_attempt_while_one_waits_does_not_make_the_wait_longer(client: Client, viewer: User) -> None:
    with time_machine.travel("2026-01-01 12:00", tick=False) as clock:
        fail(client)
        clock.shift(WAIT_S - 1)
        attempt(client)
        clock.shift(2)
        attempt(client, "viewer-password")
        assert is_signed_in(client)


def test_signing_in_forgets_the_failures(client: Client, viewer: User) -> None:
    fail(client, MAX_FAILURES - 1)
    attempt(client, "viewer-password")
    assert is_signed_in(client)
    client.logout()
    fail(client)
    assert REFUSED in attempt(client)


def test_others_are_not_kept_out(client: Client, viewer: User, reviewer: User) -> None:
    fail(client)
    attempt(client, "reviewer-password", name="reviewer")
    assert is_signed_in(client)
    elsewhere = Client()
    attempt(elsewhere, "viewer-password", address="10.0.0.2")
    assert is_signed_in(elsewhere)


def test_a_link_still_signs_in(client: Client, viewer: User) -> None:
    fail(client)
    client.post(make_sign_in_link(viewer), REMOTE_ADDR="10.0.0.1")
    assert is_signed_in(client)


def test_a_name_that_nobody_has_is_counted_alike(client: Client, viewer: User) -> None:
    fail(client, name="Nobody")
    assert REFUSED in attempt(client, name="nobody")


def test_a_count_that_runs_out_meanwhile_begins_again() -> None:
    sign_in._count("gone")
    assert cache.get("gone") == 1
