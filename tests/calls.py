"""Records of calls for tests and for looking at pages: events as a lane's recorder writes them, and their scoring."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from scenarios.events import (
    AttemptStarted,
    CallEnded,
    CallStarted,
    Event,
    LatencyMeasured,
    PartyPrepared,
    ToolCalled,
    ToolReturned,
    TrialFinished,
    TurnEnded,
    TurnStarted,
)
from scenarios.models import JudgeVersion, Judging, SignalResult, Trial, TrialEvent, Verdict
from scenarios.sides import Side


class Call:
    """Appends numbered events to a trial, a few hundred milliseconds of the call apart."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.seq = trial.last_seq
        self.at_ms = 0
        self.turns = 0
        self.calls = 0

    def add(self, *events: Event) -> "Call":
        """Append events in one transaction."""
        rows = []
        for event in events:
            self.seq += 1
            side = getattr(event, "side", None) or ""
            moment = {"at_ms": self.at_ms, "created_at": timezone.now()}
            rows.append(
                TrialEvent(trial=self.trial, seq=self.seq, kind=event.kind, side=side, data=event.data(), **moment)
            )
        with transaction.atomic():
            TrialEvent.objects.bulk_create(rows)
            Trial.objects.filter(pk=self.trial.pk).update(last_seq=self.seq)
        return self

    def begin(self, attempt: int = 1) -> "Call":
        """Take the trial and prepare both sides."""
        self.at_ms = self.turns = self.calls = 0
        self.add(AttemptStarted(attempt, "toy-lane"))
        for side in ("user", "agent"):
            tools = [{"name": "get_order_details", "description": "Look an order up."}] if side == "agent" else []
            self.add(PartyPrepared(side, f"{side}-profile", "small-model", f"You are the {side}.", tools, False))
        return self.add(CallStarted("text"))

    def turn(self, side: Side, said: str, heard: str | None = None, **facts: Any) -> "Call":
        """Let a side speak for a while."""
        self.turns += 1
        started = self.at_ms
        self.add(TurnStarted(side, self.turns))
        self.at_ms += 200 + 20 * len(said[:200])
        self.add(TurnEnded(side, self.turns, said, heard, started, **facts))
        if side == "agent":
            self.add(LatencyMeasured(side, self.turns, 640 + 60 * (self.turns % 7), {"model": 600.0}))
        self.at_ms += 400
        return self

    def tool(self, name: str, arguments: dict[str, Any], result: Any = "ok", **facts: Any) -> "Call":
        """Let the agent call a tool."""
        self.calls += 1
        self.add(ToolCalled("agent", self.calls, name, arguments, f"id-{self.calls}"))
        self.at_ms += 12
        return self.add(ToolReturned("agent", self.calls, name, facts.pop("ok", True), result, 12.0, **facts))

    def end(self, outcome: str = "fail", reason: str = "2 of 3 claims failed") -> "Call":
        """End the call and the trial."""
        self.add(CallEnded("end_tool", "agent", self.at_ms), TrialFinished(outcome, reason))
        Trial.objects.filter(pk=self.trial.pk).update(
            status="done",
            outcome=outcome,
            outcome_reason=reason,
            ended_at=timezone.now(),
            end_reason="end_tool",
            duration_ms=self.at_ms,
            turn_count=self.turns,
        )
        self.trial.refresh_from_db()
        return self


EXCHANGE: dict[str, Any] = {
    "action_type": "exchange",
    "name": "exchange_delivered_order_items",
    "arguments": {"item_ids": ["1151293680"]},
    "result": "ok",
    "side": "agent",
}
CHANGES: list[dict[str, Any]] = [
    {
        "side": "agent",
        "path": ["orders", "#W2378156", "status"],
        "before": "delivered",
        "after": "exchange requested",
        "op": "set",
    },
    {
        "side": "agent",
        "path": ["orders", "#W2378156", "exchange_items"],
        "before": None,
        "after": ["1151293680"],
        "op": "add",
    },
    {
        "side": "agent",
        "path": ["orders", "#W2378156", "exchange_new_items"],
        "before": None,
        "after": ["7706410293"],
        "op": "add",
    },
]


def exchange_call(trial: Trial) -> Call:
    """Record a short retail call in which the agent exchanges one item, wrongly, and forgets another."""
    return exchange(Call(trial).begin())


def exchange(call: Call) -> Call:
    """Go on with a call as ``exchange_call`` does."""
    call.turn("agent", "Hello, how can I help you today?")
    call.turn(
        "user",
        "Hi, I want to exchange two shirts of order W 2378156.",
        "Hi, I want to exchange two shorts of order W 2378156.",
    )
    call.tool(
        "get_order_details",
        {"order_id": "#W2378156"},
        {
            "order_id": "#W2378156",
            "status": "delivered",
            "items": [{"item_id": "1151293680"}, {"item_id": "4983901480"}],
        },
    )
    call.turn("agent", "I found your order. Which size would you like instead?")
    call.turn("user", "The blue one in large, please. And cotton for both.")
    call.tool(
        "exchange_delivered_order_items",
        {"order_id": "#W2378156", "item_ids": ["0000"]},
        "Error: item not found",
        ok=False,
        error="item_not_found",
    )
    call.tool(
        "exchange_delivered_order_items",
        {
            "order_id": "#W2378156",
            "item_ids": ["1151293680"],
            "new_item_ids": ["7706410293"],
            "payment_method_id": "credit_card_9513926",
        },
        {"order_id": "#W2378156", "status": "exchange requested"},
        changes=CHANGES,
        action=EXCHANGE,
    )
    call.turn(
        "agent",
        "Done, the exchange of your shirt is requested. You will get an e-mail. Is there anything else?",
        interrupted=True,
    )
    call.turn("user", "No, thank you. Goodbye.")
    return call


def score_exchange(trial: Trial) -> None:
    """Store what scoring would find about ``exchange_call``."""
    for signal, state, value, detail in SIGNALS:
        SignalResult.objects.create(
            trial=trial, signal=signal, state=state, is_gating=state != "excluded", value=value, detail=detail
        )
    judge = JudgeVersion.objects.get_or_create(
        fingerprint="1a2b3c4d" * 8, defaults={"profile": "strict", "model": "small-model", "prompt_version": "1"}
    )[0]
    Judging.objects.create(
        trial=trial,
        judge=judge,
        system_prompt="Rule on each claim.",
        user_content="The record.",
        reply='{"score": 0.5}',
    )
    turns = dict(TrialEvent.objects.filter(trial=trial, kind="turn.ended").values_list("data__turn", "seq"))
    for index, fields in enumerate(_verdicts(turns), 1):
        Verdict.objects.create(trial=trial, signal="nl_assertion", index=index, judge=judge, **fields)
    breakdown = {
        "passed": ["clean_exit"],
        "failed": ["nl_assertion", "db_state_match"],
        "excluded": ["is_action_match"],
    }
    Trial.objects.filter(pk=trial.pk).update(breakdown=breakdown, response_p50_ms=720.0)


def _verdicts(turns: dict[int, int]) -> list[dict[str, Any]]:
    """Return what the judge said; ``turns`` maps a turn to the seq of its event."""
    return [
        {
            "claim": "The agent says the material of both shirts.",
            "passed": False,
            "reason": "Only one shirt is ever spoken of.",
            "evidence": [
                {"text": "the exchange of your shirt is requested", "turn": 5, "seq": turns.get(5), "found": True},
                {"text": "both are cotton", "turn": None, "seq": None, "found": False},
            ],
        },
        {
            "claim": "The agent says that an e-mail will come.",
            "passed": True,
            "reason": "It says so.",
            "evidence": [{"text": "You will get an e-mail.", "turn": 5, "seq": turns.get(5), "found": True}],
        },
        {"claim": "The agent confirms the address.", "passed": False, "reason": "", "error": "missing", "evidence": []},
    ]


def _row(path: list[Any], state: str, values: tuple[Any, Any, Any], **cause: Any) -> dict[str, Any]:
    nothing: dict[str, Any] = {
        "absent": [],
        "why": "",
        "call": None,
        "tool": None,
        "error": None,
        "gold_call": None,
        "gold_tool": None,
        "seq": None,
    }
    return {
        "path": path,
        "state": state,
        **dict(zip(("seed", "expected", "actual"), values, strict=True)),
        **nothing,
        **cause,
    }


DIFF = [
    _row(
        ["orders", "#W2378156", "exchange_items"],
        "wrong",
        (None, ["1151293680", "4983901480"], ["1151293680"]),
        absent=["seed"],
        call=3,
        tool="exchange_delivered_order_items",
        gold_call=4,
        gold_tool="exchange_delivered_order_items",
    ),
    _row(
        ["orders", "#W2378156", "exchange_price_difference"],
        "missing",
        (None, -18.5, None),
        absent=["seed", "actual"],
        why="refused",
        call=2,
        tool="exchange_delivered_order_items",
        error="item_not_found",
    ),
    _row(
        ["users", "yusuf_rossi_9620", "address", "city"],
        "missing",
        ("Philadelphia", "Denver", "Philadelphia"),
        why="never_attempted",
        gold_tool="modify_user_address",
    ),
    _row(
        ["users", "yusuf_rossi_9620", "address", "zip"],
        "missing",
        ("19122", "80202", "19122"),
        why="overwritten",
        call=3,
        tool="modify_user_address",
    ),
    _row(
        ["orders", "#W2378156", "note"],
        "unexpected",
        (None, None, "call back"),
        absent=["seed", "expected"],
        call=3,
        tool="exchange_delivered_order_items",
    ),
    _row(
        ["orders", "#W2378156", "status"],
        "right",
        ("delivered", "exchange requested", "exchange requested"),
        call=3,
        tool="exchange_delivered_order_items",
    ),
]

SIGNALS: list[tuple[str, str, Any, dict[str, Any]]] = [
    (
        "nl_assertion",
        "failed",
        None,
        {"passed": 1, "failed": 1, "without_ruling": 1, "total": 3, "judge_error": None, "judge_message": ""},
    ),
    (
        "db_state_match",
        "failed",
        False,
        {"expected_hash": "e" * 64, "actual_hash": "a" * 64, "diff": DIFF, "diff_total": len(DIFF)},
    ),
    (
        "is_action_match",
        "excluded",
        False,
        {
            "strict": False,
            "matched": [],
            "missing": [{**EXCHANGE, "name": "modify_user_address"}],
            "extra": [],
            "wrong": [
                {
                    "reference": EXCHANGE,
                    "predicted": EXCHANGE,
                    "fields": [
                        {
                            "path": ["arguments", "item_ids"],
                            "expected": ["1151293680", "4983901480"],
                            "actual": ["1151293680"],
                        }
                    ],
                }
            ],
        },
    ),
    ("clean_exit", "passed", True, {"end_reason": "end_tool"}),
]
