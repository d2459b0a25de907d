"""Profiles from TOML files: what ``manage.py load_profiles`` reads, and the built-in stand-ins.

A file has one table a profile, ``[[agent]]``, ``[[caller]]`` or ``[[judge]]``; its keys are the columns of
``Profile``. Loading again updates profiles by kind and slug; runs keep the profile they were launched with.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction

from scenarios.models import Profile

STANDINS_PATH = settings.DATA_DIR / "standins.toml"
KINDS: tuple[str, ...] = tuple(Profile.Kind.values)
_KEYS = frozenset(
    {
        "slug",
        "title",
        "model",
        "base_url",
        "key_env",
        "parameters",
        "address",
        "tools_run",
        "structure",
        "prompt_price",
        "completion_price",
    }
)


class BadProfile(ValueError):
    """A profile file that cannot be loaded; the text names the file, the profile, the key and the remedy."""


def load(path: Path, *, is_standin: bool = False) -> list[Profile]:
    """Create or update every profile of a TOML file, or none when one of them is wrong."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadProfile(f"{path}: cannot be read ({error.strerror})") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadProfile(f"{path}: is no TOML file: {error}") from error
    if unknown := sorted(set(tables) - set(KINDS)):
        raise BadProfile(f"{path}: unknown table {unknown[0]!r}; use {', '.join(f'[[{kind}]]' for kind in KINDS)}")
    with transaction.atomic():
        return [
            _save(f"{path}: {kind} {number}", kind, entry, is_standin)
            for kind, entries in tables.items()
            for number, entry in enumerate(_entries(path, kind, entries), start=1)
        ]


def load_standins() -> list[Profile]:
    """Create or update the built-in stand-ins; safe to repeat, run at every start."""
    return load(STANDINS_PATH, is_standin=True)


def endpoint_url(profile: Mapping[str, Any]) -> str:
    """Return where a frozen profile's model is served: a stand-in follows its endpoint, whose port may change."""
    return str(profile["base_url"] or (settings.STANDIN_URL if profile["is_standin"] else ""))


def _entries(path: Path, kind: str, entries: Any) -> list[Mapping[str, Any]]:
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise BadProfile(f"{path}: {kind} must be written as [[{kind}]], one table a profile")
    return entries


def _save(where: str, kind: str, entry: Mapping[str, Any], is_standin: bool) -> Profile:
    slug = entry.get("slug")
    if not slug or not isinstance(slug, str):
        raise BadProfile(f"{where}: give it a slug, the short name that runs and commands use")
    where = f"{where} ({slug})"
    if unknown := sorted(set(entry) - _KEYS):
        raise BadProfile(f"{where}: unknown key {unknown[0]!r}; there are {', '.join(sorted(_KEYS))}")
    profile = Profile.objects.filter(kind=kind, slug=slug).first() or Profile(kind=kind, slug=slug)
    if profile.pk and profile.is_standin != is_standin:
        raise BadProfile(f"{where}: {slug!r} is the name of a built-in stand-in; choose another slug")
    for key, value in entry.items():
        setattr(profile, key, value)
    profile.is_standin = is_standin
    try:
        profile.full_clean()
    except ValidationError as error:
        # Only the field and the reason: the value may be a pasted key.
        reasons = "; ".join(f"{field}: {' '.join(messages)}" for field, messages in error.message_dict.items())
        raise BadProfile(f"{where}: {reasons}") from error
    profile.save()
    return profile
