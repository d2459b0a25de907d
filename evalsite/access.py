"""Who may do what: four roles, each with the rights of the one before, and sign-in links that work once.

Views need ``viewer`` unless ``role_required`` asks for more; ``evalsite.middleware.RoleMiddleware`` enforces it.
Profiles are the admin's: who may set an endpoint and the name of a key's variable decides where that key is sent.
"""

from collections.abc import Callable, Iterator
from typing import Any, Literal, TypeVar, get_args

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, Group, User
from django.core import signing
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

Role = Literal["viewer", "reviewer", "operator", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
# What each role adds, in the words that pages use.
ROLE_RIGHTS: dict[Role, str] = {
    "viewer": "reads everything",
    "reviewer": "rules on the judge's verdicts",
    "operator": "launches, pauses and cancels runs, hangs up calls",
    "admin": "edits profiles and people",
}
SIGN_IN_LINK_S = 24 * 3600
_LINK_SALT = "evalsite.access.sign-in-link"
View = TypeVar("View", bound=Callable[..., Any])
Person = AbstractBaseUser | AnonymousUser


def create_roles(**_: Any) -> None:
    """Make the four groups; connected to ``post_migrate``, safe to repeat."""
    for role in ROLES:
        Group.objects.get_or_create(name=role)


def role_of(person: Person) -> Role | None:
    """Return a person's highest role; None for a stranger. A superuser is an admin."""
    if not isinstance(person, User) or not person.is_active:
        return None
    if person.is_superuser:
        return "admin"
    if not hasattr(person, "_role"):
        names = {group.name for group in person.groups.all()}
        person._role = next((role for role in reversed(ROLES) if role in names), None)  # type: ignore[attr-defined]
    return person._role  # type: ignore[attr-defined,no-any-return]


def has_role(person: Person, role: Role) -> bool:
    """Return whether a person may do what ``role`` may do."""
    own = role_of(person)
    return own is not None and ROLES.index(own) >= ROLES.index(role)


def set_role(person: User, role: Role | None) -> None:
    """Give a person exactly this role; None takes every role away."""
    person.groups.remove(*Group.objects.filter(name__in=ROLES))
    if role is not None:
        person.groups.add(Group.objects.get(name=role))
    if hasattr(person, "_role"):
        del person._role


def role_required(role: Role) -> Callable[[View], View]:
    """Mark a view as needing ``role``; put it outermost."""

    def mark(view: View) -> View:
        view.required_role = role  # type: ignore[attr-defined]
        return view

    return mark


def make_sign_in_link(person: User) -> str:
    """Return the path of a link that signs ``person`` in once within a day.

    Any sign-in of that person uses it up, since it carries the time of the last one.
    """
    token = signing.dumps({"person": person.pk, "last": _last_login(person)}, salt=_LINK_SALT)
    return reverse("sign-in-link", args=[token])


def read_sign_in_link(token: str) -> User | None:
    """Return whom a link would sign in; None when it is damaged, expired or used."""
    try:
        data = signing.loads(token, salt=_LINK_SALT, max_age=SIGN_IN_LINK_S)
    except signing.BadSignature:
        return None
    person = User.objects.filter(pk=data["person"], is_active=True).first()
    return person if person is not None and _last_login(person) == data["last"] else None


def use_sign_in_link(token: str) -> User | None:
    """Use a link up and return whom it signs in; of two uses at once only one gets a person."""
    person = read_sign_in_link(token)
    if person is None:
        return None
    unused = User.objects.filter(pk=person.pk, last_login=person.last_login)
    return person if unused.update(last_login=timezone.now()) else None


def _last_login(person: User) -> str:
    return person.last_login.isoformat() if person.last_login else ""


NAVIGATION = (
    ("Runs", "run-list", "/runs/"),
    ("Live", "live-wall", "/live/"),
    ("Review", "review-list", "/review/"),
    ("Compare", "compare", "/compare/"),
    ("Judges", "judge-list", "/judges/"),
    ("Scenarios", "scenario-domains", "/scenarios/"),
    ("Settings", "settings", "/settings/"),
)


# Entries that only some can use.
NEEDS: dict[str, Role] = {"review-list": "reviewer"}


def context(request: HttpRequest) -> dict[str, Any]:
    """Give every template the reader's role, what it allows, and the site's navigation."""
    person = getattr(request, "user", AnonymousUser())
    return {
        "role": role_of(person),
        "may": {role: has_role(person, role) for role in ROLES},
        "navigation": list(_navigation(request.path, person)),
    }


def _navigation(path: str, person: Person) -> Iterator[dict[str, Any]]:
    for label, name, prefix in NAVIGATION:
        if has_role(person, NEEDS.get(name, "viewer")):
            yield {"label": label, "url": reverse(name), "is_current": path.startswith(prefix)}
