"""Base of the domains over pinned benchmark files: whether the files are there, and reading them."""

import json
from pathlib import Path
from typing import Any

from scenarios.benchmarks.pins import read_pins
from scenarios.benchmarks.store import fault
from scenarios.domains.base import Domain
from scenarios.domains.data import data_root

OWN_DATA = Path(__file__).resolve().parents[2] / "data"
PINS = OWN_DATA / "benchmarks.toml"
_MOST_NAMED = 8


class PinnedDomain(Domain):
    """A domain over ``<data root>/<name>/`` that is usable when every pinned file it needs has the pinned bytes."""

    _is_complete = False

    def missing_data(self) -> str | None:
        """Return which needed files are absent or damaged and what to do, or None."""
        if not self._is_complete:
            pins = read_pins(PINS).of([self.name])
            faults = [(pin.path, problem) for pin in pins if pin.is_needed and (problem := fault(data_root(), pin))]
            if faults:
                named = "; ".join(f"{path} is {problem}" for path, problem in faults[:_MOST_NAMED])
                if len(faults) > _MOST_NAMED:
                    named += f"; {len(faults) - _MOST_NAMED} more"
                return f"{named}. Run `manage.py fetch_benchmarks`, or set EVAL_DATA_ROOT (now {data_root()})."
            self._is_complete = True
        return None

    def _read(self, name: str) -> Any:
        """Return a JSON file's content."""
        return json.loads(self._text(name))

    def _text(self, name: str) -> str:
        """Return a file's text; FileNotFoundError says what is missing and what to do."""
        if missing := self.missing_data():
            raise FileNotFoundError(f"{self.name} cannot be used: {missing}")
        return (data_root() / self.name / name).read_text(encoding="utf-8")
