"""Where tau2's own tools behave otherwise than ours, made to behave like them, so that old verdicts come out again.

Source of each: ``conformance/README.md``, "Differences between the port and its sources".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from scenarios.domains.base import Domain, InitAction, ScenarioSpec, Tool, ToolContext
from scenarios.domains.predicates import Predicate
from scenarios.domains.tau2_retail import store
from scenarios.domains.tau2_retail.tools import ModifyPendingOrderItemsTool
from scenarios.formats.imports.tasks import CannotReplay
from scenarios.sides import Side
from scenarios.state.changes import copy_json
from scenarios.state.overlay import Overlay, Seed

Quirk = Literal["last_variant", "exact_ids", "gold_without_sync"]
QUIRKS: Mapping[str, Mapping[Quirk, str]] = {
    "tau2_airline": {"exact_ids": "tau2 finds records only by their exact ids"},
    "tau2_retail": {
        "last_variant": "tau2's modify_pending_order_items gives every item the price and options of the last one "
        "and does not round the amount",
        "exact_ids": "tau2 finds records only by their exact ids",
    },
    "tau2_telecom": {
        "gold_without_sync": "tau2 does not bring the two sides together after an expected action, so that an expected "
        "payment finds no request",
    },
}
# Those of the harness that judges, not of a tool.
JUDGING: frozenset[Quirk] = frozenset({"gold_without_sync"})
_UPPER, _LOWER = ("order_id", "reservation_id", "flight_number"), ("user_id",)


class UpstreamModifyItemsTool(ModifyPendingOrderItemsTool):
    """The tool with tau2's defect: every item gets the last variant's price and options, the amount is not rounded."""

    # The name that models and files use comes from the class's name.
    @classmethod
    def model_name(cls) -> str:
        """Return the original's name."""
        return ModifyPendingOrderItemsTool.model_name()

    def run(self, args: ModifyPendingOrderItemsTool.Arguments, context: ToolContext) -> Any:
        """Return the order."""
        found = store.find_order(context.db, args.order_id)
        before = {item["item_id"]: item["price"] for item in reversed(found["items"])}
        order = super().run(args, context)
        if not args.item_ids:
            return order
        variants = [self._variant(found, old, new, context.db) for old, new in self._pairs(args)]
        difference = sum(
            variant["price"] - before[item_id] for item_id, variant in zip(args.item_ids, variants, strict=True)
        )
        order["payment_history"][-1]["amount"] = abs(difference)
        for item in order["items"]:
            if item["item_id"] in args.new_item_ids:
                item.update(price=variants[-1]["price"], options=dict(variants[-1]["options"]))
        return order

    @staticmethod
    def _pairs(args: ModifyPendingOrderItemsTool.Arguments) -> list[tuple[str, str]]:
        return list(zip(args.item_ids, args.new_item_ids, strict=True))

    @staticmethod
    def _variant(found: Mapping[str, Any], old: str, new: str, db: Overlay) -> Mapping[str, Any]:
        item = next(item for item in found["items"] if item["item_id"] == old)
        variant: Mapping[str, Any] = db.get("products", item["product_id"])["variants"][new]
        return variant


@dataclass(frozen=True)
class ReplayDomain(Domain):
    """A domain with some of tau2's differences, and with the records that a task puts into its databases.

    ``databases`` are whole ones that a file brings along, in the place of the domain's own.
    """

    base: Domain
    quirks: frozenset[Quirk]
    initial_data: Mapping[str, Any]
    databases: Mapping[Side, Mapping[str, Any]] = field(default_factory=dict)

    def missing_data(self) -> str | None:
        """Return what the domain lacks."""
        return self.base.missing_data()

    def scenarios(self) -> Sequence[ScenarioSpec]:
        """Return the domain's own scenarios."""
        return self.base.scenarios()

    def seeds(self, spec: ScenarioSpec) -> Mapping[Side, Seed]:
        """Return the databases, with the task's own records merged in."""
        seeds = {**self.base.seeds(spec), **{side: Seed(data) for side, data in self.databases.items()}}
        for side in tuple(seeds):
            given = self.initial_data.get(f"{side}_data")
            if isinstance(given, Mapping) and given:
                seeds[side] = Seed(_merged(seeds[side].data, given))
        return seeds

    def expected_databases(self, spec: ScenarioSpec) -> Mapping[Side, Overlay] | None:
        """Return the databases that the domain ships as the right end; None: they follow from the expected actions."""
        changed = self.quirks or self.initial_data or self.databases
        return None if changed else self.base.expected_databases(spec)

    def tools(self, side: Side) -> Sequence[Tool]:
        """Return the domain's tools, the changed one in the place of its original."""
        tools = self.base.tools(side)
        if "last_variant" not in self.quirks:
            return tools
        changed = UpstreamModifyItemsTool()
        return [changed if isinstance(tool, ModifyPendingOrderItemsTool) else tool for tool in tools]

    def agent_prompt(self, spec: ScenarioSpec) -> str:
        """Return the domain's own prompt."""
        return self.base.agent_prompt(spec)

    def caller_prompt(self, spec: ScenarioSpec) -> str:
        """Return the domain's own prompt."""
        return self.base.caller_prompt(spec)

    def predicates(self) -> Mapping[str, Predicate]:
        """Return the domain's own predicates."""
        return self.base.predicates()

    def initialize(self, action: InitAction, databases: Mapping[Side, Overlay], now: str) -> None:
        """Run one step."""
        self.base.initialize(action, databases, now)

    def sync(self, databases: Mapping[Side, Overlay]) -> None:
        """Bring the sides together; CannotReplay when records that the task put in are not such as the domain has."""
        try:
            self.base.sync(databases)
        except (KeyError, TypeError, AttributeError) as error:
            if not self.initial_data:
                raise
            raise CannotReplay(f"the task's initialization_data does not fit {self.base.name}: {error!r}") from error

    def tool_now(self, spec: ScenarioSpec) -> str:
        """Return the domain's "now"."""
        return self.base.tool_now(spec)


def is_exact(arguments: Mapping[str, Any] | None) -> bool:
    """Return whether the ids among a call's arguments are spelled as the databases spell them."""
    given = arguments or {}
    upper = all(given[name] == str(given[name]).upper() for name in _UPPER if name in given)
    lower = all(given[name] == str(given[name]).lower() for name in _LOWER if name in given)
    marked = "order_id" not in given or str(given["order_id"]).startswith("#")
    flights = given.get("flights")
    return upper and lower and marked and all(is_exact(leg) for leg in _legs(flights))


def _legs(flights: Any) -> list[Mapping[str, Any]]:
    return [leg for leg in flights if isinstance(leg, Mapping)] if isinstance(flights, list) else []


def _merged(data: Any, given: Any) -> Any:
    """Return ``data`` with ``given`` laid over it, objects key by key."""
    if not isinstance(data, Mapping) or not isinstance(given, Mapping):
        return copy_json(given)
    return {**data, **{name: _merged(data.get(name), value) for name, value in given.items()}}
