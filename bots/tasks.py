"""What workers run: entry points that django-q2 calls by name. Everything heavy is imported inside.

The cluster forks its workers, and neither they nor the site should pay for pipecat before a call is held.
"""

import asyncio
from collections.abc import Sequence


def run_lane() -> None:
    """Run one lane until nothing is left to do; wake a successor when its time was over first."""
    from django.conf import settings

    from bots.wake import announce_lane, wake_lanes

    # Before the imports that take a second, so that others know that somebody is coming.
    key = announce_lane(settings.LANE_WIDTH)
    if key is None:
        return
    from bots.call import hold_call
    from bots.lane import Lane
    from bots.scorer import score

    lane = Lane(hold_call, score, key=key, width=settings.LANE_WIDTH)
    asyncio.run(lane.run())
    if not lane.is_stopped:
        wake_lanes()


def run_preflight(row_ids: Sequence[int]) -> None:
    """Make one cheap request for each of these ``Preflight`` rows and store the answers."""
    from bots.preflight import check_all

    asyncio.run(check_all(row_ids))


def run_imports() -> None:
    """Read the uploads that wait into runs; what becomes of each is in its ``ImportedFile`` row."""
    from scenarios.importing import import_waiting

    import_waiting()


def run_judge_batch(batch_id: int) -> None:
    """Judge the calls of a batch again, or save its rulings; wake a successor when the time was over first."""
    from bots.rejudge import run_batch
    from bots.wake import wake_batch

    if run_batch(batch_id):
        wake_batch(batch_id)


def ask_canaries(batch_id: int) -> None:
    """Ask a judge about the canaries of a batch that have no ruling yet."""
    from bots.rejudge import ask_canaries as ask

    ask(batch_id)


if __name__ == "__main__":  # one lane, or with a number the batch of that number, without a cluster
    import os
    import sys

    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")
    django.setup()
    if sys.argv[1:]:
        run_judge_batch(int(sys.argv[1]))
    else:
        run_lane()
