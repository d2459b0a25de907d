"""What people changed in a run, where a page has the run alone."""

from typing import Any

from django import template
from django.db.models import Count, Q, Sum

from scenarios.models import Run

register = template.Library()


@register.inclusion_tag("runs/_people.html")
def people_changed(run: Run) -> dict[str, Any]:
    """Say how many claims people overruled and how many calls have another outcome by that; nothing where none."""
    changed = Count("pk", filter=~Q(judged_outcome=""))
    return run.trials.order_by().aggregate(overruled=Sum("overruled_count", default=0), changed=changed)
