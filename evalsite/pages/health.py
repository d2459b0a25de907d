"""Whether the site can serve: for load balancers and supervisors."""

from datetime import timedelta

from django.contrib.auth.decorators import login_not_required
from django.db import connection
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache

from scenarios.lifecycle import LEASE_S
from scenarios.models import Lane, Trial


@login_not_required
@never_cache
def healthz(request: HttpRequest) -> JsonResponse:
    """Answer 200 with counts once the database answers; a database that does not raises, which is a 500."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    alive_since = timezone.now() - timedelta(seconds=LEASE_S)
    return JsonResponse(
        {
            "status": "ok",
            "lanes": Lane.objects.filter(ended_at=None, heartbeat_at__gte=alive_since).count(),
            "queued": Trial.objects.filter(status=Trial.Status.QUEUED).count(),
            "running": Trial.objects.filter(status=Trial.Status.RUNNING).count(),
        }
    )
