"""Forms of the settings pages."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Q

from evalsite.access import ROLE_RIGHTS, ROLES
from evalsite.number_fields import NumberText
from scenarios.models import JudgePrompt, Profile

if TYPE_CHECKING:
    ProfileModelForm = forms.ModelForm[Profile]
    UserModelForm = forms.ModelForm[User]
else:
    ProfileModelForm = UserModelForm = forms.ModelForm


class ProfileForm(ProfileModelForm):
    """A named agent, caller or judge: a model at an endpoint, or an external party at a socket address."""

    class Meta:
        model = Profile
        fields = [
            "slug",
            "title",
            "model",
            "base_url",
            "key_env",
            "parameters",
            "prompt_price",
            "completion_price",
            "address",
            "tools_run",
            "prompt",
            "structure",
        ]
        labels = {
            "slug": "Name",
            "base_url": "Base URL",
            "key_env": "Variable of the key",
            "prompt_price": "Price of input",
            "completion_price": "Price of output",
            "address": "Socket address",
            "tools_run": "Tools run",
            "prompt": "What it is told",
            "structure": "Replies are asked for",
        }
        help_texts = {
            "slug": "Short, for the command line: letters, digits, - and _.",
            "base_url": "An OpenAI-compatible endpoint, such as https://api.openai.com/v1.",
            "key_env": "Name of the worker's environment variable that holds the key. Never the key itself.",
            "parameters": 'JSON sent with every request, such as {"temperature": 0, "seed": 7}.',
            "prompt_price": "US dollars per million tokens; empty when unknown.",
            "completion_price": "US dollars per million tokens; empty when unknown.",
            "structure": "By schema, an endpoint without structured output is an error; auto falls back to plain text.",
            "address": "Of an external bot: ws:// or wss://. Leave model and base URL empty then.",
        }
        widgets = {
            "parameters": forms.Textarea(attrs={"rows": 4, "class": "mono", "spellcheck": "false"}),
            "prompt_price": NumberText("decimal"),
            "completion_price": NumberText("decimal"),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.kind != Profile.Kind.JUDGE:
            del self.fields["prompt"], self.fields["structure"]
            return
        prompt: Any = self.fields["prompt"]
        kept = Q(is_archived=False) | Q(pk=self.instance.prompt_id)
        prompt.queryset, prompt.empty_label = JudgePrompt.objects.filter(kept), "the built-in text"
        self.fields["structure"].required = False

    def clean_structure(self) -> str:
        """A form that leaves it out leaves it as it is."""
        chosen: str = self.cleaned_data["structure"] or self.instance.structure
        return chosen

    def clean_slug(self) -> str:
        """Check that the kind has no other profile of this name; Django leaves that out since kind is no field here."""
        slug: str = self.cleaned_data["slug"]
        if Profile.objects.filter(kind=self.instance.kind, slug=slug).exclude(pk=self.instance.pk).exists():
            raise forms.ValidationError(f"There is another {self.instance.kind} called {slug}, perhaps archived.")
        return slug

    def clean(self) -> dict[str, Any]:
        """Check that both prices are given or none; everything else is the model's own rule."""
        data = super().clean() or {}
        is_read = not {"prompt_price", "completion_price"} & self.errors.keys()
        if is_read and (data.get("prompt_price") is None) != (data.get("completion_price") is None):
            self.add_error("completion_price", "Give both prices or none; half a price cannot be summed.")
        return data


class PersonForm(UserModelForm):
    """A new person with a role; they sign in with a link and may be given a password later."""

    role = forms.ChoiceField(choices=[(role, f"{role}: {ROLE_RIGHTS[role]}") for role in ROLES])

    class Meta:
        model = User
        fields = ["username"]
        labels = {"username": "Name"}
        help_texts = {"username": ""}


class _FilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class _FilesField(forms.FileField):
    """One or more uploaded files."""

    widget = _FilesInput

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        files = list(data) if isinstance(data, list | tuple) and data else [data or None]
        return [super(_FilesField, self).clean(file, initial) for file in files]


class ImportForm(forms.Form):
    """Result files of other tools, and how they are read."""

    results = _FilesField(error_messages={"required": "Choose at least one file.", "empty": "One file is empty."})
    replay = forms.BooleanField(required=False, initial=True)
    upstream = forms.BooleanField(required=False)

    def clean_results(self) -> list[Any]:
        files: list[Any] = self.cleaned_data["results"]
        for file in files:
            if file.size > settings.IMPORT_MAX_BYTES:
                limit = settings.IMPORT_MAX_BYTES >> 20
                raise forms.ValidationError(
                    f"{file.name} has {file.size >> 20:,} MB, and an upload may have {limit:,}. "
                    "Import it on the machine: manage.py import_runs PATH"
                )
        return files

    @property
    def options(self) -> dict[str, bool]:
        """Return how the files are to be read."""
        return {name: bool(self.cleaned_data[name]) for name in ("replay", "upstream")}
