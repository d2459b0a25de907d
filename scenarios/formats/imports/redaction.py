"""Taking keys, tokens, headers and addresses out of what other tools wrote down, before anything of it is kept."""

import re
from collections.abc import Mapping
from typing import Any

REDACTED = "[redacted]"
# Fields whose whole value goes, whatever it is: what they are called ends in one of these, or is one of them.
_SECRET_NAME = re.compile(
    r"(^|[_\-.])(api[_\-]?key|key|token|secret|password|passwd|pwd|credentials?|auth|authorization|bearer|cookies?|"
    r"signature|private[_\-]?key|access[_\-]?key([_\-]?id)?|session[_\-]?id)$|(^|[_\-])headers?$",
    re.IGNORECASE,
)
_ADDRESS_NAME = re.compile(
    r"(^|[_\-.])(api[_\-]?base|base[_\-]?url|url|uri|host(name)?|endpoint|address|proxy|proxies|ip|server|organization|"
    r"project|email|deployment)$|^(http|https|no)_proxy$",
    re.IGNORECASE,
)
# Secrets by their look, in any text.
_SECRET_TEXT = re.compile(
    r"\b(?:sk|pk|rk|xai|gsk|hf|pat|ghp|gho|ghs|glpat|nvapi|r8)[-_](?=[\w\-]{0,200}\d)[\w\-]{16,}"
    r"|\bgithub_pat_\w{20,}|\bAKIA[0-9A-Z]{16}\b|\bAIza[\w\-]{30,}|\bxox[abprs]-[\w\-]{10,}"
    r"|\beyJ[\w\-]{8,1000}\.[\w\-]{8,1000}\.[\w\-]{4,}"
    r"|(?<=Bearer )[\w\-.~+/=]{8,}|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)",
    re.DOTALL,
)
_ADDRESS_TEXT = re.compile(
    r"\b(?:https?|wss?)://[^\s\"'<>]+|\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b|\blocalhost:\d+|(?<![\w.+\-])[\w.+\-]{1,64}@[\w\-]{1,64}\.[\w.\-]+"
)
# What a text holds if it holds a secret: looking for these first is twenty times faster.
_MARKS = (
    *(f"{prefix}{dash}" for prefix in ("sk", "pk", "rk", "xai", "gsk", "hf", "pat", "r8") for dash in "-_"),
    *("ghp", "gho", "ghs", "glpat", "nvapi", "github_pat_", "AKIA", "AIza", "xox", "eyJ", "Bearer ", "PRIVATE KEY"),
)
# What is called "tokens" is a count.
_COUNTS = (bool, int, float)


def redact(value: Any) -> Any:
    """Return settings, or what a provider answered, without secrets and addresses."""
    if isinstance(value, Mapping):
        return {scrub(str(name)): _field(str(name), item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [redact(item) for item in value]
    if isinstance(value, str):
        return _ADDRESS_TEXT.sub(REDACTED, scrub(value))
    return value


def scrub(text: str) -> str:
    """Return what was said or done in a call without secrets; the addresses in it are the benchmark's own people."""
    return _SECRET_TEXT.sub(REDACTED, text) if any(mark in text for mark in _MARKS) else text


def scrubbed(value: Any) -> Any:
    """Return arguments, tasks and checks with ``scrub`` done to every text."""
    if isinstance(value, Mapping):
        return {scrub(str(name)): scrubbed(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [scrubbed(item) for item in value]
    return scrub(value) if isinstance(value, str) else value


def _field(name: str, value: Any) -> Any:
    if value is None or isinstance(value, _COUNTS):
        return value
    if _SECRET_NAME.search(name) or _ADDRESS_NAME.search(name):
        return REDACTED
    return redact(value)
