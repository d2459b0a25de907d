"""tau2's own ways: which calls its tools refuse, what a task may put into the databases, what stays the domain's."""

from pathlib import Path
from typing import Any, get_args

import pytest

from scenarios import domains
from scenarios.formats.imports.comparison import rescore
from scenarios.formats.imports.replay import replay
from scenarios.formats.imports.tasks import CannotReplay, task_to_replay
from scenarios.formats.imports.upstream import QUIRKS, Quirk, ReplayDomain, UpstreamModifyItemsTool, is_exact
from tests.scenarios.formats.imports.files import action, answer, call, imported, results, simulation, task

_PHONE, _CUSTOMER = "555-123-2002", "C1001"


@pytest.mark.parametrize(
    ("arguments", "exact"),
    [
        ({"order_id": "#W1"}, True),
        ({"order_id": "W1"}, False),
        ({"order_id": "#w1"}, False),
        ({"order_id": 5}, False),
        ({"order_id": None}, False),
        ({"user_id": "mia_li_1"}, True),
        ({"user_id": "Mia_Li_1"}, False),
        ({"reservation_id": "4wq150"}, False),
        ({"flights": [{"flight_number": "HAT001"}, "x", 5]}, True),
        ({"flights": [{"flight_number": "HAT001"}, {"flight_number": "hat002"}]}, False),
        ({"flights": "HAT001"}, True),
        ({"reason": "Anything goes"}, True),
        ({}, True),
        (None, True),
    ],
)
def test_ids_are_exact_or_not(arguments: Any, exact: bool) -> None:
    assert is_exact(arguments) is exact


def test_every_difference_belongs_to_a_domain_and_says_what_it_is() -> None:
    named = {quirk for quirks in QUIRKS.values() for quirk in quirks}

    assert named == set(get_args(Quirk))
    assert QUIRKS.keys() <= domains.load().keys()
    assert all(text.startswith("tau2") for quirks in QUIRKS.values() for text in quirks.values())


@pytest.mark.usefixtures("benchmarks")
@pytest.mark.parametrize("name", sorted(QUIRKS))
def test_what_no_difference_touches_stays_the_domains_own(name: str) -> None:
    base = domains.load()[name]
    domain = ReplayDomain(base, frozenset(), {})
    spec = base.scenarios()[0]

    assert domain.scenarios() is base.scenarios()
    assert domain.seeds(spec) == base.seeds(spec)
    assert [domain.tools(side) for side in ("agent", "user")] == [base.tools(side) for side in ("agent", "user")]
    assert domain.predicates() == base.predicates()
    assert (domain.tool_now(spec), domain.missing_data()) == (base.tool_now(spec), None)
    assert domain.agent_prompt(spec) == base.agent_prompt(spec)
    assert domain.caller_prompt(spec) == base.caller_prompt(spec)


def test_the_changed_tool_takes_the_place_of_its_original() -> None:
    base = domains.load()["tau2_retail"]
    names = [tool.model_name() for tool in base.tools("agent")]
    changed = ReplayDomain(base, frozenset({"last_variant"}), {}).tools("agent")

    assert [tool.model_name() for tool in changed] == names
    assert [type(tool) for tool in changed].count(UpstreamModifyItemsTool) == 1


@pytest.mark.usefixtures("benchmarks")
def test_a_tasks_records_are_laid_over_the_seed_which_stays(tmp_path: Path) -> None:
    base = domains.load()["tau2_retail"]
    spec = base.scenarios()[0]
    users = base.seeds(spec)["agent"].data["users"]
    name = next(iter(users))
    domain = ReplayDomain(base, frozenset(), {"agent_data": {"users": {name: {"email": "new@example.com"}}}})
    merged = domain.seeds(spec)["agent"].data["users"]

    assert merged[name] == {**users[name], "email": "new@example.com"}
    assert len(merged) == len(users)
    assert users[name]["email"] != "new@example.com"


def _start(*actions: tuple[str, str, dict[str, Any]]) -> dict[str, Any]:
    return {
        "initialization_actions": [
            {"env_type": side, "func_name": name, "arguments": arguments} for side, name, arguments in actions
        ]
    }


@pytest.mark.usefixtures("benchmarks")
def test_an_expected_payment_finds_no_request_upstream(tmp_path: Path) -> None:
    start = _start(("user", "set_user_info", {"name": "John Smith", "phone_number": _PHONE}))
    bill = "B1234321"
    start["initialization_actions"].append(
        {
            "env_type": "assistant",
            "func_name": "suspend_line_for_overdue_bill",
            "arguments": {"customer_id": _CUSTOMER, "line_id": "L1002", "new_bill_id": bill, "contract_ended": False},
        }
    )
    asked = action("send_payment_request", {"customer_id": _CUSTOMER, "bill_id": bill}, "a")
    paid = action("make_payment", {}, "b", requestor="user")
    messages = [
        call("send_payment_request", {"customer_id": _CUSTOMER, "bill_id": bill}),
        answer("sent"),
        call("make_payment", {}, requestor="user"),
        answer("paid"),
    ]
    checks = [{"action": asked, "action_match": True}, {"action": paid, "action_match": True}]
    reward = {"reward": 0.0, "db_check": {"db_match": False}, "action_checks": checks}
    one = simulation(messages=messages, reward_info=reward)
    run, (trial,) = imported(
        tmp_path, results([one], [task(actions=[asked, paid], initial_state=start)], domain="telecom")
    )
    judged_there, upstream = rescore(run, trial), rescore(run, trial, upstream=True)

    assert (judged_there.agrees, upstream.agrees) == (True, True)
    assert judged_there.replay.quirks == {"gold_without_sync"}

    # A file that we wrote of a call held here was judged by an expected state that is kept in step.
    one["info"] = {"callboard": {"trial_id": "r/s/1"}}
    run, (trial,) = imported(
        tmp_path, results([one], [task(actions=[asked, paid], initial_state=start)], domain="telecom")
    )
    ours = rescore(run, trial)
    assert (ours.agrees, [reason.kind for reason in ours.reasons]) == (False, ["upstream_tool"])
    assert "does not bring the two sides together" in ours.reasons[0].text


@pytest.mark.usefixtures("benchmarks")
def test_an_agent_without_a_user_calls_the_users_tools(tmp_path: Path) -> None:
    start = _start(("user", "set_user_info", {"name": "John Smith", "phone_number": _PHONE}))
    messages = [call("toggle_airplane_mode", {}), answer("Airplane mode is ON")]
    run, (trial,) = imported(
        tmp_path, results([simulation(messages=messages)], [task(initial_state=start)], domain="telecom")
    )
    result = replay(trial, task_to_replay(run, trial))

    assert (result.calls[0].ok, result.match_by_side) == (True, {"agent": True, "user": False})
    assert result.fields["user"][0].call == 1


@pytest.mark.usefixtures("benchmarks")
def test_records_that_do_not_fit_the_domain_are_refused(tmp_path: Path) -> None:
    state = {"initialization_data": {"user_data": {"surroundings": "none"}}}
    run, (trial,) = imported(tmp_path, results([simulation()], [task(initial_state=state)], domain="telecom"))

    with pytest.raises(CannotReplay, match="initialization_data does not fit tau2_telecom|start cannot be set up"):
        rescore(run, trial)
