"""Store people's labels from a file."""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from scenarios.formats.labels import Format
from scenarios.labels import import_labels

EXIT_REFUSED = 1
FORMS: dict[str, Format] = {".jsonl": "jsonl", ".csv": "csv"}


class Command(BaseCommand):
    """``manage.py import_labels FILE [--format jsonl|csv]``."""

    help = (
        "Store people's rulings on claims, as export_labels writes them; the same file twice adds nothing. "
        f"Exit code 0: every line was taken or known already; {EXIT_REFUSED}: at least one was refused."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Which file, in which form."""
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--format", choices=("jsonl", "csv"), help="default: by the name's ending")

    def handle(self, *args: Any, **options: Any) -> None:
        """Import; exit with 1 when a line was refused."""
        file: Path = options["file"]
        form: Format | None = options["format"] or FORMS.get(file.suffix.lower())
        if form is None:
            raise CommandError(f"{file} ends in neither .jsonl nor .csv: say which it is with --format")
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise CommandError(f"{file} is not UTF-8 text (byte {error.start}): save it as UTF-8") from error
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}") from error
        try:
            report = import_labels(text, form)
        except ValueError as error:
            raise CommandError(f"{file}: {error}") from error
        for problem in report.refused:
            self.stdout.write(f"refused  {file}, {problem}")
        if report.more_refused:
            self.stdout.write(f"refused  and {report.more_refused} more")
        self.stdout.write(f"{file}: {report}")
        if report.refused_count:
            sys.exit(EXIT_REFUSED)
