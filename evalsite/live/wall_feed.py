"""All calls that are held now: tiles that changed, patched by key."""

from collections.abc import Sequence
from dataclasses import replace

from evalsite.live.hub import Viewer, message
from evalsite.wall import Tile, advance, held_trials, render_tile
from scenarios.models import Trial


class WallFeed:
    """Keeps one tile a call; a changed one is rendered once for all viewers."""

    period_s = 0.2

    def __init__(self) -> None:
        self._tiles: dict[int, Tile] = {}
        self._html: dict[int, str] = {}

    def poll(self, viewers: Sequence[Viewer]) -> None:
        """Push to each viewer the tiles that differ from what its page shows."""
        self._read({key for viewer in viewers for key in viewer.known})
        for viewer in viewers:
            changed = [key for key, tile in self._tiles.items() if viewer.known.get(key) != tile.state]
            if changed:
                viewer.push(message("patch", html="".join(self._html[key] for key in changed)))
                viewer.known.update({key: self._tiles[key].state for key in changed})
        self._forget(viewers)

    def _read(self, known: set[int]) -> None:
        trials = {trial.pk: trial for trial in held_trials()}
        # What pages show and is no longer held has ended: they shall say how.
        ended = (known | self._tiles.keys()) - trials.keys()
        fresh = {key for key in ended if key not in self._tiles or self._tiles[key].trial.status not in Trial.ENDED}
        if fresh:
            trials |= {t.pk: t for t in Trial.objects.filter(pk__in=fresh).select_related("scenario", "run")}
        before = {key: self._tiles.get(key, Tile(trial)) for key, trial in trials.items()}
        for tile in advance(replace(before[key], trial=trial) for key, trial in trials.items()):
            key = tile.trial.pk
            if key not in self._html or tile.state != self._tiles[key].state:
                self._html[key] = render_tile(tile)
            self._tiles[key] = tile

    def _forget(self, viewers: Sequence[Viewer]) -> None:
        """Drop calls that have ended once every page has been told."""
        for key in [key for key, tile in self._tiles.items() if tile.trial.status in Trial.ENDED]:
            del self._tiles[key], self._html[key]
            for viewer in viewers:
                viewer.known.pop(key, None)
