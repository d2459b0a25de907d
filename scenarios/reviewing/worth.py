"""Claims in the order in which people's labels narrow the corrected headline most."""

from collections import defaultdict
from collections.abc import Sequence

from scenarios.analysis.label_value import ranked
from scenarios.models import Verdict
from scenarios.reviewing.calls import rated_calls


def by_worth(runs: Sequence[int], seed: int) -> list[int]:
    """Return verdicts of the calls without a label, the call that is worth most first, its claims in order."""
    order = [item.call for item in ranked(rated_calls(runs), seed=seed)]
    claims: dict[str, list[int]] = defaultdict(list)
    rows = Verdict.objects.filter(trial__run__in=runs, signal="nl_assertion").order_by("trial", "-scoring", "index")
    newest: dict[int, int] = {}
    for pk, trial, scoring in rows.values_list("pk", "trial_id", "scoring"):
        if newest.setdefault(trial, scoring) == scoring:
            claims[str(trial)].append(pk)
    return [pk for call in order for pk in claims[call]]
