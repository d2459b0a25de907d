"""Calls are run again with the file's own task; verdicts that differ name the one thing that explains it."""

import json
from pathlib import Path
from typing import Any

import pytest

from scenarios import domains
from scenarios.formats.imports.comparison import Rescored, rescore
from scenarios.formats.imports.events import events_of
from scenarios.formats.imports.replay import replay
from scenarios.formats.imports.tasks import CannotReplay, task_to_replay
from tests.scenarios.formats.imports.files import action, answer, call, imported, results, simulation, task

pytestmark = pytest.mark.usefixtures("benchmarks")


def test_without_a_conversation_nothing_is_run_again(tmp_path: Path) -> None:
    run, (trial,) = imported(tmp_path, results([simulation(messages=[])]))

    with pytest.raises(CannotReplay, match="no messages and no tool calls"):
        rescore(run, trial)


@pytest.mark.parametrize(
    ("messages", "why"),
    [
        ([{"role": "user", "content": "x"}], "and it calls no tool"),
        ([call("create_task", {})], r"its tools are those of none of ours \(create_task\)"),
    ],
)
def test_an_unknown_domain_says_what_would_tell_it(tmp_path: Path, messages: Any, why: str) -> None:
    run, (trial,) = imported(tmp_path, results([simulation(messages=messages)], domain="mock"))

    with pytest.raises(CannotReplay, match=why):
        rescore(run, trial)


def _order(status: str, count: int = 1) -> dict[str, Any]:
    """Return an order of the shop in this state, with at least so many items that have another variant."""
    db = domains.load()["tau2_retail"].seeds(domains.load()["tau2_retail"].scenarios()[0])["agent"].data
    for order in db["orders"].values():
        if order["status"] == status and len(_swaps(db, order)) >= count and len(order["payment_history"]) == 1:
            return {**order, "swaps": _swaps(db, order)[:count]}
    raise AssertionError(f"no {status} order")


def _swaps(db: Any, order: Any) -> list[tuple[str, str]]:
    pairs = []
    for item in order["items"]:
        variants = db["products"][item["product_id"]]["variants"].values()
        others = [v["item_id"] for v in variants if v["available"] and v["item_id"] != item["item_id"]]
        if others and [i["item_id"] for i in order["items"]].count(item["item_id"]) == 1:
            pairs.append((item["item_id"], others[0]))
    return pairs


def _cancel(order_id: str) -> tuple[str, dict[str, Any]]:
    return "cancel_pending_order", {"order_id": order_id, "reason": "no longer needed"}


def _verdict(db_match: bool, checks: Any = None) -> dict[str, Any]:
    return {"reward": float(db_match), "db_check": {"db_match": db_match}, "action_checks": checks}


def _rescore(folder: Path, messages: Any, actions: Any, db_match: bool, **options: Any) -> Rescored:
    checks = [{"action": one, "action_match": True} for one in actions] or None
    one = simulation(messages=messages, reward_info=_verdict(db_match, checks))
    run, (trial,) = imported(folder, results([one], [task(actions=actions)]))
    return rescore(run, trial, **options)


def test_a_call_like_the_expected_one_agrees_and_says_what_it_changed(tmp_path: Path) -> None:
    order = _order("pending")
    name, arguments = _cancel(order["order_id"])
    result = _rescore(tmp_path, [call(name, arguments), answer("{}")], [action(name, arguments)], True)

    assert (result.agrees, result.replay.db_match, result.reasons) == (True, True, ())
    (made,) = result.replay.calls
    assert ["orders", order["order_id"], "status"] in [change["path"] for change in made.changes]
    assert [(check.met, check.where) for check in result.replay.action_checks] == [(True, 1)]
    assert {field.state for field in result.replay.fields["agent"]} == {"right"}


@pytest.mark.parametrize("odd", [10**400, 1e400, -(10**400), "NaN", True, None])
def test_a_recorded_answer_may_hold_any_number(tmp_path: Path, odd: Any) -> None:
    order = _order("pending")
    name, arguments = _cancel(order["order_id"])
    recorded = json.dumps({"order_id": order["order_id"], "odd": odd})
    result = _rescore(tmp_path, [call(name, arguments), answer(recorded)], [action(name, arguments)], True)

    assert result.agrees is True
    # JSON has no infinity: such an answer is none that could be compared.
    assert [made.difference for made in result.replay.calls] == ["" if odd == float("inf") else "content"]


def test_a_missing_call_differs_from_a_stored_pass_and_the_fields_say_where(tmp_path: Path) -> None:
    order = _order("pending")
    result = _rescore(tmp_path, [{"role": "user", "content": "x"}], [action(*_cancel(order["order_id"]))], True)

    assert result.agrees is False
    assert [reason.kind for reason in result.reasons] == ["unexplained"]
    assert order["order_id"] in result.reasons[0].text
    assert {field.why for field in result.replay.fields["agent"]} == {"never_attempted"}


def test_an_id_that_tau2_would_not_find_explains_a_stored_failure(tmp_path: Path) -> None:
    order = _order("pending")
    name, arguments = _cancel(order["order_id"])
    said = call(name, {**arguments, "order_id": order["order_id"].removeprefix("#")})
    actions = [action(name, arguments)]
    result = _rescore(tmp_path, [said, answer("Order not found")], actions, False)

    assert [reason.kind for reason in result.reasons] == ["upstream_tool"]
    assert "exact ids" in result.reasons[0].text
    assert _rescore(tmp_path, [said, answer("")], actions, False, upstream=True).agrees is True


def test_a_recorded_failure_explains_what_ours_would_do(tmp_path: Path) -> None:
    name, arguments = _cancel(_order("pending")["order_id"])
    messages = [call(name, arguments), answer("Error: closed today", error=True)]
    result = _rescore(tmp_path, messages, [action(name, arguments)], False)

    assert [(reason.kind, "call 1 (cancel_pending_order)" in reason.text) for reason in result.reasons] == [
        ("harness", True)
    ]
    assert result.replay.calls[0].difference == "ok"


def test_upstream_reproduces_the_price_of_the_last_item(tmp_path: Path) -> None:
    order = _order("pending", count=2)
    old, new = ([pair[side] for pair in order["swaps"]] for side in (0, 1))
    given = {"order_id": order["order_id"], "payment_method_id": order["payment_history"][0]["payment_method_id"]}
    tool = "modify_pending_order_items"
    one = {**given, "item_ids": old, "new_item_ids": new}
    other = {**given, "item_ids": old[::-1], "new_item_ids": new[::-1]}
    if not given["payment_method_id"].startswith(("credit_card", "paypal")):
        pytest.fail("the order has to be paid by something that cannot run out")

    result = _rescore(tmp_path, [call(tool, other), answer("{}")], [action(tool, one)], False)
    assert (result.replay.db_match, [reason.kind for reason in result.reasons]) == (True, ["upstream_tool"])
    assert "the price and options of the last one" in result.reasons[0].text

    defect = _rescore(tmp_path, [call(tool, other), answer("{}")], [action(tool, one)], False, upstream=True)
    assert (defect.agrees, defect.replay.db_match) == (True, False)
    items = defect.replay.databases["agent"].get("orders", order["order_id"])["items"]
    assert len({item["price"] for item in items if item["item_id"] in new}) == 1


def test_the_seed_is_as_it_was_after_any_replay(tmp_path: Path) -> None:
    domain = domains.load()["tau2_retail"]
    seed = domain.seeds(domain.scenarios()[0])["agent"]
    before = json.dumps(seed.data)
    name, arguments = _cancel(_order("pending")["order_id"])
    for upstream in (False, True):
        _rescore(tmp_path, [call(name, arguments), answer("{}")], [action(name, arguments)], True, upstream=upstream)

    assert json.dumps(seed.data) == before


def test_todays_task_explains_only_what_nothing_else_does(tmp_path: Path) -> None:
    spec = next(spec for spec in domains.load()["tau2_retail"].scenarios() if spec.task_id == "0")
    messages = [call(gold.tool, dict(gold.arguments), f"c{number}") for number, gold in enumerate(spec.gold_actions)]
    result = _rescore(tmp_path, messages, [action(*_cancel(_order("pending")["order_id"]))], True)

    assert [reason.kind for reason in result.reasons] == ["task_version"]
    assert result.reasons[0].text.startswith("the expected actions changed: cancel_pending_order then, ")


def test_a_wrong_label_is_set_right_by_the_actions_that_were_checked(tmp_path: Path) -> None:
    name, arguments = _cancel(_order("pending")["order_id"])
    right = action(name, arguments, "5_0")
    one = simulation(
        task_id="0",
        messages=[call(name, arguments), answer("{}")],
        reward_info=_verdict(True, [{"action": right, "action_match": True}]),
    )
    tasks = [task("0", [action("get_user_details", {"user_id": "x"}, "0_0")]), task("5", [right])]
    run, (trial,) = imported(tmp_path, results([one], tasks))
    result = rescore(run, trial)

    assert result.agrees is True
    assert result.replay.task.spec.task_id == "5"
    assert result.replay.task.is_relabelled
    assert "task label '0' does not fit" in result.replay.task.notes[0]


def test_a_label_that_several_tasks_would_fit_is_refused(tmp_path: Path) -> None:
    one = simulation(task_id="0", reward_info=_verdict(True, None))
    labelled = task("0", [action("get_user_details", {"user_id": "x"})])
    run, (trial,) = imported(tmp_path, results([one], [labelled, task("1"), task("2")]))

    with pytest.raises(CannotReplay, match="several tasks of the file would fit"):
        rescore(run, trial)


def test_a_bare_simulation_takes_todays_task_with_the_actions_of_its_verdict(tmp_path: Path) -> None:
    name, arguments = _cancel(_order("pending")["order_id"])
    checks = [{"action": action(name, arguments), "action_match": True}]
    messages = [call(name, arguments), answer("{}")]
    run, (trial,) = imported(tmp_path, simulation(messages=messages, reward_info=_verdict(True, checks)))
    result = rescore(run, trial)

    assert (result.agrees, result.replay.task.source) == (True, "verdict")
    assert result.replay.task.notes[0] == "the file names no domain; its tools are those of tau2_retail"
    assert result.today is not None
    assert (result.today.db_match, [reason.kind for reason in result.today_reasons]) == (False, ["task_version"])


@pytest.mark.parametrize("domain", ["retail_v9", None])
def test_an_unknown_domain_is_told_by_its_tools_even_where_one_trial_calls_none(tmp_path: Path, domain: Any) -> None:
    idle = simulation(id="idle", messages=[{"role": "user", "content": "x"}])
    busy = simulation(messages=[call("get_order_details", {"order_id": "#W1"}), answer("Error: no", error=True)])
    run, trials = imported(tmp_path, results([idle, busy], domain=domain))

    assert [task_to_replay(run, trial).domain.name for trial in trials] == ["tau2_retail", "tau2_retail"]


def test_a_domain_that_is_none_of_ours_is_refused(tmp_path: Path) -> None:
    run, (trial,) = imported(tmp_path, results([simulation(messages=[call("create_task", {})])], domain="mock"))

    with pytest.raises(
        CannotReplay, match=r"'mock' is unknown, and its tools are those of none of ours \(create_task\)"
    ):
        rescore(run, trial)


@pytest.mark.parametrize(
    "damage",
    [
        {"evaluation_criteria": 5},
        {"evaluation_criteria": {"actions": 5}},
        {"evaluation_criteria": {"actions": [5]}},
        {"evaluation_criteria": {"actions": [{"name": "x"}]}},
        {"evaluation_criteria": {"actions": [{"name": ["x"], "arguments": {}}]}},
        {"evaluation_criteria": {"env_assertions": [{"func_name": "x"}]}},
        {"initial_state": {"initialization_actions": [{"func_name": "x", "arguments": {}, "env_type": "user"}]}},
        {"initial_state": {"message_history": [{"tool_calls": 5}]}},
        {"initial_state": {"initialization_data": []}},
    ],
)
def test_a_damaged_task_is_refused_with_the_reason(tmp_path: Path, damage: dict[str, Any]) -> None:
    one = simulation(reward_info={"reward": 0.0})
    run, (trial,) = imported(tmp_path, results([one], [task(**damage)]))

    with pytest.raises(CannotReplay, match=r"the file's task is damaged|the task's start cannot be set up"):
        rescore(run, trial)


def test_records_and_messages_from_before_the_call_are_part_of_the_start(tmp_path: Path) -> None:
    order = _order("pending")
    history = [call(*_cancel(order["order_id"]))]
    data = {"agent_data": {"users": {"new_user": {"user_id": "new_user", "orders": []}}}}
    state = {"initialization_data": data, "message_history": history}
    messages = [call("get_user_details", {"user_id": "new_user"}), answer("{}")]
    run, (trial,) = imported(tmp_path, results([simulation(messages=messages)], [task(initial_state=state)]))
    result = replay(trial, task_to_replay(run, trial))

    assert (result.db_match, result.calls[0].ok) == (True, True)
    assert result.databases["agent"].get("orders", order["order_id"])["status"] == "cancelled"


def test_rubbish_calls_change_nothing_and_stop_nothing(tmp_path: Path) -> None:
    messages = [
        call("no_such_tool", {}),
        answer("Error: unknown", error=True),
        call("cancel_pending_order", "[1]"),
        call("get_order_details", {"order_id": {"deep": [None]}}),
        call("think", {"thought": "hm"}),
        call("calculate", {"expression": "1 + 1" * 5000}),
    ]
    result = _rescore(tmp_path, messages, [], True)

    assert result.agrees is True
    assert [made.ok for made in result.replay.calls] == [False, False, False, None, False]
    assert result.replay.calls[3].why_not == "it only notes a thought"


def test_events_show_the_call_with_its_changes_and_invent_no_time(tmp_path: Path) -> None:
    name, arguments = _cancel(_order("pending")["order_id"])
    messages = [
        {"role": "assistant", "content": "Hi!", "timestamp": "2025-08-01T16:00:01.500000"},
        {"role": "user", "content": "Cancel it."},
        call(name, arguments),
        answer('{"status": "cancelled"}'),
    ]
    run, (trial,) = imported(tmp_path, results([simulation(messages=messages)]))
    bare = list(events_of(trial))
    full = list(events_of(trial, replay(trial, task_to_replay(run, trial))))

    assert [event.kind for event in full] == ["turn.ended", "turn.ended", "tool.called", "tool.returned"]
    assert [event.at_ms for event in full] == [1500, None, None, None]
    assert (full[3].data["ok"], full[3].data["result"]) == (True, '{"status": "cancelled"}')
    assert full[3].data["duration_ms"] is None
    assert full[3].data["action"]["name"] == name
    assert full[3].data["changes"] != []
    assert bare[3].data["changes"] == []
