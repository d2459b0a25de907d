"""Hold a run against another on the command line, and close a release gate when it regressed."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evalsite.comparison_report import as_json, as_junit, as_text, incomplete
from scenarios.comparing import Refused, read
from scenarios.models import Run

NO_REGRESSION, REGRESSION, INCOMPLETE = 0, 10, 12


class Command(BaseCommand):
    """The gate of a release: failure sets, topline, exit code."""

    help = (
        "Compare a candidate run with a baseline run of the same domain: newly failing, newly passing, failing in "
        "both and flaky scenarios, then the topline. Exit codes: 0 no regression; 10 a regression, that is a scenario "
        "that fails more often than flakiness explains, or a topline worse at p <= 0.01; 12 no regression seen, but "
        "calls are open or scenarios of both runs lack a rated call; 1 the runs cannot be compared or a file cannot "
        "be written; 2 wrong options."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Which runs, and what to write."""
        parser.add_argument("--baseline", required=True, type=int, metavar="RUN", help="number of the earlier run")
        parser.add_argument("--candidate", required=True, type=int, metavar="RUN", help="number of the run to judge")
        parser.add_argument(
            "--margin",
            type=float,
            metavar="POINTS",
            help="also ask whether the pass rates are equivalent within so many points; changes no exit code",
        )
        parser.add_argument("--json", action="store_true", dest="is_json", help="print JSON")
        parser.add_argument("--junit", type=Path, metavar="PATH", help="write JUnit XML there, a scenario a case")

    def handle(
        self,
        *,
        baseline: int,
        candidate: int,
        margin: float | None,
        is_json: bool,
        junit: Path | None,
        **_: Any,
    ) -> None:
        """Compare, report, exit."""
        if margin is not None and not 0 < margin <= 50:
            raise CommandError(f"--margin {margin:g}: give points of the pass rate, above 0 and up to 50")
        runs = [_run("--baseline", baseline), _run("--candidate", candidate)]
        if runs[0].is_rehearsal != runs[1].is_rehearsal:
            raise CommandError(
                f"one of runs {baseline} and {candidate} is a rehearsal with stand-ins, the other a model's: "
                "no gate rests on that; the compare page shows them side by side"
            )
        try:
            compared = read(runs, None if margin is None else margin / 100)
        except Refused as error:
            raise CommandError(str(error)) from error
        comparison = compared.comparisons[0]
        if comparison.topline.value is None:
            raise CommandError(f"no scenario has a rated call in both run {baseline} and run {candidate}")
        if junit is not None:
            _write(junit, as_junit(compared, comparison))
        shown = as_json(compared, comparison)
        self.stdout.write(json.dumps(shown, indent=2) if is_json else as_text(compared, comparison))
        if comparison.regressed:
            raise SystemExit(REGRESSION)
        if incomplete(compared, comparison):
            raise SystemExit(INCOMPLETE)


def _run(option: str, number: int) -> Run:
    # A number beyond what a database counts to is that of no run.
    run = Run.objects.filter(pk=number).first() if 0 < number < 2**63 else None
    if run is None:
        newest = Run.objects.order_by("-pk").values_list("pk", flat=True)[:5]
        raise CommandError(
            f"{option}: there is no run {number}; the newest are {', '.join(map(str, newest)) or 'none'}"
        )
    return run


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise CommandError(f"--junit {path}: cannot be written: {error.strerror}") from error
