import pytest

from evalsite.exporting import chosen_trials, in_words
from evalsite.filters import TrialFilter
from scenarios.models import Scenario
from tests.factories import add_signals, make_run, make_scenario

pytestmark = pytest.mark.django_db


def test_without_a_filter_it_is_all() -> None:
    run = make_run(3, 2, ("pass", "fail"))
    assert chosen_trials(run, TrialFilter()).count() == 6
    assert in_words(TrialFilter()) == ""


def test_outcomes_are_alternatives() -> None:
    run = make_run(4, 1, ("pass", "fail", "stalled", "tainted"))
    chosen = chosen_trials(run, TrialFilter(outcome="fail"), ["stalled"])
    assert sorted(chosen.values_list("outcome", flat=True)) == ["fail", "stalled"]
    assert in_words(TrialFilter(outcome="fail"), ["stalled"]) == "outcome stalled or fail"


def test_an_outcome_chooses_trials_and_not_their_scenarios() -> None:
    """The page shows all trials of a scenario of which one failed; the file holds the one."""
    run = make_run(1, 3, ("pass", "fail", "pass"))
    assert [trial.number for trial in chosen_trials(run, TrialFilter(outcome="fail", q="toy"))] == [2]


def test_signal_tag_and_words() -> None:
    scenarios = [make_scenario("toy__1", tags=["hard"]), make_scenario("toy__2", search_text="a refund", tags=[])]
    run = make_run(scenarios, 2, ("pass", "fail"))
    add_signals(run)
    names = {
        words: set(chosen_trials(run, chosen).values_list("scenario__name", flat=True))
        for words, chosen in (
            ("signal", TrialFilter(signal="db_state_match")),
            ("tag", TrialFilter(tag="hard")),
            ("words", TrialFilter(q="refund")),
            ("nothing", TrialFilter(tag="hard", q="refund")),
        )
    }
    assert names == {"signal": {"toy__2"}, "tag": {"toy__1"}, "words": {"toy__2"}, "nothing": set()}
    told = in_words(TrialFilter(signal="db_state_match", tag="hard", q="refund"))
    assert told == "failed signal db_state_match, tag hard, scenarios with 'refund'"
    assert Scenario.objects.count() == 2
