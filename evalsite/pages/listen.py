"""A call to listen to: its recording, the waveform of it, and what of a running call can be heard."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from evalsite import byte_ranges, speech_figures, waveform
from evalsite.pages.calls import CallRecord
from evalsite.pages.why import task
from scenarios import playback
from scenarios.analysis.speech.identifiers import Chain, Link, chains, summary, talked
from scenarios.models import Run, Trial
from scenarios.recordings import is_recorded
from scenarios.scoring.evidence import read_events

WAV = "audio/wav"
# The first link that does not hold, in words, and where it stands.
BREAKS = {
    "whole": "arrived whole",
    "never_told": "never told",
    "not_said": "not said",
    "said_wrong": "said wrong",
    "heard_wrong": "heard wrong",
    "passed_wrong": "passed wrong",
    "not_passed": "not passed",
}
BROKEN_AT = {
    "never_told": "told",
    "not_said": "said",
    "said_wrong": "said",
    "heard_wrong": "heard",
    "passed_wrong": "passed",
    "not_passed": "passed",
}
# A response is marked between two turns: a thin bar on the lane of the side that answered.
WAIT_LANES = {"user": 9.4, "agent": 21.4}


@require_safe
def trial_audio(request: HttpRequest, run: int, scenario: str, number: int) -> HttpResponseBase:
    """Give the recording of a call, whole or by range; of a call that is held, as far as it is written.

    ``?attempt=N`` asks for that of an earlier attempt.
    """
    trial = get_trial(run, scenario, number)
    recording = _recording(request, trial)
    if not is_recorded(recording):
        return _absent(trial)
    answer = byte_ranges.serve(request, recording, WAV, is_growing=trial.status not in Trial.ENDED)
    answer["Content-Disposition"] = f'inline; filename="run-{run}-trial-{trial.pk}.wav"'
    return answer


def recorded_attempts(trial: Trial, record: CallRecord) -> list[int]:
    """Return the numbers of the earlier attempts of a voice call that left a recording, such as one whose bot died."""
    earlier = [attempt.number for attempt in record.attempts[:-1]]
    return [number for number in earlier if is_recorded(playback.recording_of(trial, number))]


@require_safe
def trial_peaks(request: HttpRequest, run: int, scenario: str, number: int) -> HttpResponseBase:
    """Give the outline of a recording as JSON (audiowaveform, version 2)."""
    trial = get_trial(run, scenario, number)
    if trial.status not in Trial.ENDED:
        return _said(f"The call is {trial.get_status_display()}: its outline is made when it has ended.")
    outline = playback.outline(_recording(request, trial))
    if outline is None:
        return _absent(trial)
    return JsonResponse(outline, headers={"Cache-Control": "private, no-cache"})


@require_safe
def trial_identifiers(request: HttpRequest, run: int, scenario: str, number: int) -> HttpResponse:
    """Give the way of each identifier: told to the caller, said, heard, passed to a tool."""
    trial = get_trial(run, scenario, number)
    spec = task(trial)
    if spec is None:
        why_not = f"The task {trial.scenario.name} is not known here, so nobody can say what the caller was told."
        return render(request, "trials/_identifiers.html", {"why_not": why_not})
    record = CallRecord(trial)
    kinds = ("turn.ended", "tool.called", "tool.returned", "call.ended")
    talk = talked(read_events(record.events.filter(seq__gte=record.current.first, kind__in=kinds)))
    found = chains(talk, spec)
    context = {
        "chains": [_chain(chain) for chain in found],
        "counts": [(BREAKS[name], count) for name, count in summary(found).items()],
        "is_transcribed": any(turn.heard is not None for turn in talk.turns),
    }
    return render(request, "trials/_identifiers.html", context)


def _chain(chain: Chain) -> dict[str, Any]:
    return {
        "text": chain.identifier.text,
        "kind": chain.identifier.kind.replace("_", " "),
        "broken": chain.broken is not None and _is_a_fault(chain),
        "word": BREAKS[chain.broken or "whole"] if chain.is_spoken or chain.broken != "never_told" else "looked up",
        "links": [_link(chain, link) for link in chain.links],
    }


def _is_a_fault(chain: Chain) -> bool:
    looked_up = chain.broken == "never_told" and chain.passed.state == "whole"
    return not looked_up and not (chain.broken == "not_passed" and not chain.is_expected)


def _link(chain: Chain, link: Link) -> dict[str, Any]:
    anchor = f"turn-{link.turn}" if link.turn else f"call-{link.call}" if link.call else ""
    return {
        "place": link.place,
        "state": link.state.replace("_", " "),
        "text": link.text,
        "anchor": anchor,
        "argument": link.argument,
        "is_break": _is_a_fault(chain) and BROKEN_AT.get(chain.broken or "") == link.place,
    }


@require_safe
def run_speech(request: HttpRequest, pk: int) -> HttpResponse:
    """Give how the calls of a run were understood and where their time went; each request reads some more of them."""
    run = get_object_or_404(Run, pk=pk)
    context = {"run": run, "speech": speech_figures.of_run(run), "step": speech_figures.STEP}
    return render(request, "runs/_speech.html", context)


def get_trial(run: int, scenario: str, number: int) -> Trial:
    """Return a call with its run and scenario, or 404."""
    trials = Trial.objects.select_related("run__imported_from", "scenario")
    return get_object_or_404(trials, run_id=run, scenario__name=scenario, number=number)


def listening(trial: Trial, record: CallRecord) -> dict[str, Any]:
    """Return what the call page needs to play a call: ``state`` is none, live, lockstep or recorded."""
    if trial.status not in Trial.ENDED:
        if trial.run.channel != Run.Channel.VOICE:
            return {"state": "none"}
        return {"state": "live" if trial.run.config.get("clock") == "realtime" else "lockstep"}
    outline = playback.outline(playback.recording_of(trial))
    if outline is None or not outline["length"]:
        return {"state": "none"}
    return {
        "state": "recorded",
        "audio": reverse("trial-audio", args=[trial.run_id, trial.scenario.name, trial.number]),
        "duration_ms": waveform.duration_ms(outline),
        "waves": waveform.waves(outline),
        "waits": _waits(record),
    }


def _waits(record: CallRecord) -> list[dict[str, Any]]:
    """Return where on the timeline somebody waited for an answer.

    None begins before the words that were answered are over: in lockstep a response is measured by another clock than
    the recording's, which does not wait for a busy machine.
    """
    current = record.events.filter(seq__gte=record.current.first)
    turns = {data["turn"]: data for data in current.filter(kind="turn.ended").values_list("data", flat=True)}
    waits = []
    for data in current.filter(kind="latency.measured").values_list("data", flat=True):
        turn = turns.get(data["turn"])
        if turn is None or data["response_ms"] <= 0:
            continue
        start = turn["started_ms"]
        others = (t.get("ended_ms") or 0 for t in turns.values() if t["side"] != data["side"])
        asked = max((end for end in others if end <= start), default=0)
        began = max(asked, round(start - data["response_ms"]))
        waits.append(
            {
                "side": data["side"],
                "turn": data["turn"],
                "ms": data["response_ms"],
                "start": began,
                "length": max(1, start - began),
                "lane": WAIT_LANES[data["side"]],
            }
        )
    return waits


def _recording(request: HttpRequest, trial: Trial) -> str:
    attempt = request.GET.get("attempt", "")
    if attempt and not (attempt.isdecimal() and 0 < int(attempt) < 1000):
        raise Http404(f"there is no attempt {attempt[:20]!r}")
    return playback.recording_of(trial, int(attempt) if attempt else None)


def _absent(trial: Trial) -> HttpResponse:
    if trial.status in (Trial.Status.RUNNING, Trial.Status.SCORING):
        return _said("Nothing of this call can be read yet: the storage gets the recording when the call is over.")
    if trial.status == Trial.Status.QUEUED:
        return _said("This call has not begun.")
    if trial.run.imported_from_id:
        return _said("The file that this call came from holds no recording, or it was imported before they were kept.")
    if trial.run.channel != Run.Channel.VOICE:
        return _said("This call was held in writing: there is nothing to hear.")
    return _said("There is no recording of this call: it broke down before anybody spoke, or the file was removed.")


def _said(why: str) -> HttpResponse:
    return HttpResponse(f"{why}\n", status=404, content_type="text/plain; charset=utf-8")
