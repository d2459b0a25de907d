"""People ruling on the judge's verdicts: queues, leases, rulings and adjudication.

What a ruling makes of a call is settled by ``scenarios.lifecycle.settle`` in the same transaction.
"""

from scenarios.reviewing.disagreements import Disagreement, disagreements, open_disagreements, open_to
from scenarios.reviewing.queues import KINDS, QueueFilter, choose, is_by_lot, make_queue
from scenarios.reviewing.rulings import (
    Refused,
    adjudicate,
    blind_ruling,
    is_outdated,
    last_ruled,
    next_stage,
    rule,
    undo,
    withdraw_adjudication,
)
from scenarios.reviewing.slots import (
    Progress,
    drop,
    hold,
    keep_draft,
    locked,
    progress,
    progresses,
    skip,
    take,
    waiting,
)

__all__ = [
    "KINDS",
    "Disagreement",
    "Progress",
    "QueueFilter",
    "Refused",
    "adjudicate",
    "blind_ruling",
    "choose",
    "disagreements",
    "drop",
    "hold",
    "is_by_lot",
    "is_outdated",
    "keep_draft",
    "last_ruled",
    "locked",
    "make_queue",
    "next_stage",
    "open_disagreements",
    "open_to",
    "progress",
    "progresses",
    "rule",
    "skip",
    "take",
    "undo",
    "waiting",
    "withdraw_adjudication",
]
