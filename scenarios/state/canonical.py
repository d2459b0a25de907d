"""The canonical text of a database and its SHA-256, byte for byte as the reference system's.

Source of the rules: ``spec/reference-system.md`` 4. A top-level ``session`` does not count; whole floats read as
integers; a text "none" or "null" (trimmed, any case) reads as null; six lists are unordered; JSON with keys sorted by
code point, no spaces, everything outside ASCII escaped.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

UNORDERED = frozenset(
    {"standby_list", "notifications", "bookings", "system_accounts", "group_memberships", "asset_recoveries"}
)
# Top-level parts of a database that neither hash nor diff looks at.
NOT_COMPARED = frozenset({"session"})
_NULLS = frozenset({"none", "null"})
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=str).encode
_encode_for_order = json.JSONEncoder(sort_keys=True, default=str).encode


def normalize(value: Any, key: str | int | None = None) -> Any:
    """Return ``value`` as the hash sees it; ``key`` is the object key it is stored under."""
    kind = type(value)
    if kind is str:
        return None if value.strip().lower() in _NULLS else value
    if kind is dict:
        return {name: normalize(item, name) for name, item in value.items()}
    if kind is float:
        return int(value) if math.isfinite(value) and value.is_integer() else value
    if kind is list:
        items = [normalize(item) for item in value]
        return sorted(items, key=_encode_for_order) if key in UNORDERED else items
    if value is None or kind is int or kind is bool:
        return value
    return _normalize_rare(value, key)


def _normalize_rare(value: Any, key: str | int | None) -> Any:
    """Handle what is no plain JSON: subclasses, tuples, other mappings."""
    if isinstance(value, str):
        return normalize(str(value))
    if isinstance(value, Mapping):
        return normalize(dict(value), key)
    if isinstance(value, tuple | list):
        return normalize(list(value), key)
    if isinstance(value, float):
        return normalize(float(value))
    return value


def canonical_text(value: Any, key: str | int | None = None) -> str:
    """Return the canonical text of a part of a database that is stored under ``key``."""
    return _encode(normalize(value, key))


def canonical_database_text(database: Any) -> str:
    """Return the text that is hashed for a whole database."""
    if isinstance(database, dict) and not NOT_COMPARED.isdisjoint(database):
        database = {key: value for key, value in database.items() if key not in NOT_COMPARED}
    return canonical_text(database)


def canonical_hash(database: Any) -> str:
    """Return the SHA-256 (hex) of a whole database."""
    return hashlib.sha256(canonical_database_text(database).encode()).hexdigest()
