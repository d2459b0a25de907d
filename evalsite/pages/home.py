"""What is running, what finished, what needs me."""

from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from evalsite.access import has_role
from evalsite.filters import RunFilter
from scenarios.models import ReviewQueue, Run, Trial
from scenarios.reviewing import open_to, waiting
from scenarios.standing import standings

OPEN_RUNS = 20
LATEST = 8


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Show what is running, what finished and what needs the reader."""
    runs = Run.objects.select_related("launched_by")
    going = list(RunFilter(state="open").apply(runs, request.user)[:OPEN_RUNS])
    latest = list(RunFilter(state="finished").apply(runs, request.user)[:LATEST])
    mine = list(_unsound(request).exclude(pk__in=[run.pk for run in going])[:LATEST])
    found = standings({run.pk: run for run in (*going, *latest, *mine)}.values())
    context = {
        "going": [found[run.pk] for run in going],
        "latest": [found[run.pk] for run in latest],
        "mine": [found[run.pk] for run in mine],
        **_reviews(request),
        "is_new": not going and not latest and not Run.objects.exists(),
    }
    return render(request, "home/home.html", context)


def _reviews(request: HttpRequest) -> dict[str, object]:
    """Return the queues that hold something for the reader, and how many disagreements they may settle."""
    if not has_role(request.user, "reviewer"):
        return {}
    queues = list(ReviewQueue.objects.filter(closed_at=None))
    free = waiting(queues, request.user)
    return {
        "queues": [(queue, free[queue.pk]) for queue in queues if free[queue.pk]],
        "disputes": len(open_to(request.user)) if has_role(request.user, "operator") else 0,
    }


def _unsound(request: HttpRequest) -> QuerySet[Run]:
    """Return the reader's own runs in which calls failed or broke, newest first."""
    bad = Trial.objects.filter(run=OuterRef("pk"), outcome__in=("fail", "stalled", "infra_error", "judge_error"))
    return Run.objects.select_related("launched_by").filter(Exists(bad), launched_by_id=request.user.pk)
