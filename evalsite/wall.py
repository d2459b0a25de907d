"""The calls that are held now, each as one tile: last turn, who speaks, age of the last event.

Read by the live wall's page and by its socket, so that both show the same.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from django.db.models import Q
from django.template.loader import render_to_string

from scenarios.models import Trial, TrialEvent

SHOWN = ("attempt.started", "turn.started", "turn.ended", "tool.called")
# How far back a tile looks for the last turn when a call is first seen.
LOOK_BACK = 40
SAID = 280
# More calls at once than this are counted, not drawn.
MAX_TILES = 200


@dataclass(frozen=True)
class Tile:
    """One call on the wall."""

    trial: Trial
    seq: int = 0
    side: str = ""
    said: str = ""
    turn: int = 0
    # Who began a turn that has not ended, by turn: in a voice call both may speak at once.
    open_turns: tuple[tuple[int, str], ...] = ()
    tool: str = ""
    event_at: datetime | None = None

    @property
    def speaking(self) -> str:
        """Return user, agent, both, or "" while nobody speaks."""
        sides = {side for _, side in self.open_turns}
        return "both" if len(sides) > 1 else next(iter(sides), "")

    @property
    def state(self) -> str:
        """Return what a page must know to tell whether it shows this tile as it is."""
        return f"{self.trial.status}/{self.seq}"

    def with_event(self, event: TrialEvent) -> "Tile":
        """Return the tile after one more event."""
        moved = replace(self, seq=event.seq, event_at=event.created_at)
        if event.kind == "attempt.started":  # what the one before left open, nobody will end
            return replace(moved, open_turns=(), tool="")
        if event.kind == "turn.started":
            return replace(moved, open_turns=(*self.open_turns, (event.data["turn"], event.side)), tool="")
        if event.kind == "tool.called":
            return replace(moved, tool=event.data["tool"])
        said = event.data["said"]
        text = said if len(said) <= SAID else said[:SAID] + "…"
        # A side that is at its next turn has ended those before; what was heard of one may come after the next began.
        still = tuple((turn, side) for turn, side in self.open_turns if side != event.side or turn > event.data["turn"])
        return replace(moved, open_turns=still, tool="", side=event.side, said=text, turn=event.data["turn"])


def held_trials() -> list[Trial]:
    """Return the trials whose calls are held or scored now, oldest first."""
    held = Trial.objects.filter(status__in=(Trial.Status.RUNNING, Trial.Status.SCORING))
    return list(held.select_related("scenario", "run").order_by("started_at", "pk")[:MAX_TILES])


def advance(tiles: Iterable[Tile]) -> list[Tile]:
    """Return each tile brought up to its trial's last event, with one query for all of them."""
    tiles = list(tiles)
    wanted = Q()
    for tile in tiles:
        if tile.seq < tile.trial.last_seq:
            wanted |= Q(trial_id=tile.trial.pk, seq__gt=max(tile.seq, tile.trial.last_seq - LOOK_BACK))
    events: dict[int, list[TrialEvent]] = {}
    if wanted:
        for event in TrialEvent.objects.filter(wanted).order_by("trial_id", "seq"):
            events.setdefault(event.trial_id, []).append(event)
    return [_after(tile, events.get(tile.trial.pk, [])) for tile in tiles]


def _after(tile: Tile, events: list[TrialEvent]) -> Tile:
    for event in events:
        tile = (
            tile.with_event(event) if event.kind in SHOWN else replace(tile, seq=event.seq, event_at=event.created_at)
        )
    return tile


def render_tile(tile: Tile) -> str:
    """Return the HTML of one tile, the same on the page and in the stream."""
    return render_to_string("live/_tile.html", {"tile": tile}).strip()
