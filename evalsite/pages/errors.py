"""Error pages: what happened, to what, and what to do."""

import re

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template import loader

from evalsite.access import ROLE_RIGHTS, ROLES, role_of

# What Django calls by the name of a table, where readers have another word.
_WORDS = {"Trial": "call", "JudgeVersion": "judge", "User": "person"}


def _render(request: HttpRequest, status: int, **context: object) -> HttpResponse:
    return render(request, f"errors/{status}.html", {"path": request.path, **context}, status=status)


@login_not_required
def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400: the request could not be read."""
    return _render(request, 400)


@login_not_required
def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403: the reader's role does not allow it; names the role that would."""
    needed = str(exception)
    right = next((ROLE_RIGHTS[role] for role in ROLES if role == needed), "")
    return _render(request, 403, own=role_of(request.user), needed=needed if right else "", right=right)


@login_not_required
def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404: nothing is at this address; Http404's own text says what was looked for."""
    reason = exception.args[0] if exception.args and isinstance(exception.args[0], str) else ""
    if looked_for := re.fullmatch(r"No (\w+) matches the given query\.", reason):
        kind = _WORDS.get(looked_for[1]) or re.sub(r"(?<!^)(?=[A-Z])", " ", looked_for[1]).lower()
        reason = f"{request.path[:200]} names no {kind} that there is; it may have been deleted."
    return _render(request, 404, reason=reason)


@login_not_required
def server_error(request: HttpRequest) -> HttpResponse:
    """500: rendered without the database and without the list of static files, either of which may be what broke."""
    return HttpResponse(loader.get_template("errors/500.html").render(), status=500)


@login_not_required
def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403 of a form whose token is missing or stale: usually a sign-in in another tab."""
    return render(request, "errors/csrf.html", {"path": request.path}, status=403)
