"""What a task file says about a scenario beside its contract, as text for its page."""

from collections.abc import Iterator, Mapping
from typing import Any

from scenarios.domains.base import ScenarioSpec

# Shown elsewhere on the page.
_ELSEWHERE = frozenset({"known_errors"})


def benchmark_notes(spec: ScenarioSpec) -> list[tuple[str, list[str]]]:
    """Return a heading and lines of text for each thing that the task file tells."""
    told = {key: value for key, value in spec.extra.items() if value and key not in _ELSEWHERE}
    return [(key.replace("_", " "), list(_lines(value))) for key, value in told.items()]


def _lines(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield f"{key.replace('_', ' ')}: {', '.join(_lines(item))}"
    elif isinstance(value, list | tuple):
        yield from map(str, value)
    else:
        yield str(value)
