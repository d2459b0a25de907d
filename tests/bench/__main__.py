"""python -m tests.bench [NAME...] [--json FILE]: measure, print a table, exit 1 when a target is missed."""

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import django

from tests.bench.figure import Figure, machine

NAMES = ("gold", "page", "compare", "agreement", "review", "recorder", "voice", "sweep", "added", "live")


def main() -> int:
    """Measure what is asked for in a throw-away database."""
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"figures to measure, of {', '.join(NAMES)}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    options = parser.parse_args()
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"no figure is called {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    # Asked to stop, stop the site and remove the folder first.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    folder = tempfile.mkdtemp(prefix="callboard-bench-")
    try:
        return _run(options.names or list(NAMES), folder, options.json)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(names: list[str], folder: str, target: Path | None) -> int:
    _prepare(folder)
    print(machine())
    figures: list[Figure] = []
    for figure in _measure(names):
        verdict = "" if figure.limit is None else f"  target < {figure.limit:g}: {'met' if figure.is_met else 'MISSED'}"
        print(f"{figure.name}: {figure.value:.4g} {figure.unit}{verdict}\n    {figure.conditions}", flush=True)
        figures.append(figure)
    if target:
        target.write_text(json.dumps({"machine": machine(), "figures": [figure.row() for figure in figures]}, indent=1))
    return 0 if all(figure.is_met for figure in figures) else 1


def _prepare(folder: str) -> None:
    os.environ["CALLBOARD_VAR"] = folder
    os.environ["DJANGO_SETTINGS_MODULE"] = "evalsite.settings"
    # Always SQLite and its broker, whatever a developer's own environment names.
    for name in ("DATABASE_URL", "REDIS_URL"):
        os.environ.pop(name, None)
    django.setup()
    from django.core.management import call_command

    from scenarios import catalogue
    from scenarios.domains import load
    from scenarios.profiles import load_standins

    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    load_standins()
    catalogue.sync()
    if missing := load()["tau2_retail"].missing_data():
        sys.exit(missing)


def _measure(names: list[str]) -> Iterator[Figure]:
    from tests.bench import added, agreement, compare, gold, live, page, recorder, review, sweep, voice
    from tests.bench.site import serving

    alone: dict[str, Callable[[], list[Figure]]] = {
        "gold": gold.measure,
        "page": page.measure,
        "compare": compare.measure,
        "agreement": agreement.measure,
        "review": review.measure,
        "recorder": recorder.measure,
        "voice": voice.measure,
    }
    for name in names:
        if name in alone:
            yield from alone[name]()
    if set(names) - set(alone):
        with serving() as site:
            if "sweep" in names:
                yield from sweep.measure(site)
            if "added" in names:
                yield from added.measure()
            if "live" in names:
                yield from live.measure(site)


if __name__ == "__main__":
    sys.exit(main())
