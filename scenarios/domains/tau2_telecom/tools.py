"""The 13 tools of the provider's agent, and those of the caller's phone: reference-system.md 3.4."""

from typing import Any, ClassVar

from pydantic import Field

from scenarios.domains.base import Tool, ToolContext, ToolKind
from scenarios.domains.conversation import EndConversationTool
from scenarios.domains.tau2_telecom import phone_checks, phone_settings, store
from scenarios.domains.tau2_telecom.lookups import (
    GetBillsForCustomerTool,
    GetCustomerByIdTool,
    GetCustomerByNameTool,
    GetCustomerByPhoneTool,
    GetDataUsageTool,
    GetDetailsByIdTool,
    OfCustomer,
    OfLine,
)
from scenarios.domains.tau2_telecom.tool import TelecomTool
from scenarios.domains.tau2_tools import TransferToHumanAgentsTool as AnyTransferToHumanAgentsTool


class ProviderWrite(TelecomTool):
    """Base of the provider's writes."""

    kind: ClassVar[ToolKind] = "write"


class SuspendLineTool(ProviderWrite):
    """Takes a line out of service."""

    description = "Suspend an active line. A holding fee of $5 a month applies."

    class Arguments(OfLine):
        """Which line, and why."""

        reason: str

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the suspended line."""
        line = store.require_line(context.db, args.customer_id, args.line_id)
        if line["status"] != "Active":
            raise store.refusal("line_not_active", f"Line {args.line_id} is {line['status']}, not Active.")
        return _with_status(context, args.line_id, "Suspended", store.day(context.now).isoformat())


class ResumeLineTool(ProviderWrite):
    """Puts a line back into service."""

    description = "Lift the suspension of a line. Check bills and contract first: this does not."

    class Arguments(OfLine):
        """Which line."""

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the resumed line."""
        line = store.require_line(context.db, args.customer_id, args.line_id)
        if line["status"] not in ("Suspended", "Pending Activation"):
            raise store.refusal("line_not_suspended", f"Line {args.line_id} is {line['status']}, not Suspended.")
        return _with_status(context, args.line_id, "Active", None)


def _with_status(context: ToolContext, line_id: str, status: str, since: str | None) -> dict[str, Any]:
    line = store.edit(context.db, "lines", line_id)
    line["status"], line["suspension_start_date"] = status, since
    context.record = {"line_id": line_id, "status": status}
    return {"message": f"Line {line_id} is now {status}.", "line": line}


class EnableRoamingTool(ProviderWrite):
    """Lets a line be used abroad."""

    description = "Enable roaming for a line."

    class Arguments(OfLine):
        """Which line."""

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return a confirmation."""
        return _with_roaming(context, args, True)


class DisableRoamingTool(ProviderWrite):
    """Stops a line from being used abroad."""

    description = "Disable roaming for a line."

    class Arguments(OfLine):
        """Which line."""

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return a confirmation."""
        return _with_roaming(context, args, False)


def _with_roaming(context: ToolContext, args: OfLine, enabled: bool) -> str:
    context.is_noop = not store.set_roaming(context.db, args.customer_id, args.line_id, enabled)
    context.record = {"roaming_enabled": enabled}
    return f"Roaming {'was already' if context.is_noop else 'is now'} {'enabled' if enabled else 'disabled'}."


class SendPaymentRequestTool(ProviderWrite):
    """Asks the customer to pay a bill; the request then shows on their phone."""

    description = (
        "Send the customer a payment request for one bill, which then awaits payment. Only one bill of a customer may "
        "await payment. Check first that the bill is overdue: this does not."
    )

    class Arguments(OfCustomer):
        """Which bill."""

        bill_id: str = Field(description="Such as 'B1001'.")

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return a confirmation."""
        customer = store.require_customer(context.db, args.customer_id)
        for bill in store.bills_of(context.db, customer):
            if bill["status"] == "Awaiting Payment":
                raise store.refusal("payment_request_already_open", f"Bill {bill['bill_id']} awaits payment already.")
        if args.bill_id not in customer["bill_ids"] or store.locate(context.db, "bills", args.bill_id) is None:
            raise store.refusal("bill_not_owned", f"Customer {args.customer_id} has no bill {args.bill_id}.")
        store.edit(context.db, "bills", args.bill_id)["status"] = "Awaiting Payment"
        context.record = {"bill_id": args.bill_id, "status": "Awaiting Payment"}
        return f"The customer has been asked to pay bill {args.bill_id}."


class RefuelDataTool(ProviderWrite):
    """Sells more data for this cycle."""

    description = "Add data to a line. The plan's price a GB is charged on the customer's next bill."

    class Arguments(OfLine):
        """Which line, how much."""

        gb_amount: float = Field(allow_inf_nan=False, description="GB to add, more than 0.")

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return what the line has now, in GB, and what was charged, in dollars."""
        if args.gb_amount <= 0:
            raise store.refusal("amount_not_positive", f"{args.gb_amount} GB is not more than 0.")
        price = store.require_plan(context.db, store.require_line(context.db, args.customer_id, args.line_id))[
            "data_refueling_price_per_gb"
        ]
        charge = args.gb_amount * price
        line = store.edit(context.db, "lines", args.line_id)
        line["data_refueling_gb"] += args.gb_amount
        # This text is part of the database, and of its hash.
        description = f"Data refueling: {args.gb_amount} GB at ${price}/GB"
        store.add_charge(_draft_bill(context, args.customer_id), description, charge, store.day(context.now))
        context.record = {"new_data_refueling_gb": line["data_refueling_gb"], "charge": charge}
        return {"message": f"Added {args.gb_amount} GB to line {args.line_id} for ${charge:.2f}.", **context.record}


def _draft_bill(context: ToolContext, customer_id: str) -> store.Record:
    """Return the customer's first draft bill for writing, or a new one over next month."""
    for bill in store.bills_of(context.db, store.require_customer(context.db, customer_id)):
        if bill["status"] == "Draft":
            return store.edit(context.db, "bills", bill["bill_id"])
    next_month = store.first_day(store.day(context.now), 1)
    return store.add_bill(context.db, customer_id, store.new_bill_id(context.db), "Draft", next_month)


class TransferToHumanAgentsTool(TelecomTool, AnyTransferToHumanAgentsTool):
    """As elsewhere, but for what it answers and records."""

    def run(self, args: Any, context: ToolContext) -> Any:
        """Change nothing; the record of the transfer is the effect."""
        context.record = {"transferred": True}
        return "The caller has been transferred."


TOOLS: tuple[Tool, ...] = (
    GetCustomerByPhoneTool(),
    GetCustomerByIdTool(),
    GetCustomerByNameTool(),
    GetDetailsByIdTool(),
    GetBillsForCustomerTool(),
    GetDataUsageTool(),
    SuspendLineTool(),
    ResumeLineTool(),
    EnableRoamingTool(),
    DisableRoamingTool(),
    SendPaymentRequestTool(),
    RefuelDataTool(),
    TransferToHumanAgentsTool(),
    EndConversationTool(),
)
PHONE_TOOLS: tuple[Tool, ...] = (*phone_checks.TOOLS, *phone_settings.TOOLS)
