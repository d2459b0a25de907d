"""Versions of what judges are told: written, found, compared. None is ever edited."""

from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from django.db import IntegrityError, transaction

from scenarios.models import JudgePrompt
from scenarios.scoring.judge_request import GUIDANCE, MAX_GUIDANCE, PROMPT_VERSION, SAFEGUARDS, prompt_version_of
from scenarios.storable import storable


class UnknownPrompt(ValueError):
    """A configuration names a prompt version that this database does not have."""


class DiffLine(NamedTuple):
    """One line of a comparison: in both, only before, or only now."""

    kind: Literal["same", "removed", "added"]
    text: str


def write_prompt(title: str, guidance: str, *, parent: JudgePrompt | None, author: Any) -> JudgePrompt:
    """Write a new version; ValueError names what is wrong with it, or which version has the same text already."""
    title, guidance = storable(title).strip(), storable(guidance).replace("\r\n", "\n").strip()
    if not title or len(title) > 120:
        raise ValueError("title: give a short one (at most 120 characters) that says what is different")
    if not guidance:
        raise ValueError("guidance: it is empty; say how the judge should rule")
    if len(guidance) > MAX_GUIDANCE:
        raise ValueError(f"guidance: it has {len(guidance):,} characters; at most {MAX_GUIDANCE:,} are kept")
    if "<<<" in guidance or SAFEGUARDS.strip() in guidance:
        raise ValueError("guidance: how the record is quoted and how to answer is added by itself; leave it out")
    version = PROMPT_VERSION if guidance == GUIDANCE.strip() else prompt_version_of(guidance)
    same = JudgePrompt.objects.filter(version=version).first()
    if same is not None or version == PROMPT_VERSION:
        raise ValueError(f"guidance: nothing was changed, {same or 'the built-in text'} says the same")
    try:
        with transaction.atomic():
            return JudgePrompt.objects.create(
                version=version, title=title, system_prompt=guidance, parent=parent, author=author
            )
    except IntegrityError:  # the same form, sent twice at once
        return JudgePrompt.objects.get(version=version)


@lru_cache(maxsize=64)
def guidance_of(version: str) -> str | None:
    """Return the guidance of a stored version; None for "", the built-in. Raises UnknownPrompt."""
    if not version:
        return None
    found = JudgePrompt.objects.filter(version=version).values_list("system_prompt", flat=True).first()
    if found is None:
        raise UnknownPrompt(f"the judge's prompt version {version!r} is not in this database: choose another profile")
    return str(found)


def text_of(prompt: JudgePrompt | None) -> str:
    """Return the guidance of a version, the built-in for None."""
    return GUIDANCE.strip() if prompt is None else prompt.system_prompt


def differences(prompt: JudgePrompt) -> list[DiffLine]:
    """Return a version line by line against the one it was edited from."""
    before, now = text_of(prompt.parent).split("\n"), prompt.system_prompt.split("\n")
    return list(_lines(before, now))


def _lines(before: list[str], now: list[str]) -> Iterator[DiffLine]:
    for kind, a, b, c, d in SequenceMatcher(None, before, now, autojunk=False).get_opcodes():
        if kind == "equal":
            yield from (DiffLine("same", line) for line in before[a:b])
        else:
            yield from (DiffLine("removed", line) for line in before[a:b])
            yield from (DiffLine("added", line) for line in now[c:d])
