"""Faults on demand: which requests of a stand-in go wrong, and how.

The endpoint keeps no conversation, so ``=n`` counts tries of one and the same request (equal model name and messages),
and only of a conversation's opening: the first n are refused, the next is answered and the count starts again. Trials
of one scenario that open at the same moment share that count, so one of them may see more refusals than n.
"""

from collections import OrderedDict
from dataclasses import dataclass

from bots.standins.model_name import StandIn
from bots.standins.wire import ChatRequest

_REMEMBERED = 10_000


@dataclass(frozen=True)
class Failure:
    """How one answer fails; all defaults: it does not."""

    status: int = 0
    kind: str = ""
    message: str = ""
    is_cut: bool = False
    is_empty: bool = False


NONE = Failure()
_KINDS = {
    "429": Failure(429, "rate_limit_exceeded", "rate limit reached, as this stand-in was asked to say"),
    "500": Failure(500, "server_error", "internal error, as this stand-in was asked to say"),
    "outage": Failure(503, "service_unavailable", "the model is overloaded, as this stand-in was asked to say"),
    "cut": Failure(is_cut=True),
    "empty": Failure(is_empty=True),
}


class Faults:
    """The failures still owed to openings that are being retried."""

    def __init__(self) -> None:
        self._tries: OrderedDict[tuple[str, int], int] = OrderedDict()

    def of(self, standin: StandIn, request: ChatRequest) -> Failure:
        """Return how the answer to this request fails."""
        for option, failure in _KINDS.items():
            if option in standin.options and self._is_due(standin.options[option], option, request):
                return failure
        return NONE

    def _is_due(self, count: float | None, option: str, request: ChatRequest) -> bool:
        if count is None:
            return True
        if request.position:
            return False
        key = (option, hash((request.model, request.messages)))
        tries = self._tries.pop(key, 0)
        if tries >= count:
            return False
        self._tries[key] = tries + 1
        if len(self._tries) > _REMEMBERED:
            self._tries.popitem(last=False)
        return True
