"""The form of a new review queue: what it is made from, and how it is worked."""

from typing import Any

from django import forms
from django.http import QueryDict

from evalsite.number_fields import WholeNumber
from scenarios.models import JudgeVersion, Run, Scenario
from scenarios.reviewing import KINDS, QueueFilter
from scenarios.reviewing.queues import MAX_ITEMS, MAX_REVIEWS
from scenarios.scoring.results import OUTCOMES

MAX_RUNS = 100


class QueueForm(forms.Form):
    """A filter of verdicts with a sample, and how many people review each. ``chosen`` is set once the form is valid."""

    title = forms.CharField(
        max_length=200, required=False, help_text="Reviewers see it beside every item: do not say what the judge ruled."
    )
    runs = forms.CharField(max_length=1_000, required=False, help_text="Numbers apart by commas; empty: all runs.")
    domain = forms.ChoiceField(required=False)
    scenario = forms.CharField(max_length=300, required=False, help_text="Its whole name; empty: all.")
    number = WholeNumber(label="Trial", min_value=1, required=False, help_text="Of that scenario; empty: all.")
    kind = forms.ChoiceField(choices=[(key, words) for key, words in KINDS.items()], initial="all")
    judge = forms.ChoiceField(label="Judge version", required=False)
    outcome = forms.ChoiceField(
        label="Outcome of the call", required=False, choices=[("", "any"), *((name, name) for name in OUTCOMES)]
    )
    sample = WholeNumber(
        min_value=1, max_value=MAX_ITEMS, required=False, help_text="Draw so many at random; empty: all that are found."
    )
    seed = WholeNumber(min_value=0, max_value=2**31 - 1, initial=1, help_text="The same seed draws the same sample.")
    reviews_per_item = WholeNumber(
        label="Reviews per item", min_value=1, max_value=MAX_REVIEWS, initial=1, help_text="By different people."
    )
    lease_minutes = WholeNumber(
        label="Lease, minutes", min_value=1, max_value=24 * 60, initial=30, help_text="Then others may take the item."
    )
    is_blind = forms.BooleanField(
        label="Blind",
        required=False,
        initial=True,
        help_text="The judge's ruling is shown after the reviewer's: only such labels measure agreement.",
    )

    chosen: QueueFilter

    def __init__(self, data: QueryDict | None = None, initial: dict[str, Any] | None = None) -> None:
        super().__init__(data, initial=initial)
        domains = Run.objects.order_by("domain").values_list("domain", flat=True).distinct()
        self._choices("domain", [("", "any"), *((name, name) for name in domains)])
        judges = JudgeVersion.objects.order_by("-pk")
        self._choices("judge", [("", "any"), *((str(judge.pk), f"{judge} ({judge.model})") for judge in judges)])

    def _choices(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices

    def clean_runs(self) -> tuple[int, ...]:
        """Check that each run exists."""
        parts = [part.strip().lstrip("#") for part in self.cleaned_data["runs"].split(",") if part.strip()]
        odd = [part for part in parts if not (part.isascii() and part.isdigit() and len(part) < 10)]
        if odd:
            raise forms.ValidationError(f"{odd[0]!r} is no number of a run; write for example 12, 14.")
        numbers = list(dict.fromkeys(map(int, parts)))
        if len(numbers) > MAX_RUNS:
            raise forms.ValidationError(f"Give at most {MAX_RUNS} runs, or a domain.")
        known = set(Run.objects.filter(pk__in=numbers).values_list("pk", flat=True))
        if missing := [number for number in numbers if number not in known]:
            raise forms.ValidationError(f"There is no run {missing[0]}.")
        return tuple(numbers)

    def clean_scenario(self) -> str:
        """Check that the scenario exists."""
        name: str = self.cleaned_data["scenario"].strip()
        if name and not Scenario.objects.filter(name=name).exists():
            raise forms.ValidationError(f"No scenario is called {name!r}.")
        return name

    def clean(self) -> dict[str, Any]:
        """Make the filter of what was given."""
        data = super().clean() or {}
        if data.get("number") and not data.get("scenario"):
            self.add_error("number", "Give the scenario too: every scenario has a trial of this number.")
        if self.errors:
            return data
        names = ("runs", "domain", "scenario", "number", "kind", "outcome", "sample", "seed")
        self.chosen = QueueFilter(judge=int(data["judge"]) if data["judge"] else None, **{n: data[n] for n in names})
        return data

    @property
    def how(self) -> dict[str, Any]:
        """Return how the queue is worked, as ``make_queue`` takes it."""
        return {name: self.cleaned_data[name] for name in ("reviews_per_item", "is_blind", "lease_minutes")}
