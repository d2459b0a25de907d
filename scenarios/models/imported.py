"""What came in from other tools: the file, each call's foreign result, and what is odd about a run."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from scenarios.models.trial import Trial


class ImportedFile(models.Model):
    """A result file or folder of another tool, and what became of it. The bytes are not kept, their hashes are.

    ``remarks`` and ``refused`` are lists of ``{"severity", "place", "text"}`` (``formats.imports.records.Remark``).
    """

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        IMPORTING = "importing", "importing"
        IMPORTED = "imported", "imported"
        PARTLY = "partly", "partly imported"
        REFUSED = "refused", "refused"
        CANCELLED = "cancelled", "cancelled"

    HELD = (State.IMPORTING, State.IMPORTED, State.PARTLY)
    # Imports give a sign of life every few seconds; measuring a large file before that takes a while.
    SILENT_AFTER = timedelta(minutes=5)

    name = models.CharField(max_length=300)
    format = models.CharField(max_length=40, blank=True)
    version = models.CharField(max_length=40, blank=True)
    sha256 = models.CharField(max_length=64, blank=True)
    # Of what a packed file unpacks to: the same results packed otherwise are the same import.
    content_sha256 = models.CharField(max_length=64, blank=True, db_index=True)
    size = models.PositiveBigIntegerField(default=0)
    content_size = models.PositiveBigIntegerField(default=0)
    state = models.CharField(max_length=10, choices=State, default=State.IMPORTING)
    # Of an upload that waits or is being read: where its bytes are, and whether calls are to be replayed.
    upload = models.CharField(max_length=200, blank=True)
    options = models.JSONField(default=dict)
    reason = models.TextField(blank=True)
    remarks = models.JSONField(default=list)
    refused = models.JSONField(default=list)
    # While importing: trials stored so far, and whether somebody asked to stop.
    trial_count = models.PositiveIntegerField(default=0)
    stop_requested = models.BooleanField(default=False)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    imported_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    imported_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-imported_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["content_sha256"],
                condition=Q(state__in=("importing", "imported", "partly")) & ~Q(content_sha256=""),
                name="imported_file_once",
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_open(self) -> bool:
        """Return whether it waits or is being read."""
        return self.state in (self.State.WAITING, self.State.IMPORTING)

    @property
    def is_silent(self) -> bool:
        """Return whether it is said to be read though nobody has given a sign of life for long."""
        last = self.heartbeat_at or self.imported_at
        return self.state == self.State.IMPORTING and last < timezone.now() - self.SILENT_AFTER


class ForeignResult(models.Model):
    """The result of an imported call as its file has it, and what replaying its tool calls gave."""

    trial = models.OneToOneField(Trial, on_delete=models.CASCADE, related_name="foreign")
    # Where the call stands in its file, and what the file calls it.
    place = models.CharField(max_length=300)
    foreign_id = models.CharField(max_length=300, blank=True)
    task_id = models.CharField(max_length=300, blank=True)
    termination_reason = models.CharField(max_length=100, blank=True)
    # pass, fail, judge_error, not_scored, excluded; ``why`` explains every mapping that is not the plain one.
    mapped = models.CharField(max_length=16)
    why = models.TextField(blank=True)
    reward = models.FloatField(null=True)
    # The verdict as written, the file's own task definition, and everything else it says; secrets are taken out.
    written = models.JSONField(null=True)
    task = models.JSONField(null=True)
    facts: Any = models.JSONField(default=dict)
    remarks = models.JSONField(default=list)
    # Database verdicts: the file's, ours under the file's own task, ours under today's. None: there is none.
    stored_db_match = models.BooleanField(null=True)
    our_db_match = models.BooleanField(null=True)
    today_db_match = models.BooleanField(null=True)
    agrees = models.BooleanField(null=True)
    # Why stored and ours differ: {"kind", "text"} (``formats.imports.comparison.Reason``).
    reasons = models.JSONField(default=list)
    why_not_replayed = models.TextField(blank=True)
    # The replay's checks: action, communicate, predicates, diff, and today's reasons.
    replay = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"{self.place}: {self.mapped}"


class Finding(models.Model):
    """Something odd about a run that a person should know before trusting its numbers.

    A run with an error that nobody has accepted cannot be compared.
    """

    class Severity(models.TextChoices):
        INFO = "info", "info"
        WARNING = "warning", "warning"
        ERROR = "error", "error"

    run = models.ForeignKey("scenarios.Run", on_delete=models.CASCADE, related_name="findings")
    trial = models.ForeignKey(Trial, null=True, on_delete=models.CASCADE, related_name="findings")
    severity = models.CharField(max_length=8, choices=Severity)
    code = models.CharField(max_length=40)
    place = models.CharField(max_length=300, blank=True)
    text = models.TextField()
    accepted_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    accepted_at = models.DateTimeField(null=True, blank=True)
    acceptance = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["run_id", "pk"]

    def __str__(self) -> str:
        return f"{self.severity}: {self.text}"
