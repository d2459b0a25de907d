"""Results of other tools: uploading them, watching them being read, and accepting what the lint found."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from bots.wake import wake_imports
from evalsite.access import has_role, role_required
from evalsite.filters import page_of
from evalsite.forms import ImportForm
from evalsite.imported import open_errors
from evalsite.pages.runs import get_run
from scenarios.importing import keep_upload, stop_import
from scenarios.models import Finding, ImportedFile

FILES_A_PAGE = 50


@require_http_methods(["GET", "HEAD", "POST"])
def import_list(request: HttpRequest) -> HttpResponse:
    """Show what was imported and what became of it; POST uploads files (operators)."""
    form = ImportForm(request.POST or None, request.FILES or None)
    if request.method == "POST":
        if not has_role(request.user, "operator"):
            messages.error(request, "Only operators import. What is imported already is below.")
            return redirect("import-list")
        if form.is_valid():
            for upload in form.cleaned_data["results"]:
                keep_upload(upload, request.user, form.options)
            wake_imports()
            messages.success(request, f"Uploaded {len(form.cleaned_data['results'])}; a worker reads them now.")
            return redirect("import-list")
    files = ImportedFile.objects.select_related("imported_by").prefetch_related("runs")
    page = page_of(files, request.GET.get("page"), FILES_A_PAGE)
    status = 422 if form.is_bound else 200
    return render(request, "imports/list.html", {"form": form, "page": page}, status=status)


@require_safe
def import_row(request: HttpRequest, pk: int) -> HttpResponse:
    """Return one line of the list; asked for again while its file is being read."""
    files = ImportedFile.objects.select_related("imported_by").prefetch_related("runs")
    return render(request, "imports/_row.html", {"file": get_object_or_404(files, pk=pk)})


@role_required("operator")
@require_POST
def import_stop(request: HttpRequest, pk: int) -> HttpResponse:
    """Stop reading a file; what was stored of it is taken out again."""
    file = get_object_or_404(ImportedFile, pk=pk)
    if stop_import(file):
        messages.info(request, f"{file}: stopping. What was stored of it is taken out again.")
    else:
        messages.info(request, f"{file}: nothing to stop, it is {file.get_state_display()}.")
    return redirect("import-list")


@role_required("operator")
@require_POST
def findings_accept(request: HttpRequest, pk: int) -> HttpResponse:
    """Accept a run's errors with a reason, so that it can be compared; they stay listed with who accepted them."""
    run = get_run(pk)
    why = request.POST.get("acceptance", "").strip()[:300]
    if not why:
        messages.error(request, "Nothing was accepted: say why these errors may stand.")
    elif count := open_errors(run):
        found = Finding.objects.filter(run=run, severity=Finding.Severity.ERROR, accepted_at=None)
        found.update(accepted_by=request.user, accepted_at=timezone.now(), acceptance=why)
        messages.success(request, f"Accepted {count} errors; run {pk} can be compared now.")
    return redirect("run-detail", pk)
