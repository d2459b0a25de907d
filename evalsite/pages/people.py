"""People and their roles: the admin's."""

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from evalsite.access import ROLE_RIGHTS, ROLES, make_sign_in_link, role_of, role_required, set_role
from evalsite.forms import PersonForm


@role_required("admin")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def people(request: HttpRequest) -> HttpResponse:
    """Show who may do what; POST adds a person."""
    form = PersonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        person = form.save(commit=False)
        person.set_unusable_password()
        person.save()
        set_role(person, form.cleaned_data["role"])
        return _show_link(request, person)
    return _page(request, form, status=422 if form.is_bound else 200)


@role_required("admin")
@require_POST
def person_role(request: HttpRequest, pk: int) -> HttpResponse:
    """Give a person a role, or none: then they can sign in but see nothing."""
    person = get_object_or_404(User, pk=pk)
    role = next((role for role in ROLES if role == request.POST.get("role")), None)
    if person == request.user:
        messages.error(request, "Your own role stays as it is, or nobody might be left to give it back.")
    else:
        set_role(person, role)
        messages.success(request, f"{person} is now {role or 'without a role'}.")
    return redirect("people")


@role_required("admin")
@require_POST
def person_active(request: HttpRequest, pk: int) -> HttpResponse:
    """Lock a person out, or let them in again; what they did stays theirs."""
    person = get_object_or_404(User, pk=pk)
    if person == request.user:
        messages.error(request, "You cannot lock yourself out.")
    else:
        person.is_active = not person.is_active
        person.save(update_fields=["is_active"])
        messages.success(request, f"{person} {'may sign in again' if person.is_active else 'can no longer sign in'}.")
    return redirect("people")


@role_required("admin")
@never_cache
@require_POST
def person_link(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a new sign-in link, this once."""
    return _show_link(request, get_object_or_404(User, pk=pk, is_active=True))


def _show_link(request: HttpRequest, person: User) -> HttpResponse:
    link = request.build_absolute_uri(make_sign_in_link(person))
    return _page(request, PersonForm(), link=link, link_of=person)


def _page(request: HttpRequest, form: PersonForm, *, status: int = 200, **context: object) -> HttpResponse:
    rows = [(person, role_of(person)) for person in User.objects.prefetch_related("groups").order_by("username")]
    base = {"form": form, "rows": rows, "roles": ROLE_RIGHTS.items(), "tab": "people"}
    return render(request, "settings/people.html", {**base, **context}, status=status)
