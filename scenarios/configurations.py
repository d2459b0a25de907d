"""Which runs are of one configuration, and in what two configurations differ.

A configuration is all that may change how a call goes or is scored. Which scenarios a run held, how often, how many
calls at once, prices, the name of a key's variable and the versions below us are not part of it.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.fields.json import KT

from scenarios.models import Finding, Run

PARTIES = ("agent", "caller", "judge")
_PLAIN = ("channel", "clock", "voice", "fidelity", "strictness", "persona", "min_agent_turns", "strict_match")
_PARTS = (*PARTIES, *_PLAIN, "limits")
_IMPORTED = "imported"
# Of a party and of the limits: what changes no call.
_IDLE = frozenset({"kind", "key_env", "prompt_price", "completion_price", "concurrency", "max_cost"})
# How many runs back one looks for those of the same configuration.
LOOKED_AT = 100


class Changed(NamedTuple):
    """One field that differs, written like ``agent.model``; None where a side does not have it."""

    field: str
    before: Any
    after: Any


def identity(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return what makes a configuration, as flat fields; one that a run does not have is left out.

    What another tool held and scored is never of one configuration with what was held here, nor with a third tool's.
    """
    imported = config.get(_IMPORTED) or {}
    return dict(_flat({**{name: config.get(name) for name in _PARTS}, _IMPORTED: imported.get("format")}, _IDLE))


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Changed]:
    """Return every field of two frozen configurations that differs, in a fixed order.

    The scenarios are left out, and of an imported run what says when it was and how it went.
    """
    old, new = (dict(_flat(config, ("scenarios", "result_vector", "timestamp"))) for config in (before, after))
    return [
        Changed(name, old.get(name), new.get(name))
        for name in dict.fromkeys([*old, *new])
        if old.get(name) != new.get(name)
    ]


def identities(runs: QuerySet[Run]) -> dict[int, dict[str, Any]]:
    """Return the identity of each run by primary key, in one query that leaves the lists of scenarios unread."""
    parts = {f"part_{name}": KT(f"config__{name}") for name in _PARTS}
    rows = runs.annotate(**parts, part_imported=KT(f"config__{_IMPORTED}__format"))
    found = {}
    for pk, imported, *values in rows.values_list("pk", "part_imported", *parts):
        read = dict(zip(_PARTS, map(_read, values), strict=True))
        found[pk] = identity({**read, _IMPORTED: {"format": imported}})
    return found


def sound(runs: QuerySet[Run]) -> QuerySet[Run]:
    """Leave out runs with an error found in them that no person has accepted: their numbers may be wrong."""
    open_errors = Finding.objects.filter(run=OuterRef("pk"), severity=Finding.Severity.ERROR, accepted_at=None)
    return runs.filter(~Exists(open_errors))


def alike(run: Run) -> list[int]:
    """Return the primary keys of earlier sound runs of the same domain and configuration, newest first."""
    return alike_to(run.config, run.domain, Run.objects.filter(launched_at__lt=run.launched_at).exclude(pk=run.pk))


def alike_to(config: Mapping[str, Any], domain: str, runs: QuerySet[Run]) -> list[int]:
    """Return which of ``runs`` are sound and of this domain and configuration, newest first of the newest hundred."""
    newest = sound(runs.filter(domain=domain)).order_by("-launched_at", "-pk")[:LOOKED_AT]
    wanted = normal(identity(config))
    return [pk for pk, found in identities(newest).items() if normal(found) == wanted]


def normal(found: Mapping[str, Any]) -> str:
    """Return an identity as text, the same for the same configuration."""
    return json.dumps(found, sort_keys=True, default=str)


def _flat(value: Mapping[str, Any], idle: Iterable[str] = (), prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, item in value.items():
        if name in idle or item is None or item == {}:
            continue
        if isinstance(item, Mapping):
            yield from _flat(item, idle, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", item


def _read(value: Any) -> Any:
    """Return what a database gave as the text of a JSON value: text that is no JSON is a string by itself."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value
