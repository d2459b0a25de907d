from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from scenarios.analysis.fault import Clue, attribute
from scenarios.domains.base import CallerBrief
from scenarios.domains.known_errors import KnownError
from scenarios.events import CallEnded, CallStarted, Event, PartyPrepared, ToolCalled, ToolReturned
from scenarios.scoring.evidence import CallRecord, read_events
from scenarios.scoring.fault_clues import ScoredCall, clues
from scenarios.scoring.results import VerdictResult
from tests.scenarios.scoring.cases import CANCEL, CHANGE, HEALTH, gold, no_gold, rows, said, spec

NUMBERED = {**CANCEL, "arguments": {"order_id": "W1234"}}
SPEC = spec(caller=CallerBrief(goal="Cancel my order.", known_info="The order is W1234."))
DB = frozenset({"db_state_match"})
CLAIMS = frozenset({"nl_assertion"})
OPENING = CallStarted("text")
PROMPT = PartyPrepared("user", "c", "m", "You want to cancel order W1234.", [], False)


def tool(call: int, name: str, ok: bool | None = True, **arguments: Any) -> list[Event]:
    """Return a tool call of the agent; ok None: it gets no answer. A cancellation that is done is a write."""
    wrote = name == "cancel" and ok
    action = {**CANCEL, "arguments": arguments} if wrote else None
    answer = ToolReturned(
        "agent", call, name, bool(ok), {}, 1.0, changes=[dict(CHANGE)] if wrote else [], action=action
    )
    return [ToolCalled("agent", call, name, arguments, f"id{call}"), *([answer] if ok is not None else [])]


def record(
    *happened: Event | Sequence[Event], end: str = "end_tool", by: Any = "agent", message: str = ""
) -> CallRecord:
    flat = [event for item in happened for event in ([item] if isinstance(item, Event) else item)]
    return read_events(rows(PROMPT, OPENING, *flat, CallEnded(end, by, 9000, message)))  # type: ignore[arg-type]


TALK = (
    said("user", 1, "Cancel W1234 please."),
    said("agent", 2, "Shall I cancel W1234?"),
    said("user", 3, "Yes, please do."),
    said("agent", 4, "It is cancelled."),
)
DONE_RIGHT = record(*TALK[:3], tool(1, "cancel", order_id="W1234"), TALK[3])


def call(of: CallRecord = DONE_RIGHT, **facts: Any) -> ScoredCall:
    base = ScoredCall("fail", DB, of, SPEC, gold(NUMBERED))
    return replace(base, **facts)


def kinds(found: Sequence[Clue]) -> dict[str, bool]:
    """Return each kind of clue with whether it decides."""
    return {f"{clue.side}: {clue.kind}": clue.decides for clue in found}


def test_a_failure_that_nothing_explains_is_undecided() -> None:
    assert clues(call()) == []
    assert attribute(clues(call())).side is None


@pytest.mark.parametrize("outcome", ["infra_error", "judge_error", "tainted", "cancelled", "unscored", "over_budget"])
def test_a_call_that_is_not_rated_has_no_fault(outcome: str) -> None:
    silent = record(TALK[0], end="silence", by=None, message="the agent owed turn 2 and gave no sign")
    assert clues(call(silent, outcome=outcome)) == []


@pytest.mark.parametrize(
    ("of", "outcome", "kind"),
    [
        (
            record(TALK[0], end="silence", by=None, message="the agent owed turn 2 and gave no sign"),
            "stalled",
            "silent",
        ),
        (record(TALK[0], end="silence", by=None, message="3 blank turns of the agent in a row"), "fail", "silent"),
        (record(TALK[0], tool(1, "find"), end="loop", message="over 50 tool calls in one turn"), "fail", "loop"),
        (record(TALK[0], said("agent", 2, "Goodbye.")), "stalled", "hung_up"),
    ],
)
def test_what_the_agent_did_to_the_call_itself(of: CallRecord, outcome: str, kind: str) -> None:
    found = clues(call(of, outcome=outcome, failed=frozenset({"clean_exit"})))
    assert kinds(found) == {f"agent: {kind}": True}
    assert attribute(found).side == "agent"


@pytest.mark.parametrize(
    "of",
    [
        record(*TALK, end="silence", by=None, message="nobody spoke for 30 s"),
        record(*TALK, end="time_limit", by=None, message="limit 900 s"),
        record(*TALK, end="loop", by=None, message="the same exchange 3 times in a row"),
        record(*TALK, end="hang_up", by=None),
    ],
)
def test_an_end_that_both_sides_share_blames_nobody(of: CallRecord) -> None:
    assert clues(call(of, failed=frozenset({"clean_exit"}))) == []


def test_an_agent_that_ends_the_call_without_doing_anything() -> None:
    idle = record(*TALK)
    assert kinds(clues(call(idle))) == {"agent: idle": True}
    # Nothing was due, another signal failed, somebody else ended the call, or it did try.
    assert clues(call(idle, gold=no_gold())) == []
    assert clues(call(idle, failed=CLAIMS)) == []
    assert clues(call(record(*TALK, end="turn_limit", by=None))) == []
    assert clues(call(record(*TALK, tool(1, "find", order_id="W1234")))) == []


def test_an_agent_is_not_blamed_for_idling_where_the_caller_kept_the_number_to_itself() -> None:
    vague = record(
        said("user", 1, "Cancel my order."), said("agent", 2, "Which one?"), said("user", 3, "The last one.")
    )
    found = clues(call(vague))
    assert kinds(found) == {"agent: idle": True, "caller: withheld": False}
    assert attribute(found).side is None
    assert "the caller never said w1234" in found[1].text


def test_an_agent_that_found_the_number_itself_was_not_kept_from_it() -> None:
    found = record(
        said("user", 1, "Cancel my last order."), tool(1, "cancel", order_id="W1234"), said("agent", 2, "Done.")
    )
    assert "caller: withheld" not in kinds(clues(call(found)))


def test_a_write_without_a_yes_is_a_hint_at_the_agent() -> None:
    rushed = record(TALK[0], said("agent", 2, "One moment."), tool(1, "cancel", order_id="W1234"), TALK[3])
    assert kinds(clues(call(rushed))) == {"agent: unasked": False}
    assert clues(call(rushed, failed=frozenset({"clean_exit"}))) == []


@pytest.mark.parametrize(("by", "decides"), [("user", True), (None, False)])
def test_a_call_that_ends_at_the_callers_yes(by: str | None, decides: bool) -> None:
    stopped = record(*TALK[:3], end="end_tool" if by else "turn_limit", by=by)
    found = clues(call(stopped))
    assert kinds(found) == {"caller: early_stop": decides}
    assert attribute(found).side == ("caller" if decides else None)
    assert clues(call(stopped, failed=frozenset({"clean_exit"}))) == []


def test_what_the_caller_made_up_is_offered_and_not_decided() -> None:
    """B13: the call leaves the rates once a person confirms."""
    made_up = record(said("user", 1, "Cancel W1234 and W9876."), TALK[1], TALK[2], tool(1, "cancel", order_id="W9876"))
    found = clues(call(made_up))
    assert kinds(found) == {"caller: invented": False}
    assert "w9876" in found[0].text
    assert attribute(found).side is None
    assert attribute(found, person="caller").side == "caller"


def misheard(then: Sequence[Event], heard: str = "Cancel W1284 please.") -> CallRecord:
    return record(said("user", 1, "Cancel W1234 please.", heard=heard), TALK[1], TALK[2], then)


def test_a_number_that_was_heard_wrong_and_used_is_a_fault_of_speech() -> None:
    """B56: a difference in digits is a recognition fault before the agent is blamed."""
    found = clues(call(misheard(tool(1, "cancel", order_id="W1284"))))
    assert kinds(found) == {"speech: misheard": True}
    assert found[0].text == "in turn 1 w1234 was heard as w1284 and the agent used it"
    assert attribute(found).side == "speech"


@pytest.mark.parametrize(
    "of",
    [
        misheard([*tool(1, "find", order_id="W1284"), *tool(2, "cancel", order_id="W1234")]),
        misheard(tool(1, "find", who="somebody")),
        misheard(tool(1, "find", order_id="W1234"), heard="Cancel please."),
    ],
)
def test_a_number_that_was_heard_wrong_and_did_no_harm_is_a_hint(of: CallRecord) -> None:
    assert kinds(clues(call(of)))["speech: misheard"] is False


def test_a_spelled_number_that_was_heard_wrong_and_used_is_a_fault_of_speech() -> None:
    """B56, spoken as people spell: only the way from the caller's task to the tool shows it."""
    spelled = said("user", 1, "W as in whiskey, one, two, three, four.", heard="W as in whiskey, one, two, tree, nine.")
    then = tool(1, "cancel", order_id="W1239")
    (clue,) = [one for one in clues(call(record(spelled, TALK[1], TALK[2], then))) if one.kind == "misheard_identifier"]
    assert (clue.side, clue.decides) == ("speech", True)
    assert "W1234 was said (turn 1" in clue.text
    heard_well = replace(spelled, heard=spelled.said)
    found = clues(call(record(heard_well, TALK[1], TALK[2], then)))
    assert "speech: misheard_identifier" not in kinds(found)
    unrelated = clues(call(record(spelled, TALK[1], TALK[2], then), failed=frozenset({"clean_exit"})))
    assert kinds(unrelated)["speech: misheard_identifier"] is False


@pytest.mark.parametrize("heard", ["cancel w 1 2 3 4, please", "Cancel W1234 please!", "Cancelled W1234, please."])
def test_the_same_number_in_other_words_is_no_fault(heard: str) -> None:
    assert clues(call(misheard(tool(1, "cancel", order_id="W1234"), heard=heard))) == []


def test_a_tool_that_never_answers_is_the_harness() -> None:
    left = record(TALK[0], tool(1, "find", None), said("agent", 2, "Something is wrong here."))
    found = clues(call(left, failed=frozenset({"clean_exit"})))
    assert kinds(found) == {"harness: no_answer": True}
    cut_off = record(TALK[0], said("agent", 2, "One moment."), tool(1, "find", None), end="time_limit", by=None)
    assert clues(call(cut_off, failed=frozenset({"clean_exit"}))) == []


def verdict(index: int, passed: bool, *, odd: bool = False, error: str | None = None) -> VerdictResult:
    detail = {"contradiction": True} if odd else {}
    return VerdictResult("nl_assertion", index, f"claim {index}", passed, "r", error=error, detail=detail)


@pytest.mark.parametrize(
    ("failed", "verdicts", "expected"),
    [
        (CLAIMS, [verdict(1, False, odd=True)], {"judge: contradiction": True}),
        (CLAIMS, [verdict(1, True, odd=True), verdict(2, False, odd=True)], {"judge: contradiction": True}),
        (CLAIMS, [verdict(1, False, odd=True), verdict(2, False)], {"judge: contradiction": False}),
        (CLAIMS | DB, [verdict(1, False, odd=True)], {"judge: contradiction": False}),
        (CLAIMS, [verdict(1, False), verdict(2, True, odd=True)], {}),
        (CLAIMS, [verdict(1, False, odd=True, error="outage")], {}),
    ],
)
def test_a_ruling_against_its_own_reason(
    failed: frozenset[str], verdicts: list[VerdictResult], expected: dict[str, bool]
) -> None:
    assert kinds(clues(call(failed=failed, verdicts=verdicts))) == expected


def test_a_quarantined_batch_is_the_judges_where_it_alone_failed_the_call() -> None:
    assert kinds(clues(call(failed=CLAIMS, is_quarantined=True))) == {"judge: quarantined": True}
    assert clues(call(failed=CLAIMS | DB, is_quarantined=True)) == []


CLAIM_ERROR = KnownError("The claim wants what nobody asks for.", "too_hard", signals=("nl_assertion",))


@pytest.mark.parametrize(
    ("error", "failed", "claims", "expected"),
    [
        (CLAIM_ERROR, CLAIMS, 1, True),
        (CLAIM_ERROR, CLAIMS, 2, False),
        (CLAIM_ERROR, CLAIMS | DB, 1, False),
        (CLAIM_ERROR, DB, 0, False),
        (CLAIM_ERROR._replace(signals=()), CLAIMS, 1, False),
        (CLAIM_ERROR._replace(effect="either"), CLAIMS, 1, False),
        (CLAIM_ERROR._replace(effect="too_easy"), CLAIMS, 1, None),
        (CLAIM_ERROR._replace(effect="none"), CLAIMS, 1, None),
        (CLAIM_ERROR._replace(effect="not_comparable"), CLAIMS, 1, None),
        (CLAIM_ERROR._replace(effect="none", upstream="too_hard"), CLAIMS, 1, None),
    ],
)
def test_a_known_error_of_the_task(
    error: KnownError, failed: frozenset[str], claims: int, expected: bool | None
) -> None:
    odd = replace(SPEC, extra={"known_errors": (error,)})
    verdicts = [verdict(index, False) for index in range(1, claims + 1)]
    found = kinds(clues(call(spec=odd, failed=failed, verdicts=verdicts)))
    assert found == ({} if expected is None else {"task: known_error": expected})


def test_the_effect_is_that_under_the_runs_strictness() -> None:
    odd = replace(SPEC, extra={"known_errors": (CLAIM_ERROR._replace(effect="none", upstream="too_hard"),)})
    found = clues(call(spec=odd, failed=CLAIMS, verdicts=[verdict(1, False)], strictness="upstream"))
    assert kinds(found) == {"task: known_error": True}


def test_a_gold_that_its_own_tools_refuse_is_a_hint_unless_it_is_known() -> None:
    broken = gold(NUMBERED, health=replace(HEALTH, failing_writes=(0,)))
    assert kinds(clues(call(gold=broken))) == {"task: broken_gold": False}
    known = replace(SPEC, extra={"known_errors": (CLAIM_ERROR._replace(effect="none"),)})
    assert clues(call(gold=broken, spec=known)) == []


def test_what_else_may_have_brought_a_pass_about() -> None:
    passed: dict[str, Any] = {"outcome": "pass", "failed": frozenset()}
    assert clues(call(**passed)) == []
    easy = replace(SPEC, extra={"known_errors": (CLAIM_ERROR._replace(effect="too_easy"),)})
    assert kinds(clues(call(**passed, spec=easy))) == {"task: known_error": False}
    assert clues(call(**passed, spec=replace(SPEC, extra={"known_errors": (CLAIM_ERROR,)}))) == []
    assert kinds(clues(call(**passed, verdicts=[verdict(1, True, odd=True)]))) == {"judge: contradiction": False}
    assert kinds(clues(call(**passed, is_quarantined=True))) == {"judge: quarantined": True}


def test_ten_failures_of_which_three_are_the_callers() -> None:
    """B19: a cause for each failure; what the record does not decide stays open."""
    early = record(*TALK[:3], end="end_tool", by="user")
    idle = record(*TALK)
    found = [attribute(clues(call(of))).side for of in [early] * 3 + [idle] * 4 + [DONE_RIGHT] * 3]
    assert found == ["caller"] * 3 + ["agent"] * 4 + [None] * 3
