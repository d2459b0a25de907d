"""A lane of fake calls as a process of its own: ``python -m tests.bots.lane_process WIDTH TURN_S [SIGNAL AFTER]``.

With a signal it strikes itself in mid-sweep, a moment after it began to score so many calls: struck from outside, it
could be through with all of them before a busy machine comes to do so.
"""

import asyncio
import os
import signal
import sys
from functools import partial

import django


def main() -> None:
    django.setup()
    from bots.lane import Lane, ScoredCall
    from scenarios.lifecycle import Claim
    from scenarios.scoring.evidence import Evidence
    from tests.bots import fake_calls

    width, turn_s = int(sys.argv[1]), float(sys.argv[2])
    blow, after = (signal.Signals[sys.argv[3]], int(sys.argv[4])) if len(sys.argv) > 3 else (signal.SIGTERM, -1)
    scored = 0

    async def score(claim: Claim, held: Evidence | None) -> ScoredCall:
        nonlocal scored
        scored += 1
        if scored == after:
            asyncio.get_running_loop().call_later(turn_s, os.kill, os.getpid(), blow)
        return await fake_calls.score(claim, held)

    asyncio.run(Lane(partial(fake_calls.hold, turn_s=turn_s), score, width=width, linger_s=0).run())


if __name__ == "__main__":
    main()
