"""How spoken identifiers are looked up. Zip codes and product, item and payment ids have to be exact."""


def order_key(order_id: str) -> str:
    """Return upper case with a leading ``#``: "w123" is looked up as "#W123"."""
    upper = order_id.upper()
    return upper if upper.startswith("#") else f"#{upper}"


def user_key(user_id: str) -> str:
    """Return lower case."""
    return user_id.lower()
