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
_SUMMED = ("trials", "replayed", "stored", "agreeing", "differing", "explained")
_CHECKS = {"action": "actions", "communicate": "facts to say", "db_state_assertion": "predicates"}


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
        self.stdout.write(json.dumps(counts) if options["json"] else _summary(results, counts))
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
    said = f": {_compared(result)}" if result.run and result.result != "cancelled" else ""
    return f"{result.result:<12} {name}{where}{said}{f' ({result.why})' if result.why else ''}"


def _compared(result: Imported) -> str:
    """Return how far the verdicts of a file, or of all files together, came out again."""
    calls = f"{result.trials} calls, {result.replayed} replayed"
    if result.not_replayed and result.replayed < result.trials:
        calls += f" (the others, most often: {result.not_replayed})"
    if not result.replayed:
        return calls
    stored = f"{result.stored} stored verdicts, {result.agreeing} agree, {result.differing} differ"
    if result.differing:
        stored += f" ({result.explained} explained)"
    return "; ".join(filter(None, [calls, stored, _checks(result)]))


def _checks(result: Imported) -> str:
    kinds = [(kind, title, _ruled(result, kind)) for kind, title in _CHECKS.items()]
    told = [f"{title} {result.checks[kind, 'agree']} of {ruled} agree" for kind, title, ruled in kinds if ruled]
    return f"checks: {', '.join(told)}" if told else ""


def _ruled(result: Imported, kind: str) -> int:
    return result.checks[kind, "agree"] + result.checks[kind, "differ"]


def _counts(results: list[Imported]) -> dict[str, Any]:
    by_result = Counter(result.result for result in results)
    every = _together(results)
    sums = {name: getattr(every, name) for name in _SUMMED}
    checks = {kind: {"agreeing": every.checks[kind, "agree"], "compared": _ruled(every, kind)} for kind in _CHECKS}
    refused = {"refused": by_result["refused"], "refused_trials": every.refused}
    known = {"partly": by_result["partly"], "already": by_result["already"]}
    return {"files": len(results), **sums, "checks": checks, **refused, **known}


def _together(results: list[Imported]) -> Imported:
    every = Imported(ImportedFile(), "imported")
    for result in results:
        every.checks.update(result.checks)
        for name in (*_SUMMED, "refused"):
            setattr(every, name, getattr(every, name) + getattr(result, name))
    return every


def _summary(results: list[Imported], counts: dict[str, Any]) -> str:
    refused = f"refused {counts['refused']} files and {counts['refused_trials']} calls"
    return f"{len(results)} files: {_compared(_together(results))}; {refused}; {counts['already']} were known already"
