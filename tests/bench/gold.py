"""Gold replay and expected hashes of whole domains, in a process that has loaded nothing yet."""

import resource
import subprocess
import sys
import time

from django.conf import settings

from scenarios.domains import load
from tests.bench.figure import Figure

_PROGRAM = """
import sys
from pathlib import Path
from scenarios.domains import load, set_data_root
from scenarios.replay import gold_replay
set_data_root(Path(sys.argv[1]))
specs = [spec for name in sys.argv[2:] for spec in load()[name].scenarios()]
print(len({gold_replay(spec).expected_hashes["agent"] for spec in specs}), len(specs))
"""


def measure() -> list[Figure]:
    """Replay the shop, the airline (the biggest database), and everything; an interpreter for each."""
    everything = [name for name, domain in load().items() if name != "frontdesk" and not domain.missing_data()]
    return [
        _replayed("tau2_retail", ["tau2_retail"], 3),
        _replayed("tau2_airline", ["tau2_airline"], 3),
        _replayed("the whole benchmark", everything, 8),
    ]


def _replayed(what: str, names: list[str], limit: float) -> Figure:
    command = [sys.executable, "-c", _PROGRAM, str(settings.BENCHMARK_DIR), *names]
    cpu_before = _children_cpu()
    started = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    seconds = time.perf_counter() - started
    cpu = _children_cpu() - cpu_before
    hashes, scenarios = done.stdout.split()
    conditions = (
        f"{scenarios} scenarios, {hashes} different end states, interpreter start and imports included; "
        f"{cpu:.2f} s of CPU"
    )
    return Figure(f"gold replay of {what}, cold process", seconds, "s", limit, conditions)


def _children_cpu() -> float:
    """Return the CPU time of all children that have ended, in seconds."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
