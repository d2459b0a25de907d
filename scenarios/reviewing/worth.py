"""Claims in the order in which people's labels narrow the corrected headline most."""

from collections.abc import Sequence

from scenarios.analysis.label_value import ranked
from scenarios.reviewing.calls import claims_by_call, rated_calls


def by_worth(runs: Sequence[int], seed: int) -> list[int]:
    """Return verdicts of the calls without a label, the call that is worth most first, its claims in order."""
    claims = claims_by_call(runs)
    return [pk for item in ranked(rated_calls(runs), seed=seed) for pk in claims.get(int(item.call), ())]
