"""A call's view of a database: reads fall through to a shared seed, writes stay in the overlay."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from scenarios.state.changes import Change

# Contract (first sketch, to be implemented): a database is a JSON object of tables. A table is an object of records
# (retail orders), a list of records (telecom lines, keyed by position) or, when its value is a single record
# (telecom device), one record with key None.
Key = str | int | None


class Seed:
    """A parsed database that is loaded once a process and never written."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        raise NotImplementedError

    @property
    def data(self) -> Mapping[str, Any]:
        """Return the whole database; not to be written."""
        raise NotImplementedError

    @property
    def hash(self) -> str:
        """Return the canonical SHA-256 (hex), worked out once."""
        raise NotImplementedError


class Overlay:
    """One call's database over a seed. A failed transaction leaves it as it was."""

    def __init__(self, seed: Seed) -> None:
        raise NotImplementedError

    def table(self, name: str) -> Mapping[Any, Any]:
        """Return a read-only live view of a table; its records must not be written."""
        raise NotImplementedError

    def get(self, table: str, key: Key = None) -> Any:
        """Return a record for reading; KeyError when there is none."""
        raise NotImplementedError

    def edit(self, table: str, key: Key = None) -> Any:
        """Return the overlay's own copy of a record for writing, made on first touch; only inside a transaction."""
        raise NotImplementedError

    def insert(self, table: str, key: Key, record: Any) -> None:
        """Add a record (a list table: append, key is ignored)."""
        raise NotImplementedError

    def delete(self, table: str, key: Key) -> None:
        """Remove a record of an object table."""
        raise NotImplementedError

    @contextmanager
    def transaction(self) -> Iterator[list[Change]]:
        """Collect what a tool changes: the list is filled on success; an exception rolls everything back."""
        raise NotImplementedError

    def apply(self, changes: Iterable[Change]) -> None:
        """Make recorded changes again, to rebuild a moment of a stored call."""
        raise NotImplementedError

    def touched(self) -> Iterator[tuple[str, Key]]:
        """Yield the records that differ, or may differ, from the seed."""
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        """Return the whole database as plain JSON; records of the seed are shared, not copied."""
        raise NotImplementedError

    @property
    def hash(self) -> str:
        """Return the canonical SHA-256 (hex); untouched records contribute cached bytes."""
        raise NotImplementedError
