"""Start, watch and stop everything that Callboard is on one machine."""

import hashlib
import os
import signal
import sys
import time
import webbrowser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django_q.tasks import async_task

from bots.wake import schedule_wake
from evalsite.access import make_sign_in_link, set_role
from evalsite.services import call_services, workers
from evalsite.supervisor import Service, StartFailed, Supervisor, is_answering
from scenarios import catalogue
from scenarios.profiles import load_standins

# The live pages' sockets only ever say where they left off.
MAX_SOCKET_MESSAGE = 65_536
WATCH_S = 0.5


class Command(BaseCommand):
    """Site, workers, party servers and stand-in endpoint as one; Ctrl-C stops them all."""

    help = "Serve the site with its workers, party servers and stand-in endpoint. Ctrl-C stops everything."

    def add_arguments(self, parser: CommandParser) -> None:
        """Address and size."""
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
        parser.add_argument("--port", type=int, default=8000, help="port of the site (default: %(default)s)")
        parser.add_argument("--lanes", type=int, default=settings.LANES, help="lanes (default: %(default)s)")
        parser.add_argument(
            "--width", type=int, default=settings.LANE_WIDTH, help="calls at once in a lane (default: %(default)s)"
        )
        parser.add_argument("--no-browser", action="store_true", help="do not open a browser")

    def handle(self, *, host: str, port: int, lanes: int, width: int, no_browser: bool, **options: Any) -> None:
        """Prepare, start, watch, stop."""
        if lanes < 1 or width < 1:
            raise CommandError("--lanes and --width must be at least 1")
        if is_answering(port, _reached(host)):
            raise CommandError(f"port {port} is taken: stop what listens there, or choose another with --port")
        prepare()
        calls = call_services()
        sizes = {"LANES": str(lanes), "LANE_WIDTH": str(width)}
        supervisor = Supervisor({**os.environ, **calls.variables, **sizes}, settings.BASE_DIR, self._say)
        stopping = _StopSignal()
        try:
            supervisor.start([_site(host, port), *calls.services, workers()])
            async_task("bots.wake.wake_lanes")  # for what an earlier stop left waiting
            self._welcome(host, port, no_browser)
            while not stopping.is_set:
                supervisor.watch()
                time.sleep(WATCH_S)
            self._say("stopping")
        except StartFailed as error:
            raise CommandError(str(error)) from error
        finally:
            supervisor.stop()
        self._say("stopped")

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()

    def _welcome(self, host: str, port: int, no_browser: bool) -> None:
        address = f"http://{_reached(host)}:{port}"
        self._say(f"Callboard is at {address}/")
        link = first_sign_in_link()
        if link:
            self._say(f"Sign in once, within a day: {address}{link}")
        else:
            self._say("A link to sign in: manage.py sign_in_link NAME")
        if not no_browser and (os.environ.get("DISPLAY") or sys.platform == "darwin"):
            webbrowser.open(address + link)


class _StopSignal:
    """Set by Ctrl-C or SIGTERM."""

    def __init__(self) -> None:
        self.is_set = False
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, self._set)

    def _set(self, *_: Any) -> None:
        self.is_set = True


def prepare() -> None:
    """Bring database, catalogue, stand-ins, schedule and static files up to date; quick when they are."""
    call_command("migrate", verbosity=0)
    load_standins()
    catalogue.sync()
    schedule_wake()
    collect_static()


def collect_static() -> None:
    """Collect static files when they have changed since the last time."""
    if settings.DEBUG or getattr(settings, "WHITENOISE_USE_FINDERS", False):
        return
    mark = Path(settings.STATIC_ROOT) / ".collected"
    seen = hashlib.sha256()
    for folder in settings.STATICFILES_DIRS:
        for path in sorted(Path(folder).rglob("*")):
            seen.update(f"{path} {path.stat().st_mtime_ns}\n".encode())
    if not mark.exists() or mark.read_text() != seen.hexdigest():
        call_command("collectstatic", interactive=False, verbosity=0)
        mark.write_text(seen.hexdigest())


def first_sign_in_link() -> str:
    """Make an admin when nobody is there yet and return the path that signs them in once; '' otherwise."""
    if User.objects.exists():
        return ""
    admin = User.objects.create_user("admin")
    set_role(admin, "admin")
    return make_sign_in_link(admin)


def _reached(host: str) -> str:
    """Return where a site that listens on ``host`` is reached from here."""
    return "127.0.0.1" if host in ("0.0.0.0", "::") else host  # noqa: S104  (compared, not bound)


def _site(host: str, port: int) -> Service:
    limit = str(MAX_SOCKET_MESSAGE)
    command = [sys.executable, "-m", "daphne", "--bind", host, "--port", str(port), "--verbosity", "0"]
    command += ["--websocket-max-message-size", limit, "--websocket-max-frame-size", limit]
    return Service("site", [*command, "evalsite.asgi:application"], port, _reached(host), is_nice=False)
