"""One launched sweep."""

from django.conf import settings
from django.db import models


class Run(models.Model):
    """Scenarios x trials with one frozen configuration. Its state is read from its trials, never stored twice.

    ``config`` (see ``scenarios.launch.RunConfig``): domain, scenarios with fingerprints, trials, agent, caller
    and judge (each a frozen profile), channel, fidelity, limits, pace_s, min_agent_turns, git commit and versions.
    """

    class Channel(models.TextChoices):
        TEXT = "text", "text"
        VOICE = "voice", "voice"

    title = models.CharField(max_length=200, blank=True)
    domain = models.CharField(max_length=64, db_index=True)
    channel = models.CharField(max_length=8, choices=Channel, default=Channel.TEXT)
    config = models.JSONField()
    fingerprint = models.CharField(max_length=64, db_index=True)
    # A second submit of the same launch form carries the same key and finds this run.
    launch_key = models.CharField(max_length=64, unique=True, null=True)  # noqa: DJ001  (unique, so absent must be NULL)
    trial_count = models.PositiveIntegerField()
    # Any party or the judge is a stand-in: its numbers never stand beside a model's.
    is_rehearsal = models.BooleanField(default=False)
    launched_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="runs")
    launched_at = models.DateTimeField(auto_now_add=True)
    paused_at = models.DateTimeField(null=True, blank=True)
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    cancelled_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    # The file that an imported run came from; its calls were held elsewhere.
    imported_from = models.ForeignKey(
        "scenarios.ImportedFile", null=True, blank=True, on_delete=models.SET_NULL, related_name="runs"
    )
    # Dollars spent so far, summed from finished calls; null when a price is unknown.
    cost = models.FloatField(null=True, blank=True)

    class Meta:
        ordering = ["-launched_at"]

    def __str__(self) -> str:
        return self.title or f"run {self.pk}"
