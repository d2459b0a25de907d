"""How far an imported run's verdicts come out again here: database verdicts by call, checks by single item."""

from collections import Counter
from typing import Any

from django.db.models import Count, Q

from scenarios.models import ForeignResult, Run, Verdict

# Checks that a replay makes again; claims need a judge.
CHECKS = ("action", "communicate", "db_state_assertion")


def counted(run: Run) -> dict[str, Any]:
    """Return counts of calls by the names of ``Imported``, ``checks`` of items among them.

    ``stored`` calls have a database verdict in the file; ``agreeing`` and ``differing`` are those of them that were
    replayed; ``explained`` differ for a reason that was found.
    """
    results = ForeignResult.objects.filter(trial__run=run)
    counts: dict[str, Any] = results.aggregate(
        trials=Count("pk"),
        replayed=Count("pk", filter=Q(our_db_match__isnull=False)),
        stored=Count("pk", filter=Q(stored_db_match__isnull=False)),
        agreeing=Count("pk", filter=Q(agrees=True)),
        differing=Count("pk", filter=Q(agrees=False)),
    )
    differing = results.filter(agrees=False).values_list("reasons", flat=True)
    counts["explained"] = sum(all(one["kind"] != "unexplained" for one in reasons) for reasons in differing)
    why_not = results.exclude(why_not_replayed="").values_list("why_not_replayed").annotate(count=Count("pk"))
    counts["not_replayed"] = next((why for why, _ in why_not.order_by("-count", "why_not_replayed")[:1]), "")
    return {**counts, "checks": checks(run)}


def checks(run: Run) -> Counter[tuple[str, str]]:
    """Return how many rulings of the file on single actions, facts and predicates "agree" with ours or "differ".

    Those of calls that were not replayed are under "not replayed". Items that the file gives no ruling on are left out.
    """
    agree = Q(detail__ours=True, passed=True) | Q(detail__ours=False, passed=False)
    differ = Q(detail__ours=False, passed=True) | Q(detail__ours=True, passed=False)
    ruled = Verdict.objects.filter(trial__run=run, signal__in=CHECKS, error="").order_by()
    rows = ruled.values_list("signal").annotate(
        agree=Count("pk", filter=agree), differ=Count("pk", filter=differ), every=Count("pk")
    )
    found: Counter[tuple[str, str]] = Counter()
    for signal, agreeing, differing, every in rows:
        found |= Counter(
            {
                (signal, "agree"): agreeing,
                (signal, "differ"): differing,
                (signal, "not replayed"): every - agreeing - differing,
            }
        )
    return found
