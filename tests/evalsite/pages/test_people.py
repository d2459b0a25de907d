"""People and their roles: the admin's, never one's own."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evalsite.access import role_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def keeper(client: Client, admin: User) -> Client:
    client.force_login(admin)
    return client


def link_in(text: str) -> str:
    found = re.search(r"<code>http://testserver(/sign-in/[^<]+/)</code>", text)
    assert found
    return found[1]


def role(person: User) -> str | None:
    return role_of(User.objects.get(pk=person.pk))


def test_a_person_is_added_with_a_role_and_a_link_shown_once(keeper: Client) -> None:
    text = keeper.post("/settings/people/", {"username": "rita", "role": "reviewer"}).content.decode()
    rita = User.objects.get(username="rita")
    assert role(rita) == "reviewer"
    assert not rita.has_usable_password()
    guest = Client()
    assert guest.post(link_in(text)).status_code == 302
    assert guest.get("/runs/").status_code == 200
    assert "/sign-in/" not in keeper.get("/settings/people/").content.decode()


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"username": "viewer", "role": "viewer"}, "username"),
        ({"username": "", "role": "viewer"}, "username"),
        ({"username": "x y!", "role": "viewer"}, "username"),
        ({"username": "rita", "role": "king"}, "role"),
    ],
)
def test_bad_people_stay_in_the_form(keeper: Client, viewer: User, data: dict[str, str], field: str) -> None:
    response = keeper.post("/settings/people/", data)
    assert response.status_code == 422
    assert field in response.context["form"].errors


def test_a_role_is_given_and_taken(keeper: Client, viewer: User) -> None:
    keeper.post(f"/settings/people/{viewer.pk}/role/", {"role": "operator"})
    assert role(viewer) == "operator"
    keeper.post(f"/settings/people/{viewer.pk}/role/", {"role": ""})
    assert role(viewer) is None
    keeper.post(f"/settings/people/{viewer.pk}/role/", {"role": "king"})
    assert role(viewer) is None


def test_a_person_is_locked_out_at_once_and_let_in_again(keeper: Client, viewer: User) -> None:
    guest = Client()
    guest.force_login(viewer)
    keeper.post(f"/settings/people/{viewer.pk}/active/")
    assert guest.get("/runs/").status_code == 302
    keeper.post(f"/settings/people/{viewer.pk}/active/")
    assert User.objects.get(pk=viewer.pk).is_active


def test_nobody_takes_their_own_rights(keeper: Client, admin: User) -> None:
    keeper.post(f"/settings/people/{admin.pk}/role/", {"role": "viewer"})
    keeper.post(f"/settings/people/{admin.pk}/active/")
    assert role(admin) == "admin"
    assert User.objects.get(pk=admin.pk).is_active


def test_a_new_link_can_be_made(keeper: Client, viewer: User) -> None:
    text = keeper.post(f"/settings/people/{viewer.pk}/link/").content.decode()
    assert Client().post(link_in(text)).status_code == 302


def test_a_person_who_is_locked_out_gets_no_link(keeper: Client, viewer: User) -> None:
    User.objects.filter(pk=viewer.pk).update(is_active=False)
    assert keeper.post(f"/settings/people/{viewer.pk}/link/").status_code == 404


def test_others_see_nothing_of_it(client: Client, operator: User) -> None:
    client.force_login(operator)
    for path in ("", f"{operator.pk}/role/", f"{operator.pk}/active/", f"{operator.pk}/link/"):
        assert client.post(f"/settings/people/{path}", {"role": "admin"}).status_code == 403
    assert role(operator) == "operator"
    assert "/settings/people/" not in client.get("/settings/").content.decode()
