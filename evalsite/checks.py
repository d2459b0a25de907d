"""System checks: settings that would lose work or open the site, and what is not there yet.

``manage.py check`` shows them before anything starts. Errors and warnings name the setting and the value to give it.
"""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Info, Tags, Warning, register

from scenarios import domains


@register()
def check_task_queue(**_: Any) -> list[CheckMessage]:
    """A task that is delivered again while it still runs would hold every call of its lane twice."""
    queue = settings.Q_CLUSTER
    found: list[CheckMessage] = []
    timeout, retry = queue.get("timeout"), queue.get("retry", 60)
    if not timeout or retry < 2 * timeout:
        found.append(
            Error(
                f"Q_CLUSTER: retry ({retry} s) must be at least twice the timeout ({timeout} s).",
                hint="Tasks are locked when fetched, not when they start. Take timeout 3600 and retry 11000.",
                id="callboard.E001",
            )
        )
    if queue.get("max_attempts") != 1 or not queue.get("ack_failures"):
        found.append(
            Error(
                "Q_CLUSTER: a lane that crashes would be started again for ever.",
                hint="Set max_attempts to 1 and ack_failures to True; trials count their attempts themselves.",
                id="callboard.E002",
            )
        )
    if queue.get("queue_limit", 0) != 1:
        found.append(
            Warning(
                "Q_CLUSTER: workers fetch lanes ahead, so one may wait behind a long one while others are free.",
                hint="Set queue_limit to 1.",
                id="callboard.W001",
            )
        )
    return found


@register(Tags.database)
def check_sqlite(**_: Any) -> list[CheckMessage]:
    """SQLite with Django's own options loses thousands of writes to "database is locked" when lanes are at work."""
    database = settings.DATABASES["default"]
    if not database["ENGINE"].endswith("sqlite3"):
        return []
    options = database.get("OPTIONS", {})
    wrong = []
    if options.get("transaction_mode") != "IMMEDIATE":
        wrong.append('transaction_mode "IMMEDIATE"')
    if options.get("timeout", 5) < 20:
        wrong.append("timeout 20")
    if "journal_mode=wal" not in options.get("init_command", "").lower().replace(" ", ""):
        wrong.append('init_command "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"')
    if database.get("ATOMIC_REQUESTS"):
        wrong.append("ATOMIC_REQUESTS False")
    if not wrong:
        return []
    return [Error(f"SQLite: set {', '.join(wrong)}.", hint="See evalsite/settings.py.", id="callboard.E003")]


@register(Tags.security)
def check_hosts(**_: Any) -> list[CheckMessage]:
    """The origin check of the sockets compares with ALLOWED_HOSTS: "*" lets every site's pages listen."""
    if "*" not in settings.ALLOWED_HOSTS:
        return []
    return [
        Error(
            "ALLOWED_HOSTS holds '*', so pages of any site may open our sockets.",
            hint="Name the hosts: ALLOWED_HOSTS=eval.example.org,localhost",
            id="callboard.E004",
        )
    ]


@register(deploy=True)  # every command would say it otherwise, and the site runs without them
def check_domains(**_: Any) -> Sequence[CheckMessage]:
    """Domains that cannot be used for want of their files, and those whose package cannot be loaded."""
    missing = {name: domain.missing_data() for name, domain in domains.load().items()}
    return [
        *(Info(f"Domain {name} cannot be used: {why}", id="callboard.I001") for name, why in missing.items() if why),
        *(Warning(f"Domain {name} is not there: {why}", id="callboard.W002") for name, why in domains.broken().items()),
    ]
