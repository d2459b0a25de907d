"""Fixtures that every folder of tests shares: people, the benchmark files, child processes."""

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.db import IntegrityError, OperationalError, connection
from hypothesis import settings as property_tests

ROOT = Path(__file__).resolve().parent.parent
ROLES = ("viewer", "reviewer", "operator", "admin")
# The same examples in every run, on a machine of any speed, and no folder of them.
property_tests.register_profile("here", derandomize=True, deadline=None, database=None)
property_tests.load_profile("here")
DATABASE_FIXTURES = {"db", "transactional_db", "django_db_setup"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--services-only", action="store_true", help="only tests whose result may depend on the database or the broker"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out, when asked to, what is the same on SQLite and on PostgreSQL with Redis: it ran already."""
    if config.getoption("--services-only"):
        left_out = [item for item in items if not needs_services(item)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if needs_services(item)]


def needs_services(item: pytest.Item) -> bool:
    """Return whether a test can reach the database, from which pytest-django keeps all others, or is marked."""
    marked = any(item.get_closest_marker(name) for name in ("django_db", "services"))
    return marked or not DATABASE_FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))


@pytest.fixture(autouse=True)
def machine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let a test marked ``realtime`` have the machine to itself: the other workers wait between two tests."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        yield
        return
    folder = tmp_path_factory.getbasetemp().parent
    how = fcntl.LOCK_EX if request.node.get_closest_marker("realtime") else fcntl.LOCK_SH
    with (folder / "machine.gate").open("a") as gate, (folder / "machine.lock").open("a") as lock:
        fcntl.flock(gate, how)  # who wants it alone is next: nobody else gets in before
        fcntl.flock(lock, how)
        fcntl.flock(gate, fcntl.LOCK_UN)
        yield


def absent(what: str, remedy: str) -> None:
    """Skip for want of ``what``; in CI nothing may be missing, so there it fails."""
    message = f"{what}: {remedy}"
    if os.environ.get("CI"):
        pytest.fail(f"{message} (CI must have it)")
    pytest.skip(message)


@pytest.fixture(scope="session", autouse=True)
def flush_by_delete() -> Iterator[None]:
    """Empty PostgreSQL's tables by DELETE: TRUNCATE makes new files for each, a second or two after every test."""
    if connection.vendor != "postgresql":
        yield
        return
    truncate = connection.ops.sql_flush

    def sql_flush(style: Any, tables: Sequence[str], *, reset_sequences: bool = False, **options: Any) -> list[str]:
        if reset_sequences:
            return truncate(style, tables, reset_sequences=True, **options)
        # Django's foreign keys are checked when the transaction ends, so the order is of no matter.
        return [f"DELETE FROM {connection.ops.quote_name(table)}" for table in tables]

    execute = connection.ops.execute_sql_flush

    def execute_sql_flush(statements: Sequence[str]) -> None:
        # A server that a test started may still be storing something: a row that came in between, or a deadlock.
        for _ in range(4):
            with contextlib.suppress(IntegrityError, OperationalError):
                execute(statements)
                return
        execute(statements)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection.ops, "sql_flush", sql_flush)
        patch.setattr(connection.ops, "execute_sql_flush", execute_sql_flush)
        yield


@pytest.fixture(scope="session")
def benchmarks() -> Path:
    """Return the folder of the benchmark files."""
    folder = Path(settings.BENCHMARK_DIR)
    if not (folder / "tau2_retail" / "db.json").exists():
        absent(f"no benchmark files in {folder}", "run manage.py fetch_benchmarks or set EVAL_DATA_ROOT")
    return folder


@pytest.fixture(scope="session")
def conformance() -> Path:
    """Return the folder of the conformance vectors."""
    folder = Path(os.environ.get("CONFORMANCE_DIR", ROOT.parent / "shared" / "conformance"))
    if not folder.is_dir():
        absent(f"no conformance vectors in {folder}", "set CONFORMANCE_DIR")
    return folder


@pytest.fixture
def person(db: None) -> Callable[[str], User]:
    """Return a maker of people: ``person("reviewer")`` is a user of that role, called like it."""

    def make(role: str, username: str = "") -> User:
        user = User.objects.create_user(username or role, password=f"{role}-password")
        user.groups.add(Group.objects.get_or_create(name=role)[0])
        return user

    return make


@pytest.fixture
def viewer(person: Callable[[str], User]) -> User:
    return person("viewer")


@pytest.fixture
def reviewer(person: Callable[[str], User]) -> User:
    return person("reviewer")


@pytest.fixture
def operator(person: Callable[[str], User]) -> User:
    return person("operator")


@pytest.fixture
def admin(person: Callable[[str], User]) -> User:
    return person("admin")


@pytest.fixture
def server_environment(transactional_db: None) -> dict[str, str]:
    """Return the environment of a child process that is to see the test database's rows (and only those)."""
    database = connection.settings_dict
    if connection.vendor == "sqlite":
        url = f"sqlite:///{database['NAME']}"
    else:
        host = f"{database['HOST'] or '127.0.0.1'}:{database['PORT'] or 5432}"
        url = f"postgres://{database['USER']}:{database['PASSWORD']}@{host}/{database['NAME']}"
    # Port 0: a `serve` or `evaluate` takes free ones, whatever else is starting on this machine.
    parties = {"PARTY_AGENT_URL": "ws://127.0.0.1:0", "PARTY_USER_URL": "ws://127.0.0.1:0"}
    standins = {"STANDIN_URL": "http://127.0.0.1:0/v1"}
    return {**os.environ, **parties, **standins, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "tests.settings"}
