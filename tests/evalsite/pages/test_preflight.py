"""Trying endpoints: a worker asks, the page looks until there is an answer, and says when nobody answers."""

from datetime import timedelta
from unittest.mock import patch

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from scenarios.models import Preflight
from tests.factories import make_profile

pytestmark = pytest.mark.django_db
PATH = "/settings/preflight/"


@pytest.fixture
def asking(client: Client, operator: User) -> Client:
    client.force_login(operator)
    return client


def ask(client: Client, **data: object) -> str:
    with patch("bots.wake.async_task") as task:
        text = client.post(PATH, data).content.decode()
    assert task.called == Preflight.objects.exists()
    return text


def test_a_question_is_put_and_looked_after(asking: Client) -> None:
    profile = make_profile("mini")
    text = ask(asking, profile=profile.pk)
    row = Preflight.objects.get()
    assert row.profile == profile
    assert f'hx-get="{PATH}?row={row.pk}"' in text
    assert "mini asked" in text


def test_the_launch_form_asks_for_all_its_parties(asking: Client) -> None:
    for kind in ("agent", "caller", "judge"):
        make_profile("mini", kind)
    make_profile("other")
    ask(asking, agent="mini", caller="mini", judge="mini")
    assert sorted(Preflight.objects.values_list("profile__kind", flat=True)) == ["agent", "caller", "judge"]


def test_answers_are_shown_and_the_looking_ends(asking: Client) -> None:
    good = Preflight.objects.create(profile=make_profile("good"), state="ok", detail="said hello", latency_ms=420)
    bad = Preflight.objects.create(profile=make_profile("bad"), state="failed", detail="<b>401</b> set TOY_KEY")
    text = asking.get(PATH, {"row": [good.pk, bad.pk]}).content.decode()
    assert "good answers" in text
    assert "420\u00a0ms" in text
    assert "bad does not answer" in text
    assert "&lt;b&gt;401&lt;/b&gt; set TOY_KEY" in text
    assert "hx-get" not in text


def test_when_no_worker_answers_the_page_says_so_and_stops(asking: Client) -> None:
    row = Preflight.objects.create(profile=make_profile("mini"))
    Preflight.objects.update(asked_at=timezone.now() - timedelta(minutes=1))
    text = asking.get(PATH, {"row": row.pk}).content.decode()
    assert "No worker has answered" in text
    assert "hx-get" not in text


@pytest.mark.parametrize("data", [{}, {"profile": "x"}, {"profile": "9" * 30}, {"agent": "nobody"}])
def test_nothing_to_try_is_said(asking: Client, data: dict[str, str]) -> None:
    assert "Choose an agent and a caller first" in ask(asking, **data)
    assert not Preflight.objects.exists()


def test_reviewers_may_not_spend_money(client: Client, reviewer: User) -> None:
    client.force_login(reviewer)
    assert client.post(PATH, {"profile": make_profile("mini").pk}).status_code == 403
    assert not Preflight.objects.exists()
