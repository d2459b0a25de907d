"""What shall I launch: the form, what it will take, and the launch itself."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from bots.wake import wake_lanes
from evalsite.access import role_required
from evalsite.launching import LaunchForm, command_line, like, prospect
from evalsite.pages.runs import get_run
from scenarios.launch import launch


@role_required("operator")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def run_new(request: HttpRequest) -> HttpResponse:
    """Show the form, filled from the address or from the run ``like``; POST launches."""
    if request.method == "GET":
        return render(request, "runs/launch.html", {"form": LaunchForm(initial=_initial(request))})
    form = LaunchForm(request.POST)
    if not form.is_valid():
        return render(request, "runs/launch.html", {"form": form}, status=422)
    data = form.cleaned_data
    run = launch(form.config, person=request.user, title=data["title"], launch_key=data["launch_key"])
    wake_lanes()
    return redirect("run-detail", run.pk)


@role_required("operator")
@require_POST
def run_summary(request: HttpRequest) -> HttpResponse:
    """Return what the run would take, or what is still wrong."""
    form = LaunchForm(request.POST)
    if not form.is_valid():
        return render(request, "runs/_summary.html", {"form": form})
    context = {"form": form, "prospect": prospect(form.config), "command": command_line(form), "config": form.config}
    return render(request, "runs/_summary.html", context)


def _initial(request: HttpRequest) -> dict[str, Any]:
    number = request.GET.get("like", "")
    start = like(get_run(int(number))) if number.isascii() and number.isdigit() and len(number) < 10 else {}
    typed: dict[str, Any] = {
        name: request.GET[name] for name in LaunchForm.base_fields if name in request.GET and name != "launch_key"
    }
    if "tags" in typed:
        typed["tags"] = request.GET.getlist("tags")
    return {**start, **typed}
