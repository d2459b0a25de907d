"""Measure how many voice calls this machine bears at once."""

import os
import subprocess
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from evalsite.services import call_services
from evalsite.supervisor import StartFailed, Supervisor
from scenarios import voice_capacity

# Speech that is made anew each time: a model does not say what was said before.
FRESH_SPEECH = {"SPEECH_CACHE_BYTES": "0"}


class Command(BaseCommand):
    """One measurement, kept as this machine's default limit."""

    help = (
        "Hold more and more voice calls of stand-ins at once: in lockstep until more of them bring no more calls a "
        "minute, in real time until 1 % of the audio is late. The result is the default limit of voice runs here. "
        "Takes two to six minutes; leave the machine alone meanwhile."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """How far to go."""
        parser.add_argument("--clock", choices=["lockstep", "realtime"], help="only this one (default: both)")
        parser.add_argument("--most", type=int, default=32, metavar="N", help="calls at once at most (default: 32)")
        parser.add_argument(
            "--seconds", type=int, default=20, metavar="S", help="of each call in real time (default: 20)"
        )

    def handle(self, *, clock: str | None, most: int, seconds: int, **_: Any) -> None:
        """Start what calls need, measure beside it, say what came of it."""
        if most < 1 or seconds < 5:
            raise CommandError("--most must be 1 or more, --seconds 5 or more")
        if os.getloadavg()[0] > 1:
            self.stderr.write(f"this machine is busy (load {os.getloadavg()[0]:.1f}): the limit will come out low")
        before = voice_capacity.measured()
        calls = call_services()
        variables = {**os.environ, **calls.variables, **FRESH_SPEECH}
        supervisor = Supervisor(variables, settings.BASE_DIR, self.stderr.write)
        options = ["--most", str(most), "--seconds", str(seconds), *(["--clock", clock] if clock else [])]
        try:
            supervisor.start(calls.services)
            command = [sys.executable, "-m", "bots.measure", *options]
            done = subprocess.run(command, env=variables, cwd=settings.BASE_DIR, check=False)  # noqa: S603  (our own)
        except StartFailed as error:
            raise CommandError(str(error)) from error
        finally:
            supervisor.stop()
        if done.returncode:
            raise CommandError(f"the measurement ended with code {done.returncode}; nothing was kept")
        self._tell(before)

    def _tell(self, before: voice_capacity.Capacity | None) -> None:
        found = voice_capacity.measured()
        assert found is not None
        if before is not None:  # a clock that was not measured now keeps what is known of it
            kept = {name: getattr(found, name) or getattr(before, name) for name in ("lockstep", "realtime")}
            voice_capacity.save(found.model_copy(update=kept))
        for clock in ("lockstep", "realtime"):
            limit = voice_capacity.limit("lockstep" if clock == "lockstep" else "realtime")
            self.stdout.write(f"{clock}: {limit.calls} calls at once ({limit.origin})")
        self.stdout.write(f"kept in {voice_capacity.path()}")
