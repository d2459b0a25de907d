"""Load agents, callers and judges from TOML files."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from scenarios.profiles import BadProfile, load


class Command(BaseCommand):
    """Create or update profiles; a wrong file changes nothing."""

    help = "Load named agents, callers and judges from TOML files ([[agent]], [[caller]], [[judge]] tables)."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take one file or several."""
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE")

    def handle(self, *args: Any, files: list[Path], **options: Any) -> None:
        """Load each file in turn."""
        for path in files:
            try:
                profiles = load(path)
            except BadProfile as error:
                raise CommandError(str(error)) from error
            for profile in profiles:
                self.stdout.write(f"{profile.kind} {profile.slug}")
