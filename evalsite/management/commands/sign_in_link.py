"""Print a link that signs a person in once."""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from evalsite.access import ROLES, make_sign_in_link, set_role


class Command(BaseCommand):
    """``sign_in_link NAME [--role ROLE] [--site URL]``; with a role the person is made when nobody has that name."""

    help = "Print a link that signs NAME in once, within a day."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the command line."""
        parser.add_argument("name")
        parser.add_argument("--role", choices=ROLES, help="make the person if need be, and give this role")
        parser.add_argument("--site", default="http://127.0.0.1:8000", help="address of the site (%(default)s)")

    def handle(self, *, name: str, role: Any, site: str, **options: Any) -> None:
        """Print the link."""
        person = User.objects.filter(username=name).first()
        if person is None and role is None:
            raise CommandError(f"nobody is called {name!r}; add --role {'|'.join(ROLES)} to make them")
        if person is None:
            person = User.objects.create_user(name)
        if not person.is_active:
            raise CommandError(f"{name!r} may not sign in; an admin can let them in again under Settings, People")
        if role is not None:
            set_role(person, role)
        self.stdout.write(f"{site.rstrip('/')}{make_sign_in_link(person)}")
