"""manage.py bench: the speed figures, measured here."""

import subprocess
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser


class Command(BaseCommand):
    """``bench [NAME...] [--json FILE]``: a process of its own, since it needs a throw-away database."""

    help = (
        "Measure the speed figures in a throw-away database and print each with its target and conditions. "
        "Exit codes: 0 all targets met, 1 one missed or something broke."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the command line."""
        parser.add_argument("names", nargs="*", metavar="NAME", help="only these figures")
        parser.add_argument("--json", metavar="FILE", help="write the figures there as well")

    def handle(self, *, names: list[str], json: str | None, **options: Any) -> None:
        """Run ``tests.bench``, which is part of a checkout and not of an installed package."""
        if not (settings.BASE_DIR / "tests" / "bench").is_dir():
            raise CommandError(f"the benchmarks are in tests/bench of a checkout; {settings.BASE_DIR} has none")
        command = [sys.executable, "-m", "tests.bench", *names, *(["--json", json] if json else [])]
        done = subprocess.run(command, cwd=settings.BASE_DIR, check=False)  # noqa: S603  (our own interpreter)
        if done.returncode:
            raise CommandError("a target was missed or a measurement broke: see above", returncode=done.returncode)
