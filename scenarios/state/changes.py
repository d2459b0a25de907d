"""Exact changes of a database: one per differing leaf."""

from dataclasses import dataclass
from typing import Any, Literal

Op = Literal["set", "add", "remove"]


@dataclass(frozen=True)
class Change:
    """One differing place: ``path`` from the database's top; absent values are None with ``op`` telling which side."""

    path: tuple[str | int, ...]
    before: Any
    after: Any
    op: Op = "set"

    def to_json(self) -> dict[str, Any]:
        """Return the form that events store."""
        return {"path": list(self.path), "before": self.before, "after": self.after, "op": self.op}
