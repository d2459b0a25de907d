"""People's rulings on verdicts: queues, their items and slots, reviews, and whose fault a failure is."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from scenarios.models.trial import Trial
from scenarios.models.verdict import Verdict

PERSON = settings.AUTH_USER_MODEL


class ReviewQueue(models.Model):
    """Verdicts for people to rule on, chosen by a filter; the choice is kept with its seed."""

    title = models.CharField(max_length=200)
    # run ids, outcome, sample... as in ``scenarios.reviewing``; ``seed`` makes a random sample repeatable.
    filter = models.JSONField(default=dict)
    seed = models.PositiveIntegerField(default=0)
    # Whether the items are a random sample of what the filter finds: only then may a rate be corrected by them.
    is_random = models.BooleanField(default=False)
    reviews_per_item = models.PositiveSmallIntegerField(default=1)
    is_blind = models.BooleanField(default=True)
    lease_minutes = models.PositiveSmallIntegerField(default=30)
    created_by = models.ForeignKey(PERSON, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return self.title


class ReviewItem(models.Model):
    """One verdict in a queue; ``fingerprint`` is the verdict's when it was queued."""

    queue = models.ForeignKey(ReviewQueue, on_delete=models.CASCADE, related_name="items")
    verdict = models.ForeignKey(Verdict, on_delete=models.CASCADE, related_name="review_items")
    position = models.PositiveIntegerField()
    fingerprint = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ["queue_id", "position"]
        constraints = [models.UniqueConstraint(fields=["queue", "verdict"], name="review_item_once")]

    def __str__(self) -> str:
        return f"item {self.position} of queue {self.queue_id}"


class ReviewSlot(models.Model):
    """One of an item's N reviews: made with the item, leased to one person, closed by a review.

    Two people never hold the same slot, and nobody holds two of one item: the database refuses both.
    """

    item = models.ForeignKey(ReviewItem, on_delete=models.CASCADE, related_name="slots")
    number = models.PositiveSmallIntegerField()
    reviewer = models.ForeignKey(PERSON, null=True, on_delete=models.SET_NULL, related_name="review_slots")
    lease = models.UUIDField(null=True, blank=True)
    leased_until = models.DateTimeField(null=True, blank=True)
    done_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["item_id", "number"]
        constraints = [
            models.UniqueConstraint(fields=["item", "number"], name="review_slot_number"),
            models.UniqueConstraint(
                fields=["item", "reviewer"], condition=Q(reviewer__isnull=False), name="review_slot_one_a_person"
            ),
        ]
        indexes = [models.Index(fields=["done_at", "leased_until"], name="review_slot_free")]

    def __str__(self) -> str:
        return f"slot {self.number} of item {self.item_id}"


class ReviewDraft(models.Model):
    """What a person has typed and not sent: it outlives the lease."""

    item = models.ForeignKey(ReviewItem, on_delete=models.CASCADE, related_name="drafts")
    reviewer = models.ForeignKey(PERSON, on_delete=models.CASCADE, related_name="+")
    comment = models.TextField(blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "reviewer"], name="review_draft_one_a_person")]

    def __str__(self) -> str:
        return f"draft on item {self.item_id}"


class Review(models.Model):
    """One person's ruling on one verdict. Appended, never changed: the last of a person and stage counts."""

    class Stage(models.TextChoices):
        # Before the judge's ruling was shown, after it was, and over disagreements.
        BLIND = "blind", "blind"
        REVEALED = "revealed", "after reveal"
        ADJUDICATION = "adjudication", "adjudication"

    class Ruling(models.TextChoices):
        PASS = "pass", "holds"
        FAIL = "fail", "does not hold"
        CANNOT_TELL = "cannot_tell", "cannot tell"
        WITHDRAWN = "withdrawn", "withdrawn"

    verdict = models.ForeignKey(Verdict, on_delete=models.CASCADE, related_name="reviews")
    item = models.ForeignKey(ReviewItem, null=True, on_delete=models.SET_NULL, related_name="reviews")
    # Nobody for an imported label; ``rater`` always names who ruled.
    reviewer = models.ForeignKey(PERSON, null=True, on_delete=models.SET_NULL, related_name="reviews")
    rater = models.CharField(max_length=150)
    stage = models.CharField(max_length=12, choices=Stage)
    ruling = models.CharField(max_length=12, choices=Ruling)
    comment = models.TextField(blank=True)
    # The verdict's fingerprint that the person saw.
    fingerprint = models.CharField(max_length=64, blank=True)
    # A form sent twice carries the same key and is stored once.
    submit_key = models.CharField(max_length=64, unique=True, null=True)  # noqa: DJ001  (unique, so absent must be NULL)
    is_imported = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["verdict_id", "pk"]
        indexes = [models.Index(fields=["verdict", "stage"], name="review_verdict_stage")]

    def __str__(self) -> str:
        return f"{self.rater}: {self.ruling}"


class EffectiveVerdict(models.Model):
    """The ruling that counts where people have spoken; made from the reviews, and made again whenever they change."""

    class By(models.TextChoices):
        REVIEWER = "reviewer", "reviewer"
        ADJUDICATOR = "adjudicator", "adjudicator"

    verdict = models.OneToOneField(Verdict, on_delete=models.CASCADE, related_name="effective")
    passed = models.BooleanField()
    by = models.CharField(max_length=12, choices=By)
    review = models.ForeignKey(Review, on_delete=models.CASCADE, related_name="+")
    # Differs from the judge's ruling (or rules where the judge gave none).
    is_overruling = models.BooleanField()

    def __str__(self) -> str:
        return f"verdict {self.verdict_id}: {self.passed} by {self.by}"


class FaultRuling(models.Model):
    """Whose fault a failed call is. Appended: the newest by a person counts, else the newest by rule."""

    class Side(models.TextChoices):
        AGENT = "agent", "agent"
        CALLER = "caller", "simulated caller"
        SPEECH = "speech", "speech"
        HARNESS = "harness", "harness"
        JUDGE = "judge", "judge"
        TASK = "task", "task definition"

    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="fault_rulings")
    # '' withdraws a person's earlier ruling.
    side = models.CharField(max_length=8, choices=Side, blank=True)
    is_by_rule = models.BooleanField()
    rule = models.CharField(max_length=60, blank=True)
    person = models.ForeignKey(PERSON, null=True, on_delete=models.SET_NULL, related_name="+")
    reason = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["trial_id", "pk"]

    def __str__(self) -> str:
        return f"trial {self.trial_id}: {self.side}"
