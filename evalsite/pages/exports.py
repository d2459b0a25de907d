"""Runs and calls as files of other tools."""

import re
import tempfile
from collections.abc import Mapping

from django.db.models import QuerySet
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBadRequest, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from evalsite.exporting import chosen_trials, in_words
from evalsite.filters import TrialFilter
from evalsite.pages.runs import get_run
from scenarios.formats.exports.form import CannotExport, Format
from scenarios.formats.exports.registry import CALL_FORMATS, RUN_FORMATS
from scenarios.formats.run_records import export_of
from scenarios.models import Run, Trial

_PLAIN = "text/plain; charset=utf-8"


@require_safe
def run_export(request: HttpRequest, pk: int, name: str) -> HttpResponseBase:
    """Return a run's ended trials in one form; the address may carry the filter of the run page."""
    run, form = get_run(pk), _form(RUN_FORMATS, name)
    chosen = TrialFilter.read(request.GET)
    if chosen.problems:
        # To give all where a part was asked for would be taken for that part.
        return HttpResponseBadRequest(" ".join(chosen.problems), content_type=_PLAIN)
    return _file(run, form, chosen_trials(run, chosen), in_words(chosen), f"run-{pk}")


@require_safe
def call_export(request: HttpRequest, run: int, scenario: str, number: int, name: str) -> HttpResponseBase:
    """Return the transcript of one call in one form."""
    form = _form(CALL_FORMATS, name)
    trials = Trial.objects.select_related("run__imported_from")
    trial = get_object_or_404(trials, run_id=run, scenario__name=scenario, number=number)
    one = Trial.objects.filter(pk=trial.pk)
    stem = f"run-{run}-{re.sub(r'[^A-Za-z0-9_.-]', '_', scenario)}-t{number}"
    return _file(trial.run, form, one, f"{scenario} trial {number}", stem)


def _form(forms: Mapping[str, Format], name: str) -> Format:
    if name not in forms:
        raise Http404(f"There is no form {name!r}; there are {', '.join(forms)}.")
    return forms[name]


def _file(run: Run, form: Format, trials: QuerySet[Trial], chosen: str, stem: str) -> HttpResponseBase:
    if not trials.filter(status__in=Trial.ENDED).exists():
        return HttpResponse(_nothing(run, chosen), status=409, content_type=_PLAIN)
    # Whole before the first byte is sent, so that nobody takes a half for the file; closed by the response.
    file = tempfile.TemporaryFile()  # noqa: SIM115
    try:
        form.write(export_of(run, form, trials=trials, chosen=chosen), file)
    except BaseException as error:
        file.close()
        if isinstance(error, CannotExport):
            return HttpResponse(f"{error}.", status=409, content_type=_PLAIN)
        raise
    file.seek(0)
    return FileResponse(file, as_attachment=True, filename=f"{stem}{form.suffix}", content_type=form.media_type)


def _nothing(run: Run, chosen: str) -> str:
    if chosen:
        return f"Run {run.pk} has no ended call that is {chosen}: nothing to export. Choose others."
    return f"Run {run.pk} has no ended call yet: nothing to export. Come back when the first has ended."
