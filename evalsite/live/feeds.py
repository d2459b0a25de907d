"""The hub of this process and what can be watched through it."""

from collections.abc import Mapping

from evalsite.live.hub import Feed, Hub
from evalsite.live.run_feed import RunFeed
from evalsite.live.trial_feed import TrialFeed
from evalsite.live.wall_feed import WallFeed


def make_feeds() -> Mapping[str, Feed]:
    """Return fresh feeds by the name that consumers use."""
    return {"trial": TrialFeed(), "run": RunFeed(), "wall": WallFeed()}


hub = Hub(make_feeds)
