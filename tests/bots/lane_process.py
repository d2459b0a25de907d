"""A lane of fake calls as a process of its own, to be killed: ``python -m tests.bots.lane_process WIDTH TURN_S``."""

import asyncio
import sys
from functools import partial

import django


def main() -> None:
    django.setup()
    from bots.lane import Lane
    from tests.bots import fake_calls

    width, turn_s = int(sys.argv[1]), float(sys.argv[2])
    asyncio.run(Lane(partial(fake_calls.hold, turn_s=turn_s), fake_calls.score, width=width, linger_s=0).run())


if __name__ == "__main__":
    main()
