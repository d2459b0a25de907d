"""Every change of a trial's state. The only writer of status, lease, attempts, last_seq and outcome.

``queued -> running -> scoring -> done``; from running or scoring back to queued (lease lost, attempts left), to
cancelled, or to error. ``scoring`` without a lease waits for a lane that scores its complete record again. All
transitions are compare-and-swap updates, so they work alike on SQLite and PostgreSQL, and two people or two lanes
doing the same thing at once is harmless. Rows are locked run first, then trials by primary key: no deadlocks.
"""

from scenarios.lifecycle.budget import cost_of
from scenarios.lifecycle.claims import LEASE_S, MAX_ATTEMPTS, Claim, claim, expire_leases, is_held, pending, release
from scenarios.lifecycle.elsewhere import held_elsewhere
from scenarios.lifecycle.endings import (
    JudgeWork,
    TrialFacts,
    begin_scoring,
    cancel_trial,
    fail_attempt,
    finish,
    will_retry,
)
from scenarios.lifecycle.quarantine import (
    decide_batch,
    end_canary,
    finish_quarantines,
    release_batch,
    stored_rulings,
)
from scenarios.lifecycle.record import FlushReport, NewEvent, flush, look
from scenarios.lifecycle.rejudging import save_rejudged
from scenarios.lifecycle.requests import (
    pause,
    request_cancel,
    request_hang_up,
    request_trial_cancel,
    rerun,
    rescore,
    resume,
)
from scenarios.lifecycle.rulings import counting_reviews, deciding_review, settle

__all__ = [
    "stored_rulings",
    "save_rejudged",
    "release_batch",
    "end_canary",
    "decide_batch",
    "finish_quarantines",
    "LEASE_S",
    "MAX_ATTEMPTS",
    "Claim",
    "FlushReport",
    "JudgeWork",
    "NewEvent",
    "TrialFacts",
    "begin_scoring",
    "cancel_trial",
    "claim",
    "cost_of",
    "counting_reviews",
    "deciding_review",
    "expire_leases",
    "fail_attempt",
    "finish",
    "flush",
    "held_elsewhere",
    "is_held",
    "look",
    "pause",
    "pending",
    "release",
    "request_cancel",
    "request_hang_up",
    "request_trial_cancel",
    "rerun",
    "rescore",
    "resume",
    "settle",
    "will_retry",
]
