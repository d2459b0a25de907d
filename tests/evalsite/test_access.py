"""Who gets in, with which role, and how a sign-in link is used up."""

from collections.abc import Callable, Iterator

import pytest
import time_machine
from django.contrib.auth.models import AnonymousUser, Group, User
from django.core.management import call_command
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from evalsite import access
from evalsite.access import ROLES, has_role, make_sign_in_link, role_of, set_role, use_sign_in_link

pytestmark = pytest.mark.django_db
OPEN = {"login", "logout", "healthz", "sign-in-link", "theme"}
# Every route that changes something, with the role it needs. The rest answer a POST with 405: they only read.
CHANGES: dict[str, access.Role] = {
    "run-new": "operator",
    "run-summary": "operator",
    "run-pause": "operator",
    "run-resume": "operator",
    "run-cancel": "operator",
    "run-rerun": "operator",
    "run-rescore": "operator",
    "run-findings-accept": "operator",
    "run-labels-queue": "reviewer",
    "import-stop": "operator",
    "preflight": "operator",
    "profile-new": "admin",
    "profile-edit": "admin",
    "profile-archive": "admin",
    "people": "admin",
    "person-role": "admin",
    "person-active": "admin",
    "person-link": "admin",
    "queue-new": "reviewer",
    "queue-count": "reviewer",
    "queue-close": "reviewer",
    "draft-forget": "reviewer",
    "review-rule": "reviewer",
    "review-skip": "reviewer",
    "review-undo": "reviewer",
    "review-draft": "reviewer",
    "adjudicate-rule": "operator",
    "adjudicate-undo": "operator",
    "prompt-new": "admin",
    "rejudge": "operator",
    "batch-stop": "operator",
    "batch-save": "operator",
    "batch-canaries": "operator",
    "batch-release": "admin",
    "judge-queue": "reviewer",
    "trial-hang-up": "operator",
}
# These show a page to viewers and refuse their POST in words: tests of those pages hold that nothing changes.
REFUSED_IN_WORDS = {"import-list", "labels", "run-faults", "trial-fault"}


def test_roles_are_made_by_migrate() -> None:
    Group.objects.all().delete()
    call_command("migrate", verbosity=0)
    assert set(Group.objects.values_list("name", flat=True)) == set(ROLES)


@pytest.mark.parametrize("role", ROLES)
def test_a_role_has_the_rights_of_those_before_it(person: Callable[[str], User], role: access.Role) -> None:
    somebody = person(role)
    assert [r for r in ROLES if has_role(somebody, r)] == list(ROLES[: ROLES.index(role) + 1])


def test_strangers_and_people_without_a_role_have_no_rights() -> None:
    nobody = User.objects.create_user("nobody")
    assert role_of(nobody) is None
    assert role_of(AnonymousUser()) is None
    assert not has_role(nobody, "viewer")


def test_an_inactive_person_has_no_role(admin: User) -> None:
    admin.is_active = False
    assert role_of(admin) is None


def test_a_superuser_is_an_admin() -> None:
    assert role_of(User.objects.create_superuser("root")) == "admin"


def test_set_role_replaces_the_role(person: Callable[[str], User]) -> None:
    somebody = person("viewer")
    set_role(somebody, "operator")
    assert role_of(somebody) == "operator"
    set_role(somebody, None)
    assert role_of(User.objects.get(pk=somebody.pk)) is None


def addresses(patterns: list[URLPattern | URLResolver], before: str = "/") -> Iterator[tuple[str, URLPattern]]:
    for pattern in patterns:
        path = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from addresses(pattern.url_patterns, path)
        else:
            yield path, pattern


def example(path: str) -> str:
    """Return an address of a route, with something plausible for each of its parameters."""
    for converter, value in (("<int:", "1"), ("<str:", "toy__1"), ("<slug:", "toy"), ("<path:", "toy")):
        while converter in path:
            start = path.index(converter)
            path = path[:start] + value + path[path.index(">", start) + 1 :]
    return path


def test_every_view_needs_a_session_but_the_few_that_say_not(client: Client) -> None:
    routes = [(path, p) for path, p in addresses(get_resolver().url_patterns) if p.name not in OPEN]
    assert routes
    for path, _ in routes:
        response = client.get(example(path))
        assert response.status_code == 302, path
        assert response["Location"].startswith("/sign-in/?next="), path


def test_every_view_needs_a_role(client: Client) -> None:
    client.force_login(User.objects.create_user("nobody"))
    for path, pattern in addresses(get_resolver().url_patterns):
        if pattern.name not in OPEN:
            assert client.get(example(path)).status_code == 403, path


def test_a_view_that_asks_for_more_refuses_the_roles_below(client: Client, person: Callable[[str], User]) -> None:
    marked = [
        (path, pattern.callback.required_role)
        for path, pattern in addresses(get_resolver().url_patterns)
        if hasattr(pattern.callback, "required_role")
    ]
    assert marked
    people = {role: person(role) for role in ROLES}
    for path, needed in marked:
        for role in ROLES[: ROLES.index(needed)]:
            client.force_login(people[role])
            response = client.post(example(path))
            assert response.status_code == 403, (path, role)
            assert f"needs the role <b>{needed}</b>" in response.content.decode(), (path, role)


def test_every_view_that_takes_a_post_needs_the_role_of_the_table(client: Client, admin: User) -> None:
    client.force_login(admin)
    taken: dict[str | None, access.Role | None] = {}
    for path, pattern in addresses(get_resolver().url_patterns):
        if pattern.name not in OPEN | REFUSED_IN_WORDS and client.post(example(path)).status_code != 405:
            taken[pattern.name] = getattr(pattern.callback, "required_role", None)
    assert taken == CHANGES


@pytest.mark.parametrize("route", sorted({*CHANGES, *REFUSED_IN_WORDS} - {"run-summary", "queue-count"}))
def test_a_post_without_the_token_of_the_form_is_refused(admin: User, route: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(admin)
    path = next(path for path, pattern in addresses(get_resolver().url_patterns) if pattern.name == route)
    response = client.post(example(path))
    assert response.status_code == 403
    assert "needs the role" not in response.content.decode()


def test_an_htmx_request_without_a_session_sends_the_whole_page_to_the_form(client: Client) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": "http://testserver/runs/?state=open"}
    response = client.get("/runs/", headers=headers)
    assert response["HX-Redirect"] == "/sign-in/?next=%2Fruns%2F%3Fstate%3Dopen"


def test_a_sign_in_link_asks_once_and_works_once(client: Client, viewer: User) -> None:
    link = make_sign_in_link(viewer)
    assert "Sign in as viewer" in client.get(link).content.decode()
    assert "_auth_user_id" not in client.session, "looking at the link must not use it up"
    assert client.post(link)["Location"] == "/"
    assert client.session["_auth_user_id"] == str(viewer.pk)
    assert Client().post(link).status_code == 410
    assert Client().get(link).status_code == 410


def test_of_two_uses_at_once_only_one_signs_in(viewer: User, monkeypatch: pytest.MonkeyPatch) -> None:
    token = make_sign_in_link(viewer).split("/")[2]
    monkeypatch.setattr(access, "read_sign_in_link", lambda _: User(pk=viewer.pk, last_login=None))
    assert use_sign_in_link(token) is not None
    assert use_sign_in_link(token) is None


def test_a_sign_in_link_expires_after_a_day(client: Client, viewer: User) -> None:
    with time_machine.travel("2026-01-01 12:00", tick=False):
        link = make_sign_in_link(viewer)
    with time_machine.travel("2026-01-02 11:59", tick=False):
        assert client.get(link).status_code == 200
    with time_machine.travel("2026-01-02 12:01", tick=False):
        assert client.get(link).status_code == 410


@pytest.mark.parametrize("token", ["x", "a:b:c", "%00", "eyJwZXJzb24iOjF9:1:x"])
def test_a_damaged_link_says_what_to_do(client: Client, token: str) -> None:
    response = client.get(f"/sign-in/{token}/")
    assert response.status_code == 410
    assert "ask for a new link" in response.content.decode()


def test_a_link_of_somebody_who_left_is_dead(client: Client, viewer: User) -> None:
    link = make_sign_in_link(viewer)
    User.objects.filter(pk=viewer.pk).update(is_active=False)
    assert client.post(link).status_code == 410


def test_signing_in_with_a_password_goes_to_where_one_was_going(client: Client, viewer: User) -> None:
    response = client.post("/sign-in/?next=/runs/", {"username": "viewer", "password": "viewer-password"})
    assert response["Location"] == "/runs/"


def test_a_wrong_password_stays_in_the_form_with_the_reason(client: Client, viewer: User) -> None:
    response = client.post("/sign-in/", {"username": "viewer", "password": "nonsense"})
    page = response.content.decode()
    assert 'value="viewer"' in page
    assert "correct username and password" in page


def test_signing_out_is_a_post(client: Client, viewer: User) -> None:
    client.force_login(viewer)
    assert client.get("/sign-out/").status_code == 405
    assert client.post("/sign-out/")["Location"] == "/sign-in/"
