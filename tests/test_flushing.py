"""After a test with real transactions every table is empty, by whatever way our settings empty it."""

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scenarios.models import Run, Scenario, Trial
from tests.factories import add_signals, make_run

pytestmark = pytest.mark.django_db(transaction=True)


def flush(**options: bool) -> list[str]:
    """Empty the tables as the end of a test does and return the statements."""
    with CaptureQueriesContext(
        connection,
    ) as seen:
        call_command("flush", verbosity=0, interactive=False, inhibit_post_migrate=True, **options)
    return [query["sql"] for query in seen.captured_queries]


def test_rows_that_point_at_each_other_go_in_any_order() -> None:
    add_signals(make_run(3, outcomes=["pass", "fail"]))
    User.objects.create_user("somebody").groups.add(Group.objects.get_or_create(name="viewer")[0])

    statements = flush(reset_sequences=False)

    for model in (Trial, Run, Scenario, User, Group):
        assert model._default_manager.count() == 0
    assert not any("TRUNCATE" in statement for statement in statements)


def test_sequences_start_anew_when_that_is_asked_for() -> None:
    User.objects.create_user("one")
    flush(reset_sequences=True)

    assert User.objects.create_user("two").pk == 1
