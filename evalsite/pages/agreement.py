"""The page of a judge version: how far can it be trusted, where does it err, and what to label next."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from evalsite.access import role_required
from evalsite.agreement import WORST_LISTED, WORST_SHOWN, AgreementFilter, canaries_of, runs_of, standing, worst_rows
from scenarios.models import JudgeVersion
from scenarios.reviewing import QueueFilter, make_queue
from scenarios.scoring.claim_kinds import KIND_WORDS

# Items of a queue that is made with one press: an afternoon's work for one person.
QUEUE_ITEMS = 100


@require_safe
def judge_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show how a judge's rulings agree with people's."""
    judge = get_object_or_404(JudgeVersion, pk=pk)
    runs = runs_of(judge)
    chosen = AgreementFilter.read(request.GET, runs)
    found = standing(judge, chosen)
    worst = found.table.worst[: WORST_LISTED if request.GET.get("worst") == "all" else WORST_SHOWN]
    context = {
        "tab": "judges",
        "judge": judge,
        "filter": chosen,
        "runs": runs,
        "domains": sorted({run.domain for run in runs}),
        "found": found,
        "overall": found.table.overall,
        "groups": [
            ("domain", "Domain", found.table.by_domain, {}),
            ("kind", "Kind of claim", found.table.by_kind, KIND_WORDS),
            ("rater", "Person", found.table.by_rater, {}),
        ],
        "worst": worst_rows(worst),
        "worst_count": len(found.table.worst),
        "canaries": canaries_of(judge),
    }
    return render(request, "judges/agreement.html", context)


@role_required("reviewer")
@require_POST
def judge_queue(request: HttpRequest, pk: int) -> HttpResponse:
    """Make the queue of those claims whose labels tell most: of calls that the headline hangs on, else at random."""
    judge = get_object_or_404(JudgeVersion, pk=pk)
    runs = runs_of(judge)
    chosen = AgreementFilter.read(request.POST, runs)
    wanted = [run.pk for run in runs if chosen.run in (None, run.pk) and chosen.domain in ("", run.domain)]
    title = f"Labels for judge {judge.profile} {judge.fingerprint[:8]}"
    narrowing = QueueFilter(runs=tuple(wanted), kind="narrowing", sample=QUEUE_ITEMS)
    at_random = QueueFilter(runs=tuple(wanted), judge=judge.pk, kind="all", sample=QUEUE_ITEMS)
    for one in (narrowing, at_random):
        try:
            queue = make_queue(title, one, request.user, form_key=request.POST.get("form_key", ""))
        except ValueError:
            continue
        messages.success(request, f"Made the queue “{queue}” of {queue.items.count()} claims: begin here.")
        return redirect("review-queue", queue.pk)
    messages.warning(request, "There is nothing to label: this judge has ruled on no claim of an ended call here.")
    return redirect(f"{reverse('judge-detail', args=[pk])}{_query(request.POST)}")


def _query(given: QueryDict) -> str:
    kept = QueryDict(mutable=True)
    for name in ("domain", "run"):
        if value := given.get(name, ""):
            kept[name] = str(value)
    return f"?{kept.urlencode()}" if kept else ""
