"""The shop's lookups: what its agent can read."""

import json
from typing import Any

from pydantic import Field

from scenarios.domains.base import NoArguments, Tool, ToolArguments, ToolContext
from scenarios.domains.tau2_retail import store
from scenarios.domains.tau2_tools import not_found


class OfOrder(ToolArguments):
    """Base of the arguments of tools that work on one order."""

    order_id: str = Field(description="Such as '#W0000000', with the '#'.")


class OfUser(ToolArguments):
    """Base of the arguments of tools that work on one user."""

    user_id: str = Field(description="Such as 'sara_doe_496'.")


class FindUserIdByNameZipTool(Tool):
    """Identifies the caller when the e-mail address is not known."""

    description = "Look up a user id by first name, last name and zip code, for callers without a (known) email."

    class Arguments(ToolArguments):
        """Names without regard to case, the zip code exact."""

        first_name: str
        last_name: str
        zip: str = Field(description="Such as '12345'.")

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the first user that fits."""
        wanted = (args.first_name.lower(), args.last_name.lower(), args.zip)
        for user_id, user in context.db.table("users").items():
            name = user["name"]
            if (name["first_name"].lower(), name["last_name"].lower(), user["address"]["zip"]) == wanted:
                return {"status": "success", "user_id": user_id}
        raise not_found("user_not_found", "User")


class FindUserIdByEmailTool(Tool):
    """Identifies the caller."""

    description = "Look up a user id by email."

    class Arguments(ToolArguments):
        """Compared without regard to case."""

        email: str = Field(description="Such as 'something@example.com'.")

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the user with this address."""
        for user_id, user in context.db.table("users").items():
            if user["email"].lower() == args.email.lower():
                return {"status": "success", "user_id": user_id}
        raise not_found("user_not_found", "User")


class GetOrderDetailsTool(Tool):
    """Reads an order."""

    description = "Read an order: its status, items, address and payments."

    class Arguments(OfOrder):
        """Which order."""

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the order."""
        return store.find_order(context.db, args.order_id)


class GetProductDetailsTool(Tool):
    """Reads a product with its variants."""

    description = (
        "Read a product with all its variants: options, price, availability. Needs a product id, not an item id."
    )

    class Arguments(ToolArguments):
        """Exact."""

        product_id: str = Field(description="Such as '6086499569'.")

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the product."""
        product = context.db.table("products").get(args.product_id)
        if product is None:
            raise not_found("product_not_found", f"Product {args.product_id}")
        return product


class GetItemDetailsTool(Tool):
    """Reads one variant of a product."""

    description = "Read one variant: options, price, availability. Needs an item id, not a product id."

    class Arguments(ToolArguments):
        """Exact."""

        item_id: str = Field(description="Such as '6086499569'.")

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the variant, whatever product it is of."""
        for product in context.db.table("products").values():
            if args.item_id in product["variants"]:
                return product["variants"][args.item_id]
        raise not_found("item_not_found", f"Item {args.item_id}")


class GetUserDetailsTool(Tool):
    """Reads a profile."""

    description = "Read a user's profile: name, address, email, payment methods and order ids."

    class Arguments(OfUser):
        """Without regard to case."""

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the user."""
        return store.find_user(context.db, args.user_id)


class ListAllProductTypesTool(Tool):
    """Lists what the shop sells."""

    description = "List the names of all product types with their product ids."
    Arguments = NoArguments

    def run(self, args: Any, context: ToolContext) -> Any:
        """Return JSON text of name to id, sorted by name."""
        types = {product["name"]: product["product_id"] for product in context.db.table("products").values()}
        return {"status": "success", "product_types": json.dumps(types, sort_keys=True)}
