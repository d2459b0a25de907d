"""Taking keys, tokens, headers and addresses out of what other tools wrote down, before anything of it is kept."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

REDACTED = "[redacted]"
# Where a name in camel case has its next word: "clientSecret" ends as "client_secret" does.
_NEXT_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# Fields whose whole value goes, whatever it is: what they are called ends in one of these, or is one of them.
_SECRET_NAME = re.compile(
    r"(^|[_\-.])((api|access|secret|private|signing)[_\-]?keys?|key|token|secrets?|password|passwd|pwd|passphrase|"
    r"credentials?|auth|authorization|bearer|jwt|cookies?|signature|access[_\-]?key[_\-]?id|session[_\-]?id|dsn|"
    r"conn(ection)?[_\-]?str(ing)?)$|(^|[_\-])headers?$",
    re.IGNORECASE,
)
_ADDRESS_NAME = re.compile(
    r"(^|[_\-.])(api[_\-]?base|base[_\-]?url|url|uri|host(name)?|endpoint|address|proxy|proxies|ip|server|organization|"
    r"project|email|deployment)$|^(http|https|no)_proxy$",
    re.IGNORECASE,
)
# Secrets by their look, in any text.
_SECRET_TEXT = re.compile(
    r"\b(?:sk|pk|rk|xai|gsk|hf|pat|ghp|gho|ghs|glpat|nvapi|r8|pplx|fw|csk)[-_](?=[\w\-]{0,200}\d)[\w\-]{16,}"
    r"|\bgithub_pat_\w{20,}|\bA[KS]IA[0-9A-Z]{16}\b|\bAIza[\w\-]{30,}|\bxox[abprs]-[\w\-]{10,}"
    r"|\beyJ[\w\-]{8,1000}\.[\w\-]{8,1000}\.[\w\-]{4,}"
    r"|(?<=Bearer )[\w\-.~+/=]{8,}|(?<=bearer )(?=\S{0,200}\d)[\w\-.~+/=]{8,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)"
    # What follows a name that no conversation has: a header, a setting, an address's query.
    r"|(?i:(?<=authorization: )|(?<=authorization=))"
    r"(?i:(?:basic|token|digest)\s\S{4,}|(?!bearer\s)(?=\S{0,200}\d)\S{8,})"
    r"|(?i:(?<=api[_-]key)|(?<=apikey)|(?<=access_key)|(?<=access_token)|(?<=client_secret))[\"']?\s{0,3}[=:]\s{0,3}[^\s&,;}]+"
    r"|(?<=[?&])(?:key|token|sig|signature|password)=[^\s&\"']+",
    re.DOTALL,
)
# The same after names that a conversation may have too, in settings and in what providers answered.
_ASSIGNED_TEXT = re.compile(
    r"(?i:(?<=key)|(?<=token)|(?<=secret)|(?<=password)|(?<=passwd)|(?<=cookie))[\"']?\s{0,3}[=:]\s{0,3}[^\s&,;}]{4,}"
)
_ASSIGNED_MARKS = ("key", "token", "secret", "passw", "cookie")
_ADDRESS_TEXT = re.compile(
    r"\b(?:https?|wss?|grpcs?|rediss?|postgres(?:ql)?|mysql|mongodb(?:\+srv)?|amqps?|ftp)://[^\s\"'<>]+"
    r"|\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b|\blocalhost:\d+|(?<![\w.+\-])[\w.+\-]{1,64}@[\w\-]{1,64}\.[\w.\-]+"
    r"|\[[0-9A-Fa-f:]{3,45}:[0-9A-Fa-f:]{0,45}\](?::\d+)?|(?<![\w:])(?:[0-9A-Fa-f]{1,4}:{1,2}){4,7}[0-9A-Fa-f]{1,4}(?![\w:])"
)
# What a text holds if it holds a secret: looking for these first is twenty times faster.
_MARKS = (
    *(
        f"{prefix}{dash}"
        for prefix in ("sk", "pk", "rk", "xai", "gsk", "hf", "pat", "r8", "pplx", "fw")
        for dash in "-_"
    ),
    *(
        "ghp",
        "gho",
        "ghs",
        "glpat",
        "nvapi",
        "github_pat_",
        "AKIA",
        "ASIA",
        "AIza",
        "xox",
        "eyJ",
        "earer ",
        "PRIVATE KEY",
    ),
    *("uthorization", "UTHORIZATION", "key=", "token=", "sig=", "signature=", "password="),
    *("api_key", "api-key", "apikey", "apiKey", "api-Key", "Api-Key", "API-Key", "API_KEY", "access_", "ACCESS_"),
    *("client_secret", "CLIENT_SECRET"),
)
_SHORTEST = 6  # "?key=1"
# What is called "tokens" is a count.
_COUNTS = (bool, int, float)


def redact(value: Any) -> Any:
    """Return settings, or what a provider answered, without secrets and addresses."""
    if isinstance(value, Mapping):
        named = value.get("name")
        is_private = isinstance(named, str) and _is_private(named)
        return {
            scrub(str(name)): REDACTED if is_private and name == "value" and item else _field(str(name), item)
            for name, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [redact(item) for item in value]
    if isinstance(value, str):
        return _ADDRESS_TEXT.sub(REDACTED, _without_assigned(scrub(value)))
    return value


def _without_assigned(text: str) -> str:
    small = text.lower()
    return _ASSIGNED_TEXT.sub(f"={REDACTED}", text) if any(mark in small for mark in _ASSIGNED_MARKS) else text


def scrub(text: str) -> str:
    """Return what was said or done in a call without secrets; the addresses in it are the benchmark's own people."""
    if len(text) < _SHORTEST or not any(mark in text for mark in _MARKS):
        return text
    return _SECRET_TEXT.sub(REDACTED, text)


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
    return REDACTED if _is_private(name) else redact(value)


@lru_cache(maxsize=4096)  # a file has few names, each many times
def _is_private(name: str) -> bool:
    words = _NEXT_WORD.sub("_", name)
    return any(named.search(one) for named in (_SECRET_NAME, _ADDRESS_NAME) for one in {name, words})
