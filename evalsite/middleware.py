"""What happens around every view: sign-in, role, and the reader's time zone."""

import zoneinfo
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import resolve_url
from django.urls import reverse
from django.utils import timezone
from django_htmx.http import HttpResponseClientRedirect

from evalsite.access import Role, has_role

GetResponse = Callable[[HttpRequest], HttpResponse]


class SignInMiddleware(LoginRequiredMiddleware):
    """Every view needs a session; an htmx request without one sends the whole page to the sign-in form.

    Without this the form would be swapped into a table cell.
    """

    def handle_no_permission(self, request: HttpRequest, view_func: Callable[..., Any]) -> Any:
        """Answer a request without a session."""
        if request.headers.get("HX-Request") != "true":
            return super().handle_no_permission(request, view_func)
        # The page to come back to is the one in the address bar, not the fragment that was asked for.
        page = urlsplit(request.headers.get("HX-Current-URL", ""))
        query = {"next": page._replace(scheme="", netloc="", fragment="").geturl() or reverse("home")}
        return HttpResponseClientRedirect(f"{resolve_url(self.get_login_url(view_func))}?{urlencode(query)}")


class RoleMiddleware:
    """Every view that needs a session needs a role too: "viewer" unless ``role_required`` asks for more."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Callable[..., Any], args: Any, kwargs: Any) -> None:
        """Refuse with 403 before the view runs."""
        if not getattr(view, "login_required", True):
            return
        role: Role = getattr(view, "required_role", "viewer")
        if not has_role(request.user, role):
            raise PermissionDenied(role)


class ReaderZoneMiddleware:
    """Show times in the zone that the reader's browser named in the ``tz`` cookie; UTC before it did."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with timezone.override(_zone(request.COOKIES.get("tz", ""))):
            return self.get_response(request)


def _zone(name: str) -> zoneinfo.ZoneInfo | None:
    """Return the named zone; None (the site's own) for a name that no zone has."""
    try:
        return zoneinfo.ZoneInfo(name) if name else None
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return None
