"""Action match: are the recorded writes those of the gold replay?

Two figures are kept. The *reference* figure follows the reference system to the letter (greedy fit, extras always
allowed inside lists, every key of a record counts); the *shown* figure differs where the reference is known to be weak:
strictness reaches nested lists, ``compare_args`` is honoured, a fit is found whenever there is one, lists that belong
together (an argument ``X`` and its ``new_X``, of one length) are compared pair by pair, and texts of digits alone are
identifiers, not numbers: "6469567736" is not "6469567737", nor "01234" "1234".
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from scenarios.domains.base import MatchOptions, ScenarioSpec
from scenarios.replay import Gold
from scenarios.scoring.config import ScoringConfig
from scenarios.scoring.evidence import Evidence
from scenarios.scoring.results import SignalResult

RTOL, ATOL = 1e-5, 1e-8
EXACT = MatchOptions()
_PARTNER = "new_"
_PUNCTUATION = re.compile(r"[^\w\s]")
Action = Mapping[str, Any]


@dataclass(frozen=True)
class _Shown(MatchOptions):
    """Options of the shown figure: identifiers are compared as they are written."""


def match_episode(reference: Any, predicted: Any, options: MatchOptions = EXACT) -> bool:
    """Return whether the predicted payload holds the reference payload (conformance ``actions_match``, "episode")."""
    references, predictions = _payloads(reference), _payloads(predicted)
    if len(references) == 1 and len(predictions) > 1:
        predictions = predictions[-1:]
    if options.disallow_extra_items and len(references) != len(predictions):
        return False
    return _fits_greedily(references, predictions, options)


def match_single(reference: Action, predicted: Action) -> bool:
    """Return whether one action equals another in name and in the arguments that ``compare_args`` names (None: all)."""
    if reference["name"] != predicted["name"]:
        return False
    wanted, given = reference.get("arguments") or {}, predicted.get("arguments") or {}
    names = reference.get("compare_args")
    if names is None:
        return bool(wanted == given)
    return all(wanted.get(name) == given.get(name) for name in names)


def match_value(reference: Any, predicted: Any, options: MatchOptions, *, strict: bool = False) -> bool:
    """Return whether a value matches: keys of the reference must match, lists in any order, scalars by number or text.

    ``strict`` (not in the reference) refuses extra elements of lists at every depth.
    """
    if isinstance(reference, Mapping):
        return isinstance(predicted, Mapping) and all(
            key in predicted and match_value(value, predicted[key], options, strict=strict)
            for key, value in reference.items()
        )
    if isinstance(reference, list | tuple):
        if not isinstance(predicted, list | tuple) or (strict and len(reference) != len(predicted)):
            return False
        return _fits_greedily(reference, predicted, options, strict=strict)
    return _match_scalar(reference, predicted, options)


def score(spec: ScenarioSpec, gold: Gold, evidence: Evidence, config: ScoringConfig) -> SignalResult:
    """Return the signal with an action diff; not applicable when the gold replay records no write.

    To the reference an empty answer matches anything; only of a scenario that ships its end state has it none.
    """
    references, predictions = list(gold.reference_actions), list(evidence.actions)
    by_reference = match_episode({"actions": references}, [{"actions": predictions}], spec.match)
    if not references:
        detail: dict[str, Any] = {"extra": predictions, "why": "the gold replay records no action"}
        if not gold.is_shipped:
            detail["reference_match"] = by_reference
        return SignalResult("is_action_match", applicable=False, passed=None, value=None, detail=detail)
    strict = config.strict_match or spec.match.disallow_extra_items
    diff = action_diff(references, predictions, spec.match, _compare_args(spec, gold), strict=strict)
    passed = not (diff["missing"] or diff["wrong"] or (strict and diff["extra"]))
    detail = {"reference_match": by_reference, "strict": strict, **diff}
    return SignalResult("is_action_match", applicable=True, passed=passed, value=passed, detail=detail)


def action_diff(
    references: Sequence[Action],
    predictions: Sequence[Action],
    options: MatchOptions,
    compare_args: Sequence[Sequence[str] | None] = (),
    *,
    strict: bool = False,
) -> dict[str, list[Any]]:
    """Return matched, missing, extra and wrong actions; ``wrong`` pairs same-named ones with each differing field.

    ``compare_args`` runs parallel to ``references``. Indices in the result are positions in the two inputs.
    """
    options = _Shown(**asdict(options))
    names = list(compare_args) or [None] * len(references)
    pairs = best_fit(
        len(references),
        len(predictions),
        lambda i, j: _match_action(references[i], predictions[j], names[i], options, strict=strict),
    )
    missing = [i for i in range(len(references)) if i not in pairs]
    extra = [j for j in range(len(predictions)) if j not in pairs.values()]
    wrong = []
    for i in list(missing):
        near = [j for j in extra if _label(predictions[j]) == _label(references[i])]
        if near:
            differences = {j: _differences(references[i], predictions[j], names[i], options, strict) for j in near}
            closest = min(near, key=lambda j: (len(differences[j]), j))
            missing.remove(i)
            extra.remove(closest)
            wrong.append(
                {"reference": references[i], "predicted": predictions[closest], "fields": differences[closest]}
            )
    return {
        "matched": [{"reference": references[i], "predicted": predictions[j]} for i, j in sorted(pairs.items())],
        "missing": [references[i] for i in missing],
        "extra": [predictions[j] for j in extra],
        "wrong": wrong,
    }


def best_fit(left: int, right: int, fits: Callable[[int, int], bool]) -> dict[int, int]:
    """Return a largest pairing ``left index -> right index`` among pairs that fit (augmenting paths)."""
    edges = [[j for j in range(right) if fits(i, j)] for i in range(left)]
    taken: dict[int, int] = {}

    def place(i: int, seen: set[int]) -> bool:
        for j in edges[i]:
            if j not in seen:
                seen.add(j)
                if j not in taken or place(taken[j], seen):
                    taken[j] = i
                    return True
        return False

    for i in range(left):
        place(i, set())
    return {i: j for j, i in taken.items()}


def _payloads(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _fits_greedily(
    references: Sequence[Any], predictions: Sequence[Any], options: MatchOptions, *, strict: bool = False
) -> bool:
    left = list(predictions)
    for reference in references:
        fit = next((i for i, given in enumerate(left) if match_value(reference, given, options, strict=strict)), None)
        if fit is None:
            return False
        del left[fit]
    return True


def _match_scalar(reference: Any, predicted: Any, options: MatchOptions) -> bool:
    if isinstance(options, _Shown) and _is_identifier(reference) and _is_identifier(predicted):
        return bool(reference == predicted)
    wanted, given = _number(reference), _number(predicted)
    if isinstance(wanted, float) and isinstance(given, float):
        # The tolerance grows with the number, so that infinity would be close to any.
        return wanted == given or (math.isfinite(given) and abs(wanted - given) <= ATOL + RTOL * abs(given))
    # As in the reference, a value that reads as a number is compared by the text of that number.
    return _text(wanted, options) == _text(given, options)


def _is_identifier(value: Any) -> bool:
    return isinstance(value, str) and value.isdecimal()


def _number(value: Any) -> Any:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return value


def _text(value: Any, options: MatchOptions) -> str:
    text = str(value)
    if options.ignore_capitalization or options.clean_text:
        text = text.lower()
    return _PUNCTUATION.sub("", text) if options.ignore_punctuation else text


def _compare_args(spec: ScenarioSpec, gold: Gold) -> list[Sequence[str] | None]:
    recorded = [
        action.compare_args
        for action, call in zip(spec.gold_actions, gold.calls, strict=False)
        if call.action is not None
    ]
    return list(recorded) if len(recorded) == len(gold.reference_actions) else [None] * len(gold.reference_actions)


def _label(action: Action) -> tuple[Any, Any]:
    return action.get("name", action.get("action_type")), action.get("side")


def _counted(action: Action, names: Sequence[str] | None) -> Action:
    if names is None:
        return action
    arguments = action.get("arguments") or {}
    kept = {"arguments": {name: arguments.get(name) for name in names}}
    return kept | {key: action[key] for key in ("action_type", "name", "side") if key in action}


def _match_action(
    reference: Action, predicted: Action, names: Sequence[str] | None, options: MatchOptions, *, strict: bool
) -> bool:
    wanted, given = _counted(reference, names), _counted(predicted, names)
    return match_value(wanted, given, options, strict=strict) and not any(_mixed_pairs(wanted, given, options))


def _mixed_pairs(wanted: Action, given: Action, options: MatchOptions) -> Iterator[dict[str, Any]]:
    """Yield the paired lists of an action whose pairs are others, though each list alone may have the same items."""
    before, after = wanted.get("arguments"), given.get("arguments")
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return
    for name in before:
        expected, actual = _pairs(before, name), _pairs(after, name)
        if expected and actual:
            found = best_fit(len(expected), len(actual), partial(_is_pair, expected, actual, options))
            if len(found) < len(expected):
                place = f"{name} with {_PARTNER}{name}"
                yield {"path": ["arguments", place], "expected": expected, "actual": actual, "note": "other pairs"}


def _pairs(arguments: Mapping[str, Any], name: str) -> list[list[Any]]:
    left, right = arguments.get(name), arguments.get(_PARTNER + name)
    if not isinstance(left, list | tuple) or not isinstance(right, list | tuple) or len(left) != len(right):
        return []
    return [list(pair) for pair in zip(left, right, strict=True)]


def _is_pair(expected: list[list[Any]], actual: list[list[Any]], options: MatchOptions, i: int, j: int) -> bool:
    return all(match_value(*values, options) for values in zip(expected[i], actual[j], strict=True))


def _differences(
    reference: Action, predicted: Action, names: Sequence[str] | None, options: MatchOptions, strict: bool
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []

    def walk(path: tuple[str, ...], wanted: Any, given: Any) -> None:
        if isinstance(wanted, Mapping) and isinstance(given, Mapping):
            for key, value in wanted.items():
                walk((*path, str(key)), value, given.get(key))
        elif not match_value(wanted, given, options, strict=strict):
            rows.append({"path": list(path), "expected": wanted, "actual": given})

    wanted, given = _counted(reference, names), _counted(predicted, names)
    walk((), wanted, given)
    return [*rows, *(_mixed_pairs(wanted, given, options) if not rows else ())]
