"""The 16 tools of the shop's agent; what each write checks, in which order, and does: reference-system.md 3.3."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from scenarios.domains.base import Refusal, Tool, ToolArguments, ToolContext, ToolKind
from scenarios.domains.conversation import EndConversationTool
from scenarios.domains.tau2_retail import store
from scenarios.domains.tau2_retail.lookups import (
    FindUserIdByEmailTool,
    FindUserIdByNameZipTool,
    GetItemDetailsTool,
    GetOrderDetailsTool,
    GetProductDetailsTool,
    GetUserDetailsTool,
    ListAllProductTypesTool,
    OfOrder,
    OfUser,
)
from scenarios.domains.tau2_tools import CalculateTool, TransferToHumanAgentsTool

CANCEL_REASONS = ("no longer needed", "ordered by mistake")
_PAYMENT_ID = "The id of a payment method in the user's profile, such as 'gift_card_0000000'."
_CONFIRM = "Tell the user exactly what will happen and get an explicit yes before calling this."


class NewAddress(ToolArguments):
    """Base of the arguments of tools that replace an address."""

    address1: str = Field(description="The first line, such as '123 Main Street'.")
    address2: str = Field(description="The second line, such as 'Apt 1'; may be ''.")
    city: str
    state: str = Field(description="Such as 'CA'.")
    country: str = Field(description="Such as 'USA'.")
    zip: str = Field(description="Such as '12345'.")

    def record(self) -> dict[str, str]:
        """Return the address as it is stored."""
        return {name: getattr(self, name) for name in NewAddress.model_fields}


class WriteTool(Tool):
    """Base of the tools that change an order or a profile."""

    kind: ClassVar[ToolKind] = "write"


class CancelPendingOrderTool(WriteTool):
    """Cancels an order and refunds all it was paid with."""

    description = (
        "Cancel an order that is still pending, not a processed or delivered one. The payment goes back "
        f"to where it came from, to a gift card at once and otherwise within 5 to 7 business days. {_CONFIRM}"
    )

    class Arguments(OfOrder):
        """The reason is one of two; another is refused by the shop, not by the form."""

        reason: str = Field(
            description="Why: 'no longer needed' or 'ordered by mistake'.",
            json_schema_extra={"enum": list(CANCEL_REASONS)},
        )

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the order."""
        found = store.find_order(context.db, args.order_id)
        store.require_status(found, "order_not_pending", "pending")
        if args.reason not in CANCEL_REASONS:
            raise Refusal("bad_cancel_reason", f"The reason must be one of: {', '.join(CANCEL_REASONS)}.")
        user_id = store.find_user(context.db, found["user_id"])["user_id"]
        order = context.db.edit("orders", found["order_id"])
        for payment in list(order["payment_history"]):
            method_id, amount = payment["payment_method_id"], payment["amount"]
            order["payment_history"].append(_transaction("refund", amount, method_id))
            store.credit(context, user_id, method_id, amount)
        order["status"] = "cancelled"
        order["cancel_reason"] = args.reason
        return _recorded(context, args, order, status=order["status"])


class ExchangeDeliveredOrderItemsTool(WriteTool):
    """Notes which items the customer will send back for which others; no money moves yet."""

    description = (
        "Exchange items of a delivered order for other variants of the same products. An order can be exchanged or "
        f"returned once only, so collect all items first. {_CONFIRM}"
    )

    class Arguments(OfOrder):
        """Items in the order of their replacements."""

        item_ids: list[str] = Field(description="The items to exchange; an item may be listed more than once.")
        new_item_ids: list[str] = Field(description="Their replacements, each in the place of the old item.")
        payment_method_id: str = Field(description=f"Pays or receives the difference. {_PAYMENT_ID}")

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the order."""
        found = store.find_order(context.db, args.order_id)
        store.require_status(found, "order_not_delivered", "delivered")
        _, difference = store.replacements(context.db, found, args.item_ids, args.new_item_ids, refuse_same=False)
        user = store.find_user(context.db, found["user_id"])
        store.require_balance(store.find_payment_method(user, args.payment_method_id), difference)
        order = context.db.edit("orders", found["order_id"])
        order["status"] = "exchange requested"
        order["exchange_items"] = sorted(args.item_ids)
        order["exchange_new_items"] = sorted(args.new_item_ids)
        order["exchange_payment_method_id"] = args.payment_method_id
        order["exchange_price_difference"] = difference
        return _recorded(context, args, order, status=order["status"], price_difference=difference)


class ModifyPendingOrderAddressTool(WriteTool):
    """Sends a pending order elsewhere."""

    description = f"Change the shipping address of a pending order. {_CONFIRM}"

    class Arguments(NewAddress, OfOrder):
        """The whole new address."""

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the order."""
        found = store.find_order(context.db, args.order_id)
        store.require_status(found, "order_not_pending", "pending", or_modified=True)
        order = context.db.edit("orders", found["order_id"])
        order["address"] = args.record()
        return _recorded(context, args, order)


class ModifyPendingOrderItemsTool(WriteTool):
    """Swaps items of a pending order for other variants and settles the difference."""

    description = (
        "Change items of a pending order to other variants of the same products. This works once for an order, so "
        f"collect all items first. {_CONFIRM}"
    )

    class Arguments(OfOrder):
        """Items in the order of their replacements."""

        item_ids: list[str] = Field(description="The items to modify; an item may be listed more than once.")
        new_item_ids: list[str] = Field(description="Their replacements, each in the place of the old item.")
        payment_method_id: str = Field(description=f"Pays or receives the difference. {_PAYMENT_ID}")

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the order."""
        found = store.find_order(context.db, args.order_id)
        store.require_status(found, "order_not_pending", "pending")
        variants, difference = store.replacements(context.db, found, args.item_ids, args.new_item_ids, refuse_same=True)
        user = store.find_user(context.db, found["user_id"])
        store.require_balance(store.find_payment_method(user, args.payment_method_id), difference)
        order = context.db.edit("orders", found["order_id"])
        kind = "payment" if difference > 0 else "refund"
        order["payment_history"].append(_transaction(kind, abs(difference), args.payment_method_id))
        store.credit(context, user["user_id"], args.payment_method_id, -difference)
        for item_id, variant in zip(args.item_ids, variants, strict=True):
            item = next(item for item in order["items"] if item["item_id"] == item_id)
            item.update(item_id=variant["item_id"], price=variant["price"], options=dict(variant["options"]))
        order["status"] = "pending (item modified)"
        return _recorded(context, args, order, price_difference=difference)


class ModifyPendingOrderPaymentTool(WriteTool):
    """Charges a pending order to another payment method."""

    description = f"Charge a pending order to another payment method of the user. {_CONFIRM}"

    class Arguments(OfOrder):
        """The new method."""

        payment_method_id: str = Field(description=_PAYMENT_ID)

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the order."""
        found = store.find_order(context.db, args.order_id)
        store.require_status(found, "order_not_pending", "pending", or_modified=True)
        user = store.find_user(context.db, found["user_id"])
        method = store.find_payment_method(user, args.payment_method_id)
        history = found["payment_history"]
        if len(history) != 1 or history[0]["transaction_type"] != "payment":
            raise Refusal("payment_history_not_single", "There must be exactly one payment for this order.")
        amount, old_method_id = history[0]["amount"], history[0]["payment_method_id"]
        if old_method_id == args.payment_method_id:
            raise Refusal("same_payment_method", "The new payment method must differ from the current one.")
        store.require_balance(method, amount)
        order = context.db.edit("orders", found["order_id"])
        order["payment_history"] += [
            _transaction("payment", amount, args.payment_method_id),
            _transaction("refund", amount, old_method_id),
        ]
        store.credit(context, user["user_id"], args.payment_method_id, -amount)
        store.credit(context, user["user_id"], old_method_id, amount)
        return _recorded(context, args, order)


class ModifyUserAddressTool(WriteTool):
    """Moves a customer."""

    description = f"Change the default address in a user's profile. {_CONFIRM}"

    class Arguments(NewAddress, OfUser):
        """The whole new address."""

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the user."""
        found = store.find_user(context.db, args.user_id)
        user = context.db.edit("users", found["user_id"])
        user["address"] = args.record()
        context.record = {"user_id": context.spelling("user_id", args.user_id, user["user_id"])}
        return user


class ReturnDeliveredOrderItemsTool(WriteTool):
    """Notes which items come back and where the refund goes; no money moves yet."""

    description = (
        "Return items of a delivered order. The user gets an email that says how to send them back. An order can be "
        f"returned or exchanged once only. {_CONFIRM}"
    )

    class Arguments(OfOrder):
        """What comes back."""

        item_ids: list[str] = Field(description="The items to return; an item may be listed more than once.")
        payment_method_id: str = Field(description=f"Receives the refund. {_PAYMENT_ID}")

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the order."""
        found = store.find_order(context.db, args.order_id)
        store.require_status(found, "order_not_delivered", "delivered")
        user = store.find_user(context.db, found["user_id"])
        method = store.find_payment_method(user, args.payment_method_id)
        is_original = args.payment_method_id == found["payment_history"][0]["payment_method_id"]
        if method["source"] != "gift_card" and not is_original:
            raise Refusal("refund_method_not_allowed", "The refund goes to the original payment method or a gift card.")
        store.require_items(found, args.item_ids)
        order = context.db.edit("orders", found["order_id"])
        order["status"] = "return requested"
        order["return_items"] = sorted(args.item_ids)
        order["return_payment_method_id"] = args.payment_method_id
        return _recorded(context, args, order, status=order["status"])


TOOLS: tuple[Tool, ...] = (
    FindUserIdByNameZipTool(),
    FindUserIdByEmailTool(),
    GetOrderDetailsTool(),
    GetProductDetailsTool(),
    GetItemDetailsTool(),
    GetUserDetailsTool(),
    ListAllProductTypesTool(),
    CancelPendingOrderTool(),
    ExchangeDeliveredOrderItemsTool(),
    ModifyPendingOrderAddressTool(),
    ModifyPendingOrderItemsTool(),
    ModifyPendingOrderPaymentTool(),
    ModifyUserAddressTool(),
    ReturnDeliveredOrderItemsTool(),
    CalculateTool(),
    TransferToHumanAgentsTool(),
    EndConversationTool(),
)


def _transaction(kind: str, amount: float, payment_method_id: str) -> dict[str, Any]:
    return {"transaction_type": kind, "amount": amount, "payment_method_id": payment_method_id}


def _recorded(context: ToolContext, args: OfOrder, order: Mapping[str, Any], **facts: Any) -> Mapping[str, Any]:
    """Note the result of the recorded action, and return the order that the tool answers with."""
    context.record = {"order_id": context.spelling("order_id", args.order_id, order["order_id"]), **facts}
    return order
