"""Random databases and edits, for properties that must hold of any."""

import random
from typing import Any

from scenarios.state.overlay import Overlay

LEAVES = [0, 1, 1.0, 2.5, -0.0, 1e22, True, False, None, "x", " None ", "null", "é", "1.0", ""]
KEYS = ["a", "b", "none", "é", "session", "bookings", "standby_list"]


def json_tree(source: random.Random, depth: int = 3) -> Any:
    kind = source.random()
    if depth == 0 or kind < 0.3:
        return source.choice(LEAVES)
    if kind < 0.6:
        return [json_tree(source, depth - 1) for _ in range(source.randrange(4))]
    return {key: json_tree(source, depth - 1) for key in source.sample(KEYS, source.randrange(4))}


def database(source: random.Random) -> dict[str, Any]:
    """Return tables of all three shapes; object tables hold objects as records."""
    objects = {f"R{number}": {"id": number, "value": json_tree(source)} for number in range(source.randrange(1, 5))}
    listed = [{"id": number, "value": json_tree(source)} for number in range(source.randrange(1, 4))]
    return {
        "objects": objects,
        "listed": listed,
        "bookings": [json_tree(source) for _ in range(source.randrange(3))],
        "single": {"x": json_tree(source), "y": json_tree(source)},
        "date": "2024-05-15",
        "session": {"token": json_tree(source)},
    }


def scribble(overlay: Overlay, source: random.Random) -> None:
    """Make one random change; to be called inside a transaction."""
    choice = source.randrange(7)
    keys = list(overlay.table("objects"))
    if choice == 0 and keys:
        overlay.edit("objects", source.choice(keys))["value"] = json_tree(source)
    elif choice == 1:
        overlay.insert("objects", f"N{source.randrange(5)}", {"value": json_tree(source)})
    elif choice == 2 and keys:
        overlay.delete("objects", source.choice(keys))
    elif choice == 3:
        overlay.insert("listed", 0, {"value": json_tree(source)})
    elif choice == 4 and overlay.table("listed"):
        overlay.edit("listed", 0)["value"] = json_tree(source)
    elif choice == 5:
        overlay.edit("single")["x"] = json_tree(source)
    else:
        overlay.edit("bookings").append(json_tree(source))
