"""People ruling on the judge's verdicts: queues, leases, rulings and adjudication.

What a ruling makes of a call is settled by ``scenarios.lifecycle.settle`` in the same transaction.
"""

from scenarios.reviewing.disagreements import Disagreement, disagreements
from scenarios.reviewing.queues import KINDS, QueueFilter, choose, make_queue
from scenarios.reviewing.rulings import Refused, adjudicate, rule, undo, withdraw_adjudication
from scenarios.reviewing.slots import Progress, hold, keep_draft, progress, progresses, take

__all__ = [
    "KINDS",
    "Disagreement",
    "Progress",
    "QueueFilter",
    "Refused",
    "adjudicate",
    "choose",
    "disagreements",
    "hold",
    "keep_draft",
    "make_queue",
    "progress",
    "progresses",
    "rule",
    "take",
    "undo",
    "withdraw_adjudication",
]
