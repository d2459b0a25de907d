"""Nobody but the lifecycle writes the fields that decide who owns a trial and how it ended."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FIELDS = frozenset({"status", "lease", "attempts", "last_seq", "outcome", "heartbeat_at", "cancel_requested"})
WRITERS = frozenset({"update", "create", "get_or_create", "update_or_create", "Trial"})


def sources() -> Iterator[Path]:
    for package in ("bots", "evalsite", "scenarios"):
        for path in sorted((ROOT / package).rglob("*.py")):
            if "migrations" not in path.parts and path.parent != ROOT / "scenarios" / "lifecycle":
                yield path


def writes(tree: ast.AST) -> Iterator[str]:
    """Yield each place that sets one of the fields on a trial, by keyword of a query or by attribute."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(to, ast.Attribute) and to.attr in FIELDS and is_trial(to) for to in targets):
                yield f"line {node.lineno}: {ast.unparse(node)}"
        if isinstance(node, ast.Call) and is_trial(node.func):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in WRITERS and {keyword.arg for keyword in node.keywords} & FIELDS:
                yield f"line {node.lineno}: {ast.unparse(node)}"


def is_trial(node: ast.AST) -> bool:
    return "trial" in ast.unparse(node).lower()


@pytest.mark.parametrize("path", list(sources()), ids=lambda path: str(path.relative_to(ROOT)))
def test_others_only_read(path: Path) -> None:
    assert list(writes(ast.parse(path.read_text()))) == []


@pytest.mark.parametrize(
    "code",
    [
        "trial.status = 'done'",
        "self.trial.outcome = ''",
        "Trial.objects.filter(pk=1).update(lease=None)",
        "run.trials.all().update(cost=1, status='queued')",
        "Trial(run=run, last_seq=4)",
    ],
)
def test_the_search_finds_writes(code: str) -> None:
    assert list(writes(ast.parse(code)))
