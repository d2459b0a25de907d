"""The scenarios that can be run here, and their mirror in the database. Code wins over rows."""

import hashlib
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from scenarios.domains import broken, load
from scenarios.domains.base import Domain, ScenarioSpec
from scenarios.domains.known_errors import known_errors_of
from scenarios.models import Scenario
from scenarios.replay import gold_replay
from scenarios.scoring import upstream
from scenarios.searchable import searchable

_MIRRORED = (
    "domain",
    "title",
    "position",
    "fingerprint",
    "persona_name",
    "tags",
    "success_signals",
    "claim_count",
    "predicate_count",
    "gold_action_count",
    "search_text",
    "is_registered",
)
_FROM_REPLAY = ("passes_by_inaction", "passes_upstream_by_inaction", "health")
_indexes: dict[Domain, dict[str, ScenarioSpec]] = {}


@dataclass(frozen=True)
class SyncReport:
    """How many rows were written, and how many scenarios are gone."""

    written: int
    vanished: int


def domains() -> Mapping[str, Domain]:
    """Return the domains that can be used here, by name."""
    return {name: domain for name, domain in load().items() if domain.missing_data() is None}


def specs(domain: str) -> Sequence[ScenarioSpec]:
    """Return a domain's scenarios in their order; ValueError when there is no such domain or its data is missing."""
    found = load().get(domain)
    if found is None:
        if why := broken().get(domain):
            raise ValueError(f"the domain {domain} cannot be loaded: {why}")
        raise ValueError(f"no domain is called {domain!r}; there are {', '.join(load())}")
    if missing := found.missing_data():
        raise ValueError(missing)
    return found.scenarios()


def spec(name: str) -> ScenarioSpec:
    """Return the scenario called ``name``; ValueError when no usable domain has it."""
    for domain in domains().values():
        if domain not in _indexes:
            _indexes[domain] = {spec.name: spec for spec in domain.scenarios()}
        if name in _indexes[domain]:
            return _indexes[domain][name]
    raise ValueError(f"no scenario is called {name!r} in {', '.join(domains())}")


@transaction.atomic
def sync() -> SyncReport:
    """Mirror all usable scenarios into rows; only what changed is replayed and written.

    Rows whose scenario is gone (or cannot be used here) are kept and marked, since old runs point at them.
    """
    rows = {row.name: row for row in Scenario.objects.all()}
    now = timezone.now()
    changed = []
    names = set()
    for domain in domains().values():
        for position, item in enumerate(domain.scenarios()):
            names.add(item.name)
            fields = _fields(item, position)
            if not _is_current(rows.get(item.name), fields, _code_digest(type(domain))):
                changed.append(
                    Scenario(name=item.name, synced_at=now, **fields, **_replayed(item, _code_digest(type(domain))))
                )
    Scenario.objects.bulk_create(
        changed,
        update_conflicts=True,
        unique_fields=["name"],
        update_fields=[*_MIRRORED, *_FROM_REPLAY, "synced_at"],
    )
    gone = [row.pk for row in rows.values() if row.is_registered and row.name not in names]
    Scenario.objects.filter(pk__in=gone).update(is_registered=False)
    return SyncReport(written=len(changed), vanished=len(gone))


def _is_current(row: Scenario | None, fields: Mapping[str, Any], code: str) -> bool:
    if row is None or row.health.get("computed_by") != code:
        return False
    return all(getattr(row, name) == value for name, value in fields.items())


def _fields(item: ScenarioSpec, position: int) -> dict[str, Any]:
    return {
        "domain": item.domain,
        "title": _cut(item.title, Scenario._meta.get_field("title").max_length),
        "position": position,
        "fingerprint": item.fingerprint,
        "persona_name": item.persona_name,
        "tags": list(item.tags),
        "success_signals": list(item.success_signals),
        "claim_count": len(item.nl_assertions),
        "predicate_count": len(item.db_assertions),
        "gold_action_count": len(item.gold_actions),
        "search_text": _search_text(item),
        "is_registered": True,
    }


def _replayed(item: ScenarioSpec, code: str) -> dict[str, Any]:
    gold = gold_replay(item)
    health = asdict(gold.health)
    return {
        "passes_by_inaction": health.pop("passes_by_inaction"),
        "passes_upstream_by_inaction": upstream.passes_by_inaction(item, gold),
        "health": {
            **health,
            "nothing_written": upstream.nothing_written(item),
            "known_errors": known_errors_of(item),
            "computed_by": code,
        },
    }


def _cut(text: str, length: int | None) -> str:
    """Return a text that fits its column; PostgreSQL refuses a longer one."""
    return text if length is None or len(text) <= length else f"{text[: length - 1]}\u2026"


def _search_text(item: ScenarioSpec) -> str:
    brief = item.caller
    parts = [item.name, item.title, item.persona_name, brief.name, brief.goal, brief.personality, brief.known_info]
    return searchable("\n".join([*parts, brief.unknown_info, *item.tags, *item.nl_assertions]))


@cache
def _code_digest(domain: type[Domain]) -> str:
    """Return a digest of the code that replays a domain: health that other code found is found again."""
    own = Path(inspect.getfile(domain)).parent
    shared = Path(__file__).parent
    digest = hashlib.sha256()
    code = [*own.glob("*.py"), *(shared / "domains").glob("*.py"), *(shared / "state").glob("*.py")]
    for path in sorted([*code, shared / "replay.py", shared / "scoring" / "upstream.py"]):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
