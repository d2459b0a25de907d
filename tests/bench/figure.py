"""One measured figure: what, how much, against which target, under which conditions."""

import os
import platform
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Figure:
    """``value`` and ``limit`` in ``unit``; ``limit`` None: told, not judged. Smaller is better in all of them."""

    name: str
    value: float
    unit: str
    limit: float | None
    conditions: str

    @property
    def is_met(self) -> bool:
        """Return whether the target is met (a figure without one always is)."""
        return self.limit is None or self.value < self.limit

    def row(self) -> dict[str, Any]:
        """Return the figure as JSON."""
        return {**asdict(self), "is_met": self.is_met}


def machine() -> str:
    """Return the conditions that all figures share."""
    load = os.getloadavg()[0]
    busy = " (busy: the figures tell less than they would on a quiet machine)" if load > 1 else ""
    cores = f"{os.cpu_count()} cores {platform.machine()}"
    return f"{cores}, Python {platform.python_version()}, load {load:.1f} at the start{busy}"
