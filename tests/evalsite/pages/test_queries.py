"""Pages that list things ask as many questions of the database for many as for few."""

from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from scenarios.models import (
    BatchItem,
    Finding,
    ImportedFile,
    JudgeBatch,
    JudgePrompt,
    JudgeVersion,
    Lane,
    Preflight,
    Profile,
    ReviewDraft,
    Run,
)
from tests.evalsite.labelled import judged_run, label
from tests.evalsite.pages.reviewing import queue_of, reviewed_run
from tests.factories import make_profile, make_run

pytestmark = pytest.mark.django_db
PAGES = (
    "/",
    "/runs/",
    "/live/",
    "/review/",
    "/review/labels/",
    "/judges/",
    "/judges/prompts/",
    "/judges/batches/",
    "/imports/",
    "/scenarios/",
    "/settings/",
    "/settings/people/",
    "/settings/system/",
    "/trends/?domain=toy",
    "/compare/",
)


def fill(turn: int, person: User) -> Run:
    """Make one more of everything that a page lists."""
    run = reviewed_run(1)
    make_run(1, 1, ["running"], launched_by=person, title=f"going {turn}")
    make_run(1, 1, ["pass", "fail"], launched_by=User.objects.create_user(f"somebody-{turn}"))
    queue = queue_of(run, User.objects.create_user(f"maker-{turn}"))
    ReviewDraft.objects.create(item=queue.items.all()[0], reviewer=person, comment="typed")
    prompt = JudgePrompt.objects.create(version=f"v{turn}", title="fair", system_prompt="Be fair.", author=person)
    Profile.objects.filter(pk=make_profile(f"judge-{turn}", "judge").pk).update(prompt=prompt)
    Preflight.objects.create(profile=make_profile(f"agent-{turn}"))
    judge = JudgeVersion.objects.create(fingerprint=str(turn) * 64, model="small", prompt_version=prompt.version)
    label(judged_run(1, judge=judge, seed=turn))
    batch = JudgeBatch.objects.create(kind="rejudge", title=f"batch {turn}", judge=judge, created_by=person)
    BatchItem.objects.create(batch=batch, position=1, canary="one", state="done")
    file = ImportedFile.objects.create(name=f"file {turn}", imported_by=person, state="imported")
    Run.objects.filter(pk=run.pk).update(imported_from=file)
    Finding.objects.create(run=run, severity="error", code="odd", text="odd")
    Lane.objects.create(key=uuid4(), host="here", pid=turn, width=1, heartbeat_at=timezone.now())
    return run


def asked(client: Client, page: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert client.get(page).status_code == 200, page
    return len(queries)


def test_no_list_asks_more_for_more(client: Client, admin: User) -> None:
    client.force_login(admin)
    fill(1, admin)
    few = {page: asked(client, page) for page in PAGES}
    for turn in range(2, 5):
        fill(turn, admin)
    more = {page: asked(client, page) for page in PAGES}
    assert {page: (few[page], more[page]) for page in PAGES if more[page] > few[page]} == {}
