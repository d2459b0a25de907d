"""Error pages say what happened, to what, and what to do; and what holds for every page."""

import pytest
from django.contrib.auth.models import User
from django.test import Client, RequestFactory

from evalsite.pages import errors

pytestmark = pytest.mark.django_db


def test_not_found_names_the_address_and_offers_ways_on(client: Client, viewer: User) -> None:
    client.force_login(viewer)
    response = client.get("/no/such/<page>/")
    text = response.content.decode()
    assert response.status_code == 404
    assert "/no/such/&lt;page&gt;/" in text
    assert 'href="/runs/"' in text


@pytest.mark.parametrize(
    ("path", "kind"),
    [("runs/1/trials/nowhere__1/9", "call"), ("judges/99", "judge"), ("review/99", "review queue")],
)
def test_not_found_speaks_the_readers_words(client: Client, admin: User, path: str, kind: str) -> None:
    client.force_login(admin)
    html = client.get(f"/{path}/").content.decode()
    assert f"/{path}/ names no {kind} that there is" in html
    assert "given query" not in html


def test_strangers_see_the_error_page_but_no_navigation(client: Client) -> None:
    text = client.get("/no/such/page/").content.decode()
    assert "Nothing is at this address" in text
    assert 'aria-label="Site"' not in text


def test_forbidden_names_the_role_and_who_gives_it(client: Client, viewer: User) -> None:
    client.force_login(viewer)
    response = client.get("/settings/people/")
    text = response.content.decode()
    assert response.status_code == 403
    assert "needs the role <b>admin</b>, which edits profiles and people" in text
    assert "a <b>viewer</b>" in text


def test_people_without_a_role_learn_so(client: Client) -> None:
    client.force_login(User.objects.create_user("nobody"))
    assert "You have no role yet" in client.get("/").content.decode()


def test_a_failure_answers_500_without_the_database(client: Client, django_assert_num_queries: object) -> None:
    with django_assert_num_queries(0):  # type: ignore[operator]
        response = errors.server_error(RequestFactory().get("/"))
    text = response.content.decode()
    assert response.status_code == 500
    assert "Running calls go on" in text


def test_a_view_that_raises_shows_the_page_of_500(viewer: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr("evalsite.pages.runs.standings", fail)
    client = Client(raise_request_exception=False)
    client.force_login(viewer)
    response = client.get("/runs/")
    assert response.status_code == 500
    assert "secret detail" not in response.content.decode()


def test_a_foreign_host_is_refused(client: Client) -> None:
    response = client.get("/healthz/", headers={"host": "evil.example"})
    assert response.status_code == 400
    assert "ALLOWED_HOSTS" in response.content.decode()


def test_every_page_carries_the_policy_and_no_inline_code(client: Client, admin: User) -> None:
    client.force_login(admin)
    for path in ("/", "/runs/", "/runs/new", "/scenarios/", "/settings/", "/settings/people/", "/settings/system/"):
        response = client.get(path)
        text = response.content.decode()
        assert response.status_code == 200, path
        assert "default-src 'self'" in response["Content-Security-Policy"]
        assert "unsafe" not in response["Content-Security-Policy"]
        assert " style=" not in text, path
        assert "onclick=" not in text, path
        assert all("src=" in tag.split(">")[0] for tag in text.split("<script")[1:]), path
        assert "http" not in text.split("</head>")[0].replace("http-equiv", ""), path
        assert len(text.encode()) < 150_000, path


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/runs/?q=%00&domain=%00&agent=%00&day=%00&page=%00", 200),
        ("/runs/?q=%F0%9F%92%A9" + "x" * 3000, 200),
        ("/runs/99999999999999999999999/", 404),
        ("/runs/1/?q=%00", 404),
        ("/runs/new?like=99999999999999999999&trials=%00&tags=%00", 200),
        ("/scenarios/frontdesk/?q=%00&tag=%00&persona=%00", 200),
        ("/scenarios/%00/%00/", 404),
        ("/settings/preflight/?row=99999999999999999&row=%00", 200),
        ("/settings/profiles/99999999999999999999/", 404),
    ],
)
def test_odd_addresses_are_answered_and_not_failed(client: Client, admin: User, path: str, status: int) -> None:
    client.force_login(admin)
    assert client.get(path).status_code == status


def test_odd_forms_are_answered_and_not_failed(client: Client, admin: User) -> None:
    client.force_login(admin)
    odd = {"domain": "\0", "ids": "\0", "q": "\0", "failed_in": "9" * 30, "agent": "\0", "title": "\U0001f4a9"}
    assert client.post("/runs/new", odd).status_code == 422
    assert client.post("/runs/new/summary/", odd).status_code == 200
    assert client.post("/settings/preflight/", {"agent": "\0"}).status_code == 200
    assert client.post("/settings/people/", {"username": "\0", "role": "\0"}).status_code == 422
