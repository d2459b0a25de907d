"""Named agents, callers and judges that a run is launched with."""

import re
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator, RegexValidator
from django.db import models

_VARIABLE_NAME = r"^[A-Z_][A-Z0-9_]*\Z"
_KEY_HINT = (
    "Give the NAME of an environment variable such as OPENAI_API_KEY, never a key: put the key into that variable of "
    "the worker's environment."
)
# What common keys look like, wherever they are pasted.
_LOOKS_LIKE_A_KEY = re.compile(r"\b(sk|pk|gsk|nvapi|xai|hf|ghp)[-_][A-Za-z0-9_-]{12,}|\bAIza[0-9A-Za-z_-]{20,}")
_SECRET_PARAMETER = re.compile(r"key\Z|token\Z|secret|password|authorization|headers", re.IGNORECASE)


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
        validators=[RegexValidator(_VARIABLE_NAME, _KEY_HINT)],
    )
    # Request parameters: temperature, top_p, seed, max_tokens, timeout_s...
    parameters = models.JSONField(default=dict, blank=True)
    # Judges only: what they are told (none: the built-in text), and how replies are asked for.
    prompt = models.ForeignKey(
        "scenarios.JudgePrompt", null=True, blank=True, on_delete=models.PROTECT, related_name="profiles"
    )
    structure = models.CharField(
        max_length=8,
        choices=[("auto", "by schema where the endpoint has it"), ("schema", "by schema"), ("plain", "plain text")],
        default="auto",
    )
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

    def clean(self) -> None:
        """Refuse what is unsafe or cannot work, with the field, the reason and the remedy."""
        errors: dict[str, str] = {}
        for field, schemes in (("base_url", ("http", "https")), ("address", ("ws", "wss"))):
            if problem := _address_problem(getattr(self, field), schemes):
                errors[field] = problem
        if not self.model and not self.address:
            errors["model"] = "Name the model, or for an external party give its socket address."
        elif self.model and self.address:
            errors["address"] = "An external party chooses its model itself: leave one of the two empty."
        elif self.model and not self.base_url and not self.is_standin:
            errors["base_url"] = "Say where the model is served, such as https://api.openai.com/v1."
        if self.address and self.kind == self.Kind.JUDGE:
            errors["address"] = "A judge is a model at a base URL, not a party at a socket."
        if self.kind != self.Kind.JUDGE and (self.prompt_id or self.structure != "auto"):
            errors["structure"] = "Only a judge has a prompt of ours and a form of reply: leave both as they are."
        if problem := _parameter_problem(self.parameters):
            errors["parameters"] = problem
        if errors:
            raise ValidationError(errors)

    def frozen(self) -> dict[str, Any]:
        """Return the configuration that a run keeps; holds the name of the key's variable, never a key."""
        config = {
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
        if self.kind == self.Kind.JUDGE:
            version = self.prompt.version if self.prompt is not None else ""
            config |= {"prompt_version": version, "structure": self.structure}
        return config


def _address_problem(url: str, schemes: tuple[str, ...]) -> str | None:
    if not url:
        return None
    parts = urlsplit(url)
    if parts.scheme not in schemes or not parts.hostname:
        return f"Give an address that begins with {' or '.join(f'{scheme}://' for scheme in schemes)} and names a host."
    if parts.username or parts.password or _LOOKS_LIKE_A_KEY.search(url):
        return f"The address holds a secret. {_KEY_HINT}"
    return None


def _parameter_problem(parameters: Any) -> str | None:
    if not isinstance(parameters, dict):
        return 'Give a table of request parameters such as {"temperature": 0}.'
    secret = [name for name in parameters if _SECRET_PARAMETER.search(str(name))]
    if secret or _LOOKS_LIKE_A_KEY.search(str(parameters)):
        return f"Parameters are stored and shown, so no secrets here{f' ({secret[0]})' if secret else ''}. {_KEY_HINT}"
    return None
