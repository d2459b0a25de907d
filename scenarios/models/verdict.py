"""What scoring found: one row per signal, one per ruling on a claim or predicate."""

from django.db import models

from scenarios.models.judge import JudgeVersion
from scenarios.models.trial import Trial


class SignalResult(models.Model):
    """One of the six signals of a trial. Scoring again adds a ``scoring`` number; the highest counts."""

    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="signals")
    scoring = models.PositiveIntegerField(default=1)
    signal = models.CharField(max_length=24)
    # passed, failed, not_applicable, excluded, undecided.
    state = models.CharField(max_length=16)
    is_gating = models.BooleanField()
    value = models.JSONField(null=True)
    # What scoring alone said, where people's rulings changed ``state`` and ``value``; '' where they did not.
    judged_state = models.CharField(max_length=16, blank=True)
    judged_value = models.JSONField(null=True)
    # db_state_match: expected_hash, actual_hash, diff; is_action_match: matched, missing, extra...
    detail = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["trial_id", "-scoring", "id"]
        constraints = [models.UniqueConstraint(fields=["trial", "scoring", "signal"], name="signal_trial_scoring")]

    def __str__(self) -> str:
        return f"{self.signal}: {self.state}"


class Verdict(models.Model):
    """The ruling on one claim or predicate. Never edited: judging again adds rows under a higher ``scoring``."""

    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="verdicts")
    scoring = models.PositiveIntegerField(default=1)
    signal = models.CharField(max_length=24)
    index = models.PositiveIntegerField()
    claim = models.TextField()
    passed = models.BooleanField()
    reason = models.TextField(blank=True)
    # Quotes: {"text", "turn", "seq", "found"}.
    evidence = models.JSONField(default=list)
    # Short kind when the judge or predicate gave no ruling; then ``passed`` is false and does not count.
    error = models.CharField(max_length=40, blank=True)
    detail = models.JSONField(default=dict)
    judge = models.ForeignKey(JudgeVersion, null=True, on_delete=models.PROTECT, related_name="verdicts")
    # SHA-256 of model, parameters, prompt version, claim and evidence; '' for predicates.
    fingerprint = models.CharField(max_length=64, blank=True)
    # SHA-256 of the claim and the call's whole record, whoever judged: people's rulings hold for all verdicts on it.
    subject = models.CharField(max_length=64, blank=True, db_index=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["trial_id", "-scoring", "signal", "index"]
        constraints = [
            models.UniqueConstraint(fields=["trial", "scoring", "signal", "index"], name="verdict_trial_scoring_index")
        ]

    def __str__(self) -> str:
        return f"{self.signal} {self.index}: {'passed' if self.passed else 'failed'}"
