"""Signing in with a password: a name that fails again and again from one address has to wait.

Counted in Django's cache: here the memory of the site's process, so a restart forgets, and sites on several machines
count apart unless ``CACHES`` names one that they share. Behind a proxy all come from its address, and the name alone
counts; whoever is kept out by somebody else's guesses still gets in with a sign-in link.
"""

import hashlib
from typing import Any

from django.contrib.auth.forms import AuthenticationForm
from django.core.cache import cache
from django.core.exceptions import ValidationError

MAX_FAILURES = 10
WAIT_S = 15 * 60
WAIT = (
    "Too many wrong passwords for this name. Try again in %(minutes)d minutes, "
    "or ask whoever runs this site for a sign-in link."
)


class SignInForm(AuthenticationForm):
    """Django's form; ten failures in a quarter of an hour are refused unread until it is over, right or wrong."""

    def clean(self) -> dict[str, Any]:
        """Check name and password, unless they have failed too often. The same for names that nobody has."""
        address = self.request.META.get("REMOTE_ADDR", "") if self.request else ""
        name = self.cleaned_data.get("username") or ""
        key = "sign-in-" + hashlib.sha256(f"{address} {name.casefold()}".encode()).hexdigest()
        if cache.get(key, 0) >= MAX_FAILURES:
            raise ValidationError(WAIT, code="too_many", params={"minutes": WAIT_S // 60})
        try:
            data = super().clean()
        except ValidationError:
            if not cache.add(key, 1, WAIT_S):
                _count(key)
            raise
        cache.delete(key)
        return data


def _count(key: str) -> None:
    try:
        cache.incr(key)
    except ValueError:  # it ran out since
        cache.add(key, 1, WAIT_S)
