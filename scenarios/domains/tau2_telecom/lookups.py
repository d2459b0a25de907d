"""What the provider's agent can look up. Ids and phone numbers have to be exact: reference-system.md 3.4."""

from typing import Any

from pydantic import Field

from scenarios.domains.base import ToolArguments, ToolContext
from scenarios.domains.tau2_telecom import store
from scenarios.domains.tau2_telecom.tool import TelecomTool

_TABLES = {"L": "lines", "D": "devices", "B": "bills", "C": "customers", "P": "plans"}


class OfCustomer(ToolArguments):
    """Base of the arguments of tools that work on one customer."""

    customer_id: str = Field(description="Such as 'C1001'.")


class OfLine(OfCustomer):
    """Base of the arguments of tools that work on one line of a customer."""

    line_id: str = Field(description="Such as 'L1001'.")


class GetCustomerByPhoneTool(TelecomTool):
    """Identifies the caller by a phone number."""

    description = "Find a customer by their phone number, or by the number of any of their lines."

    class Arguments(ToolArguments):
        """Exact."""

        phone_number: str = Field(description="Such as '555-123-2002'.")

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the first customer with this number."""
        numbers = {line["line_id"]: line["phone_number"] for line in store.records(context.db, "lines")}
        for customer in store.records(context.db, "customers"):
            own = [customer["phone_number"], *(numbers.get(line_id) for line_id in customer["line_ids"])]
            if args.phone_number in own:
                return customer
        raise store.refusal("customer_not_found", f"No customer has the number {args.phone_number}.")


class GetCustomerByIdTool(TelecomTool):
    """Reads a customer."""

    description = "Find a customer by their id."

    class Arguments(OfCustomer):
        """Exact."""

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the customer."""
        return store.require_customer(context.db, args.customer_id)


class GetCustomerByNameTool(TelecomTool):
    """Identifies the caller by name and date of birth."""

    description = "Find customers by full name and date of birth, which verifies them. There may be none."

    class Arguments(ToolArguments):
        """The name without regard to case, the date exact."""

        full_name: str
        dob: str = Field(description="Date of birth as YYYY-MM-DD.")

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return all customers that fit."""
        wanted = (args.full_name.lower(), args.dob)
        return [
            customer
            for customer in store.records(context.db, "customers")
            if (customer["full_name"].lower(), customer["date_of_birth"]) == wanted
        ]


class GetDetailsByIdTool(TelecomTool):
    """Reads any record."""

    description = (
        "Read a line, device, bill, customer or plan by its id: the first letter (L, D, B, C, P) says which it is."
    )

    class Arguments(ToolArguments):
        """Exact."""

        id: str = Field(description="Such as 'L1001'.")

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the record."""
        table = _TABLES.get(args.id[:1])
        if table is None:
            raise store.refusal("unknown_id_prefix", f"{args.id!r} starts with none of {', '.join(_TABLES)}.")
        record = store.find(context.db, table, args.id)
        if record is None:
            raise store.refusal("object_not_found", f"There is no {args.id} among the {table}.")
        return record


class GetBillsForCustomerTool(TelecomTool):
    """Lists a customer's bills."""

    description = "List a customer's bills, the latest first."

    class Arguments(OfCustomer):
        """A negative limit leaves out that many of the oldest, as in the reference."""

        limit: int = Field(default=12, description="How many at most.")

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the bills."""
        bills = store.bills_of(context.db, store.require_customer(context.db, args.customer_id))
        return sorted(bills, key=lambda bill: str(bill["issue_date"]), reverse=True)[: args.limit]


class GetDataUsageTool(TelecomTool):
    """Reads how much data a line has used."""

    description = "Read how many GB a line has used in this cycle, its plan's limit, and what was refuelled."

    class Arguments(OfLine):
        """Which line."""

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the figures in GB, and the last day of the cycle."""
        line = store.require_line(context.db, args.customer_id, args.line_id)
        return {
            "line_id": line["line_id"],
            "data_used_gb": line["data_used_gb"],
            "data_limit_gb": store.require_plan(context.db, line)["data_limit_gb"],
            "data_refueling_gb": line["data_refueling_gb"],
            "cycle_end_date": store.last_day(store.day(context.now)).isoformat(),
        }
