"""The numbered facts of a trial."""

from django.db import models

from scenarios.models.trial import Trial


class TrialEvent(models.Model):
    """Append-only; ``(trial, seq)`` is one unbroken sequence from 1 for the life of a trial. See scenarios.events."""

    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="events", db_index=False)
    seq = models.PositiveIntegerField()
    # From the start of the call of its attempt.
    at_ms = models.PositiveIntegerField()
    kind = models.CharField(max_length=32)
    side = models.CharField(max_length=5, blank=True)
    data = models.JSONField()
    # Wall clock, for "age of the last event" over all calls.
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["trial_id", "seq"]
        constraints = [models.UniqueConstraint(fields=["trial", "seq"], name="trial_event_seq")]

    def __str__(self) -> str:
        return f"{self.trial_id}/{self.seq} {self.kind}"
