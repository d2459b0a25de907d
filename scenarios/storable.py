"""Text from models and sockets made fit for every database: PostgreSQL refuses NUL, lone surrogates and NaN."""

import json
import re
from typing import Any

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_SUSPECT = re.compile(r"\\u0000|\\ud[89a-f]", re.IGNORECASE)


def storable(value: Any) -> Any:
    """Return JSON data with each unstorable character replaced by U+FFFD and each NaN or infinity by its name.

    Raises TypeError for what is no JSON at all. Data that is fine comes back as it is.
    """
    if isinstance(value, str):
        return _UNSTORABLE.sub("\ufffd", value)
    try:
        if not _SUSPECT.search(json.dumps(value, allow_nan=False)):
            return value
    except ValueError:  # NaN or infinity
        pass
    return _cleaned(value)


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return _UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_cleaned(key): _cleaned(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(item) for item in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)
    return value
