"""Which scenarios of a domain a run holds: what the launch form and ``manage.py evaluate`` both ask.

Every criterion narrows the choice; the sample is drawn last. The rows that mirror the catalogue are read, so the domain
must have been synchronised.
"""

import random
import re
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from scenarios.models import Run, Scenario
from scenarios.searchable import searchable

# How many names of unknown scenarios a message lists.
_LISTED = 5


class BadSelection(ValueError):
    """A criterion that cannot be met; ``field`` is its name, the text says what is wrong and what to do."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True)
class Selection:
    """The criteria. ``ids`` are scenario names or task ids, apart by blanks or commas; empty means all."""

    domain: str
    q: str = ""
    ids: str = ""
    tags: tuple[str, ...] = ()
    persona: str = ""
    with_claims: bool = False
    failed_in: int | None = None
    sample: int | None = None
    seed: int = 1

    def names(self) -> list[str]:
        """Return the names of the chosen scenarios in their natural order, never none."""
        rows = self._rows(Scenario.objects.filter(domain=self.domain, is_registered=True))
        names = [name for name, tags in rows.values_list("name", "tags") if set(self.tags) <= set(tags)]
        if not names:
            raise BadSelection("q", "No scenario meets all of these criteria; loosen one.")
        return self._sample(names)

    def _rows(self, rows: QuerySet[Scenario]) -> QuerySet[Scenario]:
        if self.ids.strip():
            rows = rows.filter(name__in=self._listed(rows))
        if self.q:
            rows = rows.filter(Q(search_text__contains=searchable(self.q)) | Q(name__icontains=self.q))
        if self.persona:
            rows = rows.filter(persona_name=self.persona)
        if self.with_claims:
            rows = rows.filter(claim_count__gt=0)
        if self.failed_in is not None:
            rows = rows.filter(pk__in=self._failed(self.failed_in))
        return rows

    def _listed(self, rows: QuerySet[Scenario]) -> list[str]:
        """Return the full names of ``ids``; all that are unknown are named at once."""
        known = set(rows.values_list("name", flat=True))
        # Where two variants of a domain have the same task, its short name means that of the domain's own prefix.
        own = f"{self.domain}__"
        short = {name.partition("__")[2]: name for name in sorted(known, key=lambda name: name.startswith(own))}
        wanted = [word for word in re.split(r"[\s,;]+", self.ids) if word]
        unknown = [word for word in wanted if word not in known and word not in short]
        if unknown:
            more = f" and {len(unknown) - _LISTED} more" if len(unknown) > _LISTED else ""
            listed = ", ".join(word[:80] for word in unknown[:_LISTED])
            example = min(known, default="-")
            raise BadSelection("ids", f"{self.domain} has no scenario {listed}{more}; its names look like {example}.")
        return [word if word in known else short[word] for word in wanted]

    def _failed(self, number: int) -> QuerySet[Any]:
        run = Run.objects.filter(pk=number).first()
        if run is None:
            raise BadSelection("failed_in", f"There is no run {number}.")
        if run.domain != self.domain:
            raise BadSelection("failed_in", f"Run {run.pk} is a run of {run.domain}, not of {self.domain}.")
        failed = run.trials.filter(outcome__in=("fail", "stalled"))
        if not failed.exists():
            raise BadSelection("failed_in", f"No call of run {run.pk} has failed.")
        return failed.order_by().values("scenario_id")

    def _sample(self, names: list[str]) -> list[str]:
        """Draw ``sample`` names: the same ones for the same seed, criteria and task files."""
        if self.sample is None or self.sample >= len(names):
            return names
        drawn = set(random.Random(self.seed).sample(names, self.sample))  # noqa: S311  (a sample, no secret)
        return [name for name in names if name in drawn]
