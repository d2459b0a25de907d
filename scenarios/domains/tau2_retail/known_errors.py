"""What is known to be odd about single retail tasks, for their pages.

Sources: the benchmark's own change log and issues, and a replay of every gold action (field-reports.md, part B).
"""

from scenarios.domains.known_errors import KnownError


def _corrected(text: str) -> KnownError:
    return KnownError(text, "not_comparable")


def _too_hard(text: str) -> KnownError:
    return KnownError(text, "too_hard")


_READ = KnownError(
    "A gold lookup finds nothing (it is meant to fail, or the record does not exist): harmless for the state.", "none"
)
_REWORDED = _corrected("The instructions were made explicit in 1.0.0; older results are not comparable.")
_ORDER = "The hash depends on the order in which paired items are listed"
_ORDER_MATTERS = _too_hard(f"{_ORDER}.")
_CORRECTED = _corrected("The gold actions were corrected in 1.0.0; older results are not comparable.")
_EXACT_COUNT = KnownError(
    "How many T-shirt options there are has to be said exactly (reworded in 1.0.0; issue 89).",
    "too_hard",
    signals=("nl_assertion",),
)
_NOT_ASKED_FOR = KnownError(
    "The claim wants the number 10, but the caller does not ask for a number (issue 89).",
    "too_hard",
    signals=("nl_assertion",),
)

KNOWN_ERRORS: dict[str, tuple[KnownError, ...]] = {
    "0": (_corrected("The keyboard was made the same as in task 1 in 1.0.0."),),
    "1": (_corrected("The keyboard was made the same as in task 0 in 1.0.0."),),
    "2": (_READ, _EXACT_COUNT),
    "3": (_READ, _EXACT_COUNT),
    "4": (_READ, _NOT_ASKED_FOR),
    "5": (KnownError("Consent is ambiguous in the story (issue 496).", "either"),),
    "8": (_REWORDED,),
    "10": (KnownError("The gold is disputed (issue 316).", "either"),),
    "12": (_corrected("The gold refunded to PayPal, which is not possible; the action was removed in 1.0.0."),),
    "13": (_corrected("The gold refunded to PayPal, which is not possible; the action was removed in 1.0.0."),),
    "15": (_REWORDED,),
    "18": (_corrected("The gold exchanged an item for itself, which the tool refuses; changed in 1.0.0."),),
    "20": (_REWORDED, _ORDER_MATTERS),
    "21": (_ORDER_MATTERS, _corrected("Needs get_item_details, added in 1.0.0.")),
    "22": (_REWORDED,),
    "28": (_REWORDED,),
    "29": (_CORRECTED,),
    "33": (_corrected("A refund had to be said that the gold does not make; the claim was removed in 1.0.0."),),
    "34": (_corrected("A refund had to be said that the gold does not make; the claim was removed in 1.0.0."),),
    "35": (_READ,),
    "36": (_ORDER_MATTERS,),
    "37": (_READ, _ORDER_MATTERS),
    "38": (_READ,),
    "39": (_READ,),
    "41": (KnownError("The gold is disputed (issue 319).", "either"),),
    "46": (_READ,),
    "47": (_READ,),
    "54": (_READ, _REWORDED),
    "55": (_READ, _REWORDED),
    "59": (_CORRECTED,),
    "62": (_REWORDED,),
    "64": (
        KnownError(
            "A gold write fails: the order to be exchanged is not delivered. "
            "The later modification sets the state right.",
            "none",
        ),
    ),
    "67": (_READ,),
    "68": (_READ,),
    "76": (_REWORDED,),
    "91": (_corrected("The gold exchanged an item for itself, which the tool refuses; changed in 1.0.0."),),
    "98": (_REWORDED,),
    "99": (_REWORDED,),
    "100": (_REWORDED, _too_hard(f"{_ORDER} (issue 325).")),
    "105": (
        KnownError(
            "The only gold write fails: the gift card does not hold enough. The expected state is therefore the "
            "start, and doing nothing reaches it (issue 306).",
            "too_easy",
        ),
    ),
    "107": (_corrected("The gold exchanged an item for itself, which the tool refuses; changed in 1.0.0."),),
}
