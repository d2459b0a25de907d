"""An event as the stream sends it: the row and the timeline mark that the page itself would render."""

from typing import TypedDict

from evalsite import transcript
from scenarios.scoring.evidence import StoredEvent


class Fragment(TypedDict):
    """One event for the page: ``html`` a transcript row, ``mark`` an SVG group for the timeline ('' for none)."""

    seq: int
    kind: str
    html: str
    mark: str


def fragment(event: StoredEvent) -> Fragment:
    """Render an event for all its viewers."""
    return Fragment(
        seq=event.seq, kind=event.kind, html=transcript.render_row(event), mark=transcript.render_mark(event)
    )
