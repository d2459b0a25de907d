"""What all tools of the telecom domain have in common: reference-system.md 3.1."""

from typing import ClassVar

from scenarios.domains.base import Tool


class TelecomTool(Tool):
    """Base of both sides' tools: what is wrong with arguments is told in a text alone, under its own error type."""

    lists_faults: ClassVar[bool] = False

    def invalid_type(self, fields: tuple[tuple[str, str], ...]) -> str:
        """Return ``invalid_arguments``, whatever does not fit."""
        return "invalid_arguments"
