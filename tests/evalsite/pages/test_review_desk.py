"""The desk of a reviewer: blind is blind, every ruling leads to the next item, and nothing that was typed is lost."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from scenarios.models import Review, ReviewDraft, ReviewQueue, ReviewSlot, Run, SignalResult, Trial, TrialEvent, Verdict
from scenarios.reviewing import keep_draft
from tests.calls import DIFF
from tests.evalsite.pages.reviewing import HTMX, Desk, desk_of, queue_of, reviewed_run

pytestmark = pytest.mark.django_db
Make = Callable[[str, str], User]
# What must not reach a reviewer before their own ruling: the judge's words, states of signals, where they are shown.
TELLING = (
    "Only one shirt is ever spoken of",
    "both are cotton",
    "data-quote",
    "not in the record",
    "failed: nl_assertion",
    "nl_assertion",
    "db_state_match",
    "is-fail",
    "is-pass",
    "verdict.given",
    "signal.scored",
    "trial.finished",
    "outcome.revised",
    "Outcome revised",
    "people said so",
    "took two tries",
    "exchange_price_difference",
    "strict",
)


@pytest.fixture
def run() -> Run:
    return reviewed_run()


@pytest.fixture
def queue(run: Run) -> ReviewQueue:
    return queue_of(run)


@pytest.fixture
def ann(person: Make) -> User:
    return person("reviewer", "ann")


@pytest.fixture
def ben(person: Make) -> User:
    return person("reviewer", "ben")


def expire(slot: ReviewSlot) -> None:
    ReviewSlot.objects.filter(pk=slot.pk).update(leased_until=timezone.now() - timedelta(minutes=1))


def same(html: str) -> str:
    """Leave out what differs between two requests for the same page."""
    return re.sub(r'(csrfmiddlewaretoken|submit_key)" value="[^"]*"|x-csrftoken": "[^"]*"', "", html)


class TestBlind:
    def test_nothing_that_tells_the_ruling_is_sent(self, run: Run, queue: ReviewQueue, ann: User) -> None:
        html = desk_of(ann, queue).html
        assert "The agent says the material of both shirts." in html
        assert "Done, the exchange of your shirt is requested." in html
        assert [word for word in TELLING if word in html.partition('id="main"')[2]] == []
        assert f"/runs/{run.pk}/" not in html

    @time_machine.travel("2026-11-30T12:00:00Z", tick=False)
    def test_the_page_is_the_same_whatever_the_judge_ruled(self, queue: ReviewQueue, ann: User) -> None:
        desk = desk_of(ann, queue)
        before, verdict = same(desk.html), desk.slot.item.verdict
        Verdict.objects.filter(pk=verdict.pk).update(
            passed=True, reason="Both are named.", evidence=[{"text": "Hello", "seq": 5, "found": True}]
        )
        SignalResult.objects.update(state="passed", value=True, detail={"diff": DIFF})
        Trial.objects.update(outcome="pass", outcome_reason="every gating signal passed", breakdown={})
        TrialEvent.objects.filter(kind="verdict.given").update(data={"signal": "nl_assertion", "passed": True})
        assert same(desk.open().html) == before

    def test_not_even_in_what_is_asked_for_beside(self, queue: ReviewQueue, ann: User) -> None:
        desk = desk_of(ann, queue)
        item, trial = desk.slot.item, desk.slot.item.verdict.trial
        base = f"/review/{queue.pk}/items/{item.pk}/"
        asked = [desk.client.get(f"{base}events/"), desk.client.get(f"{base}prompts/")]
        asked.append(desk.client.post(f"/review/{queue.pk}/draft/", {**desk.form, "comment": "x"}, headers=HTMX))
        asked.append(desk.client.get(f"/review/{queue.pk}/progress/"))
        asked.append(
            desk.client.post(f"/review/{queue.pk}/rule/", {**desk.form, "ruling": "cannot_tell"}, headers=HTMX)
        )
        for answer in asked:
            assert answer.status_code == 200
            assert [word for word in TELLING if word in answer.content.decode()] == []
        hidden = trial.events.filter(kind__in=("verdict.given", "signal.scored", "trial.finished", "outcome.revised"))
        assert hidden.count() == 5
        for event in (*hidden, *trial.events.filter(kind="note")):
            assert desk.client.get(f"{base}events/{event.seq}/").status_code == 404

    def test_after_the_ruling_comes_the_reveal(self, queue: ReviewQueue, ann: User) -> None:
        desk = desk_of(ann, queue).rule("pass")
        for word in ("Only one shirt is ever spoken of", "both are cotton", "not in the record", "you disagree"):
            assert word in desk.html
        assert "Keep: holds" in desk.html
        assert 'id="expected" hx-swap-oob="true"' in desk.html
        assert desk.form["stage"] == "revealed"
        assert Review.objects.get().stage == "blind"
        assert desk.open().form["stage"] == "revealed"

    def test_a_queue_that_is_not_blind_shows_the_ruling_and_takes_one(self, run: Run, ann: User) -> None:
        desk = desk_of(ann, queue_of(run, is_blind=False))
        assert "Only one shirt is ever spoken of" in desk.html
        assert "Agree: does not hold" in desk.html
        first = desk.form["slot"]
        assert desk.rule("pass").form["slot"] != first
        assert Review.objects.get().stage == "revealed"

    def test_what_was_seen_in_another_queue_is_not_ruled_on_blind(
        self, run: Run, queue: ReviewQueue, ann: User
    ) -> None:
        desk_of(ann, queue).rule("fail").rule("fail")
        desk = desk_of(ann, queue_of(run))
        assert desk.form["stage"] == "revealed"
        assert "this one is not blind" in desk.html


class TestRuling:
    def test_keeping_leads_to_the_next_item(self, queue: ReviewQueue, ann: User) -> None:
        desk = desk_of(ann, queue).rule("pass")
        desk.rule("pass")
        assert "The agent says that an e-mail will come." in desk.html
        assert desk.form["stage"] == "blind"
        assert list(Review.objects.values_list("stage", "ruling")) == [("blind", "pass"), ("revealed", "pass")]

    def test_changing_needs_a_reason_and_keeps_what_was_typed(self, queue: ReviewQueue, ann: User) -> None:
        desk = desk_of(ann, queue).rule("pass").rule("fail")
        assert "why you changed your ruling" in desk.html
        assert 'data-pending="fail"' in desk.html
        assert desk.rule("fail", "turn 5 speaks of one").form["stage"] == "blind"
        assert Review.objects.latest("pk").comment == "turn 5 speaks of one"

    def test_a_double_press_counts_once(self, queue: ReviewQueue, ann: User) -> None:
        desk = desk_of(ann, queue)
        sent = {**desk.form, "ruling": "pass", "comment": ""}
        first, second = (desk.client.post(f"/review/{queue.pk}/rule/", sent, headers=HTMX) for _ in range(2))
        assert "Keep: holds" in first.content.decode()
        assert "Keep: holds" in second.content.decode()
        assert Review.objects.count() == 1

    def test_an_old_tab_does_not_rule_for_the_new_one(self, queue: ReviewQueue, ann: User) -> None:
        old, new = desk_of(ann, queue), desk_of(ann, queue)
        new.rule("pass")
        assert "in another window" in old.rule("fail").html
        assert Review.objects.count() == 1
        assert old.form["stage"] == "revealed"
        stale = Desk(old.client, queue, old.html, dict(old.form))
        new.rule("pass")
        stale.rule("pass")
        assert "ruled on this item already" in stale.html
        assert Review.objects.count() == 2
        assert stale.form["stage"] == "blind"

    def test_the_run_knows_at_once(self, run: Run, queue: ReviewQueue, ann: User) -> None:
        desk = desk_of(ann, queue).rule("pass")
        trial = desk.slot.item.verdict.trial
        assert (trial.outcome, trial.judged_outcome) == ("pass", "fail")
        html = desk.client.get(f"/runs/{run.pk}/").content.decode()
        assert "<b>1 of 6</b> claims overruled by people; <b>1</b> call changed to pass" in html
        assert "As judged, before that" in html

    def test_without_script_the_page_comes_back(self, queue: ReviewQueue, ann: User) -> None:
        desk = desk_of(ann, queue)
        answer = desk.client.post(
            f"/review/{queue.pk}/rule/", {**desk.form, "ruling": "cannot_tell", "comment": ""}, follow=True
        )
        assert "why it cannot be told" in answer.content.decode()
        answer = desk.client.post(f"/review/{queue.pk}/rule/", {**desk.form, "ruling": "pass"}, follow=True)
        assert "Keep: holds" in answer.content.decode()

    def test_at_the_end_it_says_so(self, run: Run, ann: User) -> None:
        desk = desk_of(ann, queue_of(run, sample=1)).rule("fail")
        assert "Nothing is left here for you." in desk.rule("fail").html
        assert "1 of 1 reviews" in desk.html
        assert "Keep: " in desk.send("undo").html or "Taken back" in desk.html


class TestTyping:
    def test_a_comment_survives_reload_and_skip(self, queue: ReviewQueue, ann: User) -> None:
        desk = desk_of(ann, queue)
        answer = desk.client.post(
            f"/review/{queue.pk}/draft/", {**desk.form, "comment": "half a <b>thought"}, headers=HTMX
        )
        assert "comment kept" in answer.content.decode()
        assert "half a &lt;b&gt;thought</textarea>" in desk.open().html
        slot = desk.form["slot"]
        desk.send("skip", comment="half a thought more")
        assert desk.form["slot"] != slot
        assert "half a thought more" in desk.client.get("/review/").content.decode()
        while desk.form["slot"] != slot:
            desk.send("skip")
        assert "half a thought more</textarea>" in desk.html

    def test_what_was_sent_is_no_draft(self, queue: ReviewQueue, ann: User) -> None:
        desk = desk_of(ann, queue)
        typed = {**desk.form, "comment": "it says both"}
        desk.rule("pass", "it says both")
        # The request that kept the last letters arrives late.
        desk.client.post(f"/review/{queue.pk}/draft/", typed, headers=HTMX)
        assert not ReviewDraft.objects.exists()

    def test_a_lost_lease_keeps_the_comment_and_offers_the_next(
        self, run: Run, ann: User, ben: User, queue: ReviewQueue
    ) -> None:
        desk = desk_of(ann, queue)
        slot = desk.slot
        expire(slot)
        other = desk_of(ben, queue)
        assert other.slot.pk == slot.pk
        answer = desk.client.post(f"/review/{queue.pk}/draft/", {**desk.form, "comment": "mine"}, headers=HTMX)
        assert "Your lease ran out" in answer.content.decode()
        desk.rule("fail", "mine, and more")
        assert "Your lease ran out" in desk.html
        assert "mine, and more" in desk.html
        assert desk.slot.pk != slot.pk
        assert not Review.objects.exists()
        assert "mine, and more" in desk.client.get("/review/").content.decode()
        assert ReviewDraft.objects.get().reviewer == ann

    def test_a_lease_that_ran_out_and_nobody_took_is_renewed(self, queue: ReviewQueue, ann: User) -> None:
        desk = desk_of(ann, queue)
        expire(desk.slot)
        assert desk.rule("pass").form["stage"] == "revealed"

    def test_nobody_reads_the_drafts_of_others(self, queue: ReviewQueue, ann: User, ben: User) -> None:
        desk = desk_of(ann, queue)
        keep_draft(desk.slot.item, ann, "private thoughts")
        other = desk_of(ben, queue)
        assert "private thoughts" not in other.client.get("/review/").content.decode()
        other.client.post(f"/review/drafts/{ReviewDraft.objects.get().pk}/forget/")
        assert ReviewDraft.objects.count() == 1
        desk.client.post(f"/review/drafts/{ReviewDraft.objects.get().pk}/forget/")
        assert ReviewDraft.objects.count() == 0


class TestOrder:
    def test_undo_shows_the_item_again_and_the_next_ruling_is_not_blind(self, queue: ReviewQueue, ann: User) -> None:
        desk = desk_of(ann, queue)
        first = desk.form["slot"]
        desk.rule("pass").rule("pass").send("undo")
        assert desk.form["slot"] == first
        assert "Taken back." in desk.html
        assert desk.form["stage"] == "revealed"
        assert desk.slot.item.verdict.trial.outcome == "fail"
        desk.rule("fail")
        assert desk.form["slot"] != first
        assert list(Review.objects.values_list("ruling", flat=True)) == [
            "pass",
            "pass",
            "withdrawn",
            "withdrawn",
            "fail",
        ]

    def test_nothing_to_undo_is_said(self, queue: ReviewQueue, ann: User) -> None:
        assert "no ruling of yours" in desk_of(ann, queue).send("undo").html

    def test_two_people_work_side_by_side(self, queue: ReviewQueue, ann: User, ben: User) -> None:
        one, other = desk_of(ann, queue), desk_of(ben, queue)
        seen: list[str] = []
        for desk in (one, other, one, other):
            seen.append(desk.form["slot"])
            desk.rule("fail").rule("fail")
        assert len(set(seen)) == 4

    def test_a_claim_that_changed_leaves_the_queue(self, queue: ReviewQueue, ann: User) -> None:
        desk = desk_of(ann, queue)
        old = desk.slot.item
        newer = Verdict.objects.get(pk=old.verdict_id)
        newer.pk, newer.scoring, newer.subject = None, 2, "another record"
        newer.save()
        desk.rule("pass", "typed before")
        assert "this claim&#x27;s record is another now" in desk.html
        assert "typed before" in desk.html
        assert desk.slot.item_id != old.pk
        assert not old.slots.exists()

    def test_a_claim_that_changed_is_not_even_offered(self, queue: ReviewQueue, ann: User) -> None:
        newer = queue.items.order_by("position")[0].verdict
        newer.pk, newer.scoring, newer.subject = None, 2, "another record"
        newer.save()
        desk = desk_of(ann, queue)
        assert desk.slot.item.position == 2
        assert "Item 1 left the queue" in desk.html

    def test_a_closed_queue_says_so(self, queue: ReviewQueue, ann: User) -> None:
        ReviewQueue.objects.update(closed_at=timezone.now())
        assert "This queue is closed." in desk_of(ann, queue).html


class TestBadInput:
    def test_viewers_are_kept_out(self, queue: ReviewQueue, viewer: User, client: Client) -> None:
        client.force_login(viewer)
        for address in ("/review/", "/review/new/", f"/review/{queue.pk}/"):
            assert client.get(address).status_code == 403
        assert client.post(f"/review/{queue.pk}/rule/").status_code == 403
        assert not ReviewSlot.objects.exclude(reviewer=None).exists()

    @pytest.mark.parametrize("slot", ["", "x", "9" * 30, "²"])
    def test_a_form_without_an_item_is_refused(self, slot: str, queue: ReviewQueue, ann: User) -> None:
        desk = desk_of(ann, queue)
        answer = desk.client.post(f"/review/{queue.pk}/rule/", {"slot": slot, "ruling": "pass"}, headers=HTMX)
        assert answer.status_code == 404

    def test_a_slot_of_another_queue_is_not_found(self, run: Run, queue: ReviewQueue, ann: User) -> None:
        desk, other = desk_of(ann, queue), queue_of(run)
        assert desk.client.post(f"/review/{other.pk}/rule/", desk.form, headers=HTMX).status_code == 404

    @pytest.mark.parametrize("values", [{"lease": "no uuid"}, {"lease": ""}, {"lease": "0" * 32}])
    def test_a_lease_of_somebody_else_is_none(self, values: dict[str, str], queue: ReviewQueue, ann: User) -> None:
        assert "lease ran out" in desk_of(ann, queue).send("rule", ruling="pass", **values).html
        assert not Review.objects.exists()

    @pytest.mark.parametrize("ruling", ["", "PASS", "withdrawn"])
    def test_what_is_no_ruling_is_said(self, ruling: str, queue: ReviewQueue, ann: User) -> None:
        assert "is no ruling" in desk_of(ann, queue).rule(ruling).html

    def test_hostile_text_is_text(self, queue: ReviewQueue, ann: User) -> None:
        attack = "<img src=x onerror=alert(1)>\u202e"
        Verdict.objects.update(claim=attack, reason=attack, evidence=[{"text": attack, "found": False}])
        desk = desk_of(ann, queue)
        assert "<img src=x" not in desk.html
        assert "⟦U+202E⟧" in desk.html
        assert "<img src=x" not in desk.rule("pass", attack).html
        assert "<img src=x" not in desk.rule("pass", attack).html
