"""The launch form: what is asked, how it becomes a run's configuration, and what the run will take."""

import shlex
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.http import QueryDict
from pydantic import ValidationError

from evalsite.filters import tags_of
from evalsite.launching_voice import VOICE_OPTIONS, VoiceFields, voice_config, voice_like
from evalsite.number_fields import Fraction, WholeNumber
from scenarios import catalogue, voice_capacity
from scenarios.analysis.intervals import Interval, forecast
from scenarios.foresight import Foresight, Measured, foresee
from scenarios.launch import FrozenProfile, Limits, RunConfig, check_conditions, expand, kept_limits
from scenarios.models import Profile, Run, Scenario
from scenarios.scoring.config import STRICTNESSES
from scenarios.selection import BadSelection, Selection
from scenarios.speech_services import missing_for_local_speech

if TYPE_CHECKING:
    ProfileChoice = forms.ModelChoiceField[Profile]
else:
    ProfileChoice = forms.ModelChoiceField

SELECTION_FIELDS = ("domain", "q", "ids", "tags", "persona", "with_claims", "failed_in", "sample", "seed")
# Options of ``manage.py evaluate`` and the fields they stand for.
OPTIONS = {
    "--concurrency": "concurrency",
    "--max-turns": "max_turns",
    "--max-duration": "max_duration_s",
    "--max-cost": "max_cost",
    "--pace": "pace_s",
    "--title": "title",
    "--strictness": "strictness",
}
LIMIT_FIELDS = ("max_turns", "max_duration_s", "concurrency", "max_cost")


class ProfileField(ProfileChoice):
    """A choice among profiles by slug; NUL, which PostgreSQL refuses to look up, is in no slug."""

    def to_python(self, value: Any) -> Profile | None:
        """Return the profile."""
        found: Profile | None = super().to_python(value.replace("\0", "?") if isinstance(value, str) else value)
        return found


class LaunchForm(VoiceFields):
    """Scenarios, parties and limits of a run. ``config`` is set once the form is valid."""

    title = forms.CharField(
        max_length=200, required=False, help_text="Shown in lists; the number stands for it otherwise."
    )
    domain = forms.ChoiceField()
    q = forms.CharField(label="Search", max_length=200, required=False)
    ids = forms.CharField(
        label="Only these",
        max_length=100_000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "class": "mono", "spellcheck": "false"}),
        help_text="Names or task ids, apart by blanks or commas.",
    )
    tags = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple)
    persona = forms.ChoiceField(required=False)
    with_claims = forms.BooleanField(label="With claims for the judge", required=False)
    failed_in = WholeNumber(label="Failed in run", min_value=1, required=False)
    sample = WholeNumber(min_value=1, required=False, help_text="Draw this many.")
    seed = WholeNumber(min_value=0, max_value=2**31, initial=1, help_text="The same seed draws the same.")

    agent = ProfileField(Profile.objects.none(), to_field_name="slug")
    caller = ProfileField(Profile.objects.none(), to_field_name="slug")
    judge = ProfileField(
        Profile.objects.none(), to_field_name="slug", required=False, empty_label="no judge: claims stay unscored"
    )
    trials = WholeNumber(min_value=1, max_value=100, initial=1, help_text="Repetitions of each scenario.")
    channel = forms.ChoiceField(choices=Run.Channel.choices, initial="text")
    strictness = forms.ChoiceField(
        choices=[(name, name) for name in STRICTNESSES],
        initial="reference",
        help_text="Upstream: a pass also needs the facts and calls that its reward demands beside the signals.",
    )
    tell_persona = forms.BooleanField(
        label="Tell the caller its persona", required=False, help_text="How easy it is to help; not told by default."
    )

    max_turns = WholeNumber(label="Turns", min_value=1, max_value=1000, initial=100, help_text="Of both sides.")
    max_duration_s = WholeNumber(
        label="Seconds", min_value=1, required=False, help_text="Of one call; empty: as the scenario says."
    )
    concurrency = WholeNumber(
        label="Calls at once", min_value=1, required=False, help_text="Empty: as many as the lanes hold."
    )
    max_cost = Fraction(
        label="US dollars", min_value=0.01, required=False, help_text="Of the run; needs the prices of all parties."
    )
    pace_s = Fraction(
        label="Pace", min_value=0, max_value=60, initial=0, help_text="Seconds a turn takes at least, to be watched."
    )
    launch_key = forms.CharField(widget=forms.HiddenInput, max_length=64)

    config: RunConfig
    selection: Selection

    def __init__(self, data: QueryDict | None = None, initial: dict[str, Any] | None = None) -> None:
        usable = catalogue.domains()
        start = {"launch_key": uuid.uuid4().hex, **_defaults(), **(initial or {})}
        super().__init__(data, initial=start)
        asked = (data or start).get("domain")
        chosen = asked if asked in usable else next(iter(usable), "")
        self.initial["domain"] = chosen
        rows = Scenario.objects.filter(domain=chosen, is_registered=True)
        personas = rows.exclude(persona_name="").order_by("persona_name").values_list("persona_name", flat=True)
        self.choose_speech()
        self.choose_acoustics(usable.get(str(chosen)))
        self._choices("domain", [(name, domain.title) for name, domain in usable.items()])
        self._choices("tags", [(tag, tag) for tag in tags_of(rows)])
        self._choices("persona", [("", "any"), *((name, name) for name in personas.distinct())])
        if not chosen or not any(spec.persona for spec in catalogue.specs(chosen)):
            del self.fields["tell_persona"]
        for kind in Profile.Kind.values:
            field = self.fields[kind]
            assert isinstance(field, ProfileField)
            field.queryset = Profile.objects.filter(kind=kind, is_archived=False)

    def _choices(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices

    def clean(self) -> dict[str, Any]:
        """Choose the scenarios and freeze the configuration; every problem goes beside its field."""
        data = super().clean() or {}
        if self.errors:
            return data
        self.selection = Selection(
            **{name: data[name] for name in SELECTION_FIELDS if name != "tags"}, tags=tuple(data["tags"])
        )
        try:
            self.config = self._config(data, self.selection.names())
        except BadSelection as error:
            self.add_error(error.field, str(error))
        except ValidationError as error:
            for problem in error.errors():
                self._add_problem(problem["loc"], problem["msg"].removeprefix("Value error, "))
        except ValueError as error:  # of the conditions of a voice run
            self._add_problem((), str(error))
        return data

    def _config(self, data: dict[str, Any], names: list[str]) -> RunConfig:
        limits = {name: data[name] for name in LIMIT_FIELDS if data[name] is not None}
        config = RunConfig(
            domain=data["domain"],
            scenarios=expand(data["domain"], names),
            trials=data["trials"],
            **{kind: FrozenProfile(**data[kind].frozen()) if data[kind] else None for kind in Profile.Kind.values},
            channel=data["channel"],
            **voice_config(data),
            limits=Limits(**limits),
            pace_s=data["pace_s"],
            strictness=data["strictness"],
            persona=data.get("tell_persona", False),
        )
        check_conditions(config)
        return config

    def _add_problem(self, place: tuple[int | str, ...], message: str) -> None:
        """Put a problem of the configuration beside the field it names, or over the form."""
        named, _, rest = message.partition(": ")
        name = str(place[-1]) if place else named.rpartition(".")[2]
        if name not in self.fields:
            self.add_error(None, message)
        else:
            self.add_error(name, (message if place else rest).capitalize() + ".")


@dataclass(frozen=True)
class Prospect:
    """What a run will take: calls, power, and time and money going by earlier runs."""

    scenarios: int
    calls: int
    interval: Interval | None
    at_once: int
    known: Foresight
    voice: voice_capacity.Limit | None = None  # of this machine, for a voice run
    missing: Sequence[str] = ()  # packages of the speech that the run asks for; workers elsewhere may have them

    @property
    def duration_s(self) -> float | None:
        """Return how long the run will take if all places are used."""
        return None if self.known.seconds is None else self.known.seconds.mean * self._turns

    @property
    def duration_spread(self) -> tuple[float, float] | None:
        """Return how long it would take at the pace of the fastest and of the slowest earlier run."""
        return _scaled(self.known.seconds, self._turns)

    @property
    def cost(self) -> float | None:
        """Return what the run will cost, in dollars."""
        return None if self.known.cost is None else self.known.cost.mean * self.calls

    @property
    def cost_spread(self) -> tuple[float, float] | None:
        """Return what it would cost at the prices of the cheapest and of the dearest earlier run."""
        return _scaled(self.known.cost, self.calls)

    @property
    def _turns(self) -> float:
        """Return how many calls follow each other in a place."""
        return max(1.0, self.calls / self.at_once)


def _scaled(measured: Measured | None, factor: float) -> tuple[float, float] | None:
    if measured is None or measured.spread is None:
        return None
    return measured.spread[0] * factor, measured.spread[1] * factor


def prospect(config: RunConfig) -> Prospect:
    """Return what a run with this configuration will take."""
    calls = len(config.scenarios) * config.trials
    places = settings.LANES * settings.LANE_WIDTH
    return Prospect(
        scenarios=len(config.scenarios),
        calls=calls,
        interval=forecast(len(config.scenarios), config.trials),
        at_once=min(calls, places, kept_limits(config).concurrency or places),
        known=foresee(config),
        voice=voice_capacity.limit(config.clock) if config.clock else None,
        missing=missing_for_local_speech() if _speaks_here(config) else (),
    )


def _speaks_here(config: RunConfig) -> bool:
    """Return whether a side of ours speaks with this machine's own models."""
    sides = [] if config.voice is None else [(config.agent, config.voice.agent), (config.caller, config.voice.caller)]
    return any(speech.service == "local" and not (party and party.address) for party, speech in sides)


def command_line(form: LaunchForm) -> str:
    """Return the command that launches the same run."""
    data, config = form.cleaned_data, form.config
    words: list[str] = ["manage.py", "evaluate", "--domain", config.domain]
    for kind in Profile.Kind.values:
        words += [f"--{kind}", data[kind].slug if data[kind] else "none"]
    words += ["--channel", config.channel, "--trials", str(config.trials)]
    for option, name in {**OPTIONS, **(VOICE_OPTIONS if config.voice else {})}.items():
        value = data[name]
        if value not in (None, "") and value != form.fields[name].initial:
            words += [option, f"{value:g}" if isinstance(value, float) else str(value)]
    words += ["--persona"] if config.persona else []
    return " ".join(map(shlex.quote, [*words, *_scenario_words(form), "--wait"]))


def _scenario_words(form: LaunchForm) -> list[str]:
    """Return a plain sample by its seed, any other choice by its names, all scenarios by nothing."""
    chosen = form.selection
    names = [ref.name for ref in form.config.scenarios]
    everything = Scenario.objects.filter(domain=chosen.domain, is_registered=True).count()
    if len(names) == everything:
        return []
    if chosen == Selection(chosen.domain, sample=chosen.sample, seed=chosen.seed):
        return ["--sample", str(chosen.sample), "--seed", str(chosen.seed)]
    return ["--scenarios", *names]


def like(run: Run) -> dict[str, Any]:
    """Return the initial values of a form that launches a run like this one."""
    config = run.config
    names = [ref["name"] for ref in config["scenarios"]]
    everything = Scenario.objects.filter(domain=run.domain, is_registered=True).count()
    parties = {kind: (config[kind] or {}).get("slug") for kind in Profile.Kind.values}
    return {
        "title": run.title,
        "domain": run.domain,
        "ids": "" if len(names) == everything else " ".join(names),
        **parties,
        **{name: config["limits"][name] for name in LIMIT_FIELDS},
        **{name: config[name] for name in ("trials", "channel", "strictness")},
        **voice_like(config),
        "tell_persona": config["persona"],
        "pace_s": f"{config['pace_s']:g}",
    }


def _defaults() -> dict[str, Any]:
    """Return the domain and parties of the newest run, else the first there are: the first launch needs no choice."""
    newest = Run.objects.order_by("-launched_at").first()
    found: dict[str, Any] = {"domain": newest.domain} if newest else {}
    for kind in Profile.Kind.values:
        slugs = list(Profile.objects.filter(kind=kind, is_archived=False).values_list("slug", flat=True))
        last = (newest.config[kind] or {}).get("slug") if newest else None
        found[kind] = last if last in slugs else next(iter(slugs), None)
    return found
