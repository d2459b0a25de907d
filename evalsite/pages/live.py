"""The live wall: what is being said right now."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from evalsite.wall import Tile, advance, held_trials
from scenarios.models import Trial


@require_safe
def live_wall(request: HttpRequest) -> HttpResponse:
    """Show every call that is held now."""
    tiles = advance(Tile(trial) for trial in held_trials())
    counts = Trial.objects.filter(status__in=("queued", "running", "scoring")).values_list("status", flat=True)
    queued = sum(status == "queued" for status in counts)
    return render(request, "live/wall.html", {"tiles": tiles, "held": len(counts) - queued, "queued": queued})
