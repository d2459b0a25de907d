"""When a turn is over, in every order things may happen."""

from bots.party.reply import AskedCall, Reply
from bots.party.turns import TurnTracker


def begun(*replies: Reply) -> TurnTracker:
    """Return a tracker in turn 1 whose model gave the first reply."""
    tracker = TurnTracker()
    tracker.begin(1)
    tracker.inference_begun()
    for reply in replies:
        tracker.replied(reply, 10)
    return tracker


def reply(text: str = "", calls: int = 0) -> Reply:
    return Reply(text, [AskedCall(str(number), "sell") for number in range(calls)])


def test_a_plain_reply_is_over_when_its_text_is_committed() -> None:
    tracker = begun(reply("Hello."))
    assert not tracker.idle.is_set()
    assert tracker.text_committed()
    assert tracker.text == "Hello."
    assert tracker.idle.is_set()


def test_a_reply_with_a_call_is_over_after_the_answer_to_its_result() -> None:
    tracker = begun(reply("Let me look.", calls=1))
    assert not tracker.text_committed()
    assert tracker.call_answered(ends_call=False)
    assert not tracker.result_committed()
    tracker.inference_begun()
    tracker.replied(reply("It is free."), 5)
    assert tracker.text_committed()
    assert tracker.text == "Let me look.\nIt is free."


def test_a_result_that_is_faster_than_the_text_waits_for_it() -> None:
    tracker = begun(reply("Bye.", calls=1))
    assert not tracker.call_answered(ends_call=True)
    assert not tracker.result_committed()
    assert tracker.text_committed()


def test_only_the_last_result_of_a_batch_asks_the_model_again() -> None:
    tracker = begun(reply(calls=3))
    asked = []
    for _ in range(3):
        asked.append(tracker.call_answered(ends_call=False))
        tracker.result_committed()
    assert asked == [False, False, True]


def test_an_end_anywhere_in_a_batch_asks_nobody_again() -> None:
    for position in range(2):
        tracker = begun(reply("Bye.", calls=2))
        tracker.text_committed()
        asked, over = [], []
        for number in range(2):
            asked.append(tracker.call_answered(ends_call=number == position))
            over.append(tracker.result_committed())
        assert asked == [False, False]
        assert over == [False, True]


def test_a_failed_party_never_completes_a_turn() -> None:
    tracker = begun()
    tracker.has_failed = True
    assert not tracker.text_committed()
    assert tracker.idle.is_set()


def test_requests_are_reported_once() -> None:
    tracker = begun(Reply("Hi.", prompt_tokens=3, completion_tokens=1))
    assert tracker.take_requests() == [{"prompt_tokens": 3, "completion_tokens": 1, "model_ms": 10}]
    assert tracker.take_requests() == []


def test_a_new_turn_starts_with_nothing_said() -> None:
    tracker = begun(reply("Bye.", calls=1))
    tracker.text_committed()
    tracker.call_answered(ends_call=True)
    tracker.result_committed()
    tracker.begin(2)
    assert (tracker.turn, tracker.text) == (2, "")
    tracker.inference_begun()
    tracker.replied(reply(calls=1), 1)
    assert tracker.call_answered(ends_call=False)
