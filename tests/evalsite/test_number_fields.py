"""What a person types into a field for a number reaches the site as it was typed, and stays in the form."""

import pytest
from django import forms
from django.http import QueryDict

from evalsite.forms import ProfileForm
from evalsite.launching import LaunchForm
from evalsite.number_fields import Fraction, NumberText, WholeNumber
from evalsite.review_forms import QueueForm

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("form", [LaunchForm, QueueForm, ProfileForm])
def test_no_field_lets_the_browser_drop_what_is_no_number(form: type[forms.BaseForm]) -> None:
    numbers = [field for field in form().fields.values() if isinstance(field, forms.IntegerField | forms.FloatField)]
    assert numbers
    assert all(isinstance(field.widget, NumberText) for field in numbers)
    assert 'type="number"' not in form().as_p()


class Typed(forms.Form):
    whole = WholeNumber(min_value=1, required=False)
    money = Fraction(min_value=0.01, required=False)


def test_what_is_no_number_has_its_reason_and_stays() -> None:
    form = Typed(QueryDict("whole=five&money=5e"))
    assert form.errors == {"whole": ["Enter a whole number."], "money": ["Enter a number."]}
    assert 'value="five"' in str(form["whole"])
    assert 'value="5e"' in str(form["money"])
    assert 'inputmode="decimal"' in str(form["money"])


def test_numbers_are_numbers() -> None:
    form = Typed(QueryDict("whole=12&money=0.5"))
    assert form.is_valid()
    assert form.cleaned_data == {"whole": 12, "money": 0.5}


def test_a_price_that_is_no_number_has_one_reason() -> None:
    form = ProfileForm(QueryDict("slug=a&prompt_price=1&completion_price=abc"))
    assert form.errors["completion_price"] == ["Enter a number."]
