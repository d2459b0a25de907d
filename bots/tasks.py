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


def run_import(file_id: int) -> None:
    """Read an uploaded file into runs; what becomes of it is in its ``ImportedFile`` rows."""
    from scenarios.importing import import_upload

    import_upload(file_id)


if __name__ == "__main__":  # one lane without a cluster
    import os

    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")
    django.setup()
    run_lane()
