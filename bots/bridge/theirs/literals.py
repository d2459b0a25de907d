"""Text of Python literals (what ``repr`` of plain data gives) read as JSON, without evaluating anything.

The reference's bots send their history like that, and its bridge evaluates it: a bot could run code there. Here the
text is turned into JSON token by token; whatever is no literal is refused.
"""

import json
import re
from typing import Any

from scenarios.storable import storable

_TOKENS = re.compile(
    r"""\s*(?:
    (?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    |(?P<number>-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?(?![\w.]))
    |(?P<word>True|False|None)\b
    |(?P<mark>[\[\]{}():,])
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPES = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_PLAIN = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", "'": "'", '"': '"'}
_WORDS = {"True": "true", "False": "false", "None": "null"}
_MARKS = {"(": "[", ")": "]"}


class NotALiteral(ValueError):
    """The text is neither JSON nor plain literals; the text of the error says where it stops being so."""


def read_literal(text: str) -> Any:
    """Return the value of JSON, or of the text of plain Python data. Raises NotALiteral."""
    try:
        return storable(json.loads(text))
    except (ValueError, RecursionError):
        pass
    try:
        return storable(json.loads("".join(_as_json(text))))
    except NotALiteral:
        raise
    except (ValueError, RecursionError) as error:
        raise NotALiteral(str(error)) from error


def _as_json(text: str) -> list[str]:
    parts: list[str] = []
    position, end = 0, len(text.rstrip())
    while position < end:
        token = _TOKENS.match(text, position)
        if token is None:
            raise NotALiteral(f"at character {position} stands {text[position : position + 40]!r}")
        position = token.end()
        kind, found = str(token.lastgroup), token[str(token.lastgroup)]
        if kind == "string":
            found = json.dumps(_ESCAPES.sub(_escaped, found[1:-1]))
        elif kind == "word":
            found = _WORDS[found]
        elif kind == "mark":
            found = _MARKS.get(found, found)
            if found in "]}" and parts and parts[-1] == ",":  # "(1,)"
                parts.pop()
        parts.append(found)
    return parts


def _escaped(match: re.Match[str]) -> str:
    digits = match[1] or match[2] or match[3]
    if digits is None:
        return _PLAIN.get(match[4], match[0])
    try:
        return chr(int(digits, 16))
    except (ValueError, OverflowError) as error:
        raise NotALiteral(f"there is no character {match[0]}") from error
