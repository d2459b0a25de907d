"""Store results of other tools: a line for each file, and one of counts for all."""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from scenarios import catalogue
from scenarios.formats.imports.everything import open_all
from scenarios.importing import Imported, refuse, store
from scenarios.models import ImportedFile

EXIT_REFUSED = 1


class Command(BaseCommand):
    """``manage.py import_runs PATH... [--rescore] [--upstream] [--json]``."""

    help = (
        "Import results of other tools (tau2-bench, tau-bench, run folders of the reference system and of eva, Inspect "
        f"logs). Exit code 0: every file was stored or known already; {EXIT_REFUSED}: at least one was refused."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="files or folders, to any depth")
        parser.add_argument("--rescore", action="store_true", help="run the tool calls again and compare the verdicts")
        parser.add_argument("--upstream", action="store_true", help="with --rescore: with tau2's own tool defects")
        parser.add_argument("--json", action="store_true", help="print one line of JSON with the counts, nothing else")

    def handle(self, *args: Any, **options: Any) -> None:
        """Import; exit with 1 when a file was refused."""
        catalogue.sync()
        results = []
        for found in open_all(options["paths"]):
            if found.kind == "passed_over":
                self._say(options, f"passed over  {found.name}: {found.why}")
                continue
            if found.run is None:
                result = refuse(ImportedFile(name=found.name[-300:]), found.why)
            else:
                replay, upstream = options["rescore"], options["upstream"]
                result = store(found.run, name=_name(found.path, found.place), replay=replay, upstream=upstream)
            results.append(result)
            self._say(options, _line(found.name, result))
        counts = _counts(results)
        self.stdout.write(json.dumps(counts) if options["json"] else _summary(counts))
        if counts["refused"]:
            sys.exit(EXIT_REFUSED)

    def _say(self, options: dict[str, Any], line: str) -> None:
        if not options["json"]:
            self.stdout.write(line)


def _name(path: Path, place: str) -> str:
    """Return a short name that tells files of one folder apart."""
    return f"{path.name}/{place}" if place else path.name


def _line(name: str, result: Imported) -> str:
    where = f" -> run {result.run.pk}" if result.run else ""
    counts = f", {result.trials} calls" if result.run else ""
    if result.replayed:
        counts += f", {result.replayed} replayed: {result.agreeing} agree, {result.differing} differ"
    return f"{result.result:<12} {name}{where}{counts}{f' ({result.why})' if result.why else ''}"


def _counts(results: list[Imported]) -> dict[str, int]:
    by_result = Counter(result.result for result in results)
    names = ("trials", "replayed", "agreeing", "differing")
    sums = {name: sum(getattr(result, name) for result in results) for name in names}
    refused = {"refused": by_result["refused"], "refused_trials": sum(result.refused for result in results)}
    return {"files": len(results), **sums, **refused, "partly": by_result["partly"], "already": by_result["already"]}


def _summary(counts: dict[str, int]) -> str:
    calls = f"{counts['trials']} calls, {counts['replayed']} replayed: {counts['agreeing']} agree"
    refused = f"refused {counts['refused']} files and {counts['refused_trials']} calls"
    return (
        f"{counts['files']} files: {calls}, {counts['differing']} differ; {refused}; "
        f"{counts['already']} were known already"
    )
