"""One repetition of one scenario inside a run: the row is the queue."""

from django.conf import settings
from django.db import models

from scenarios.models.run import Run
from scenarios.models.scenario import Scenario


class Trial(models.Model):
    """Status, lease and results of one trial. Only ``scenarios.lifecycle`` writes status, lease, seq and outcome."""

    class Status(models.TextChoices):
        QUEUED = "queued", "queued"
        RUNNING = "running", "running"
        SCORING = "scoring", "scoring"
        DONE = "done", "done"
        CANCELLED = "cancelled", "cancelled"
        ERROR = "error", "error"

    ENDED = (Status.DONE, Status.CANCELLED, Status.ERROR)

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="trials")
    scenario = models.ForeignKey(Scenario, on_delete=models.PROTECT, related_name="trials")
    # The repetition, from 1.
    number = models.PositiveIntegerField()
    position = models.PositiveIntegerField(default=0)
    status = models.CharField(max_length=10, choices=Status, default=Status.QUEUED)
    # pass, fail, or why it is neither (scenarios.scoring.results.Outcome); empty until it has ended.
    outcome = models.CharField(max_length=16, blank=True)
    # The outcome by the other strictness than the run's (scenarios.scoring.config); the same where nothing was scored.
    other_outcome = models.CharField(max_length=16, blank=True)
    outcome_reason = models.CharField(max_length=300, blank=True)
    # What scoring alone decided, where people's rulings changed ``outcome``; '' where they did not.
    judged_outcome = models.CharField(max_length=16, blank=True)
    judged_other_outcome = models.CharField(max_length=16, blank=True)
    judged_reason = models.CharField(max_length=300, blank=True)
    # How many of its verdicts people overruled; whose fault a failure is ('': no rule decides and nobody has said).
    overruled_count = models.PositiveSmallIntegerField(default=0)
    fault = models.CharField(max_length=8, blank=True)
    lease = models.UUIDField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    last_seq = models.PositiveIntegerField(default=0)
    cancel_requested = models.BooleanField(default=False)
    # A person asked to end just this call; the call is then tainted, not cancelled.
    hang_up_requested = models.BooleanField(default=False)
    hang_up_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    end_reason = models.CharField(max_length=16, blank=True)
    error_kind = models.CharField(max_length=60, blank=True)
    by_inaction = models.BooleanField(default=False)
    duration_ms = models.PositiveIntegerField(null=True, blank=True)
    # Whether its events have times; the file of an imported call may give none, and they are then all 0.
    is_timed = models.BooleanField(default=True)
    turn_count = models.PositiveIntegerField(default=0)
    # Median response time of the agent.
    response_p50_ms = models.FloatField(null=True, blank=True)
    # The agent's in its last attempt; ``cost`` is everybody's in all attempts, judge included, in dollars.
    prompt_tokens = models.PositiveIntegerField(null=True, blank=True)
    completion_tokens = models.PositiveIntegerField(null=True, blank=True)
    cost = models.FloatField(null=True, blank=True)
    # passed, failed, not_applicable, excluded, undecided: lists of signals, for grids without a join.
    breakdown = models.JSONField(default=dict)

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["run", "scenario", "number"], name="trial_run_scenario_number")]
        indexes = [
            models.Index(fields=["status", "heartbeat_at"], name="trial_status_heartbeat"),
            models.Index(fields=["run", "status", "outcome"], name="trial_run_status_outcome"),
            models.Index(fields=["run", "position"], name="trial_run_position"),
        ]

    def __str__(self) -> str:
        return f"{self.scenario_id}#{self.number} of run {self.run_id}"
