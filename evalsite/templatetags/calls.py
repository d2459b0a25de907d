"""What the call page needs beyond figures: text from outside made visible, and links into a call."""

import json
import re
from typing import Any

from django import template

register = template.Library()

# C0 and C1 controls but tab and newline, and the marks that reorder or hide text (Trojan Source).
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")


@register.filter(is_safe=True)
def visible(text: str) -> str:
    """Write characters that a browser would swallow or obey as their code points: ``⟦U+001B⟧``.

    Text that was escaped already (``|join`` does that) is not escaped again.
    """
    return HIDDEN.sub(lambda match: f"⟦U+{ord(match.group()):04X}⟧", text)


@register.filter
def as_json(value: Any) -> str:
    """Write a JSON value with two spaces of indent, characters as they are."""
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


@register.filter
def spaced(anchor: str) -> str:
    """Write an address of a call as words: ``turn-7`` is ``turn 7``."""
    return anchor.replace("-", " ")
