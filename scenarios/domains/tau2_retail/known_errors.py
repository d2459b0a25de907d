"""What is known to be odd about single retail tasks, for their pages.

Sources: the benchmark's own change log and issues, and a replay of every gold action (field-reports.md, part B).
"""

_READ = "A gold lookup finds nothing (it is meant to fail, or the record does not exist): harmless for the state."
_REWORDED = "The instructions were made explicit in 1.0.0; older results are not comparable."
_ORDER_MATTERS = "The hash depends on the order in which paired items are listed."
_CORRECTED = "The gold actions were corrected in 1.0.0; older results are not comparable."

KNOWN_ERRORS: dict[str, tuple[str, ...]] = {
    "0": ("The keyboard was made the same as in task 1 in 1.0.0.",),
    "1": ("The keyboard was made the same as in task 0 in 1.0.0.",),
    "2": (_READ, "How many T-shirt options there are has to be said exactly (reworded in 1.0.0; issue 89)."),
    "3": (_READ, "How many T-shirt options there are has to be said exactly (reworded in 1.0.0; issue 89)."),
    "4": (_READ, "The claim wants the number 10, but the caller does not ask for a number (issue 89)."),
    "5": ("Consent is ambiguous in the story (issue 496).",),
    "8": (_REWORDED,),
    "10": ("The gold is disputed (issue 316).",),
    "12": ("The gold refunded to PayPal, which is not possible; the action was removed in 1.0.0.",),
    "13": ("The gold refunded to PayPal, which is not possible; the action was removed in 1.0.0.",),
    "15": (_REWORDED,),
    "18": ("The gold exchanged an item for itself, which the tool refuses; changed in 1.0.0.",),
    "20": (_REWORDED, _ORDER_MATTERS),
    "21": (_ORDER_MATTERS, "Needs get_item_details, added in 1.0.0."),
    "22": (_REWORDED,),
    "28": (_REWORDED,),
    "29": (_CORRECTED,),
    "33": ("A refund had to be said that the gold does not make; the claim was removed in 1.0.0.",),
    "34": ("A refund had to be said that the gold does not make; the claim was removed in 1.0.0.",),
    "35": (_READ,),
    "36": (_ORDER_MATTERS,),
    "37": (_READ, _ORDER_MATTERS),
    "38": (_READ,),
    "39": (_READ,),
    "41": ("The gold is disputed (issue 319).",),
    "46": (_READ,),
    "47": (_READ,),
    "54": (_READ, _REWORDED),
    "55": (_READ, _REWORDED),
    "59": (_CORRECTED,),
    "62": (_REWORDED,),
    "64": (
        "A gold write fails: the order to be exchanged is not delivered. The later modification sets the state right.",
    ),
    "67": (_READ,),
    "68": (_READ,),
    "76": (_REWORDED,),
    "91": ("The gold exchanged an item for itself, which the tool refuses; changed in 1.0.0.",),
    "98": (_REWORDED,),
    "99": (_REWORDED,),
    "100": (_REWORDED, f"{_ORDER_MATTERS[:-1]} (issue 325)."),
    "105": (
        "The only gold write fails: the gift card does not hold enough. The expected state is therefore the start, "
        "and doing nothing reaches it (issue 306).",
    ),
    "107": ("The gold exchanged an item for itself, which the tool refuses; changed in 1.0.0.",),
}
