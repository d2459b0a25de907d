"""What tests of the review pages share: a reviewed run with real records, and a browser's forms."""

import re
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from scenarios.events import Noted, OutcomeRevised, SignalScored, TrialFinished, VerdictGiven
from scenarios.models import ReviewQueue, ReviewSlot, Run, Trial, TrialEvent, Verdict
from scenarios.reviewing import QueueFilter, make_queue
from tests.calls import Call, exchange_call, score_exchange
from tests.factories import make_run

FIELDS = re.compile(r'<input type="hidden" name="(slot|lease|stage|submit_key)" value="([^"]*)"')
HTMX = {"HX-Request": "true"}


def reviewed_run(calls: int = 2) -> Run:
    """Make a run of failed calls, each with a record and the three claims of ``score_exchange``.

    All its signals but the claims' passed, so that the claims decide.
    """
    run = make_run(calls, 1, ["fail"], title="Release 4")
    for trial in run.trials.all():
        record_and_score(trial)
    return run


def record_and_score(trial: Trial) -> None:
    trial.last_seq = 0
    call = exchange_call(trial).end("fail", "failed: nl_assertion")
    score_exchange(trial)
    trial.signals.filter(signal="db_state_match").update(state="passed", value=True)
    for verdict in trial.verdicts.all():
        Verdict.objects.filter(pk=verdict.pk).update(subject=f"{trial.pk}-{verdict.index}", fingerprint="f" * 64)
    # The third claim has no ruling of the judge; without it the first decides.
    trial.verdicts.filter(index=3).update(error="", passed=True, reason="It does.")
    tell(call)


def tell(call: Call) -> None:
    """Append what scoring writes into a record, as a lane does."""
    call.seq = TrialEvent.objects.filter(trial=call.trial).count()
    call.add(
        VerdictGiven("nl_assertion", 1, False, False),
        SignalScored("nl_assertion", "failed", 0.5, True),
        Noted("warning", "the judge took two tries"),
        TrialFinished("fail", "failed: nl_assertion"),
        OutcomeRevised("pass", "fail", "people said so"),
    )


def queue_of(run: Run, maker: User | None = None, reviews_per_item: int = 1, **fields: object) -> ReviewQueue:
    is_blind = bool(fields.pop("is_blind", True))
    chosen = QueueFilter(runs=(run.pk,), **fields)
    return make_queue("Check", chosen, maker, reviews_per_item=reviews_per_item, is_blind=is_blind)


@dataclass
class Desk:
    """A person's tab on a queue: sends the form that it shows, as htmx does."""

    client: Client
    queue: ReviewQueue
    html: str = ""
    form: dict[str, str] = field(default_factory=dict)

    def open(self) -> "Desk":
        """Open, or reload, the page."""
        return self.shows(self.client.get(f"/review/{self.queue.pk}/"))

    def shows(self, answer: Any) -> "Desk":
        """Take over what the server answered."""
        assert answer.status_code == 200, answer.content.decode()[:2000]
        self.html = answer.content.decode()
        self.form = dict(FIELDS.findall(self.html))
        return self

    def send(self, what: str, **values: str) -> "Desk":
        """Send the form to rule/, skip/, undo/."""
        address = f"/review/{self.queue.pk}/{what}/"
        return self.shows(self.client.post(address, {**self.form, "comment": "", **values}, headers=HTMX))

    def rule(self, ruling: str, comment: str = "") -> "Desk":
        """Press a ruling."""
        return self.send("rule", ruling=ruling, comment=comment)

    @property
    def slot(self) -> ReviewSlot:
        """Return the slot that the tab shows."""
        return ReviewSlot.objects.select_related("item__verdict__trial").get(pk=self.form["slot"])


def desk_of(person: User, queue: ReviewQueue) -> Desk:
    """Sign a person in and open the queue."""
    client = Client()
    client.force_login(person)
    return Desk(client, queue).open()
