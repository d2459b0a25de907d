"""Reading single fields of foreign objects: a wrong type becomes None and a remark, never an error or a guess."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from scenarios.formats.imports.records import Remark

_LONGEST_SHOWN = 60


class Fields:
    """One foreign object at ``place``; what is odd about it goes to ``remarks``."""

    def __init__(self, data: Mapping[str, Any], place: str, remarks: list[Remark]) -> None:
        self.data = data
        self.place = place
        self.remarks = remarks

    def text(self, name: str) -> str | None:
        """Return a text."""
        value = self.data.get(name)
        return value if value is None or isinstance(value, str) else self._wrong(name, "text")

    def label(self, name: str) -> str | None:
        """Return an id, which some tools write as a number."""
        value = self.data.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return self.text(name)

    def number(self, name: str) -> float | None:
        """Return a finite number."""
        value = self.data.get(name)
        if value is None:
            return None
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return float(value) if is_number and abs(value) < float("inf") else self._wrong(name, "a number")

    def integer(self, name: str) -> int | None:
        """Return a whole number."""
        value = self.data.get(name)
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool):
            return int(value)
        if isinstance(value, float) and value.is_integer():
            return int(value)
        self._wrong(name, "a whole number")
        return None

    def boolean(self, name: str) -> bool | None:
        """Return true or false."""
        value = self.data.get(name)
        return value if value is None or isinstance(value, bool) else self._wrong(name, "true or false")

    def object(self, name: str) -> Mapping[str, Any]:
        """Return an object; empty when there is none."""
        value = self.data.get(name)
        if value is None or isinstance(value, Mapping):
            return value or {}
        return self._wrong(name, "an object") or {}

    def under(self, name: str) -> "Fields":
        """Return the fields of an object inside this one."""
        return Fields(self.object(name), f"{self.place}.{name}".lstrip("."), self.remarks)

    def each(self, name: str) -> Iterator["Fields"]:
        """Yield the objects of a list; what is none is left out with a remark."""
        value = self.data.get(name)
        if value is not None and not isinstance(value, list):
            self._wrong(name, "a list")
            return
        for index, item in enumerate(value or ()):
            place = f"{self.place}.{name}[{index}]".lstrip(".")
            if isinstance(item, Mapping):
                yield Fields(item, place, self.remarks)
            else:
                self.remarks.append(Remark("warning", place, f"expected an object, found {_shown(item)}; left out"))

    def remark(self, text: str, name: str = "") -> None:
        """Note something odd about this object or one of its fields."""
        self.remarks.append(Remark("warning", f"{self.place}.{name}".strip("."), text))

    def _wrong(self, name: str, expected: str) -> Any:
        self.remark(f"expected {expected}, found {_shown(self.data.get(name))}; read as unknown", name)


def _shown(value: Any) -> str:
    text = json.dumps(value, default=str) if isinstance(value, str | int | float) else type(value).__name__
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "..."
