"""What changed beyond noise: two or more runs held against each other."""

from collections.abc import Sequence
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from evalsite import comparison_rows
from evalsite.pairs import pair_of
from scenarios.comparing import MOST_RUNS, Compared, Refused, read
from scenarios.models import Run, Trial

ROWS_OF_A_SET, ROWS_A_PAGE = 15, 50
CHOICES = 20  # newest runs that can be chosen from
MAX_MARGIN = 50  # points
DIGITS = 9


@require_safe
def compare(request: HttpRequest) -> HttpResponse:
    """Compare the runs of the address, the first being the baseline; one alone is held against the run before it."""
    numbers, problems = _numbers(request.GET)
    if len(numbers) == 1 and (earlier := previous(_run(numbers[0]))):
        return _to(request, [earlier.pk, numbers[0]])
    if len(request.GET.getlist("runs")) > 1:
        # Ticked in the list, newest first: the oldest is the baseline.
        return _to(request, sorted(numbers))
    margin = _margin(request.GET.get("margin", ""), problems)
    if len(numbers) < 2:
        problems += [f"There is no earlier run to hold run {numbers[0]} against."] if numbers else []
        return render(request, "compare/choose.html", {**_choices(), "problems": problems, "chosen": numbers})
    try:
        compared = read([_run(number) for number in numbers], margin)
    except Refused as error:
        context = {**_choices(), "problems": [*problems, str(error)], "chosen": numbers}
        return render(request, "compare/choose.html", context, status=422)
    return render(request, "compare/compare.html", _context(request, compared, margin, problems))


@require_safe
def compare_pair(request: HttpRequest) -> HttpResponse:
    """Show two calls side by side, aligned by their tool calls."""
    found = [_trial(request.GET.get(name, ""), name) for name in ("a", "b")]
    return render(request, "compare/pair.html", {"pair": pair_of(*found)})


def previous(run: Run) -> Run | None:
    """Return the run of the same domain and kind (models or rehearsal) before this one."""
    before = Run.objects.filter(domain=run.domain, launched_at__lt=run.launched_at).exclude(pk=run.pk)
    return before.filter(is_rehearsal=run.is_rehearsal).first()


def comparable(run: Run, limit: int = 8) -> Sequence[Run]:
    """Return the runs that a run can be held against, the previous one first."""
    others = Run.objects.filter(domain=run.domain).exclude(pk=run.pk).defer("config")
    found = list(others.filter(launched_at__lt=run.launched_at)[:limit])
    # A rehearsal and a model's run have nothing to say to each other, so those come last.
    return sorted(found, key=lambda other: other.is_rehearsal != run.is_rehearsal)


def _context(request: HttpRequest, compared: Compared, margin: float | None, problems: list[str]) -> dict[str, Any]:
    wanted = request.GET.get("candidate", "")
    comparison = next((c for c in compared.comparisons if c.candidate == wanted), compared.comparisons[0])
    before, after = compared.baseline, compared.side(comparison)
    retold = compared.retold(after)
    found = comparison_rows.sets(comparison)
    only = next((one for one in found if one.kind == request.GET.get("set")), None)
    page = Paginator(only.changes, ROWS_A_PAGE).get_page(request.GET.get("page")) if only else None
    shown = [(one, list(page or one.changes[:ROWS_OF_A_SET])) for one in found if only in (None, one)]
    return {
        "compared": compared,
        "comparison": comparison,
        "before": before,
        "after": after,
        "runs": ",".join(side.name for side in compared.sides),
        "swapped": ",".join([after.name, *(side.name for side in compared.sides if side is not after)]),
        "margin": margin,
        "problems": problems,
        "summary": found,
        "only": only,
        "page": page,
        "sets": [(one, comparison_rows.rows(changes, before, after, retold)) for one, changes in shown],
        "passing": len(comparison.of_kind("passing_in_both")),
        "changed": compared.changed(after),
        "tables": [] if only else list(comparison_rows.breakdown(compared, comparison)),
        "faults": comparison_rows.faults(before, after),
        "cells": comparison_rows.CELLS,
    }


def _numbers(query: QueryDict) -> tuple[list[int], list[str]]:
    """Return the runs that the address names, and what in it is no number of a run."""
    words = [word.strip().lstrip("#") for text in query.getlist("runs") for word in text.split(",")]
    good = [word for word in words if word.isascii() and word.isdigit() and len(word) <= DIGITS]
    bad = [word for word in words if word and word not in good]
    problems = [f"{word!r} is no number of a run; it was left out." for word in bad]
    return list(dict.fromkeys(map(int, good))), problems


def _margin(text: str, problems: list[str]) -> float | None:
    """Return the margin as a share from points of the pass rate."""
    if not text.strip():
        return None
    try:
        points = float(text)
    except ValueError:
        points = 0.0
    if not 0 < points <= MAX_MARGIN:
        problems.append(f"A margin of {text!r} is none: give points of the pass rate, above 0 and up to {MAX_MARGIN}.")
        return None
    return points / 100


def _run(number: int) -> Run:
    run = Run.objects.filter(pk=number).first()
    if run is None:
        raise Http404(f"There is no run {number}; it may have been deleted.")
    return run


def _trial(text: str, name: str) -> Trial:
    is_number = text.isascii() and text.isdigit() and len(text) <= DIGITS
    found = Trial.objects.select_related("run", "scenario").filter(pk=int(text)).first() if is_number else None
    if found is None:
        raise Http404(f"There is no call {text!r} ({name} in the address): open a pair from the page of a comparison.")
    return found


def _to(request: HttpRequest, numbers: Sequence[int]) -> HttpResponse:
    query = request.GET.copy()
    query["runs"] = ",".join(map(str, numbers))
    return redirect(f"{reverse('compare')}?{query.urlencode(safe=',')}")


def _choices() -> dict[str, Any]:
    return {"choices": Run.objects.defer("config")[:CHOICES], "most": MOST_RUNS}
