"""What is known to be odd about single airline tasks, for their pages.

Sources: the benchmark's own change log and issues, and a replay of every gold action (field-reports.md, part B). That
an agent which does nothing reaches the expected state of 24 tasks (issue 384) is measured, so it is not listed here.
"""

from scenarios.domains.known_errors import KnownError


def _corrected(text: str) -> KnownError:
    return KnownError(text, "not_comparable")


_PAID_OUT = _corrected(
    "The gold paid for a delay although this passenger has no claim; the action was removed in 1.0.0."
)
_NOT_ALLOWED = _corrected("The gold cancelled a reservation that the rules do not let go; corrected in 1.0.0.")
_TOLD_APART = _corrected("The caller said economy where the gold meant basic economy; told apart in 1.0.0.")
_REWORDED = _corrected("More than one course was right before the instructions were made explicit in 1.0.0.")
_LOOPHOLE = _corrected("A way round the policy was closed in the instructions in 1.0.0.")
_ORDER = "The hash depends on the order in which passengers or payments are listed"
_ORDER_MATTERS = KnownError(f"{_ORDER}.", "too_hard")
_CONTRADICTED = KnownError(
    "Rulings on its assertions were seen to contradict their own reasons (issue 436); here they do not count.", "none"
)
_NOT_EVALUATED = KnownError("What the agent says is not evaluated (issue 384).", "too_easy")

KNOWN_ERRORS: dict[str, tuple[KnownError, ...]] = {
    "2": (_PAID_OUT,),
    "5": (_REWORDED,),
    "6": (KnownError("The simulated caller may claim a double booking that does not exist (issue 494).", "too_hard"),),
    "7": (_NOT_ALLOWED,),
    "8": (_ORDER_MATTERS,),
    "9": (
        _NOT_ALLOWED,
        KnownError("An assertion named May 12 for May 22 (issues 26, 47, 156); assertions do not count here.", "none"),
    ),
    "10": (_CONTRADICTED,),
    "12": (_REWORDED, _NOT_EVALUATED),
    "13": (_LOOPHOLE, _CONTRADICTED),
    "14": (
        _corrected("The caller wanted a card that the profile does not hold; replaced in 1.0.0."),
        KnownError(f"{_ORDER} (issue 514).", "too_hard"),
    ),
    "15": (_TOLD_APART,),
    "16": (_TOLD_APART,),
    "18": (_REWORDED,),
    "19": (_REWORDED,),
    "20": (_ORDER_MATTERS,),
    "21": (_REWORDED,),
    "23": (_corrected("Data of the task were corrected in 1.0.0: passenger names (issue 27)."), _ORDER_MATTERS),
    "24": (_ORDER_MATTERS,),
    "25": (_REWORDED, _ORDER_MATTERS),
    "27": (_PAID_OUT,),
    "29": (_LOOPHOLE, KnownError("The gold is disputed (issues 29, 36).", "either"), _NOT_EVALUATED),
    "30": (_REWORDED,),
    "32": (_LOOPHOLE,),
    "33": (_corrected("Data of the task were corrected in 1.0.0: bag charge of a gold member."),),
    "34": (_corrected("The budget covered only part of what is wanted; corrected in 1.0.0."),),
    "35": (
        _corrected("Data of the task were corrected in 1.0.0: date of birth."),
        KnownError("The simulated caller may add a passenger who is not in it (issue 172).", "too_hard"),
    ),
    "36": (_REWORDED,),
    "37": (_NOT_ALLOWED,),
    "38": (_PAID_OUT,),
    "39": (_REWORDED,),
    "40": (_ORDER_MATTERS,),
    "42": (_corrected("The caller's town contradicted the address; corrected in 1.0.0."),),
    "43": (_corrected("A guard was added in 1.0.0: the caller's health matter could draw unsafe advice."),),
    "44": (_NOT_ALLOWED, _NOT_EVALUATED),
    "45": (_LOOPHOLE,),
}
