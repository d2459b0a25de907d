"""What the airline pays: refunds, travel credits, hotel and meal vouchers."""

from datetime import date
from typing import Any

from pydantic import Field

from scenarios.domains.base import Refusal, ToolContext
from scenarios.domains.eva_airline import store
from scenarios.domains.eva_airline.arguments import (
    CreditReason,
    OfPassenger,
    OfReservation,
    RefundType,
    VoucherReason,
    choices,
)
from scenarios.domains.eva_airline.store import WriteTool, success

MOST_NIGHTS = 3
MEAL_AMOUNTS = {
    "delay_over_2_hours": 12,
    "delay_over_4_hours": 15,
    "cancellation_wait_same_day": 15,
    "irrops_overnight": 25,
}
REFUND_DAYS = 7
CREDIT_MONTHS = 12


class ProcessRefundTool(WriteTool):
    """Pays money back. Whether the amount is due is not checked."""

    description = (
        "Refund money to the original payment method, after a cancellation where it is due. The fare and ancillary "
        "fees need a call each."
    )

    class Arguments(OfReservation):
        """How much of what."""

        refund_amount: float = Field(gt=0, description="In dollars.")
        refund_type: RefundType = Field(description=f"One of: {choices(RefundType)}.")

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the refund's number: they are counted over the call."""
        store.find_reservation(context.db, args.confirmation_number)
        facts = args.model_dump()
        number = context.counts.get(self.model_name(), 0) + 1
        refund_id = f"REF-{args.confirmation_number}-{number:03d}"
        refund = {
            "refund_id": refund_id,
            **facts,
            "processing_days": REFUND_DAYS,
            "initiated_date": context.now,
            "status": "processing",
        }
        store.put(context.db, "refunds", refund_id, refund)
        context.record = facts
        message = f"A refund of {args.refund_amount} dollars is on its way; it takes {REFUND_DAYS} business days."
        return success(refund_id=refund_id, **facts, processing_days=REFUND_DAYS, message=message)


class IssueTravelCreditTool(WriteTool):
    """Issues a travel credit, one for a reservation: a later one takes its place."""

    description = "Issue a travel credit that is valid for 12 months."

    class Arguments(OfPassenger):
        """How much, and why."""

        amount: float = Field(gt=0, description="In dollars.")
        credit_reason: CreditReason = Field(description=f"One of: {choices(CreditReason)}.")

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the code."""
        store.find_reservation(context.db, args.confirmation_number)
        code = f"TC{args.confirmation_number}PAX"
        dates = {"issued_date": context.now, "expiry_date": _a_year_after(context.now)}
        credit = {"credit_code": code, **args.model_dump(), **dates, "status": "active"}
        store.put(context.db, "travel_credits", code, credit)
        context.record = args.model_dump()
        return success(
            confirmation_number=args.confirmation_number,
            passenger_id=args.passenger_id,
            credit_code=code,
            amount=args.amount,
            valid_months=CREDIT_MONTHS,
            message=f"A travel credit of {args.amount} dollars was issued with the code {code}.",
        )


class IssueHotelVoucherTool(WriteTool):
    """Issues a hotel voucher, one for a reservation: a later one takes its place."""

    description = "Issue a hotel voucher for up to 3 nights, after a rebooking that the airline is to blame for."

    class Arguments(OfPassenger):
        """How long."""

        num_nights: int = Field(ge=1, description="From 1 to 3.")

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the code."""
        store.find_reservation(context.db, args.confirmation_number)
        if args.num_nights > MOST_NIGHTS:
            message = f"More than {MOST_NIGHTS} nights exceed your authority; a live agent can decide on them."
            raise Refusal("too_many_nights", message, "exceeds_authority")
        code = f"HOTEL-{args.confirmation_number}"
        voucher = {"voucher_code": code, **args.model_dump(), "issued_date": context.now, "status": "active"}
        store.put(context.db, "hotel_vouchers", code, voucher)
        context.record = args.model_dump()
        return success(
            confirmation_number=args.confirmation_number,
            passenger_id=args.passenger_id,
            voucher_code=code,
            number_of_nights=args.num_nights,
            valid_at="Any hotels in airport area",
            message=f"A hotel voucher for {args.num_nights} nights was issued with the code {code}.",
        )


class IssueMealVoucherTool(WriteTool):
    """Issues a meal voucher, the amount by its reason."""

    description = "Issue a meal voucher for a delay or disruption that qualifies; the reason decides the amount."

    class Arguments(OfPassenger):
        """Why."""

        voucher_reason: VoucherReason = Field(description=f"One of: {choices(VoucherReason)}.")

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return code and amount."""
        store.find_reservation(context.db, args.confirmation_number)
        code = f"MEAL-{args.confirmation_number}-{args.passenger_id[:4]}"
        facts = {**args.model_dump(), "amount": MEAL_AMOUNTS[args.voucher_reason]}
        voucher = {"voucher_code": code, **facts, "issued_date": context.now, "status": "active"}
        store.put(context.db, "meal_vouchers", code, voucher)
        context.record = facts
        return success(
            confirmation_number=args.confirmation_number,
            passenger_id=args.passenger_id,
            voucher_code=code,
            amount=facts["amount"],
            valid_at="Airport terminal restaurants",
            message=f"A meal voucher of {facts['amount']} dollars was issued with the code {code}.",
        )


def _a_year_after(day: str) -> str:
    start = date.fromisoformat(day)
    leap_day = (start.month, start.day) == (2, 29)
    return start.replace(year=start.year + 1, day=28 if leap_day else start.day).isoformat()
