"""manage.py demo: something to look at, without a key and without a network."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandParser

from bots.wake import wake_lanes
from evalsite.access import make_sign_in_link, set_role
from evalsite.management.commands.serve import prepare
from evalsite.rehearsals import rehearsal, usable_domain
from scenarios.launch import launch
from scenarios.models import Run
from scenarios.speech_services import missing_for_local_speech

# A little slower than a stand-in can, so that there are calls to watch when the first page opens.
CARELESS_PACE_S = 0.5
# Its caller spells an order number and a zip code, and the agent takes both from what it heard.
SPOKEN = {"tau2_retail": "tau2_retail__44", "frontdesk": "frontdesk__breakfast"}


class Command(BaseCommand):
    """``demo [--address URL]``: rehearsals, launched once, and a link that signs an admin in."""

    help = (
        "Launch two rehearsal sweeps of tau2_retail (of frontdesk where its files are not here), one with the faithful "
        "stand-in agent and one with a careless one, and with the extra 'voice' a spoken call; print a one-time "
        "sign-in link. Safe to repeat. The calls are held by `manage.py serve`."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the command line."""
        parser.add_argument("--address", default="http://127.0.0.1:8000", help="where the site answers (%(default)s)")
        parser.add_argument("--domain", default="tau2_retail", help="domain to sweep (%(default)s)")

    def handle(self, *, address: str, domain: str, **options: Any) -> None:
        """Prepare, launch, print."""
        prepare()
        person = _admin()
        domain, reason = usable_domain(domain)
        if reason:
            self.stdout.write(f"{reason}\nThe sweeps are of {domain} instead.")
        runs = []
        if missing := missing_for_local_speech():
            self.stdout.write(f"No spoken call: {', '.join(missing)} not installed. With speech: make demo VOICE=1")
        else:  # first, so that it does not wait until the sweeps have ended
            runs.append(_spoken(domain, person))
        runs += [
            _sweep(domain, "standin-faithful", person),
            _sweep(domain, "standin-careless", person, CARELESS_PACE_S),
        ]
        wake_lanes()
        for run in runs:
            calls = "1 call" if run.trial_count == 1 else f"{run.trial_count} calls"
            self.stdout.write(f"run {run.pk}: {run.title}, {calls}")
        link = f"{address.rstrip('/')}{make_sign_in_link(person)}"
        self.stdout.write(
            self.style.SUCCESS(f"\nWhen the site is up, open this (it signs you in once, within a day):\n\n  {link}\n")
        )


def _admin() -> User:
    person, made = User.objects.get_or_create(username="demo")
    if made:
        person.set_unusable_password()
        person.save()
        set_role(person, "admin")
    return person


def _sweep(domain: str, agent: str, person: User, pace_s: float = 0) -> Run:
    title = f"{domain}, {agent.removeprefix('standin-')} stand-in"
    return launch(
        rehearsal(domain, agent, pace_s=pace_s), person=person, title=title, launch_key=f"demo-{domain}-{agent}"
    )


def _spoken(domain: str, person: User) -> Run:
    """Launch one call with real synthesis and recognition; the models that talk are stand-ins."""
    domain = domain if domain in SPOKEN else "frontdesk"
    config = rehearsal(domain, "standin-faithful", [SPOKEN[domain]], channel="voice", clock="lockstep")
    title = f"{SPOKEN[domain]} spoken: Piper and Whisper, faithful stand-in"
    return launch(config, person=person, title=title, launch_key=f"demo-{domain}-voice")
