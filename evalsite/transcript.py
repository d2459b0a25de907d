"""From a stored event to its row on the call page: the one place where pages and sockets meet.

A row's HTML depends on its event alone, so the page, a late viewer and the live stream show the same thing. ``row``
gives the template's context, ``render_row`` the HTML of the transcript, ``render_mark`` that of the timeline.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string

from scenarios.analysis.speech.differences import differences
from scenarios.analysis.speech.ledger import Ledger
from scenarios.analysis.speech.wer import compare
from scenarios.scoring.evidence import StoredEvent

# Text up to here stands open; up to FETCHED it is folded in the page; beyond it comes on demand.
OPEN, FETCHED, PREVIEW = 400, 4_000, 240
# Word differences are quadratic at worst; beyond this many words both texts are shown whole instead.
MAX_DIFF_WORDS = 600
MAX_CHANGES = 12

TALK = frozenset({"turn.started", "turn.ended"})
# Bookkeeping that is shown with "everything" only; its figures stand in the right column.
QUIET = frozenset(
    {
        "attempt.started",
        "party.prepared",
        "usage.reported",
        "context.pulled",
        "signal.scored",
        "verdict.given",
        "latency.measured",
    }
)
TEMPLATES = {
    kind: f"trials/events/_{kind.replace('.', '_')}.html"
    for kind in (
        "attempt.started",
        "attempt.failed",
        "party.prepared",
        "call.started",
        "turn.started",
        "turn.ended",
        "tool.called",
        "tool.returned",
        "state.synced",
        "latency.measured",
        "usage.reported",
        "call.intervened",
        "note",
        "context.pulled",
        "state.pulled",
        "call.ended",
        "signal.scored",
        "verdict.given",
        "trial.finished",
        "outcome.revised",
    )
}
UNKNOWN = "trials/events/_other.html"
MARKED = frozenset({"turn.ended", "tool.returned", "call.intervened"})


@dataclass(frozen=True)
class Folded:
    """A value as text with the length it has in full (characters); ``text`` is '' when it must be asked for."""

    text: str
    preview: str
    size: int

    @property
    def is_open(self) -> bool:
        """Return whether the text is short enough to stand as it is."""
        return self.size <= OPEN

    @property
    def is_fetched(self) -> bool:
        """Return whether the whole text comes only on demand."""
        return self.size > FETCHED


def as_text(value: Any) -> str:
    """Return a JSON value as a reader sees it: text as it is, everything else as indented JSON."""
    if isinstance(value, str):
        return value
    flat = json.dumps(value, ensure_ascii=False)
    return flat if len(flat) <= OPEN else json.dumps(value, ensure_ascii=False, indent=2)


def fold(value: Any) -> Folded:
    """Return ``value`` ready to be shown without freezing a page, however long it is."""
    text = as_text(value)
    preview = text[:PREVIEW] if isinstance(value, str) else " ".join(text[: 2 * PREVIEW].split())[:PREVIEW]
    return Folded("" if len(text) > FETCHED else text, preview, len(text))


def word_diff(said: str, heard: str) -> list[tuple[str, str]] | None:
    """Return ``[(op, words)]`` with op same, lost (said but not heard) or odd (heard but not said); None: too long.

    Spelling, case and punctuation alone are no difference: a recogniser writes "one" as "1".
    """
    if len(said.split()) > MAX_DIFF_WORDS or len(heard.split()) > MAX_DIFF_WORDS:
        return None
    parts: list[tuple[str, str]] = []
    for stretch in differences(said, heard):
        if stretch.op == "equal":
            parts.append(("same", stretch.said))
            continue
        if stretch.said:
            parts.append(("lost", stretch.said))
        if stretch.heard:
            parts.append(("odd", stretch.heard))
    return parts


def place(path: list[Any]) -> str:
    """Return a path into a database as people write it: ``orders.#W1.items.0.price``."""
    return ".".join(str(part) for part in path)


def changes(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return changes with their place in words and both values folded."""
    return [
        {
            "side": change.get("side", ""),
            "place": place(change["path"]),
            "op": change.get("op", "set"),
            "before": fold(change.get("before")),
            "after": fold(change.get("after")),
        }
        for change in rows
    ]


def _turn(data: Mapping[str, Any]) -> dict[str, Any]:
    said, heard = data["said"], data["heard"]
    is_short = heard is not None and len(said) + len(heard) <= FETCHED
    parts = word_diff(said, heard) if is_short and heard != said else None
    is_other = heard is not None and (heard != said if parts is None else any(op != "same" for op, _ in parts))
    shown: dict[str, Any] = {
        "said": fold(said),
        "raw": fold(data["raw"]) if data.get("raw") else None,
        # A turn that was heard word for word, only written otherwise, has nothing to show.
        "heard": fold(heard) if is_other or (heard and not said.strip()) else None,
        "parts": parts if is_other else None,
    }
    if data.get("ended_ms") is not None:  # spoken: the event itself came when the other side had heard it
        shown["at_ms"] = data["started_ms"]
        shown["spoken"] = "not measured" if heard is None else "otherwise" if is_other else "word for word"
        if is_other and is_short:
            shown["errors"] = compare(said, heard, is_interrupted=bool(data.get("interrupted")))
    return shown


def _called(data: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "arguments": [(name, fold(value)) for name, value in data["arguments"].items()],
        "raw": fold(data["raw_arguments"]) if data.get("raw_arguments") is not None else None,
    }


def _returned(data: Mapping[str, Any]) -> dict[str, Any]:
    made = data.get("changes") or []
    return {"result": fold(data["result"]), "changes": changes(made[:MAX_CHANGES]), "change_count": len(made)}


def _synced(data: Mapping[str, Any]) -> dict[str, Any]:
    made = data.get("changes") or []
    told = [
        {
            "side": side,
            "ms": (data.get("acknowledged_ms") or {}).get(side),
            "fields": [(k, fold(v)) for k, v in d.items()],
        }
        for side, d in (data.get("deltas") or {}).items()
    ]
    return {"changes": changes(made[:MAX_CHANGES]), "change_count": len(made), "told": told}


def _pulled(data: Mapping[str, Any]) -> dict[str, Any]:
    made = data.get("changes") or []
    return {
        "changes": changes(made[:MAX_CHANGES]),
        "change_count": len(made),
        "actions": fold(data["actions"]),
        "follows": data["db_hash"] is not None and data["db_hash"] == data.get("copy_hash"),
    }


def _latency(data: Mapping[str, Any]) -> dict[str, Any]:
    ledger = Ledger.of_event(data["response_ms"], data.get("parts") or {})
    return {"parts": list(ledger.parts.items()), "residual": ledger.residual_ms}


def _other(data: Mapping[str, Any]) -> dict[str, Any]:
    return {"whole": fold(dict(data))}


VIEWS: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "turn.ended": _turn,
    "tool.called": _called,
    "tool.returned": _returned,
    "state.synced": _synced,
    "state.pulled": _pulled,
    "latency.measured": _latency,
}


def anchor(event: StoredEvent) -> str:
    """Return the permanent address of an event on its call page: turn-7, call-14 or event-57."""
    if event.kind == "turn.ended":
        return f"turn-{event.data['turn']}"
    if event.kind == "tool.called":
        return f"call-{event.data['call']}"
    return f"event-{event.seq}"


def row(event: StoredEvent, is_current: bool = True) -> dict[str, Any]:
    """Return the context of a row. Turns and calls of earlier attempts (not ``is_current``) go by number alone."""
    known = event.kind in TEMPLATES
    view = VIEWS.get(event.kind, _other if not known else lambda data: {})
    return {
        "seq": event.seq,
        "at_ms": event.at_ms,
        "kind": event.kind,
        "side": event.side,
        "data": event.data,
        "anchor": anchor(event) if is_current else f"event-{event.seq}",
        "level": "talk" if event.kind in TALK else "quiet" if event.kind in QUIET or not known else "call",
        **view(event.data),
    }


def render_row(event: StoredEvent, is_current: bool = True) -> str:
    """Return the HTML of one event, the same on the page and in the stream."""
    return render_to_string(TEMPLATES.get(event.kind, UNKNOWN), {"row": row(event, is_current)}).strip()


def mark(event: StoredEvent) -> dict[str, Any] | None:
    """Return where an event stands on the timeline (milliseconds, lane), or None when it has no place there."""
    if event.kind not in MARKED:
        return None
    data, end = event.data, event.at_ms
    if event.kind == "turn.ended":
        start, name = data["started_ms"], f"turn {data['turn']}"
        end = event.at_ms if data.get("ended_ms") is None else data["ended_ms"]
        shape = f"{event.side}{' interrupted' if data.get('interrupted') else ''}"
        target = f"turn-{data['turn']}"
    elif event.kind == "tool.returned":
        start, name = event.at_ms - round(data["duration_ms"] or 0), f"call {data['call']}: {data['tool']}"
        shape = "refused" if not data["ok"] else "write" if data.get("changes") else "read"
        target = f"call-{data['call']}"
    else:
        start, name, shape, target = event.at_ms, f"{data['action']} by {data['person']}", "person", anchor(event)
    start = max(0, min(start, end))
    return {
        "name": name,
        "shape": shape,
        "target": target,
        "start": start,
        # A shape without width is not drawn at all.
        "length": max(1, end - start),
        "end": end,
        "lane": {"user": 0, "agent": 12}.get(event.side, 24) if event.kind == "turn.ended" else 24,
    }


def render_mark(event: StoredEvent) -> str:
    """Return the SVG of one event for the timeline, or '' when it has no place there."""
    found = mark(event)
    return render_to_string("trials/_mark.html", {"mark": found}).strip() if found else ""
