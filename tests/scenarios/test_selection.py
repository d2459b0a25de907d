"""Which scenarios a run holds: each criterion narrows, bad ones name their field."""

import pytest

from scenarios.models import Scenario
from scenarios.searchable import searchable
from scenarios.selection import BadSelection, Selection
from tests.factories import make_run, make_scenarios

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _scenarios() -> None:
    make_scenarios(10)
    Scenario.objects.filter(name="toy__2").update(tags=["refund", "hard"], search_text="toy__2 a blue kettle")
    Scenario.objects.filter(name="toy__3").update(tags=["refund"], persona_name="lisa", claim_count=2)
    Scenario.objects.filter(name="toy__10").update(is_registered=False)


def names(**criteria: object) -> list[str]:
    return Selection("toy", **criteria).names()  # type: ignore[arg-type]


def test_no_criterion_chooses_all_that_are_registered_in_their_order() -> None:
    assert names() == [f"toy__{number}" for number in range(1, 10)]


@pytest.mark.parametrize(
    ("criteria", "chosen"),
    [
        ({"q": "Blue"}, ["toy__2"]),
        ({"q": "toy__3"}, ["toy__3"]),
        ({"tags": ("refund",)}, ["toy__2", "toy__3"]),
        ({"tags": ("refund", "hard")}, ["toy__2"]),
        ({"persona": "lisa"}, ["toy__3"]),
        ({"with_claims": True}, ["toy__3"]),
        ({"ids": "toy__4, 2;\n toy__1"}, ["toy__1", "toy__2", "toy__4"]),
        ({"ids": "2 3", "with_claims": True}, ["toy__3"]),
    ],
)
def test_criteria_narrow(criteria: dict[str, object], chosen: list[str]) -> None:
    assert names(**criteria) == chosen


def test_a_short_name_means_the_scenario_of_the_domains_own_prefix() -> None:
    Scenario.objects.filter(name="toy__9").update(name="toy_variant__4")
    assert names(ids="4") == ["toy__4"]
    assert names(ids="toy_variant__4") == ["toy_variant__4"]


def test_what_failed_in_a_run() -> None:
    run = make_run(make_scenarios(4), 1, ["pass", "fail", "stalled", "infra_error"])
    assert names(failed_in=run.pk) == ["toy__2", "toy__3"]


def test_a_sample_is_the_same_for_the_same_seed_and_keeps_the_order() -> None:
    drawn = names(sample=4, seed=7)
    assert drawn == names(sample=4, seed=7)
    assert len(drawn) == 4
    assert drawn == [name for name in names() if name in drawn]
    assert any(names(sample=4, seed=seed) != drawn for seed in range(5))


def test_a_sample_beyond_what_there_is_takes_all() -> None:
    assert names(sample=100) == names()


def test_other_domains_are_not_chosen_from() -> None:
    make_scenarios(2, "other")
    assert all(name.startswith("toy__") for name in names())


@pytest.mark.parametrize(
    ("criteria", "field", "said"),
    [
        ({"ids": "toy__1 nope 77"}, "ids", "toy has no scenario nope, 77; its names look like toy__1."),
        ({"ids": " ".join(f"x{n}" for n in range(9))}, "ids", "and 4 more"),
        ({"ids": "toy__10"}, "ids", "toy__10"),
        ({"failed_in": 999_999}, "failed_in", "There is no run 999999."),
        ({"persona": "lisa", "q": "kettle"}, "q", "No scenario meets all"),
    ],
)
def test_bad_criteria_name_their_field(criteria: dict[str, object], field: str, said: str) -> None:
    with pytest.raises(BadSelection) as caught:
        names(**criteria)
    assert caught.value.field == field
    assert said in str(caught.value)


def test_a_run_of_another_domain_or_without_failures_is_refused() -> None:
    other = make_run(2, 1, ["fail"], domain="other")
    sound = make_run(make_scenarios(2), 1, ["pass"])
    with pytest.raises(BadSelection, match="a run of other, not of toy"):
        names(failed_in=other.pk)
    with pytest.raises(BadSelection, match=f"No call of run {sound.pk} has failed"):
        names(failed_in=sound.pk)


@pytest.mark.parametrize("query", ["Zo\u00eb", "Zoe\u0308", "ZO\u00cb", "zoe\u0308"])
def test_a_name_is_found_in_any_normal_form(query: str) -> None:
    """B57: the mirror's text and the query are brought to one form."""
    Scenario.objects.filter(name="toy__4").update(search_text=searchable("a caller called ZOE\u0308 Li"))
    assert names(q=query) == ["toy__4"]
