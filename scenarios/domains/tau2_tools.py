"""Tools that several tau2 domains have alike."""

from typing import Any, ClassVar, Literal

from pydantic import Field

from scenarios.domains.base import Refusal, Tool, ToolArguments, ToolContext, ToolKind
from scenarios.domains.calculator import BadCharacter, NotComputable, calculate


def not_found(kind: str, what: str) -> Refusal:
    """Return the refusal of a lookup."""
    return Refusal(kind, f"{what} not found.", "not_found")


class CalculateTool(Tool):
    """Arithmetic, so that a model need not do it in its head."""

    description = "Work out an arithmetic expression; the result is rounded to two decimal places."

    class Arguments(ToolArguments):
        """What to calculate."""

        expression: str = Field(description="Such as '2 + 2'. Numbers, + - * / ( ) . and spaces only.")

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the value as text; refuse what is no arithmetic."""
        try:
            return {"status": "success", "result": calculate(args.expression)}
        except BadCharacter as error:
            raise Refusal("expression_bad_character", f"Invalid characters: {error}.") from error
        except NotComputable as error:
            raise Refusal("expression_not_computable", f"Error: {error}.") from error


class TransferToHumanAgentsTool(Tool):
    """Hands the caller to a person, which ends the call."""

    description = (
        "Hand the caller over to a person, with a summary of what they want. Only for what the policy and your tools "
        "do not let you do."
    )
    kind: ClassVar[ToolKind] = "write"
    ends_call: ClassVar[Literal["end_tool", "transfer"] | None] = "transfer"

    class Arguments(ToolArguments):
        """What the person needs to know."""

        summary: str = Field(description="What the caller wants and what was done.")

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Change nothing; the record of the transfer is the effect."""
        context.record = {"message": "Transfer successful"}
        return {"status": "success", "message": "Transfer successful"}
