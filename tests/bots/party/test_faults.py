"""What each failure of an endpoint is called, and how long it is waited out."""

import httpx2 as httpx
import openai
import pytest

from bots.party.faults import LONGEST_WAIT_S, EmptyReply, Fault, StreamCut, classify
from bots.party.reply import Nonsense

REQUEST = httpx.Request("POST", "http://x/v1/chat/completions")


def status(code: int, **headers: str) -> openai.APIStatusError:
    response = httpx.Response(code, request=REQUEST, headers=headers)
    return openai.APIStatusError("no", response=response, body=None)


@pytest.mark.parametrize(
    ("error", "kind", "is_passing"),
    [
        (status(429), "llm_http_429", True),
        (status(500), "llm_http_500", True),
        (status(529), "llm_http_529", True),
        (status(400), "llm_http_400", False),
        (status(401), "llm_http_401", False),
        (openai.APITimeoutError(REQUEST), "llm_timeout", True),
        (httpx.ReadTimeout("slow"), "llm_timeout", True),
        (openai.APIConnectionError(request=REQUEST), "llm_unreachable", True),
        (httpx.RemoteProtocolError("incomplete"), "llm_stream_cut", True),
        (StreamCut(), "llm_stream_cut", True),
        (EmptyReply(), "llm_empty", True),
        (Nonsense("<html>"), "llm_nonsense", True),
        (KeyError("x"), "llm_error", False),
    ],
)
def test_each_failure_has_a_kind_and_names_the_endpoint(error: Exception, kind: str, is_passing: bool) -> None:
    fault = classify(error, "m at http://x/v1")
    assert (fault.kind, fault.is_passing) == (kind, is_passing)
    assert "m at http://x/v1" in fault.message


def test_waits_double_and_a_rate_limit_is_waited_for_longer() -> None:
    server, limit = Fault("llm_http_500", "", True), Fault("llm_http_429", "", True)
    assert [server.wait_s(failures) for failures in (1, 2, 3)] == [0.25, 0.5, 1.0]
    assert [limit.wait_s(failures) for failures in (1, 2, 3)] == [1.0, 2.0, 4.0]


def test_what_the_endpoint_asks_for_goes_first_within_reason() -> None:
    assert classify(status(429, **{"retry-after": "0.5"}), "x").wait_s(3) == 0.5
    assert classify(status(429, **{"retry-after": "3600"}), "x").wait_s(1) == LONGEST_WAIT_S
    assert classify(status(429, **{"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}), "x").wait_s(1) == 1.0
