"""Which judge it is: all of a judge's profile that reaches its endpoint, and how two of them differ."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from scenarios.scoring.judge_request import WINDOW_CHARS, judge_fingerprint, prompt_version_of

# Parameters of a judge's profile that are ours; all others go to the endpoint.
OWN_PARAMETERS: dict[str, float] = {
    "timeout_s": 120,
    "deadline_s": 300,
    "tries": 4,
    "backoff_s": 1,
    "window_chars": WINDOW_CHARS,
}
_WORDS = {"model": "model", "parameters": "parameters", "prompt_version": "prompt", "structure": "form of reply"}


def sent_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request parameters that go to the endpoint; temperature 0 unless the profile says otherwise."""
    return {"temperature": 0, **{name: value for name, value in parameters.items() if name not in OWN_PARAMETERS}}


@dataclass(frozen=True)
class JudgeIdentity:
    """The parts of a judge version's fingerprint."""

    model: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    prompt_version: str = ""
    structure: str = "auto"

    @classmethod
    def of(cls, profile: Mapping[str, Any], guidance: str | None = None) -> Self:
        """Return who a frozen judge profile is, told ``guidance`` (None: the built-in)."""
        return cls(
            model=str(profile["model"]),
            parameters=sent_parameters(profile.get("parameters") or {}),
            prompt_version=prompt_version_of(guidance),
            structure=str(profile.get("structure") or "auto"),
        )

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 that identifies this judge."""
        return judge_fingerprint(self.model, self.parameters, self.prompt_version, self.structure)

    def columns(self, profile: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns of this judge's version, its fingerprint among them; ``profile`` is a frozen one."""
        return {
            "fingerprint": self.fingerprint,
            "profile": profile["slug"],
            "model": self.model,
            "base_url": profile.get("base_url") or "",
            "parameters": dict(self.parameters),
            "prompt_version": self.prompt_version,
            "structure": self.structure,
            "is_standin": bool(profile.get("is_standin")),
        }

    def changed(self, now: "JudgeIdentity") -> list[str]:
        """Return what is different in ``now``, in words: ``model a -> b``."""
        return [
            f"{word} {_shown(getattr(self, name))} -> {_shown(getattr(now, name))}"
            for name, word in _WORDS.items()
            if getattr(self, name) != getattr(now, name)
        ]


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={value[name]!r}" for name in sorted(value)) or "none"
    return str(value) or "unknown"
