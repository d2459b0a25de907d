"""Judge versions: who ruled."""

from django.db import models


class JudgeVersion(models.Model):
    """One model with one set of parameters and one prompt version; found or made by fingerprint."""

    fingerprint = models.CharField(max_length=64, unique=True)
    profile = models.CharField(max_length=64)
    model = models.CharField(max_length=200)
    base_url = models.CharField(max_length=300, blank=True)
    parameters = models.JSONField(default=dict)
    prompt_version = models.CharField(max_length=64)
    is_standin = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.profile} {self.fingerprint[:8]}"


class Judging(models.Model):
    """One request to a judge for one trial: what was asked, what came back, what it cost."""

    trial = models.ForeignKey("scenarios.Trial", on_delete=models.CASCADE, related_name="judgings")
    scoring = models.PositiveIntegerField(default=1)
    judge = models.ForeignKey(JudgeVersion, on_delete=models.PROTECT, related_name="judgings")
    system_prompt = models.TextField()
    user_content = models.TextField()
    reply = models.TextField(blank=True)
    score = models.FloatField(null=True)
    reason = models.TextField(blank=True)
    error = models.CharField(max_length=40, blank=True)
    tries = models.PositiveSmallIntegerField(default=1)
    duration_ms = models.PositiveIntegerField(default=0)
    prompt_tokens = models.PositiveIntegerField(null=True)
    completion_tokens = models.PositiveIntegerField(null=True)
    # What was cut from the evidence to fit the window, in words.
    truncation = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["trial_id", "-scoring"]

    def __str__(self) -> str:
        return f"judging of trial {self.trial_id} by {self.judge_id}"
