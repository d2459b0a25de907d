"""Gold replay and expected hash of all scenarios of a domain, in a process that has loaded nothing yet."""

import resource
import subprocess
import sys
import time

from django.conf import settings

from tests.bench.figure import Figure

_PROGRAM = """
import sys
from pathlib import Path
from scenarios.domains import load, set_data_root
from scenarios.replay import gold_replay
set_data_root(Path(sys.argv[1]))
specs = load()[sys.argv[2]].scenarios()
print(len({gold_replay(spec).expected_hashes["agent"] for spec in specs}), len(specs))
"""


# Seconds that a domain may take.
_LIMITS = {"tau2_retail": 3, "tau2_airline": 1.5, "eva_airline": 1.5, "tau2_telecom": 2}


def measure() -> list[Figure]:
    """Start a fresh interpreter for each domain, replay everything, end it."""
    return [_replayed(domain, limit) for domain, limit in _LIMITS.items()]


def _replayed(domain: str, limit: float) -> Figure:
    command = [sys.executable, "-c", _PROGRAM, str(settings.BENCHMARK_DIR), domain]
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
    return Figure(f"gold replay of {domain}, cold process", seconds, "s", limit, conditions)


def _children_cpu() -> float:
    """Return the CPU time of all children that have ended, in seconds."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
