"""Kinds of claims on the words that the benchmarks use."""

import pytest

from scenarios.scoring.claim_kinds import KIND_WORDS, claim_kind


@pytest.mark.parametrize(
    ("claim", "kind"),
    [
        ("Agent should tell the user the total refund amount is $918.43.", "tells a figure"),
        ("Agent should provide the tracking number 286422338955.", "tells a figure"),
        ("Agent should tell the user the keyboard switch type is tactile.", "tells"),
        ("The agent says that an e-mail will come.", "tells"),
        ("Agent should tell the guest that a saver reservation can be neither cancelled nor moved.", "tells"),
        ("Agent should tell the guest that it cannot be moved.", "tells"),
        ("Agent should cancel all pending orders", "does"),
        ("Agent should process the exchange.", "does"),
        ("Agent should not cancel the order.", "leaves"),
        ("The agent must never tell the user a price.", "leaves"),
        ("Agent doesn't transfer the call", "leaves"),
        ("", "does"),
    ],
)
def test_a_claim_is_of_one_kind_by_its_words(claim: str, kind: str) -> None:
    assert claim_kind(claim) == kind
    assert kind in KIND_WORDS
