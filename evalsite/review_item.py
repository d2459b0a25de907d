"""What a reviewer sees of one item: the record of the call, never what the judge or the scoring made of it.

Before a blind ruling nothing of the verdict leaves the server but its claim. So the record is read by kinds of event
that are named here, the database shows what the call changed instead of what was expected, and the places that ``e``
leads to share words with the claim instead of being the judge's evidence.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.db.models import Max, QuerySet

from evalsite import transcript
from evalsite.pages.why import shown_database, shown_verdict
from scenarios import catalogue
from scenarios.domains.base import CallerBrief
from scenarios.models import Trial, TrialEvent, Verdict

# Kinds that tell of the call alone. Those that tell of its scoring are left out by not being named.
OF_THE_CALL = (
    "call.started",
    "turn.ended",
    "tool.called",
    "tool.returned",
    "state.synced",
    "state.pulled",
    "call.intervened",
    "note",
    "call.ended",
)
# Rows that come with the item; the rest of a long call follows when it is scrolled to.
MAX_ROWS = 160
MAX_PLACES = 3
_WORD = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")
# Words that most claims share.
_EMPTY = frozenset(
    {
        "about",
        "agent",
        "been",
        "calculates",
        "caller",
        "communicates",
        "confirms",
        "correctly",
        "customer",
        "does",
        "from",
        "have",
        "informs",
        "into",
        "mentions",
        "provides",
        "said",
        "says",
        "should",
        "tell",
        "tells",
        "that",
        "their",
        "them",
        "there",
        "they",
        "this",
        "user",
        "what",
        "when",
        "which",
        "will",
        "with",
        "would",
    }
)


@dataclass
class Record:
    """The last attempt of a call as reviewers read it."""

    trial: Trial
    is_whole: bool = False
    events: list[TrialEvent] = field(init=False)

    def __post_init__(self) -> None:
        self.events = list(call_events(self.trial))

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of the transcript; what a party added to a turn stands in that turn."""
        rows: dict[str, dict[str, Any]] = {}
        for event in self.events if self.is_whole else self.events[:MAX_ROWS]:
            row = transcript.row(event)
            row["template"] = transcript.TEMPLATES[event.kind]
            if not self.trial.is_timed:
                row["at_ms"] = None
            rows[row["anchor"]] = row
        return list(rows.values())

    @property
    def rest(self) -> int:
        """Return how many events are left out of ``rows``."""
        return 0 if self.is_whole else max(0, len(self.events) - MAX_ROWS)

    @property
    def next_seq(self) -> int:
        """Return the number of the first event that is left out."""
        return self.events[MAX_ROWS].seq if self.rest else 0

    @cached_property
    def tools(self) -> list[dict[str, Any]]:
        """Return the tool calls, shortly: number, name, whether it went well, and how many fields it changed."""
        answers = {event.data["call"]: event.data for event in self.events if event.kind == "tool.returned"}
        called = {event.data["call"]: event for event in self.events if event.kind == "tool.called"}
        return [
            {
                "call": call,
                "tool": event.data["tool"],
                "side": event.side,
                "ok": answers[call]["ok"] if call in answers else None,
                "changes": len(answers[call].get("changes") or ()) if call in answers else 0,
            }
            for call, event in called.items()
        ]

    @cached_property
    def changed(self) -> list[dict[str, Any]]:
        """Return the net changes of the databases: the first value before and the last one after, by place."""
        net: dict[tuple[str, str], dict[str, Any]] = {}
        for event in self.events:
            for change in event.data.get("changes") or ():
                key = (change.get("side", ""), transcript.place(change["path"]))
                first = net.get(key)
                net[key] = {**change, "before": first["before"] if first else change.get("before"), "seq": event.seq}
        return transcript.changes([change for change in net.values() if change["before"] != change.get("after")])

    def places(self, claim: str) -> list[str]:
        """Return the addresses of the events that share the most telling words with a claim, best first."""
        wanted = words(claim) - _EMPTY
        shared = {event: wanted & words(_text(event)) for event in self.events if event.kind in _SPOKEN}
        spread = Counter(word for found in shared.values() for word in found)
        worth = {event: sum(1 / spread[word] for word in found) for event, found in shared.items() if found}
        best = sorted(worth, key=lambda event: (-worth[event], event.seq))[:MAX_PLACES]
        anchors = [_anchor(event) for event in best]
        return list(dict.fromkeys(anchors))


_SPOKEN = frozenset({"turn.ended", "tool.called", "tool.returned"})


def call_events(trial: Trial) -> QuerySet[TrialEvent]:
    """Return the events of the last attempt that tell of the call alone."""
    events = TrialEvent.objects.filter(trial=trial).order_by("seq")
    began = events.filter(kind="attempt.started").aggregate(last=Max("seq"))["last"] or 0
    ended = events.filter(kind="call.ended", seq__gt=began).values_list("seq", flat=True).first()
    # What is noted after the end may be about the scoring.
    shown = events.filter(kind__in=OF_THE_CALL, seq__gt=began)
    return shown if ended is None else shown.filter(seq__lte=ended)


def words(text: str) -> set[str]:
    """Return the words of a text that may tell something: numbers, and words of four letters and more."""
    found = (word.casefold() for word in _WORD.findall(text))
    return {word for word in found if len(word) > 3 or any(letter.isdigit() for letter in word)}


def brief(trial: Trial) -> CallerBrief | None:
    """Return what the caller was told, None where no code here knows the scenario."""
    try:
        return catalogue.spec(trial.scenario.name).caller
    except ValueError:
        return None


def judged(verdict: Verdict, events: Iterable[TrialEvent]) -> dict[str, Any]:
    """Return what may be shown once the person has ruled: the judge's ruling and the diff against what was expected."""
    anchors = {event.seq: transcript.anchor(event) for event in events}
    signals = verdict.trial.signals.filter(signal="db_state_match").order_by("-scoring")
    shown = shown_verdict(verdict, anchors)
    return {
        "verdict": shown,
        "places": list(dict.fromkeys(quote["anchor"] for quote in shown["quotes"] if quote["anchor"])),
        "database": shown_database(signals.exclude(state="not_applicable").first()),
    }


def choices(verdict: Verdict, *, is_blind: bool, own: str = "") -> Sequence[Mapping[str, str]]:
    """Return the buttons: key, ruling and words. ``own``: the blind ruling, which Enter keeps after the reveal."""
    judge = "" if verdict.error or is_blind else "pass" if verdict.passed else "fail"
    words = {"pass": "Holds", "fail": "Does not hold", "cannot_tell": "Cannot tell"}
    if own:
        kept = {"key": "Enter", "ruling": own, "words": f"Keep: {words[own].lower()}"}
        others = [(key, ruling) for key, ruling in zip("123", words, strict=True) if ruling != own]
        return [kept, *({"key": key, "ruling": r, "words": f"Change: {words[r].lower()}"} for key, r in others)]
    if not judge:
        return [{"key": key, "ruling": r, "words": words[r]} for key, r in zip("123", words, strict=True)]
    other = "fail" if judge == "pass" else "pass"
    return [
        {"key": "1", "ruling": judge, "words": f"Agree: {words[judge].lower()}"},
        {"key": "2", "ruling": other, "words": f"Overrule: {words[other].lower()}"},
        {"key": "3", "ruling": "cannot_tell", "words": words["cannot_tell"]},
    ]


def _text(event: TrialEvent) -> str:
    data = event.data
    if event.kind == "turn.ended":
        return str(data["said"])
    return json.dumps(data["arguments"] if event.kind == "tool.called" else data["result"], ensure_ascii=False)


def _anchor(event: TrialEvent) -> str:
    return f"call-{event.data['call']}" if event.kind == "tool.returned" else transcript.anchor(event)
