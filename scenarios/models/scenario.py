"""The row that mirrors a registered scenario. Code wins: rows are synchronised from the catalogue."""

from typing import Any

from django.db import models


def no_findings() -> dict[str, Any]:
    """Return the health of a scenario about which nothing is odd."""
    lists = ("failing_reads", "failing_writes", "true_at_start", "nothing_written", "known_errors")
    return {**{name: [] for name in lists}, "gold_equals_seed": False, "duplicate_of": None, "cannot_start": ""}


class Scenario(models.Model):
    """A scenario as the catalogue last saw it; kept when the code drops it, since old runs point here."""

    name = models.CharField(max_length=300, unique=True)
    domain = models.CharField(max_length=64, db_index=True)
    title = models.CharField(max_length=200, blank=True)
    position = models.PositiveIntegerField(default=0)
    fingerprint = models.CharField(max_length=64)
    persona_name = models.CharField(max_length=100, blank=True)
    tags = models.JSONField(default=list)
    success_signals = models.JSONField(default=list)
    claim_count = models.PositiveIntegerField(default=0)
    predicate_count = models.PositiveIntegerField(default=0)
    gold_action_count = models.PositiveIntegerField(default=0)
    # Passed by an agent that does nothing but end the call: by the reference's strictness, and by upstream's.
    passes_by_inaction = models.BooleanField(default=False)
    passes_upstream_by_inaction = models.BooleanField(default=False)
    # failing_reads, failing_writes, gold_equals_seed, duplicate_of, true_at_start, as in scenarios.replay.Health.
    # Also nothing_written (parts of upstream's reward) and known_errors (text, effect, effect by upstream).
    health = models.JSONField(default=no_findings)
    # Lower-case text that the launch form's search looks through.
    search_text = models.TextField(blank=True)
    is_registered = models.BooleanField(default=True)
    synced_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["domain", "position"]

    def __str__(self) -> str:
        return self.name
