"""Launch a sweep from the command line, hold it, and say how it went."""

import json
import os
import random
import signal
import time
from collections.abc import Sequence
from fnmatch import fnmatchcase
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from pydantic import ValidationError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bots.wake import alive_lanes, wake_lanes
from evalsite.launching_voice import VOICE_OPTIONS
from evalsite.management.commands.serve import prepare
from evalsite.run_summary import as_json, as_table
from evalsite.services import call_services, lane
from evalsite.supervisor import StartFailed, Supervisor
from scenarios import lifecycle
from scenarios.domains import load
from scenarios.launch import FrozenProfile, Limits, RunConfig, ScenarioRef, check_conditions, expand, launch
from scenarios.models import Profile, Run
from scenarios.scoring.config import STRICTNESSES
from scenarios.scoring.results import RATED
from scenarios.speech_services import speech_service
from scenarios.standing import Standing, standings
from scenarios.voice import VoiceConfig
from scenarios.voice_conditions import BEHAVIOURS, LINES, chosen

ALL_SCORED, ERROR, INCOMPLETE = 0, 1, 12
POLL_S = 0.5
WORKER_S = 5.0  # a worker that runs announces its lane within a fraction of this
CANCEL_S = 20.0


class Command(BaseCommand):
    """One sweep for people, scripts and CI."""

    help = (
        "Launch scenarios of a domain and, with --wait, hold them and print the result. Uses the running workers or "
        "starts its own. Exit codes: 0 all scored, 1 error, 12 incomplete. Ctrl-C cancels the run."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """What to run, with whom, how often."""
        parser.add_argument("--domain", required=True, help="such as tau2_retail or frontdesk")
        parser.add_argument(
            "--scenarios",
            nargs="+",
            default=["*"],
            metavar="NAME",
            help="names or patterns such as '*__1?' (default: all)",
        )
        parser.add_argument("--sample", type=int, metavar="N", help="only N of them, drawn with --seed")
        parser.add_argument("--seed", type=int, default=0, help="seed of --sample (default: %(default)s)")
        parser.add_argument("--agent", required=True, metavar="PROFILE", help="profile of the agent under test")
        parser.add_argument("--caller", default="standin", metavar="PROFILE", help="default: %(default)s")
        parser.add_argument("--judge", default="standin", metavar="PROFILE|none", help="default: %(default)s")
        parser.add_argument("--channel", choices=["text", "voice"], default="text")
        parser.add_argument(
            "--clock",
            choices=["lockstep", "realtime"],
            help="of the voice channel: as fast as the parties compute (the default), or as people listen",
        )
        for side in ("agent", "caller"):
            parser.add_argument(
                f"--{side}-speech", metavar="NAME", help="local (the default), tones, or one of SPEECH_SERVICES"
            )
        parser.add_argument(
            "--acoustics",
            metavar="NAME",
            help=f"what the agent hears the caller over: {', '.join(LINES)}, or persona:NAME for a setting of "
            "tasks_voice.json such as persona:control_audio (default: clean)",
        )
        parser.add_argument(
            "--behaviour", choices=BEHAVIOURS, help="of the caller while the agent speaks (default: waits)"
        )
        parser.add_argument("--voice-seed", type=int, metavar="N", help="of acoustics and behaviour (default: 1)")
        parser.add_argument(
            "--strictness",
            choices=STRICTNESSES,
            default="reference",
            help="upstream: a pass also needs what upstream's reward demands beside the signals",
        )
        parser.add_argument("--persona", action="store_true", help="tell the caller its persona, where it has one")
        parser.add_argument("--trials", type=int, default=1, metavar="N", help="repetitions (default: %(default)s)")
        parser.add_argument("--concurrency", type=int, metavar="N", help="calls of this run at once")
        parser.add_argument("--max-turns", type=int, metavar="N", help="turns of both sides in a call")
        parser.add_argument(
            "--max-duration", type=int, metavar="SECONDS", help="of a call; default: the scenario's own"
        )
        parser.add_argument("--pace", type=float, default=0, metavar="SECONDS", help="that a turn takes at least")
        parser.add_argument("--max-cost", type=float, metavar="DOLLARS", help="halt the run when it has cost this much")
        parser.add_argument("--title", default="", help="shown in the list of runs")
        parser.add_argument("--wait", action="store_true", help="hold the run to its end and print the result")
        parser.add_argument("--json", action="store_true", dest="is_json", help="print the result as JSON")

    def handle(self, *, wait: bool, is_json: bool, **options: Any) -> None:
        """Launch, hold, report."""
        prepare()
        run = launch(self._config(options), person=None, title=options["title"])
        if not wait:
            wake_lanes()
            self.stdout.write(json.dumps({"run": run.pk}) if is_json else f"run {run.pk}: {run.trial_count} calls wait")
            return
        standing = _hold(run, Console(stderr=True))
        self.stdout.write(as_json(standing) if is_json else as_table(standing))
        if code := exit_code(standing):
            raise SystemExit(code)

    def _config(self, options: dict[str, Any]) -> RunConfig:
        limits: dict[str, Any] = {"concurrency": options["concurrency"], "max_cost": options["max_cost"]}
        limits["max_duration_s"] = options["max_duration"]
        if options["max_turns"] is not None:
            limits["max_turns"] = options["max_turns"]
        try:
            config = RunConfig(
                domain=options["domain"],
                scenarios=choose(options["domain"], options["scenarios"], options["sample"], options["seed"]),
                trials=options["trials"],
                agent=_profile("agent", options["agent"]),
                caller=_profile("caller", options["caller"]),
                judge=None if options["judge"] == "none" else _profile("judge", options["judge"]),
                channel=options["channel"],
                **voice_settings(options),
                limits=Limits(**limits),
                pace_s=options["pace"],
                strictness=options["strictness"],
                persona=has_persona(options["domain"], options["persona"]),
            )
            check_conditions(config)
            return config
        except ValidationError as error:
            raise CommandError("; ".join(_readable(problem) for problem in error.errors())) from error
        except ValueError as error:
            raise CommandError(str(error)) from error


def voice_settings(options: dict[str, Any]) -> dict[str, Any]:
    """Return clock and voice of the voice channel; ValueError where they are asked for without it."""
    asked = {name: options[name] for name in VOICE_OPTIONS.values() if options[name] is not None}
    if options["channel"] != "voice":
        if asked:
            name = next(iter(asked)).replace("_", "-")
            raise ValueError(f"--{name}: only the voice channel has it; add --channel voice or leave it out")
        return {}
    agent, caller = (speech_service(asked.get(name, "local")) for name in ("agent_speech", "caller_speech"))
    names = (asked.get("acoustics", "clean"), asked.get("behaviour", "waits"))
    conditions = chosen(*names, seed=asked.get("voice_seed", 1))
    return {"clock": asked.get("clock"), "voice": VoiceConfig(agent=agent, caller=caller, conditions=conditions)}


def choose(domain: str, patterns: Sequence[str], sample: int | None, seed: int) -> list[ScenarioRef]:
    """Return the scenarios that match any of the names or patterns, or a seeded sample of them, in their own order."""
    expand(domain, [])  # names an unknown domain or its missing files
    names = [spec.name for spec in load()[domain].scenarios()]
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise ValueError(f"no scenario of {domain} is called {pattern!r}; its names look like {names[0]!r}")
    chosen = [name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)]
    if sample is not None:
        if not 1 <= sample <= len(chosen):
            raise ValueError(f"--sample {sample}: choose between 1 and {len(chosen)}")
        drawn = set(random.Random(seed).sample(chosen, sample))  # noqa: S311  (no secret: meant to be repeatable)
        chosen = [name for name in chosen if name in drawn]
    return expand(domain, chosen)


def has_persona(domain: str, is_asked: bool) -> bool:
    """Return whether callers are told their persona; ValueError where the domain has none to tell."""
    if is_asked and not any(spec.persona for spec in load()[domain].scenarios()):
        raise ValueError(f"--persona: no scenario of {domain} has a persona to tell; leave it out")
    return is_asked


def exit_code(standing: Standing) -> int:
    """Return 0 when every trial counts in the rate, 12 when some do not."""
    return ALL_SCORED if sum(standing.outcomes.get(name, 0) for name in RATED) == standing.total else INCOMPLETE


def _profile(kind: str, slug: str) -> FrozenProfile:
    if slug == "standin":
        slug = f"standin-{kind}"
    found = Profile.objects.filter(kind=kind, slug=slug, is_archived=False).first()
    if found is None:
        known = ", ".join(Profile.objects.filter(kind=kind, is_archived=False).values_list("slug", flat=True))
        raise ValueError(
            f"no {kind} is called {slug!r}; there are {known or 'none'}. Add one on the settings page or with "
            "manage.py load_profiles FILE"
        )
    return FrozenProfile(**found.frozen())


def _readable(problem: Any) -> str:
    where = ".".join(str(part) for part in problem["loc"])
    message = str(problem["msg"]).removeprefix("Value error, ")
    return f"{where}: {message}" if where else message


class _Workers:
    """The workers of a run: those that are there, or our own when there are none."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._own: Supervisor | None = None
        self._seen_at = time.monotonic()

    def keep(self) -> None:
        """Start a worker once nobody has been seen working for a while; keep ours alive."""
        if self._own is not None:
            self._own.watch()
        elif alive_lanes():
            self._seen_at = time.monotonic()
        elif time.monotonic() > self._seen_at + WORKER_S:
            self._console.print("no worker is running: starting one for this run")
            self._start()

    def stop(self) -> None:
        """Stop what was started here."""
        if self._own is not None:
            self._own.stop()

    def _start(self) -> None:
        calls = call_services()
        self._own = Supervisor({**os.environ, **calls.variables}, settings.BASE_DIR, self._console.print)
        self._own.start(calls.services)
        self._own.start([lane()])


def _hold(run: Run, console: Console) -> Standing:
    """Follow a run to its end. Ctrl-C cancels it."""
    asked = _CancelSignal()
    workers = _Workers(console)
    wake_lanes()
    try:
        return _follow(run, console, asked, workers)
    except StartFailed as error:
        lifecycle.request_cancel(run, None)
        raise CommandError(f"{error}; run {run.pk} is cancelled") from error
    finally:
        workers.stop()


def _follow(run: Run, console: Console, asked: "_CancelSignal", workers: _Workers) -> Standing:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    cancelled_at = None
    with Progress(*columns, console=console, transient=True) as progress:
        bar = progress.add_task(f"run {run.pk}", total=run.trial_count)
        while True:
            standing = standings([run])[run.pk]
            progress.update(bar, completed=standing.ended, description=f"run {run.pk}: {standing.rate}")
            if not standing.open:
                return standing
            if asked.is_set and cancelled_at is None:
                console.print("cancelling; Ctrl-C again to leave at once")
                lifecycle.request_cancel(run, None)
                cancelled_at = time.monotonic()
            if asked.is_twice or (cancelled_at and time.monotonic() > cancelled_at + CANCEL_S):
                return standing
            workers.keep()
            time.sleep(POLL_S)


class _CancelSignal:
    """Set by Ctrl-C or SIGTERM, once or twice."""

    def __init__(self) -> None:
        self.count = 0
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, self._note)

    @property
    def is_set(self) -> bool:
        return self.count > 0

    @property
    def is_twice(self) -> bool:
        return self.count > 1

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.count += 1
