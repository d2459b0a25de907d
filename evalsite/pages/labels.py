"""People's labels as files: taking them out, and bringing in those that were given elsewhere."""

from collections.abc import Callable, Iterable
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from evalsite.access import has_role
from scenarios.formats.labels import Format, LabelRecord, csv_lines, jsonl_lines
from scenarios.labels import exported, import_labels, reviews_of
from scenarios.models import JudgeVersion, Review, ReviewQueue, Run

_PLAIN = "text/plain; charset=utf-8"
# More is for the command: labels of one upload are settled while the browser waits.
MAX_BYTES = min(8 << 20, settings.IMPORT_MAX_BYTES)
FORMS: dict[str, tuple[Callable[[Iterable[LabelRecord]], Iterable[str]], str]] = {
    "jsonl": (jsonl_lines, "application/x-ndjson; charset=utf-8"),
    "csv": (csv_lines, "text/csv; charset=utf-8"),
}
_ENDINGS: dict[str, Format] = {".jsonl": "jsonl", ".csv": "csv"}


class LabelsForm(forms.Form):
    """A file of labels; ``text`` and ``form`` are what it holds once it is valid."""

    labels = forms.FileField(error_messages={"required": "Choose a file.", "empty": "The file is empty."})
    text = ""
    form: Format = "jsonl"

    def clean_labels(self) -> Any:
        """Check name, size and encoding."""
        file = self.cleaned_data["labels"]
        form = next((form for ending, form in _ENDINGS.items() if file.name.lower().endswith(ending)), None)
        if form is None:
            raise forms.ValidationError(f"{file.name} ends in neither .jsonl nor .csv, so what it holds is not known.")
        if file.size > MAX_BYTES:
            raise forms.ValidationError(
                f"{file.name} has {file.size >> 20:,} MB, and an upload may have {MAX_BYTES >> 20}. "
                "Import it on the machine: manage.py import_labels FILE"
            )
        try:
            self.text, self.form = file.read().decode("utf-8"), form
        except UnicodeDecodeError as error:
            raise forms.ValidationError(
                f"{file.name} is not UTF-8 text (byte {error.start}): save it as UTF-8."
            ) from error
        return file


@require_http_methods(["GET", "HEAD", "POST"])
def labels(request: HttpRequest) -> HttpResponse:
    """Offer all labels as files; POST brings a file in (operators) and says what became of each line."""
    form = LabelsForm(request.POST or None, request.FILES or None)
    report = None
    if request.method == "POST":
        if not has_role(request.user, "operator"):
            messages.error(request, "Only operators bring labels in: a file may speak for anybody.")
            return redirect("labels")
        if form.is_valid():
            try:
                report = import_labels(form.text, form.form)
            except ValueError as error:
                form.add_error("labels", f"{error}.")
    counts = {
        "reviews": Review.objects.filter(verdict__signal="nl_assertion").count(),
        "imported": Review.objects.filter(is_imported=True).count(),
    }
    status = 422 if form.is_bound and report is None else 200
    return render(
        request, "judges/agreement_io.html", {"tab": "labels", "form": form, "report": report, **counts}, status=status
    )


@require_safe
def labels_export(request: HttpRequest, form: str) -> HttpResponse:
    """Return labels as a file; ``run``, ``judge`` and ``queue`` in the address choose which."""
    if form not in FORMS:
        raise Http404(f"There is no form {form!r} of labels; there are {', '.join(FORMS)}.")
    chosen: dict[str, Any] = {}
    for name, model in (("run", Run), ("judge", JudgeVersion), ("queue", ReviewQueue)):
        if text := request.GET.get(name, ""):
            row = model.objects.filter(pk=int(text)).first() if text.isdecimal() and len(text) < 10 else None
            if row is None:
                # To give all where a part was asked for would be taken for that part.
                return HttpResponseBadRequest(f"There is no {name} {text[:40]!r}.", content_type=_PLAIN)
            chosen[name] = row
    rows = list(exported(reviews_of(**chosen)))
    if not rows:
        return HttpResponse(
            "No label is there yet: nothing to export. Come back when somebody has ruled on a claim.",
            status=409,
            content_type=_PLAIN,
        )
    lines, media_type = FORMS[form]
    parts = "".join(f"-{name}-{row.pk}" for name, row in chosen.items())
    stem = f"labels{parts}-{timezone.localdate():%Y%m%d}"
    headers = {"Content-Disposition": f'attachment; filename="{stem}.{form}"'}
    return HttpResponse("".join(lines(rows)), content_type=media_type, headers=headers)
