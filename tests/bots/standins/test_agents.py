"""The scripted agents on every domain: the faithful one passes all that can pass, each other fails where it should.

Every call is held in process, with the caller and the judge that a rehearsal has, and scored as a lane scores it.
"""

from functools import cache

import pytest

from bots.standins.agent import applies, careless_choice
from bots.standins.claims import saying
from bots.standins.cue import Cue, cue
from scenarios.domains import load
from scenarios.scoring.results import Decision
from scenarios.scoring.upstream import demanded_facts
from tests.bots.standins.conversation import Conversation


def names_of(domain: str) -> tuple[str, ...]:
    """Return a domain's scenarios; none where its files are absent, which the tests of the figures then say."""
    home = load()[domain]
    return () if home.missing_data() else tuple(spec.name for spec in home.scenarios())


FRONTDESK = names_of("frontdesk")
RETAIL = tuple(f"tau2_retail__{number}" for number in range(114))
AIRLINE = tuple(f"tau2_airline__{number}" for number in range(50))
EVA = names_of("eva_airline")
# The same tasks under both support texts.
MANUAL, WORKFLOW = names_of("tau2_telecom")[:114], names_of("tau2_telecom")[114:]
TELECOM = (*MANUAL[::6], *WORKFLOW[::16])
# Its only write is refused (a gift card that is too low), and its claim asks for that very write.
CANNOT_PASS = "tau2_retail__105"


@pytest.fixture(autouse=True)
def _files(request: pytest.FixtureRequest) -> None:
    """The benchmark's domains need their files; the front desk none."""
    if "__" in request.node.nodeid:
        request.getfixturevalue("benchmarks")


@cache
def held(scenario: str, agent: str) -> Conversation:
    return Conversation(scenario, f"standin-{agent}").hold()


@cache
def decided(scenario: str, agent: str) -> Decision:
    return held(scenario, agent).decision()


def failing_signals(scenario: str, agent: str) -> set[str]:
    return set(decided(scenario, agent).success_breakdown["failed"])


def wants_saying(scene: Cue) -> bool:
    return any(map(saying, scene.spec.nl_assertions))


scenarios = pytest.mark.parametrize("scenario", [*FRONTDESK, *RETAIL, *AIRLINE, *EVA, *TELECOM])
some_scenarios = pytest.mark.parametrize(
    "scenario", [*FRONTDESK, *RETAIL[::8], *AIRLINE[::8], *EVA[::8], *TELECOM[::16]]
)


@scenarios
def test_faithful_does_everything_right(scenario: str) -> None:
    call = held(scenario, "faithful")
    gold = [action.tool for action in call.scene.spec.gold_actions]
    hands_over = gold[-1:] and gold[-1] in call.scene.transfer_tools

    assert call.is_as_expected
    assert call.tools == (gold if hands_over else [*gold, "end_conversation"])
    assert call.end_reason == ("transfer" if hands_over else "end_tool")
    assert decided(scenario, "faithful").outcome == ("fail" if scenario == CANNOT_PASS else "pass")


@scenarios
def test_null_passes_only_by_inaction(scenario: str) -> None:
    decision = decided(scenario, "null")

    assert held(scenario, "null").tools == ["end_conversation"]
    assert decision.outcome == ("pass" if cue(scenario).gold.health.passes_by_inaction else "fail")
    assert decision.by_inaction == (decision.outcome == "pass")
    assert "nl_assertion" not in decision.success_breakdown["passed"]


@scenarios
@pytest.mark.parametrize("agent", ["skips-a-write", "wrong-argument"])
def test_a_spoilt_write_spoils_the_end_state(scenario: str, agent: str) -> None:
    call = held(scenario, agent)
    is_spoilt = applies(agent, cue(scenario))

    assert call.is_as_expected == (not is_spoilt)
    assert call.end_reason == held(scenario, "faithful").end_reason
    if is_spoilt:
        assert failing_signals(scenario, agent) & {"db_state_match", "db_state_assertion"}
    else:
        assert decided(scenario, agent).outcome == decided(scenario, "faithful").outcome


@scenarios
def test_whoever_must_change_something_can_fail_to(scenario: str) -> None:
    """A write can be skipped wherever doing nothing leaves another state behind; spoilt where it takes an argument."""
    scene = cue(scenario)
    writes = [scene.spec.gold_actions[position] for position, call in enumerate(scene.gold.calls) if call.changes]

    assert applies("skips-a-write", scene) == (not scene.gold.health.gold_equals_seed)
    assert applies("wrong-argument", scene) == any(action.arguments for action in writes)


@scenarios
def test_a_skipped_write_is_the_only_call_left_out(scenario: str) -> None:
    scene = cue(scenario)
    expected = list(held(scenario, "faithful").tools)
    if scene.last_write is not None:
        del expected[scene.last_write]

    assert held(scenario, "skips-a-write").tools == expected
    assert held(scenario, "skips-a-write").turns == held(scenario, "faithful").turns


@scenarios
def test_a_wrong_argument_is_one_argument_of_one_call(scenario: str) -> None:
    faithful, wrong = (held(scenario, agent).evidence.tools for agent in ("faithful", "wrong-argument"))
    pairs = [(a, b) for a, b in zip(faithful, wrong, strict=True) if a.arguments != b.arguments]

    assert len(pairs) == applies("wrong-argument", cue(scenario))
    for right, other in pairs:
        assert (right.tool, right.side) == (other.tool, other.side)
        assert set(right.arguments) == set(other.arguments)
        assert sum(right.arguments[name] != other.arguments[name] for name in right.arguments) == 1


@pytest.mark.parametrize("scenario", TELECOM)
def test_each_side_calls_its_own_tools_in_the_order_of_the_gold(scenario: str) -> None:
    call = held(scenario, "faithful")
    uses = [(use.side, use.tool, use.arguments) for use in call.evidence.tools if use.tool != "end_conversation"]

    assert uses == [(a.side, a.tool, a.arguments) for a in call.scene.spec.gold_actions]
    assert all(use.ok for use in call.evidence.tools)


@pytest.mark.usefixtures("benchmarks")
@pytest.mark.parametrize(
    ("names", "faithful", "null"),
    [(RETAIL, 113, 6), (AIRLINE, 50, 24), (EVA, 50, 6), (MANUAL, 114, 20), (WORKFLOW, 114, 20)],
    ids=["retail", "airline", "eva", "telecom", "telecom_workflow"],
)
def test_how_many_pass_and_how_many_by_inaction(names: tuple[str, ...], faithful: int, null: int) -> None:
    decisions = [decided(name, "faithful") for name in names]

    assert [decision.outcome for decision in decisions].count("pass") == faithful
    assert all(decision.other_outcome in (None, decision.outcome) for decision in decisions), "by upstream strictness"
    assert [decided(name, "null").outcome for name in names].count("pass") == null


@pytest.mark.usefixtures("benchmarks")
def test_facts_that_only_upstream_wants_said_fail_only_there() -> None:
    silent = [name for name in AIRLINE if decided(name, "forgets-to-say").other_outcome == "fail"]

    assert len(silent) == 6
    assert silent == [name for name in AIRLINE if demanded_facts(cue(name).spec)]
    assert {decided(name, "forgets-to-say").outcome for name in silent} == {"pass"}


@scenarios
def test_what_is_not_said_fails_the_claims_and_nothing_else(scenario: str) -> None:
    call, scene = held(scenario, "forgets-to-say"), cue(scenario)

    assert call.is_as_expected
    if not wants_saying(scene):
        assert decided(scenario, "forgets-to-say").outcome == decided(scenario, "faithful").outcome
        return
    assert failing_signals(scenario, "forgets-to-say") <= {"nl_assertion", "judge_passed"}
    assert decided(scenario, "forgets-to-say").outcome == "fail"
    for claim, verdict in zip(scene.spec.nl_assertions, call.verdicts().verdicts, strict=True):
        assert verdict.passed == (saying(claim) is None), claim


@some_scenarios
def test_never_ends_does_everything_but_end(scenario: str) -> None:
    call = held(scenario, "never-ends")

    assert call.end_reason == "turn_limit"
    assert call.is_as_expected
    assert "clean_exit" in failing_signals(scenario, "never-ends")
    assert call.said[-1] == call.said[-2]


@some_scenarios
def test_silent_stops_talking(scenario: str) -> None:
    call = held(scenario, "silent")

    assert (len(call.said), call.tools, call.end_reason) == (2, [], "silence")
    assert decided(scenario, "silent").outcome == "stalled"


@scenarios
def test_careless_is_one_of_the_others(scenario: str) -> None:
    choice = careless_choice(cue(scenario))

    assert applies(choice, cue(scenario)) or choice == "faithful"
    assert held(scenario, "careless").said == held(scenario, choice).said
    assert decided(scenario, "careless").outcome == decided(scenario, choice).outcome


@pytest.mark.usefixtures("benchmarks")
def test_a_careless_sweep_has_failures_of_every_kind_and_mostly_passes() -> None:
    choices = [careless_choice(cue(scenario)) for scenario in RETAIL]

    assert set(choices) == {
        "faithful", "skips-a-write", "wrong-argument", "forgets-to-say", "null", "never-ends", "silent",
    }  # fmt: skip
    assert 0.5 < choices.count("faithful") / len(choices) < 0.7


def test_the_share_of_failures_can_be_chosen() -> None:
    faithful = [careless_choice(cue(scenario), share=0) for scenario in FRONTDESK]
    careless = [careless_choice(cue(scenario), share=1) for scenario in FRONTDESK]

    assert set(faithful) == {"faithful"}
    assert "faithful" not in careless


@pytest.mark.usefixtures("benchmarks")
def test_the_retail_sweep_is_about_twenty_turns_a_call() -> None:
    turns = [held(scenario, "faithful").turns for scenario in RETAIL]

    assert 2200 <= sum(turns) <= 2400
    assert max(turns) < 50


@pytest.mark.usefixtures("benchmarks")
def test_the_null_agent_leaves_11_states_of_retail_right() -> None:
    assert sum(held(scenario, "null").is_as_expected for scenario in RETAIL) == 11


@pytest.mark.usefixtures("benchmarks")
def test_the_faithful_agent_meets_60_of_61_claims() -> None:
    replies = [held(scenario, "faithful").verdicts() for scenario in RETAIL if cue(scenario).spec.nl_assertions]
    verdicts = [verdict for reply in replies for verdict in reply.verdicts]

    assert (len(verdicts), sum(verdict.passed for verdict in verdicts)) == (61, 60)
    assert all(verdict.error is None and not verdict.detail.get("contradiction") for verdict in verdicts)
    assert all(quote.found for verdict in verdicts for quote in verdict.evidence)
    assert all(verdict.evidence for verdict in verdicts if verdict.passed)


@pytest.mark.parametrize("joins", [False, True])
def test_a_reply_with_text_and_call_may_be_stored_as_one_message_or_two(joins: bool) -> None:
    call = Conversation("frontdesk__three_wishes", joins_text_and_call=joins).hold()

    assert call.decision().outcome == "pass"
    assert call.turns == held("frontdesk__three_wishes", "faithful").turns


@pytest.mark.parametrize("fault", ["badjson", "unknown-tool", "badjson+unknown-tool"])
def test_a_broken_call_is_answered_and_the_agent_goes_on(fault: str) -> None:
    call = Conversation("frontdesk__breakfast", f"standin-faithful+{fault}").hold()
    errors = [use.error for use in call.evidence.tools if not use.ok]

    assert call.decision().outcome == "pass"
    assert errors == [{"badjson": "invalid_arguments", "unknown-tool": "unknown_tool"}[f] for f in fault.split("+")]


def test_a_long_reply_is_20_kb_once() -> None:
    call = Conversation("frontdesk__breakfast", "standin-faithful+long").hold()

    assert [len(text) for text in call.said if len(text) > 1000] == [20_000]
    assert call.decision().outcome == "pass"


@pytest.mark.parametrize("judge", ["garbage", "wrong-count", "string-booleans"])
def test_a_broken_judge_is_a_judge_error(judge: str) -> None:
    assert held("frontdesk__saver_refusal", "faithful").decision(f"standin-judge+{judge}").outcome == "judge_error"


def test_the_same_call_is_held_in_the_same_words() -> None:
    again = Conversation("frontdesk__three_wishes").hold()

    first = held("frontdesk__three_wishes", "faithful")
    assert [turn.said for turn in again.evidence.turns] == [turn.said for turn in first.evidence.turns]
    assert [use.arguments for use in again.evidence.tools] == [use.arguments for use in first.evidence.tools]


@pytest.mark.parametrize(("agent", "passes"), [("faithful", 12), ("null", 1), ("careless", 5)])
def test_the_figures_of_the_authoring_guide(agent: str, passes: int) -> None:
    """docs/authoring-a-domain.md says how many scenarios of the front desk each stand-in passes."""
    assert [decided(scenario, agent).outcome for scenario in FRONTDESK].count("pass") == passes
