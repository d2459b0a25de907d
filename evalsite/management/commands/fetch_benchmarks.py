"""manage.py fetch_benchmarks: bring the pinned benchmark files here, or say plainly which could not be had."""

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

from evalsite.fetching import REFUSED, Fetched, fetch, sources_of
from scenarios.benchmarks.pins import Pin, Pins, read_pins
from scenarios.benchmarks.store import fault, write_licences

PARTLY = 12
SHOWN = 10  # problems printed


class Command(BaseCommand):
    help = (
        "Fetch the benchmark files that data/benchmarks.toml pins, every one verified by its SHA-256. Safe to repeat: "
        "what is right already is left alone, what is damaged is fetched again. "
        "Exit codes: 0 all needed files are here, 12 some are not, 1 none are or something broke."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--from", dest="source", type=Path, metavar="DIR", help="take files from this folder first")
        parser.add_argument("--into", type=Path, metavar="DIR", help="write here instead of data/benchmarks")
        parser.add_argument("--domain", action="append", default=[], metavar="NAME", help="only this one (repeatable)")
        parser.add_argument("--check", action="store_true", help="verify the files in use and fetch nothing")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, **options: Any) -> None:
        try:
            pins = read_pins(settings.DATA_DIR / "benchmarks.toml")
            domains = options["domain"] or list(pins.domains)
            files = pins.of(domains)
        except (OSError, ValueError) as error:
            raise CommandError(str(error)) from error
        if options["source"] and not options["source"].is_dir():
            raise CommandError(f"--from {options['source']}: there is no such folder")
        if options["check"]:
            folder = options["into"] or settings.BENCHMARK_DIR
            outcomes = [_checked(folder, pin) for pin in files]
        else:
            folder = options["into"] or settings.DATA_DIR / "benchmarks"
            try:
                outcomes = self._fetched(pins, files, folder, options)
                self._add_licences(pins, folder, outcomes)
            except OSError as error:
                raise CommandError(f"cannot write the files: {error}") from error
        self._report(folder, outcomes, as_json=options["json"])

    def _fetched(self, pins: Pins, files: tuple[Pin, ...], folder: Path, options: dict[str, Any]) -> list[Fetched]:
        sources = sources_of(pins, options["source"] or _configured_folder(), settings.VAR_DIR / "wheels")
        columns = (TextColumn("{task.description:<40}"), BarColumn(), DownloadColumn())
        with Progress(*columns, console=Console(stderr=True), disable=options["json"]) as progress:
            bar = progress.add_task("", total=sum(pin.bytes for pin in files))
            outcomes = []
            for outcome in fetch(files, folder, sources, lambda pin: progress.update(bar, description=pin.path)):
                outcomes.append(outcome)
                progress.advance(bar, outcome.pin.bytes)
            progress.update(bar, description="done")
        return outcomes

    def _add_licences(self, pins: Pins, folder: Path, outcomes: list[Fetched]) -> None:
        for domain in {outcome.pin.domain for outcome in outcomes if outcome.state != "missing"}:
            write_licences(folder, domain, (settings.DATA_DIR / "licences" / name for name in pins.licences[domain]))

    def _report(self, folder: Path, outcomes: list[Fetched], *, as_json: bool) -> None:
        had = [outcome for outcome in outcomes if outcome.state != "missing"]
        needed = [outcome for outcome in outcomes if outcome.state == "missing" and outcome.pin.is_needed]
        code = 0 if not needed else PARTLY if had else 1
        if as_json:
            self.stdout.write(
                json.dumps({"folder": str(folder), "exit_code": code, "files": _rows(outcomes)}, indent=1)
            )
        else:
            self._print(folder, outcomes)
        if code:
            names = _named([outcome.pin.path for outcome in needed])
            raise CommandError(f"{len(needed)} needed files are not there: {names}", returncode=code)

    def _print(self, folder: Path, outcomes: list[Fetched]) -> None:
        domains: dict[str, list[Fetched]] = defaultdict(list)
        for outcome in outcomes:
            domains[outcome.pin.domain].append(outcome)
        self.stdout.write(f"Benchmark files in {folder}")
        for domain, files in domains.items():
            missing = [outcome for outcome in files if outcome.state == "missing"]
            ready = not any(outcome.pin.is_needed for outcome in missing)
            had = len(files) - len(missing)
            verdict = "ready" if ready else "cannot be used"
            self.stdout.write(f"  {domain:<14} {had} of {len(files)} files, {verdict}")
            for outcome in missing:
                if outcome.pin.without:
                    self.stdout.write(f"    without {outcome.pin.path}: {outcome.pin.without}")
        self._print_problems(outcomes)
        if (configured := _configured_folder()) and configured != folder:
            self.stdout.write(f"  EVAL_DATA_ROOT is set: the site reads {configured}, not this folder")

    def _print_problems(self, outcomes: list[Fetched]) -> None:
        # A source that cannot be reached says the same for every file: say it once, and first.
        lines = Counter(
            line
            for outcome in outcomes
            for line in outcome.problems
            if outcome.state == "missing" or line.startswith(REFUSED)
        ).most_common()
        for line, _ in lines[:SHOWN]:
            self.stdout.write(f"  - {line}")
        if len(lines) > SHOWN:
            self.stdout.write(f"  - and {len(lines) - SHOWN} more (--json has them all)")


def _configured_folder() -> Path | None:
    """Return the folder that EVAL_DATA_ROOT names, when it names another than ours."""
    folder: Path = settings.BENCHMARK_DIR
    return folder if folder != settings.DATA_DIR / "benchmarks" else None


def _checked(folder: Path, pin: Pin) -> Fetched:
    problem = fault(folder, pin)
    return Fetched(pin, "present") if problem is None else Fetched(pin, "missing", "", (f"{pin.path}: {problem}",))


def _rows(outcomes: list[Fetched]) -> list[dict[str, Any]]:
    return [
        {
            "path": outcome.pin.path,
            "state": outcome.state,
            "needed": outcome.pin.is_needed,
            "source": outcome.source,
            "without": outcome.pin.without or "",
            "problems": list(outcome.problems),
        }
        for outcome in outcomes
    ]


def _named(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
