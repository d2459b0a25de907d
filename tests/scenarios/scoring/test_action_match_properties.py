"""Action match on many small random episodes, against brute force and against the reference's rule."""

import random
from itertools import permutations
from typing import Any

import pytest

from scenarios.domains.base import MatchOptions
from scenarios.scoring.action_match import action_diff, best_fit, match_episode, match_value

EXACT = MatchOptions()


def action(rng: random.Random) -> dict[str, Any]:
    arguments = {name: rng.randrange(3) for name in "abc" if rng.random() < 0.6}
    return {"name": rng.choice(["x", "y"]), "arguments": arguments, "side": "agent"}


def episode(rng: random.Random) -> list[dict[str, Any]]:
    return [action(rng) for _ in range(rng.randrange(5))]


@pytest.mark.parametrize("seed", range(3))
def test_a_fit_is_as_large_as_brute_force_finds(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(200):
        left, right = rng.randrange(5), rng.randrange(5)
        edges = {(i, j) for i in range(left) for j in range(right) if rng.random() < 0.4}
        pairs = best_fit(left, right, lambda i, j, edges=edges: (i, j) in edges)  # type: ignore[misc]
        assert set(pairs.items()) <= edges
        assert len(set(pairs.values())) == len(pairs)
        padded = list(range(right)) + [-1] * left
        most = max(sum((i, j) in edges for i, j in enumerate(order)) for order in set(permutations(padded, left)))
        assert len(pairs) == most


@pytest.mark.parametrize("seed", range(3))
def test_what_matches_greedily_matches_for_us_and_order_never_matters_to_us(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(300):
        references, predictions = episode(rng), episode(rng)
        diff = action_diff(references, predictions, EXACT)
        ours = not diff["missing"] and not diff["wrong"]
        if match_episode({"actions": references}, {"actions": predictions}):
            assert ours
        shuffled = rng.sample(predictions, len(predictions))
        again = action_diff(references, shuffled, EXACT)
        assert len(again["matched"]) == len(diff["matched"])


@pytest.mark.parametrize("seed", range(3))
def test_every_action_is_in_the_diff_exactly_once(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(300):
        references, predictions = episode(rng), episode(rng)
        diff = action_diff(references, predictions, EXACT)
        pairs = [*diff["matched"], *diff["wrong"]]
        wanted = sorted(map(str, [*diff["missing"], *(pair["reference"] for pair in pairs)]))
        given = sorted(map(str, [*diff["extra"], *(pair["predicted"] for pair in pairs)]))
        assert wanted == sorted(map(str, references))
        assert given == sorted(map(str, predictions))
        assert all(pair["fields"] for pair in diff["wrong"])
        assert all(pair["reference"]["name"] == pair["predicted"]["name"] for pair in diff["wrong"])


@pytest.mark.parametrize("seed", range(3))
def test_strict_matching_is_never_looser(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(300):
        reference, predicted = {"l": episode(rng)}, {"l": episode(rng)}
        if match_value(reference, predicted, EXACT, strict=True):
            assert match_value(reference, predicted, EXACT)


def test_everything_matches_itself() -> None:
    rng = random.Random(7)
    for _ in range(200):
        actions = episode(rng)
        assert match_episode({"actions": actions}, [{"actions": actions}], MatchOptions(disallow_extra_items=True))
