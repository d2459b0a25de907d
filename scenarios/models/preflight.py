"""Whether an endpoint answers: one cheap request, asked for from a page."""

from django.db import models

from scenarios.models.profile import Profile


class Preflight(models.Model):
    """One check of one profile, made by a worker since only workers have the keys. The newest row counts."""

    class State(models.TextChoices):
        ASKED = "asked", "asked"
        OK = "ok", "answers"
        FAILED = "failed", "does not answer"

    profile = models.ForeignKey(Profile, on_delete=models.CASCADE, related_name="preflights")
    state = models.CharField(max_length=6, choices=State, default=State.ASKED)
    # What the endpoint said, or what is wrong and what to do about it; never a key.
    detail = models.CharField(max_length=500, blank=True)
    latency_ms = models.PositiveIntegerField(null=True, blank=True)
    asked_at = models.DateTimeField(auto_now_add=True)
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-asked_at", "-pk"]

    def __str__(self) -> str:
        return f"preflight of {self.profile_id}: {self.state}"
