"""Tools that every domain offers."""

from typing import Any, ClassVar, Literal

from scenarios.domains.base import NoArguments, Tool, ToolContext


class EndConversationTool(Tool):
    """The agent's way to hang up: the call is over once the answer is delivered."""

    description = (
        "End the conversation. Call this only after everything the caller asked for has been dealt with and you have "
        "said goodbye, or after a transfer succeeded."
    )
    ends_call: ClassVar[Literal["end_tool", "transfer"] | None] = "end_tool"
    Arguments = NoArguments

    def run(self, args: Any, context: ToolContext) -> Any:
        """Acknowledge."""
        return {"status": "success", "message": "The conversation ends now."}
