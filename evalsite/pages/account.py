"""Signing in with a password or a link, and the reader's choice of colours."""

from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from evalsite.access import read_sign_in_link, use_sign_in_link
from evalsite.sign_in import SignInForm

THEMES = ("light", "dark")
YEAR_S = 365 * 24 * 3600
sign_in = LoginView.as_view(authentication_form=SignInForm, redirect_authenticated_user=True)


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_link(request: HttpRequest, token: str) -> HttpResponse:
    """Show whom the link signs in and use it up on the button, so that a link preview cannot."""
    person = use_sign_in_link(token) if request.method == "POST" else read_sign_in_link(token)
    if person is None:
        return render(request, "registration/link_used.html", status=410)
    if request.method == "POST":
        login(request, person, backend="django.contrib.auth.backends.ModelBackend")
        return redirect("home")
    return render(request, "registration/link.html", {"person": person})


@login_not_required
@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Keep the reader's choice of light or dark; anything else follows the system."""
    target = request.POST.get("next", "/")
    if not (target.startswith("/") and url_has_allowed_host_and_scheme(target, allowed_hosts=None)):
        target = "/"
    response = HttpResponseRedirect(target)
    chosen = request.POST.get("theme", "")
    if chosen in THEMES:
        response.set_cookie("theme", chosen, max_age=YEAR_S, samesite="Lax", secure=request.is_secure())
    else:
        response.delete_cookie("theme")
    return response
