"""What a claim is about, by its words alone, so that a judge's errors can be told apart by kind.

The kinds are those of the benchmarks' claims: most demand that something is told, with or without a figure, the rest
that something is done or left. A claim in other words falls among those about doing.
"""

import re
from functools import cache
from typing import Literal

ClaimKind = Literal["leaves", "tells a figure", "tells", "does"]
KIND_WORDS: dict[str, str] = {
    "leaves": "something is not done or said",
    "tells a figure": "a number is told",
    "tells": "something else is told or asked",
    "does": "something is done",
}
_NOT = re.compile(
    r"\b(?:(?:should|must|does|do|did|may|can|will|is|was) ?n[o']t|never|cannot|without)\b", re.IGNORECASE
)
_TELLS = re.compile(
    r"\b(?:tell|say|inform|provide|state|mention|explain|ask|confirm|offer|communicate|notif|apologi[sz]|announce|give)",
    re.IGNORECASE,
)
_THAT = re.compile(r"\bthat\b|\bthe (?:user|guest|caller|customer)\b", re.IGNORECASE)


@cache
def claim_kind(claim: str) -> ClaimKind:
    """Return the kind of a claim.

    A "not" behind the point at which it says what is told belongs to what is told: "tells the guest that it cannot be
    moved" is about telling.
    """
    tells = _TELLS.search(claim)
    demand = claim[: tells.start()] if tells else claim
    if _NOT.search(demand):
        return "leaves"
    if not tells:
        return "does"
    said = _THAT.split(claim[tells.end() :], maxsplit=1)[-1]
    return "tells a figure" if re.search(r"\d", said) else "tells"
