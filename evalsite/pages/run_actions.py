"""What people do to a run: pause, resume, cancel, run again what has no score; and what they take from it."""

import json
import tempfile

from django.contrib import messages
from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from bots.wake import wake_lanes
from evalsite.access import role_required
from evalsite.pages.runs import get_run
from scenarios import lifecycle
from scenarios.formats import run_records
from scenarios.formats.reference_run import export_zip


@role_required("operator")
@require_POST
def run_pause(request: HttpRequest, pk: int) -> HttpResponse:
    """Begin no more calls of this run; those that are held go on."""
    run = get_run(pk)
    lifecycle.pause(run)
    messages.info(request, f"Paused run {pk}: calls that are held go on to their end, no more begin.")
    return redirect("run-detail", pk)


@role_required("operator")
@require_POST
def run_resume(request: HttpRequest, pk: int) -> HttpResponse:
    """Begin calls of this run again."""
    lifecycle.resume(get_run(pk))
    wake_lanes()
    messages.info(request, f"Run {pk} goes on.")
    return redirect("run-detail", pk)


@role_required("operator")
@require_POST
def run_cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Withdraw what waits and end what is held; what has ended keeps its score."""
    run = get_run(pk)
    count = lifecycle.request_cancel(run, request.user)
    calls = f"{count} call{'' if count == 1 else 's'}"
    if count and run.cancelled_by_id not in (None, request.user.pk):
        messages.info(request, f"{run.cancelled_by} has cancelled run {pk} already; {calls} of it still to end.")
    elif count:
        messages.warning(request, f"Cancelled run {pk}: {calls} that had not ended. Ended ones keep their score.")
    else:
        messages.info(request, f"Run {pk} had ended already; nothing was cancelled.")
    return redirect("run-detail", pk)


@role_required("operator")
@require_POST
def run_rerun(request: HttpRequest, pk: int) -> HttpResponse:
    """Queue trials again that ended without a score."""
    run = get_run(pk)
    outcomes = request.POST.getlist("outcome")
    try:
        count = lifecycle.rerun(run, outcomes)
    except ValueError as error:
        messages.error(request, f"Nothing was queued: {error}.")
        return redirect("run-detail", pk)
    wake_lanes()
    if count:
        messages.success(request, f"Queued {count} calls again ({', '.join(outcomes)}).")
    else:
        messages.info(request, "No call of this run has the outcomes that were ticked; nothing was queued.")
    return redirect("run-detail", pk)


@role_required("operator")
@require_POST
def run_rescore(request: HttpRequest, pk: int) -> HttpResponse:
    """Have calls scored again from their records, without holding them again."""
    try:
        count = lifecycle.rescore(get_run(pk))
    except ValueError as error:
        messages.error(request, f"Nothing was scored again: {error}.")
        return redirect("run-detail", pk)
    wake_lanes()
    messages.info(request, f"{count} held calls without a score are scored again from their records.")
    return redirect("run-detail", pk)


@require_safe
def run_config(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the frozen configuration as a file."""
    run = get_run(pk)
    text = json.dumps(run.config, indent=2, ensure_ascii=False)
    headers = {"Content-Disposition": f'attachment; filename="run-{pk}-config.json"'}
    return HttpResponse(text, content_type="application/json", headers=headers)


@require_safe
def run_export(request: HttpRequest, pk: int) -> FileResponse:
    """Return the run folder as the reference system writes it, zipped; ended calls only."""
    run = get_run(pk)
    record = run_records.run_export(run)
    # Closed, and so removed, by the response.
    archive = tempfile.TemporaryFile()  # noqa: SIM115
    export_zip(record, run_records.trial_exports(run), archive)
    archive.seek(0)
    return FileResponse(archive, as_attachment=True, filename=f"{record.folder}.zip")
