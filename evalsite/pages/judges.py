"""Judges: their versions with what canaries say of them, and the prompts that they are told."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from evalsite.access import role_required
from evalsite.filters import page_of
from scenarios.judging.prompts import differences, text_of, write_prompt
from scenarios.judging.results import judge_records
from scenarios.judging.staleness import current_judges
from scenarios.models import JudgePrompt, Profile
from scenarios.scoring.judge_request import MAX_GUIDANCE, PROMPT_VERSION, SAFEGUARDS

JUDGES_A_PAGE = 50


@require_safe
def judge_list(request: HttpRequest) -> HttpResponse:
    """Show which judges there are and how far their canaries let them be trusted."""
    current = (identity.fingerprint for identity in current_judges().values())
    page = page_of(judge_records(current), request.GET.get("page"), JUDGES_A_PAGE)
    return render(request, "judges/list.html", {"page": page, "tab": "judges"})


@require_safe
def prompt_list(request: HttpRequest) -> HttpResponse:
    """Show the versions of what judges are told."""
    prompts = JudgePrompt.objects.select_related("parent", "author").prefetch_related("profiles")
    usual = Profile.objects.filter(kind="judge", prompt=None, is_archived=False)
    context = {"prompts": prompts, "built_in": PROMPT_VERSION, "usual": usual, "tab": "prompts"}
    return render(request, "judges/prompts.html", context)


@require_safe
def prompt_detail(request: HttpRequest, version: str) -> HttpResponse:
    """Show one version whole, and line by line against the one it was edited from."""
    prompt = None if version == PROMPT_VERSION else get_object_or_404(JudgePrompt, version=version)
    context = {
        "prompt": prompt,
        "version": version,
        "text": text_of(prompt),
        "safeguards": SAFEGUARDS,
        "lines": differences(prompt) if prompt else [],
        "parent_version": prompt.parent.version if prompt and prompt.parent else PROMPT_VERSION,
        "profiles": Profile.objects.filter(kind="judge", prompt=prompt, is_archived=False),
        "tab": "prompts",
    }
    return render(request, "judges/prompt.html", context)


@role_required("admin")
@require_http_methods(["GET", "HEAD", "POST"])
def prompt_new(request: HttpRequest) -> HttpResponse:
    """Write a new version, beginning with ``?from=`` another; none is ever edited."""
    version = request.POST.get("parent") or request.GET.get("from") or PROMPT_VERSION
    parent = None if version == PROMPT_VERSION else get_object_or_404(JudgePrompt, version=version)
    context: dict[str, Any] = {
        "parent": parent,
        "version": version,
        "title": request.POST.get("title", ""),
        "guidance": request.POST.get("guidance", text_of(parent)),
        "safeguards": SAFEGUARDS,
        "most": MAX_GUIDANCE,
        "tab": "prompts",
    }
    if request.method == "POST":
        try:
            made = write_prompt(context["title"], context["guidance"], parent=parent, author=request.user)
        except ValueError as problem:
            return render(request, "judges/prompt_new.html", {**context, "problem": str(problem)}, status=422)
        messages.success(request, f"Wrote {made}. Choose it in a judge's profile; verdicts of before become stale.")
        return redirect("prompt-detail", made.version)
    return render(request, "judges/prompt_new.html", context)
