"""Adjudication: what reviewers, or a reviewer and the judge, see differently, and who settles it."""

import uuid
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from evalsite.access import role_required
from evalsite.review_item import Record, brief, choices, judged
from evalsite.reviewed import history_of
from scenarios.models import EffectiveVerdict, Review, Verdict
from scenarios.reviewing import Refused, adjudicate, open_disagreements, open_to, withdraw_adjudication

VERDICTS = Verdict.objects.select_related("trial__scenario", "trial__run", "judge")
Notices = list[tuple[str, str]]


@role_required("operator")
@never_cache
@require_safe
def adjudicate_next(request: HttpRequest) -> HttpResponse:
    """Show the disagreement that the address names, else the next one that the reader may settle."""
    return _next(request, [], after=_whole(request, "after"), wanted=_whole(request, "verdict"))


@role_required("operator")
@require_POST
def adjudicate_rule(request: HttpRequest, pk: int) -> HttpResponse:
    """Settle one, and show the next."""
    verdict = get_object_or_404(VERDICTS, pk=pk)
    reason = request.POST.get("comment", "")
    key = request.POST.get("submit_key", "")[:64] or None
    settled = EffectiveVerdict.objects.filter(verdict=pk, by=EffectiveVerdict.By.ADJUDICATOR).exists()
    if settled and not Review.objects.filter(submit_key=key, rater=request.user.get_username()).exists():
        return _next(request, [("warning", "Somebody settled this claim meanwhile."), *_kept(reason)], after=pk)
    try:
        review = adjudicate(verdict, request.user, request.POST.get("ruling", ""), reason, submit_key=key)
    except Refused as refusal:
        notice = ("warning", f"{str(refusal)[:1].upper()}{str(refusal)[1:]}.")
        if refusal.why == "own":
            return _next(request, [notice, *_kept(reason)], after=pk)
        return _next(request, [notice], wanted=pk, comment=reason, pending=request.POST.get("ruling", ""))
    words = f"Settled: “{verdict.claim}” {review.get_ruling_display()}."
    return _next(request, [("info", words)], after=pk)


@role_required("operator")
@require_POST
def adjudicate_undo(request: HttpRequest, pk: int) -> HttpResponse:
    """Take the reader's own settlement of a claim back and show it again."""
    verdict = get_object_or_404(VERDICTS, pk=pk)
    try:
        withdraw_adjudication(verdict, request.user)
    except Refused as refusal:
        return _next(request, [("warning", f"{str(refusal)[:1].upper()}{str(refusal)[1:]}.")])
    return _next(request, [("info", "Taken back. It stays in the history.")], wanted=pk)


def _next(request: HttpRequest, notices: Notices, after: int = 0, wanted: int = 0, **more: Any) -> HttpResponse:
    if request.method == "POST" and not request.headers.get("HX-Request"):
        return redirect(f"{reverse('adjudicate')}?after={after}&verdict={wanted}")
    found = open_to(request.user)
    one = wanted if wanted in found else None
    if one is None and wanted:
        notices = [*notices, ("warning", f"Claim #{wanted} is not open to you: it is settled, or you reviewed it.")]
    one = one or next((pk for pk in found if pk > after), None) or next(iter(found), None)
    context: dict[str, Any] = {"notices": notices, "last": _last(request), "is_adjudication": True}
    if one is None:
        context["others"] = len(open_disagreements())
        return render(request, _template(request, "done"), context)
    return render(request, _template(request, "desk"), {**context, **_case(one), "left": len(found), **more})


def _case(pk: int) -> dict[str, Any]:
    verdict = VERDICTS.get(pk=pk)
    trial = verdict.trial
    record = Record(trial, is_whole=True)
    place = [trial.run_id, trial.scenario.name, trial.number]
    return {
        "verdict": verdict,
        "claim": verdict.claim,
        "trial": trial,
        "run": trial.run,
        "record": record,
        "brief": brief(trial),
        "judged": judged(verdict, record.events),
        "choices": choices(verdict, is_blind=True)[:2],
        "history": history_of([verdict])[verdict.pk],
        "submit_key": uuid.uuid4().hex,
        "events_base": reverse("trial-detail", args=place),
        "prompts_url": reverse("trial-prompts", args=place),
    }


def _last(request: HttpRequest) -> Review | None:
    """Return the reader's newest settlement that stands."""
    given = Review.objects.filter(rater=request.user.get_username(), stage=Review.Stage.ADJUDICATION).order_by("-pk")
    last = given.first()
    return None if last is None or last.ruling == Review.Ruling.WITHDRAWN else last


def _kept(reason: str) -> Notices:
    """Return what was typed, so that it is not lost where nothing can keep it."""
    return [("info", f"Your reason was not stored: {reason}")] if reason.strip() else []


def _template(request: HttpRequest, name: str) -> str:
    return f"review/_{name}.html" if request.headers.get("HX-Request") == "true" else f"review/{name}.html"


def _whole(request: HttpRequest, name: str) -> int:
    value = request.GET.get(name, "")
    return int(value) if value.isascii() and value.isdigit() and len(value) < 12 else 0
