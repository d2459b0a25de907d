"""What can go wrong with a model endpoint, by kind, and what to do about it."""

from dataclasses import dataclass

import httpx2 as httpx
import openai

from bots.party.reply import Nonsense

TRIES = 4
RETRIED_STATUS = frozenset({408, 409, 429, 500, 502, 503, 504, 520, 522, 524, 529})
FIRST_WAIT_S = 0.25
FIRST_WAIT_WHEN_LIMITED_S = 1.0
LONGEST_WAIT_S = 10.0


class StreamCut(Exception):
    """The stream ended before the reply did."""


class EmptyReply(Exception):
    """A complete reply without text and without a function call."""


@dataclass(frozen=True)
class Fault:
    """One failed request: ``kind`` is short (``llm_http_429``), ``message`` says where and what."""

    kind: str
    message: str
    is_passing: bool
    retry_after_s: float | None = None

    def wait_s(self, failures: int) -> float:
        """Return how long to wait after this many failures; what the endpoint asks for goes first."""
        if self.retry_after_s is not None:
            return min(self.retry_after_s, LONGEST_WAIT_S)
        first = FIRST_WAIT_WHEN_LIMITED_S if self.kind == "llm_http_429" else FIRST_WAIT_S
        return min(first * 2.0 ** (failures - 1), LONGEST_WAIT_S)


def classify(error: Exception, where: str) -> Fault:
    """Return the fault that an exception of a request to the endpoint ``where`` stands for."""
    if isinstance(error, openai.APIStatusError):
        status = error.status_code
        return Fault(
            f"llm_http_{status}",
            f"{where} answered {status}: {str(error)[:300]}",
            is_passing=status in RETRIED_STATUS,
            retry_after_s=_retry_after(error.response.headers.get("retry-after")),
        )
    if isinstance(error, openai.APITimeoutError | httpx.TimeoutException | TimeoutError):
        return Fault("llm_timeout", f"{where} did not answer in time", is_passing=True)
    if isinstance(error, openai.APIConnectionError):
        reason = error.__cause__ or error
        return Fault("llm_unreachable", f"{where} cannot be reached: {reason}", is_passing=True)
    if isinstance(error, StreamCut | httpx.TransportError):
        return Fault("llm_stream_cut", f"{where} broke off in the middle of a reply", is_passing=True)
    if isinstance(error, EmptyReply):
        return Fault("llm_empty", f"{where} gave empty replies", is_passing=True, retry_after_s=0)
    if isinstance(error, Nonsense):
        return Fault("llm_nonsense", f"{where} answered nonsense: {error}", is_passing=True)
    return Fault("llm_error", f"{where}: {type(error).__name__}: {error}", is_passing=False)


def _retry_after(value: str | None) -> float | None:
    try:
        return max(0.0, float(value)) if value else None
    except ValueError:  # an HTTP date: our own waits serve as well
        return None
