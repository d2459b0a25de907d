"""What the half of the suite on PostgreSQL and Redis leaves out: nothing that can reach either."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection

from tests.conftest import ROLES, needs_services, pytest_collection_modifyitems

Item = Callable[..., Any]


def item(*fixtures: str, marks: tuple[str, ...] = ()) -> Any:
    """Return what the choice sees of a test."""
    return SimpleNamespace(fixturenames=list(fixtures), get_closest_marker=lambda name: name in marks or None)


@pytest.mark.parametrize("fixture", ["db", "transactional_db", "django_db_setup"])
def test_a_test_with_a_database_stays(fixture: str) -> None:
    assert needs_services(item("tmp_path", fixture))


@pytest.mark.parametrize("mark", ["django_db", "services"])
def test_a_marked_test_stays(mark: str) -> None:
    assert needs_services(item("tmp_path", marks=(mark,)))


def test_others_ran_already() -> None:
    assert not needs_services(item("tmp_path", "settings", marks=("browser", "parametrize")))


# What fixtures stand for is seen from this very test: each asks for the database through others of ours.
@pytest.mark.parametrize("role", ROLES)
def test_a_database_behind_another_fixture_counts(role: str, request: pytest.FixtureRequest, person: Item) -> None:
    assert needs_services(request.node)
    assert User.objects.filter(pk=person(role).pk).exists()


def test_the_environment_of_a_child_counts(
    request: pytest.FixtureRequest, server_environment: dict[str, str], worker_id: str
) -> None:
    assert needs_services(request.node)
    name = str(connection.settings_dict["NAME"])
    assert server_environment["DATABASE_URL"].endswith(name)
    assert server_environment["CALLBOARD_VAR"] == str(settings.VAR_DIR)
    if worker_id != "master":
        assert name.endswith(worker_id)
        assert settings.VAR_DIR.name == worker_id
        assert settings.Q_CLUSTER["name"].endswith(worker_id)


class Hook:
    """Keeps what is said to be left out."""

    def __init__(self) -> None:
        self.left_out: list[Any] = []

    def pytest_deselected(self, items: list[Any]) -> None:
        self.left_out += items


@pytest.mark.parametrize(("is_asked", "kept"), [(True, 2), (False, 3)])
def test_what_is_left_out_is_counted_and_only_when_asked_for(is_asked: bool, kept: int) -> None:
    hook = Hook()
    items = [item("db"), item("tmp_path"), item(marks=("services",))]
    plain = items[1]
    config: Any = SimpleNamespace(getoption=lambda name: is_asked and name == "--services-only", hook=hook)

    pytest_collection_modifyitems(config, items)

    assert len(items) == kept
    assert hook.left_out == ([plain] if is_asked else [])
