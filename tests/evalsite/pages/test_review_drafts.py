"""A draft and the form that it belongs to, sent at the same time by one page and served by two threads."""

import threading
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.db import connections, transaction

from scenarios.models import Review, ReviewDraft
from scenarios.reviewing import rule
from tests.evalsite.pages.reviewing import HTMX, desk_of, queue_of, reviewed_run


@pytest.mark.django_db(transaction=True)
def test_a_draft_that_comes_while_its_form_is_being_stored_waits_and_is_none(reviewer: User) -> None:
    desk = desk_of(reviewer, queue_of(reviewed_run(1)))
    slot, form = desk.slot, {**desk.form, "comment": "it says both"}

    def keep() -> None:
        try:
            desk.client.post(f"/review/{desk.queue.pk}/draft/", form, headers=HTMX)
        finally:
            connections.close_all()

    late = threading.Thread(target=keep)
    with transaction.atomic():
        rule(slot, reviewer, UUID(form["lease"]), "pass", form["comment"], submit_key=form["submit_key"])
        late.start()
        late.join(0.5)
        assert late.is_alive()
    late.join()

    assert Review.objects.count() == 1
    assert not ReviewDraft.objects.exists()
