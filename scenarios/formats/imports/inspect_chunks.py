"""Samples of an ``.eval`` file: one member each, or, for large ones, a folder of chunks that is put together here.

A chunked sample is ``sample.json`` with ranges of messages, ``metadata.json``, and sequences whose chunks are named by
the number of their first item. Its events, by far the most of it, are never read.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from scenarios.formats.imports.archive import Archive
from scenarios.formats.imports.finite import FiniteNumbers
from scenarios.formats.imports.records import Remark
from scenarios.formats.imports.source import DamagedFile, guarded, parse

SAMPLES, SHELL = "samples/", "/sample.json"
# A sample as one member stands in memory whole, several times its size.
MAX_SAMPLE = 256 * 1024 * 1024
_MOST_MESSAGES = 1_000_000
_WHOLE = re.compile(r"samples/.+_epoch_\d+\.json\Z", re.DOTALL)
_CHUNK = re.compile(r"(\d{1,12})\.json\Z")


class Samples:
    """The samples of one archive by their names, and the members that belong to none."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        inside = [name for name in archive.members if name.startswith(SAMPLES)]
        self._chunked = {name.removesuffix(SHELL) for name in inside if name.endswith(SHELL)}
        # Every folder that a name lies in, so that a lookup is enough.
        parts = {name: self._folder_of(name) for name in inside}
        self._chunks: dict[str, list[str]] = {folder: [] for folder in self._chunked}
        for name, folder in parts.items():
            if folder is not None:
                self._chunks[folder].append(name)
        alone = [name for name, folder in parts.items() if folder is None]
        whole = [name for name in alone if _WHOLE.match(name)]
        self.names = sorted([*whole, *self._chunked])
        self.strangers = sorted(set(alone) - set(whole))

    def read(self, name: str, finite: FiniteNumbers, remarks: list[Remark]) -> Iterator[Any]:
        """Yield the one sample of a name; DamagedFile when a part of it cannot be read."""
        if name not in self._chunked:
            yield from self._values(name, finite)
            return
        shell = self._value(f"{name}{SHELL}", finite)
        if not isinstance(shell, Mapping):
            yield shell
            return
        pool = self._sequence(name, "messages", finite)
        texts = self._sequence(name, "attachments", finite)
        more = {"metadata": self._value(f"{name}/metadata.json", finite)} if self._has(f"{name}/metadata.json") else {}
        messages = _chosen(shell.get("message_refs"), pool, name, remarks)
        others = {key: value for key, value in shell.items() if key != "message_refs"}
        yield {**others, **more, "messages": messages, "attachments": {str(n): text for n, text in enumerate(texts)}}

    def _folder_of(self, name: str) -> str | None:
        parts = name.split("/")
        return next((one for end in range(2, len(parts)) if (one := "/".join(parts[:end])) in self._chunked), None)

    def _has(self, name: str) -> bool:
        return name in self._archive.members

    def _values(self, name: str, finite: FiniteNumbers) -> Iterator[Any]:
        blocks = guarded(self._archive.blocks(name, MAX_SAMPLE), self._archive.path)
        return parse(finite(blocks), self._archive.path, "")

    def _value(self, name: str, finite: FiniteNumbers) -> Any:
        return next(iter(list(self._values(name, finite))), None)

    def _sequence(self, folder: str, kind: str, finite: FiniteNumbers) -> list[Any]:
        """Return a sequence put together; DamagedFile where a chunk is missing or is no list."""
        prefix = f"{folder}/{kind}/"
        names = [name for name in self._chunks[folder] if name.startswith(prefix)]
        numbered = sorted((int(match[1]), name) for name in names if (match := _CHUNK.match(name[len(prefix) :])))
        found: list[Any] = []
        for start, name in numbered:
            part = self._value(name, finite)
            if start != len(found) or not isinstance(part, list):
                problem = f"expected a list that begins with number {len(found)}"
                raise DamagedFile(self._archive.path, name[:200], problem, "Fetch the log again.")
            found += part
        return found


def _chosen(ranges: Any, pool: list[Any], name: str, remarks: list[Remark]) -> list[Any]:
    """Return the messages in half-open ranges of numbers; all of them where no ranges are given."""
    if ranges is None:
        return pool
    chosen: list[Any] = []
    for one in ranges if isinstance(ranges, list) else [ranges]:
        is_pair = isinstance(one, list) and len(one) == 2 and all(type(number) is int for number in one)
        if not is_pair or not 0 <= one[0] <= one[1] <= len(pool) or len(chosen) > _MOST_MESSAGES:
            remarks.append(
                Remark("warning", f"{name[:200]}{SHELL}", "a range of messages that there are not; left out")
            )
            continue
        chosen += pool[one[0] : one[1]]
    return chosen
