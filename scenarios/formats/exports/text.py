"""Values as an export may hold them: without known secrets, and without what UTF-8 or XML cannot hold."""

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from scenarios.formats.reference_records import REDACTED, RunExport

# Not characters of XML 1.0: control characters, lone surrogates, two noncharacters.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_REPLACEMENT = "\ufffd"


class Cleaner:
    """Takes the values of keys out of everything that is written, wherever they stand."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = tuple(secret for secret in secrets if secret)

    @classmethod
    def of(cls, run: RunExport) -> "Cleaner":
        """Return the cleaner that knows the keys of a run's parties."""
        return cls(run.secrets)

    def text(self, text: str) -> str:
        """Return a text that UTF-8 can hold."""
        for secret in self._secrets:
            text = text.replace(secret, REDACTED)
        return text.encode("utf-8", "replace").decode("utf-8")

    def value(self, value: Any) -> Any:
        """Return JSON that any reader takes: names are texts, and a number that JSON has not is null."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(name)): self.value(item) for name, item in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [self.value(item) for item in value]
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        return value if value is None or isinstance(value, bool | int) else self.text(str(value))

    def json(self, value: Any, *, indent: int | None = None) -> bytes:
        """Return a value as JSON in UTF-8, on one line unless indented."""
        separators = (",", ":") if indent is None else None
        text = json.dumps(self.value(value), ensure_ascii=False, allow_nan=False, indent=indent, separators=separators)
        return text.encode()


def xml_text(text: str) -> str:
    """Return a text with a replacement character for each that XML 1.0 may not hold."""
    return _NOT_XML.sub(_REPLACEMENT, text)


def shortened(text: str, most: int) -> str:
    """Return a text cut to ``most`` characters, which then says how many are missing."""
    return text if len(text) <= most else f"{text[:most]}\u2026 ({len(text) - most:,} more characters)"
