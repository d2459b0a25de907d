"""Numbers that people type into a form, as text.

Of an ``<input type=number>`` a browser sends nothing when it cannot read what stands in it: "5e" or "five" would arrive
empty, so an optional limit would be dropped without a word, and the form could not show again what was typed.
"""

from typing import Any

from django import forms


class NumberText(forms.TextInput):
    """A line of text with the keyboard of numbers; ``mode`` is numeric (whole) or decimal."""

    def __init__(self, mode: str = "numeric", attrs: dict[str, Any] | None = None) -> None:
        super().__init__({"inputmode": mode, "autocomplete": "off", **(attrs or {})})


class WholeNumber(forms.IntegerField):
    """An integer."""

    widget = NumberText


class Fraction(forms.FloatField):
    """A number that may have decimals."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"widget": NumberText("decimal"), **options})
