"""What is known to be odd about single airline tasks, for their pages.

Sources: the benchmark's own change log and issues, and a replay of every gold action (field-reports.md, part B). That
an agent which does nothing reaches the expected state of 24 tasks (issue 384) is measured, so it is not listed here.
"""

_PAID_OUT = "The gold paid for a delay although this passenger has no claim; the action was removed in 1.0.0."
_NOT_ALLOWED = "The gold cancelled a reservation that the rules do not let go; corrected in 1.0.0."
_TOLD_APART = "The caller said economy where the gold meant basic economy; told apart in 1.0.0."
_REWORDED = "More than one course was right before the instructions were made explicit in 1.0.0."
_LOOPHOLE = "A way round the policy was closed in the instructions in 1.0.0."
_DATA = "Data of the task were corrected in 1.0.0."
_ORDER_MATTERS = "The hash depends on the order in which passengers or payments are listed."
_CONTRADICTED = (
    "Rulings on its assertions were seen to contradict their own reasons (issue 436); here they do not count."
)

KNOWN_ERRORS: dict[str, tuple[str, ...]] = {
    "2": (_PAID_OUT,),
    "5": (_REWORDED,),
    "6": ("The simulated caller may claim a double booking that does not exist (issue 494).",),
    "7": (_NOT_ALLOWED,),
    "8": (_ORDER_MATTERS,),
    "9": (_NOT_ALLOWED, "An assertion named May 12 for May 22 (issues 26, 47, 156)."),
    "10": (_CONTRADICTED,),
    "12": (_REWORDED, "What the agent says is not evaluated (issue 384)."),
    "13": (_LOOPHOLE, _CONTRADICTED),
    "14": (
        "The caller wanted a card that the profile does not hold; replaced in 1.0.0.",
        f"{_ORDER_MATTERS[:-1]} (issue 514).",
    ),
    "15": (_TOLD_APART,),
    "16": (_TOLD_APART,),
    "18": (_REWORDED,),
    "19": (_REWORDED,),
    "20": (_ORDER_MATTERS,),
    "21": (_REWORDED,),
    "23": (f"{_DATA[:-1]}: passenger names (issue 27).", _ORDER_MATTERS),
    "24": (_ORDER_MATTERS,),
    "25": (_REWORDED, _ORDER_MATTERS),
    "27": (_PAID_OUT,),
    "29": (_LOOPHOLE, "The gold is disputed (issues 29, 36).", "What the agent says is not evaluated (issue 384)."),
    "30": (_REWORDED,),
    "32": (_LOOPHOLE,),
    "33": (f"{_DATA[:-1]}: bag charge of a gold member.",),
    "34": ("The budget covered only part of what is wanted; corrected in 1.0.0.",),
    "35": (f"{_DATA[:-1]}: date of birth.", "The simulated caller may add a passenger who is not in it (issue 172)."),
    "36": (_REWORDED,),
    "37": (_NOT_ALLOWED,),
    "38": (_PAID_OUT,),
    "39": (_REWORDED,),
    "40": (_ORDER_MATTERS,),
    "42": ("The caller's town contradicted the address; corrected in 1.0.0.",),
    "43": ("A guard was added in 1.0.0: the caller's health matter could draw unsafe advice.",),
    "44": (_NOT_ALLOWED, "What the agent says is not evaluated (issue 384)."),
    "45": (_LOOPHOLE,),
}
