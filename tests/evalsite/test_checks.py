"""The system checks: silent on our own settings, loud on what would lose work or open the site."""

import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings
from pytest_django.fixtures import Settings

from evalsite import checks
from scenarios import domains

pytestmark = pytest.mark.services


def ids(found: Any) -> list[str]:
    return [message.id for message in found]


def test_our_own_settings_are_clean() -> None:
    assert checks.check_task_queue() == []
    assert checks.check_sqlite() == []
    assert checks.check_hosts() == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"retry": 3700}, "callboard.E001"),
        ({"timeout": None}, "callboard.E001"),
        ({"max_attempts": 0}, "callboard.E002"),
        ({"ack_failures": False}, "callboard.E002"),
        ({"queue_limit": 4}, "callboard.W001"),
    ],
)
def test_a_queue_that_would_double_or_repeat_lanes(settings: Settings, change: dict[str, Any], problem: str) -> None:
    settings.Q_CLUSTER = {**settings.Q_CLUSTER, **change}
    assert ids(checks.check_task_queue()) == [problem]


def sqlite(**changes: Any) -> dict[str, Any]:
    options = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode = WAL; PRAGMA synchronous=NORMAL;",
    }
    return {"default": {"ENGINE": "django.db.backends.sqlite3", "OPTIONS": {**options, **changes}}}


def use(monkeypatch: pytest.MonkeyPatch, databases: dict[str, Any]) -> None:
    """Let only the checks see these databases: Django must not."""
    monkeypatch.setattr(checks, "settings", SimpleNamespace(DATABASES=databases))


def test_good_sqlite_options(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, sqlite())
    assert checks.check_sqlite() == []


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"transaction_mode": "DEFERRED"}, "transaction_mode"),
        ({"timeout": 5}, "timeout 20"),
        ({"init_command": ""}, "journal_mode=WAL"),
    ],
)
def test_sqlite_options_that_lose_writes(monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], named: str) -> None:
    use(monkeypatch, sqlite(**change))
    (found,) = checks.check_sqlite()
    assert found.id == "callboard.E003"
    assert named in found.msg


def test_postgresql_needs_no_sqlite_options(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, {"default": {"ENGINE": "django.db.backends.postgresql"}})
    assert checks.check_sqlite() == []


def test_any_host_is_refused(settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    assert ids(checks.check_hosts()) == ["callboard.E004"]


def test_a_domain_without_its_files_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = "tasks.json is absent. Run `manage.py fetch_benchmarks`."
    monkeypatch.setattr(type(domains.load()["tau2_retail"]), "missing_data", lambda self: missing)
    found = list(checks.check_domains())
    assert ids(found) == ["callboard.I001"]
    assert found[0].msg == f"Domain tau2_retail cannot be used: {missing}"


def test_a_domain_whose_package_cannot_be_loaded_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(domains, "_broken", {"clinic": "its module fails with ImportError: no."})
    (found,) = checks.check_domains()
    assert (found.id, found.msg) == (
        "callboard.W002",
        "Domain clinic is not there: its module fails with ImportError: no.",
    )


def test_check_deploy_is_clean_with_https() -> None:
    environment = {**os.environ, "HTTPS": "1", "DJANGO_SETTINGS_MODULE": "evalsite.settings"}
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    done = subprocess.run(command, cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "WARNINGS" not in done.stderr
