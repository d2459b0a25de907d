"""Named agents, callers and judges that a run is launched with."""

from typing import Any

from django.core.validators import MinValueValidator, RegexValidator
from django.db import models


class Profile(models.Model):
    """A model behind an OpenAI-compatible endpoint, or an external party at a socket address.

    Keys are never stored: ``key_env`` names the environment variable of the worker that holds one.
    """

    class Kind(models.TextChoices):
        AGENT = "agent", "Agent"
        CALLER = "caller", "Caller"
        JUDGE = "judge", "Judge"

    slug = models.SlugField(max_length=64)
    kind = models.CharField(max_length=8, choices=Kind)
    title = models.CharField(max_length=120, blank=True)
    # "{scenario}" in a model name is replaced by the scenario's name; only stand-ins use it.
    model = models.CharField(max_length=200, blank=True)
    base_url = models.CharField(max_length=300, blank=True)
    key_env = models.CharField(
        max_length=80,
        blank=True,
        validators=[RegexValidator(r"^[A-Z_][A-Z0-9_]*\Z", "The name of an environment variable, not a key.")],
    )
    # Request parameters: temperature, top_p, seed, max_tokens, timeout_s...
    parameters = models.JSONField(default=dict, blank=True)
    # External parties only: ws:// or wss:// address, and whether tools run with us or with them.
    address = models.CharField(max_length=300, blank=True)
    tools_run = models.CharField(
        max_length=6, choices=[("ours", "with us"), ("theirs", "with the bot")], default="ours"
    )
    # US dollars per million tokens; unknown prices are null, never 0.
    prompt_price = models.FloatField(null=True, blank=True, validators=[MinValueValidator(0)])
    completion_price = models.FloatField(null=True, blank=True, validators=[MinValueValidator(0)])
    is_standin = models.BooleanField(default=False, editable=False)
    is_archived = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["kind", "is_standin", "slug"]
        constraints = [models.UniqueConstraint(fields=["kind", "slug"], name="profile_kind_slug")]

    def __str__(self) -> str:
        return self.slug

    def frozen(self) -> dict[str, Any]:
        """Return the configuration that a run keeps; holds the name of the key's variable, never a key."""
        return {
            "slug": self.slug,
            "kind": self.kind,
            "model": self.model,
            "base_url": self.base_url,
            "key_env": self.key_env,
            "parameters": self.parameters,
            "address": self.address,
            "tools_run": self.tools_run,
            "prompt_price": self.prompt_price,
            "completion_price": self.completion_price,
            "is_standin": self.is_standin,
        }
