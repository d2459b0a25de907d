"""Tool results of any size, made fit for a model's prompt."""

import json
from typing import Any

# The longest result of any gold action is a tenth of this, so only a runaway result is ever shortened.
MAX_CHARACTERS = 60_000
HEAD = 40_000
TAIL = 10_000


def shorten(result: Any) -> tuple[Any, str | None]:
    """Return what the model reads, and the rule in words when that is not the whole result.

    A result whose JSON is longer than ``MAX_CHARACTERS`` becomes text: the first ``HEAD`` and the last ``TAIL``
    characters of that JSON with a mark between them.
    """
    text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    if len(text) <= MAX_CHARACTERS:
        return result, None
    left_out = len(text) - HEAD - TAIL
    mark = f"\n[... {left_out} of {len(text)} characters left out ...]\n"
    rule = f"a result of {len(text)} characters was given to the model without its middle {left_out}"
    return text[:HEAD] + mark + text[-TAIL:], rule
