"""pass^k: the chance that k trials of a scenario all pass. pass@k: that at least one of them does.

Source of the formula: tau2's metrics, C(c, k) / C(n, k) of a scenario with c passes in n trials, averaged over
scenarios. That is "by combinations"; the other formula in use, (c / n)^k, is biased and not offered.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb


@dataclass(frozen=True)
class PassK:
    """One value of pass^k. ``value`` None is shown as a blank with ``reason``; scenarios left out are counted."""

    k: int
    value: float | None
    scenarios: int  # averaged over
    left_out: int  # scenarios with too few scored trials
    reason: str = ""


def pass_k(counts: Sequence[tuple[int, int]], k: int) -> PassK:
    """Return pass^k over scenarios with (passes, scored trials) each.

    A scenario with fewer than k scored trials is left out and counted, never taken as failed.
    """
    if k < 1:
        raise ValueError(f"pass^k needs k of 1 or more, not {k}")
    usable = [(passes, total) for passes, total in counts if total >= k]
    left_out = len(counts) - len(usable)
    if not usable:
        most = max((total for _, total in counts), default=0)
        return PassK(k, None, 0, left_out, f"needs {k} scored trials of a scenario; there are at most {most}")
    value = sum(comb(passes, k) / comb(total, k) for passes, total in usable) / len(usable)
    reason = f"{left_out} scenarios have fewer than {k} scored trials" if left_out else ""
    return PassK(k, value, len(usable), left_out, reason)


def pass_at_k(counts: Sequence[tuple[int, int]], k: int) -> PassK:
    """Return pass@k: one minus the chance that k trials all fail, by combinations too. Leaves out as ``pass_k``."""
    all_fail = pass_k([(total - passes, total) for passes, total in counts], k)
    return all_fail if all_fail.value is None else replace(all_fail, value=1 - all_fail.value)
