"""The call page: why did this call end as it did. The same page while the call is held and afterwards."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from evalsite import transcript
from evalsite.access import role_required
from evalsite.pages import calls
from evalsite.pages.calls import CallRecord, Chunk
from evalsite.pages.listen import listening, recorded_attempts
from evalsite.pages.why import explain
from evalsite.reviewed import is_reviewed, newest_reviews
from scenarios import lifecycle
from scenarios.models import Trial

SHOWS = {"talk": "Talk", "call": "Talk and tools", "all": "Everything"}
PARTS = frozenset(
    {"said", "heard", "raw", "arguments", "raw_arguments", "result", "changes", "actions", "deltas", "data"}
)
FAILED = ("fail", "stalled")


@require_safe
def trial_detail(request: HttpRequest, run: int, scenario: str, number: int) -> HttpResponse:
    """Show a call: transcript at the left, why it ended so at the right."""
    trial = _trial(run, scenario, number)
    record = CallRecord(trial)
    chunks = record.chunks()
    opened = _opened(request, record, chunks)
    show = request.GET.get("show", "call")
    query = request.GET.get("q", "").strip()[:200]
    listen = listening(trial, record)
    context: dict[str, Any] = {
        "trial": trial,
        "run": trial.run,
        "record": record,
        "is_live": trial.status not in Trial.ENDED,
        # The newest ruling that this page shows, where more may come while it is open.
        "reviewed": _newest_review(trial),
        "stretches": [(chunk, record.rows(chunk) if chunk == opened else None) for chunk in chunks],
        "timeline": record.timeline(listen.get("duration_ms", 0)),
        "listen": listen,
        "recorded_attempts": recorded_attempts(trial, record),
        "last_event": record.events.last(),
        "show": show if show in SHOWS else "call",
        "shows": SHOWS,
        "found": record.search(query) if query else None,
        "tab": request.GET.get("tab", ""),
        "why": explain(trial, record),
        **_neighbours(trial),
    }
    return render(request, "trials/detail.html", context)


@require_safe
def trial_events(request: HttpRequest, run: int, scenario: str, number: int) -> HttpResponse:
    """Give a stretch of the record: ``from`` and ``to`` are sequence numbers, ``raw`` asks for the stored JSON."""
    record = CallRecord(_trial(run, scenario, number))
    first = _whole(request, "from", 1)
    last = min(_whole(request, "to", first + calls.CHUNK - 1), first + calls.CHUNK - 1, record.last)
    chunk = Chunk(first, last)
    if "raw" in request.GET:
        events = record.events.filter(seq__range=(first, last))
        rows = [{"event": event, "value": transcript.fold(event.data), "seq": event.seq} for event in events]
        return render(request, "trials/_raw.html", {"rows": rows, "record": record, "chunk": chunk, "next": last + 1})
    return render(request, "trials/_rows.html", {"rows": record.rows(chunk), "rest": _rest(record, chunk)})


@require_safe
def trial_event(request: HttpRequest, run: int, scenario: str, number: int, seq: int) -> HttpResponse:
    """Give one value of an event whole, as plain text."""
    event = CallRecord(_trial(run, scenario, number)).events.filter(seq=seq).first()
    part = request.GET.get("part", "data")
    if event is None or part not in PARTS or (part != "data" and part not in event.data):
        raise Http404(f"event {seq} has no {part!r}")
    text = transcript.as_text(event.data if part == "data" else event.data[part])
    if request.headers.get("HX-Request") == "true":
        return render(request, "trials/_whole.html", {"text": text})
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


@require_safe
def trial_prompts(request: HttpRequest, run: int, scenario: str, number: int) -> HttpResponse:
    """Give what each side was told, its tools, and the context its model had at the end."""
    record = CallRecord(_trial(run, scenario, number))
    current = record.events.filter(seq__gte=record.current.first)
    context = {
        "parties": list(current.filter(kind="party.prepared")),
        "contexts": list(current.filter(kind="context.pulled")),
    }
    return render(request, "trials/_prompts.html", context)


@require_safe
def trial_judging(request: HttpRequest, run: int, scenario: str, number: int) -> HttpResponse:
    """Give what the judge was asked and what it answered, latest first."""
    judgings = _trial(run, scenario, number).judgings.select_related("judge")
    return render(request, "trials/_judging.html", {"judgings": judgings})


@role_required("operator")
@require_POST
def trial_hang_up(request: HttpRequest, run: int, scenario: str, number: int) -> HttpResponse:
    """End one running call; it is then tainted and leaves the rate."""
    trial = _trial(run, scenario, number)
    if lifecycle.request_hang_up(trial, request.user):
        messages.success(request, "Hanging up. The call is scored as tainted and leaves the rate.")
    else:
        messages.warning(request, f"Nothing to hang up: this call is {trial.get_status_display()}.")
    return redirect("trial-detail", run, scenario, number)


def _trial(run: int, scenario: str, number: int) -> Trial:
    trials = Trial.objects.select_related("run__imported_from", "scenario", "hang_up_by")
    return get_object_or_404(trials, run_id=run, scenario__name=scenario, number=number)


def _newest_review(trial: Trial) -> int | None:
    """Return the newest ruling of a person on an ended call's claims, 0 before the first; None: none is awaited."""
    if trial.status not in Trial.ENDED or not is_reviewed(trial.run):
        return None
    return newest_reviews([trial.pk]).get(trial.pk, 0)


def _opened(request: HttpRequest, record: CallRecord, chunks: list[Chunk]) -> Chunk | None:
    """Return the stretch to show first: where the address points, the end of a live call, else the beginning."""
    seq = record.find(request.GET.get("at", ""))
    found = next((chunk for chunk in chunks if seq is not None and seq in chunk), None)
    if found or not chunks:
        return found
    return chunks[0] if record.trial.status in Trial.ENDED else chunks[-1]


def _rest(record: CallRecord, chunk: Chunk) -> Chunk | None:
    """Return what is left of an earlier attempt after a stretch of it; the current one has its own links."""
    attempt = next((a for a in record.attempts if a.first <= chunk.first <= a.last), record.current)
    if attempt == record.current or chunk.last >= attempt.last:
        return None
    return Chunk(chunk.last + 1, attempt.last)


def _whole(request: HttpRequest, name: str, default: int) -> int:
    value = request.GET.get(name, "")
    return max(1, int(value)) if value.isdecimal() and len(value) < 10 else default


def _neighbours(trial: Trial) -> dict[str, str]:
    """Return the addresses of the calls before and after this one in its run."""
    others = trial.run.trials.order_by("position").values_list("scenario__name", "number")
    before, after = others.filter(position__lt=trial.position), others.filter(position__gt=trial.position)
    found = {
        "previous": before.last(),
        "next": after.first(),
        "previous_failed": before.filter(outcome__in=FAILED).last(),
        "next_failed": after.filter(outcome__in=FAILED).first(),
    }
    return {
        f"{name}_url": reverse("trial-detail", args=[trial.run_id, *place]) if place else ""
        for name, place in found.items()
    }
