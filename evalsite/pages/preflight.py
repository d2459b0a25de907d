"""Does an endpoint answer? A worker asks, since only workers have the keys; the page looks until it has."""

from datetime import timedelta

from django.db.models import Q
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from bots import wake
from evalsite.access import role_required
from scenarios.models import Preflight, Profile

# A worker that has not answered by then is not there, or all of them are busy.
PATIENCE = timedelta(seconds=25)
MAX_AT_ONCE = 12


@role_required("operator")
@require_http_methods(["GET", "HEAD", "POST"])
def preflight(request: HttpRequest) -> HttpResponse:
    """POST ``profile`` (primary keys) or ``agent``, ``caller``, ``judge`` (slugs) asks; GET ``row`` shows answers."""
    if request.method == "POST":
        chosen = _chosen(request.POST)
        rows = wake.preflight([profile.pk for profile in chosen]) if chosen else []
        rows.sort(key=lambda row: row.pk)
    else:
        wanted = _numbers(request.GET.getlist("row"))
        rows = list(Preflight.objects.filter(pk__in=wanted).select_related("profile").order_by("pk"))
    waiting = [row for row in rows if row.state == Preflight.State.ASKED]
    is_late = any(timezone.now() - row.asked_at > PATIENCE for row in waiting)
    context = {"rows": rows, "waits": bool(waiting) and not is_late, "is_late": is_late}
    return render(request, "settings/_preflight.html", context)


def _chosen(asked: QueryDict) -> list[Profile]:
    wanted = Q(pk__in=_numbers(asked.getlist("profile")))
    for kind in Profile.Kind.values:
        if slug := asked.get(kind, "").replace("\0", ""):
            wanted |= Q(kind=kind, slug=slug)
    return list(Profile.objects.filter(wanted, is_archived=False)[:MAX_AT_ONCE])


def _numbers(texts: list[str]) -> list[int]:
    return [int(text) for text in texts[:MAX_AT_ONCE] if text.isascii() and text.isdigit() and len(text) < 19]
