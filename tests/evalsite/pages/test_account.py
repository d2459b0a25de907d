"""The reader's colours, and whether the site is well."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.factories import make_run

pytestmark = pytest.mark.django_db


def test_a_choice_of_colours_is_kept_and_rendered(client: Client) -> None:
    response = client.post("/theme/", {"theme": "dark", "next": "/sign-in/?next=/runs/"})
    assert response["Location"] == "/sign-in/?next=/runs/"
    assert 'data-theme="dark"' in client.get("/sign-in/").content.decode()
    client.post("/theme/", {"theme": "auto"})
    assert "data-theme=" not in client.get("/sign-in/").content.decode()


@pytest.mark.parametrize("theme", ["neon", "", '"><script>'])
def test_other_colours_are_the_systems(client: Client, theme: str) -> None:
    client.cookies["theme"] = "neon"
    client.post("/theme/", {"theme": theme})
    assert "data-theme=" not in client.get("/sign-in/").content.decode()


@pytest.mark.parametrize(
    "target", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "runs", ""]
)
def test_the_way_back_stays_on_this_site(client: Client, target: str) -> None:
    assert client.post("/theme/", {"theme": "dark", "next": target})["Location"] == "/"


def test_health_needs_no_session_and_tells_nothing_private(client: Client) -> None:
    make_run(3, 1, ["queued", "running", "pass"], title="secret run")
    response = client.get("/healthz/")
    assert response.json() == {"status": "ok", "lanes": 0, "queued": 1, "running": 1}
    assert "no-store" in response["Cache-Control"]


def test_home_greets_an_empty_site_with_the_first_step(client: Client, operator: User) -> None:
    client.force_login(operator)
    text = client.get("/").content.decode()
    assert "Nothing has been run yet" in text
    assert "/runs/new?agent=standin-careless" in text


def test_home_shows_what_runs_what_finished_and_what_needs_me(client: Client, viewer: User) -> None:
    make_run(2, 1, ["pass", "queued"], title="going on")
    make_run(2, 1, ["pass"], title="all done")
    make_run(2, 1, ["fail", "infra_error"], title="my trouble", launched_by=viewer)
    make_run(2, 1, ["fail"], title="their trouble")
    client.force_login(viewer)
    text = client.get("/").content.decode()
    going, rest = text.split('id="mine"')
    mine, latest = rest.split('id="latest"')
    assert "going on" in going
    assert "all done" not in going
    assert "my trouble" in mine
    assert "?outcome=infra_error" in mine
    assert "their trouble" not in mine
    assert "all done" in latest
    assert "their trouble" in latest
