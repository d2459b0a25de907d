"""Endpoints, people, storage."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evalsite import soundness
from evalsite.access import role_required
from evalsite.forms import ProfileForm
from scenarios.models import Profile, Run

KINDS: tuple[tuple[str, str, str], ...] = (
    ("agent", "Agents", "the agents under test"),
    ("caller", "Callers", "who plays the callers"),
    ("judge", "Judges", "who rules on the claims"),
)


@require_safe
def profiles(request: HttpRequest) -> HttpResponse:
    """Show all profiles by kind, with whether their key is there."""
    archived = "archived" in request.GET
    rows = [soundness.ProfileRow(p) for p in Profile.objects.filter(is_archived=archived)]
    groups = [(kind, label, what, [row for row in rows if row.profile.kind == kind]) for kind, label, what in KINDS]
    return render(request, "settings/profiles.html", {"groups": groups, "archived": archived, "tab": "profiles"})


@role_required("admin")
@require_http_methods(["GET", "HEAD", "POST"])
def profile_new(request: HttpRequest, kind: str) -> HttpResponse:
    """Make a profile; ``?from=`` starts from a copy."""
    if kind not in Profile.Kind.values:
        raise Http404(f"There are profiles of agents, callers and judges, but none of kind {kind!r}.")
    source = Profile.objects.filter(kind=kind, slug=request.GET.get("from", "")).first()
    initial = {k: v for k, v in source.frozen().items() if k != "slug"} if source else {}
    if source is not None:
        initial["prompt"] = source.prompt_id
    return _edit(request, Profile(kind=kind), initial)


@role_required("admin")
@require_http_methods(["GET", "HEAD", "POST"])
def profile_edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Edit a profile; runs keep what they were launched with."""
    return _edit(request, get_object_or_404(Profile, pk=pk, is_standin=False), {})


def _edit(request: HttpRequest, profile: Profile, initial: dict[str, Any]) -> HttpResponse:
    form = ProfileForm(request.POST or None, instance=profile, initial=initial)
    if request.method == "POST" and form.is_valid():
        saved = form.save()
        messages.success(request, f"Saved {saved.kind} {saved.slug}. Runs launched before keep what they had.")
        return redirect("settings")
    status = 422 if form.is_bound else 200
    runs = Run.objects.filter(**{f"config__{profile.kind}__slug": profile.slug}).count() if profile.pk else 0
    return render(
        request,
        "settings/profile.html",
        {"form": form, "profile": profile, "runs": runs, "tab": "profiles"},
        status=status,
    )


@role_required("admin")
@require_POST
def profile_archive(request: HttpRequest, pk: int) -> HttpResponse:
    """Take a profile out of the launch form, or put it back: nothing is lost either way."""
    profile = get_object_or_404(Profile, pk=pk)
    profile.is_archived = not profile.is_archived
    profile.save(update_fields=["is_archived", "updated_at"])
    done = "Archived" if profile.is_archived else "Restored"
    messages.success(request, f"{done} {profile.kind} {profile.slug}. Its runs are untouched.")
    return redirect("settings")


@require_safe
def system(request: HttpRequest) -> HttpResponse:
    """Show lanes, party servers, storage and benchmark files."""
    return render(request, "settings/system.html", {"system": soundness.look(), "tab": "system"})
