"""A call's view of a database: reads fall through to a shared seed, writes stay in the overlay.

A database is a JSON object of tables. A table is an object of records (retail orders), a list of records (telecom
lines, keyed by position) or, where a record is asked for without a key, one record (telecom device).
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from types import MappingProxyType
from typing import Any

from scenarios.state.canonical import NOT_COMPARED, UNORDERED, canonical_text
from scenarios.state.changes import ABSENT, Change, Path, changes_between, copy_json, make_change

Key = str | int | None


class Seed:
    """A parsed database that is loaded once a process and never written."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self._tables: dict[str, bytes] = {}
        self._records: dict[str, dict[Any, bytes]] = {}
        self._hash: str | None = None

    @property
    def data(self) -> Mapping[str, Any]:
        """Return the whole database; not to be written."""
        return self._data

    @property
    def hash(self) -> str:
        """Return the canonical SHA-256 (hex), worked out once."""
        if self._hash is None:
            self._hash = Overlay(self).hash
        return self._hash

    def table_bytes(self, name: str) -> bytes:
        """Return the canonical bytes of a table, worked out once."""
        if name not in self._tables:
            table = self._data[name]
            is_whole = _is_whole(name, table)
            self._tables[name] = _encode(table, name) if is_whole else _enclose(table, self.record_bytes(name).values())
        return self._tables[name]

    def record_bytes(self, name: str) -> Mapping[Any, bytes]:
        """Return the canonical bytes of each record of a table in canonical order, worked out once."""
        if name not in self._records:
            table = self._data[name]
            keys = range(len(table)) if isinstance(table, list) else sorted(table)
            self._records[name] = {key: _encode_record(table, key) for key in keys}
        return self._records[name]


class Overlay:
    """One call's database over a seed. A failed transaction leaves it as it was.

    Containers and records are copied when a transaction first writes them, so nothing that was handed out ever changes.
    """

    def __init__(self, seed: Seed) -> None:
        self.seed = seed
        self._tables: dict[str, Any] = dict(seed.data)
        self._touched: dict[str, set[Key]] = {}
        # What the open transaction has written; key None: the table as a whole.
        self._writing: dict[str, dict[Key, None]] | None = None
        self._hash: str | None = None

    def table(self, name: str) -> Mapping[Any, Any]:
        """Return a table's records by key (of a list: by position) as they are now; they must not be written."""
        table = self._tables[name]
        return MappingProxyType(dict(enumerate(table)) if isinstance(table, list) else table)

    def get(self, table: str, key: Key = None) -> Any:
        """Return a record for reading; KeyError when there is none."""
        if key is None:
            return self._tables[table]
        record = _item(self._tables[table], key)
        if record is ABSENT:
            raise KeyError(key)
        return record

    def edit(self, table: str, key: Key = None) -> Any:
        """Return the overlay's own copy of a record for writing, made on first touch; only inside a transaction."""
        record = self.get(table, key)
        written = self._open(table)
        if None in written or key in written:
            return self.get(table, key)
        record = copy_json(record)
        self._put(table, key, record)
        return record

    def insert(self, table: str, key: Key, record: Any) -> None:
        """Add a record, or put another in its place (a list table: append, key is ignored; key None: a table)."""
        self._open(table)
        container = self._tables.get(table)
        self._put(table, len(container) if isinstance(container, list) and key is not None else key, record)

    def delete(self, table: str, key: Key) -> None:
        """Remove a record; of a list only the last one, since the positions of the others are their keys."""
        self.get(table, key)
        container = self._tables[table]
        if isinstance(container, list) and key not in (None, len(container) - 1):
            raise ValueError(f"record {key} of the list {table!r} is not its last: edit the table as a whole")
        self._open(table)
        self._put(table, key, ABSENT)

    @contextmanager
    def transaction(self) -> Iterator[list[Change]]:
        """Collect what a tool changes: the list is filled on success; an exception rolls everything back."""
        if self._writing is not None:
            raise RuntimeError("a transaction is already open on this database")
        before, self._writing = dict(self._tables), {}
        changes: list[Change] = []
        try:
            yield changes
            changes += self._commit(before)
        except BaseException:
            self._tables = before
            raise
        finally:
            self._writing = None

    def apply(self, changes: Iterable[Change]) -> None:
        """Make recorded changes again, to rebuild a moment of a stored call."""
        with self.transaction():
            for change in changes:
                table, key = str(change.path[0]), change.path[1] if len(change.path) > 1 else None
                if len(change.path) > 2:
                    make_change(self.edit(table, key), change, 2)
                else:
                    self._open(table)
                    self._put(table, key, ABSENT if change.op == "remove" else copy_json(change.after))

    def touched(self) -> Iterator[tuple[str, Key]]:
        """Yield the records that differ, or may differ, from the seed (key None: the table as a whole)."""
        for table, keys in self._touched.items():
            yield from ((table, key) for key in keys)

    def snapshot(self) -> "Overlay":
        """Return an overlay that stays as this one is now (cheap: nothing is copied until it is written)."""
        other = Overlay(self.seed)
        other._tables, other._hash = dict(self._tables), self._hash
        other._touched = {table: set(keys) for table, keys in self._touched.items()}
        return other

    def to_json(self) -> dict[str, Any]:
        """Return the whole database as plain JSON; it shares its records with the overlay and the seed."""
        return dict(self._tables)

    @property
    def hash(self) -> str:
        """Return the canonical SHA-256 (hex); untouched records contribute cached bytes."""
        if self._hash is None:
            digest = hashlib.sha256(b"{")
            for position, name in enumerate(sorted(self._tables.keys() - NOT_COMPARED)):
                digest.update((b"," if position else b"") + _encode_key(name) + b":")
                digest.update(self._table_bytes(name))
            digest.update(b"}")
            self._hash = digest.hexdigest()
        return self._hash

    def _table_bytes(self, name: str) -> bytes:
        table, touched = self._tables[name], self._touched.get(name)
        if not touched:
            return self.seed.table_bytes(name)
        if None in touched or _is_whole(name, table):
            return _encode(table, name)
        parts = dict(self.seed.record_bytes(name))
        known = len(parts)
        for key in touched:
            if _item(table, key) is not ABSENT:
                parts[key] = _encode_record(table, key)
            elif parts.pop(key, None) is not None:
                known -= 1
        return _enclose(table, parts.values() if len(parts) == known else (parts[key] for key in sorted(parts)))

    def _open(self, table: str) -> dict[Key, None]:
        """Take a table over for the open transaction; return the keys it has written there."""
        if self._writing is None:
            raise RuntimeError("a database is written inside a transaction only")
        if table not in self._writing:
            self._writing[table] = {}
            if table in self._tables:
                self._tables[table] = copy(self._tables[table])
        return self._writing[table]

    def _put(self, table: str, key: Key, record: Any) -> None:
        assert self._writing is not None
        self._writing[table][key] = None
        container: Any = self._tables
        if key is None:
            key = table
        else:
            container = container[table]
        if record is ABSENT:
            del container[key]
        elif isinstance(container, list) and key == len(container):
            container.append(record)
        else:
            container[key] = record

    def _commit(self, before: Mapping[str, Any]) -> list[Change]:
        """Return the exact changes since ``before`` and remember the records that have any."""
        changes: list[Change] = []
        for table, keys in (self._writing or {}).items():
            for key in [None] if None in keys else keys:
                path: Path = (table,) if key is None else (table, key)
                found = list(changes_between(_at(before, path), _at(self._tables, path), path))
                if found:
                    self._touched.setdefault(table, set()).add(key)
                    self._hash = None
                changes += found
        return changes


def _item(container: Any, key: Key) -> Any:
    if isinstance(container, dict):
        return container.get(key, ABSENT)
    if isinstance(container, list) and isinstance(key, int) and 0 <= key < len(container):
        return container[key]
    return ABSENT


def _at(database: Mapping[str, Any], path: Path) -> Any:
    value: Any = database
    for step in path:
        value = _item(value, step)
    return value


def _is_whole(name: str, table: Any) -> bool:
    """Return whether a table's canonical text is not simply that of its records in a row."""
    return not isinstance(table, dict | list) or isinstance(table, list) and name in UNORDERED


def _encode(value: Any, key: Key = None) -> bytes:
    return canonical_text(value, key).encode()


def _encode_record(table: Any, key: Any) -> bytes:
    """Return a record's canonical bytes, in an object with its key in front."""
    if isinstance(table, list):
        return _encode(table[key])
    return _encode_key(key) + b":" + _encode(table[key], key)


def _encode_key(key: str) -> bytes:
    """Return an object key's bytes: a key called "none" stays one."""
    return json.dumps(key).encode()


def _enclose(table: Any, parts: Iterable[bytes]) -> bytes:
    inside = b",".join(parts)
    return b"[" + inside + b"]" if isinstance(table, list) else b"{" + inside + b"}"
