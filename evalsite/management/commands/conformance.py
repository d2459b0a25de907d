"""manage.py conformance PATH...: run conformance vectors against the code."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from scenarios.conformance import run_file, vector_files


class Command(BaseCommand):
    """Prints one line a file and the first failures in full; exits with 1 on any failure."""

    help = "Run conformance vectors (files, or folders of them) against the code."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take paths and how many failures to print."""
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a vector file or a folder of them")
        parser.add_argument("--failures", type=int, default=5, metavar="N", help="failures printed in full a file (5)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the files in order."""
        paths: list[Path] = options["paths"]
        if absent := [str(path) for path in paths if not path.exists()]:
            raise CommandError(f"there is no {', '.join(absent)}")
        files = list(vector_files(paths))
        if not files:
            raise CommandError(f"no vectors of a known kind in {', '.join(map(str, paths))}")
        failed = False
        for path in files:
            report = run_file(path)
            self.stdout.write(str(report))
            for failure in report.failures[: options["failures"]]:
                self.stdout.write(f"  {str(failure).replace(chr(10), f'{chr(10)}  ')}")
            failed = failed or bool(report.failures)
        if failed:
            sys.exit(1)
