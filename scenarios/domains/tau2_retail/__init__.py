"""The tau2 retail domain: an online shop's customer service."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from scenarios.domains.base import Tool, register
from scenarios.domains.tau2 import Tau2Domain
from scenarios.domains.tau2_retail.known_errors import KNOWN_ERRORS
from scenarios.domains.tau2_retail.tools import TOOLS
from scenarios.sides import Side
from scenarios.state.overlay import Seed


@register
class Tau2Retail(Tau2Domain):
    """114 scenarios over 1,000 orders, 500 users and 50 products; 40 of them carry claims."""

    name = "tau2_retail"
    title = "Retail (tau2)"
    description = "Orders of an online shop: cancel, modify, return, exchange."

    def tools(self, side: Side) -> Sequence[Tool]:
        """Return the agent's tools; the caller has none."""
        return TOOLS if side == "agent" else ()

    def _load_seeds(self) -> Mapping[Side, Seed]:
        return {"agent": Seed(json.loads(self._text("db.json")))}

    def _extra(self, task: Mapping[str, Any]) -> dict[str, Any]:
        return {**super()._extra(task), "known_errors": list(KNOWN_ERRORS.get(task["id"], ()))}
