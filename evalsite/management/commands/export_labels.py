"""Write people's labels as JSON lines or CSV."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from scenarios.formats.labels import csv_lines, jsonl_lines
from scenarios.labels import exported, reviews_of
from scenarios.models import JudgeVersion, ReviewQueue, Run


class Command(BaseCommand):
    """``manage.py export_labels [--run N] [--judge N] [--queue N] [--format jsonl|csv] [-o FILE]``."""

    help = "Write people's rulings on claims: one line a (claim of a call, rater, stage), with stable claim ids."

    def add_arguments(self, parser: CommandParser) -> None:
        """Which labels, in which form, where to."""
        parser.add_argument("--run", type=int, metavar="N", help="only of this run")
        parser.add_argument("--judge", type=int, metavar="N", help="only on what this judge version ruled on")
        parser.add_argument("--queue", type=int, metavar="N", help="only given in this review queue")
        parser.add_argument("--format", choices=("jsonl", "csv"), default="jsonl", help="default: %(default)s")
        parser.add_argument(
            "-o", "--out", type=Path, metavar="FILE", help="never replaces a file; without it: standard output"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the file, and say on standard error how many labels it has."""
        run, judge = _row(Run, "run", options["run"]), _row(JudgeVersion, "judge version", options["judge"])
        queue = _row(ReviewQueue, "review queue", options["queue"])
        labels = list(exported(reviews_of(run=run, judge=judge, queue=queue)))
        lines = (csv_lines if options["format"] == "csv" else jsonl_lines)(labels)
        out: Path | None = options["out"]
        if out is None:
            for line in lines:
                self.stdout.write(line, ending="")
        else:
            try:
                with out.open("x", encoding="utf-8", newline="") as file:
                    file.writelines(lines)
            except FileExistsError:
                raise CommandError(f"{out} exists and is never replaced: give another name") from None
            except OSError as error:
                raise CommandError(f"{out} cannot be written: {error.strerror}") from error
        self.stderr.write(f"{len(labels)} labels{f' in {out}' if out else ''}")


def _row(model: Any, what: str, pk: int | None) -> Any:
    if pk is None:
        return None
    row = model.objects.filter(pk=pk).first()
    if row is None:
        raise CommandError(f"there is no {what} {pk}")
    return row
