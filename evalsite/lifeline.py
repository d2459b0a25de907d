"""Ends process groups when the process that started them is gone, however it went: ``kill -9`` included.

Run by path with the standard library only. It reads ``+GROUP`` and ``-GROUP`` lines from its supervisor's pipe; the
pipe's end is the supervisor's end, and then every group that is left is asked to stop and, after a grace, killed.
"""

import os
import signal
import sys
import time

GRACE_S = 8.0


def is_alive(group: int) -> bool:
    """Return whether a process group has a member."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def end(groups: set[int]) -> None:
    """Stop the groups: politely, then not."""
    for name, grace_s in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, 0.0)):
        for group in filter(is_alive, groups):
            os.killpg(group, name)
        deadline = time.monotonic() + grace_s
        while time.monotonic() < deadline and any(map(is_alive, groups)):
            time.sleep(0.1)


def main() -> None:
    """Keep the list of groups until the pipe ends."""
    groups: set[int] = set()
    for line in sys.stdin:
        change = groups.add if line[0] == "+" else groups.discard
        change(int(line[1:]))
    end(groups)


if __name__ == "__main__":
    for name in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(name, signal.SIG_IGN)
    main()
