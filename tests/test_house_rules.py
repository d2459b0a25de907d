"""The rules of the house that a machine can hold: sizes, safety of templates, who writes a trial, what is in git."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("bots", "evalsite", "scenarios", "tests")
FILE_LINES, FUNCTION_LINES, TEMPLATE_LINES = 400, 60, 120
# Written by lifecycle alone: see its docstring.
TRIAL_STATE = {"status", "lease", "heartbeat_at", "attempts", "last_seq", "outcome", "outcome_reason"}


def python_files(*packages: str) -> list[Path]:
    """Return the source files, migrations left out: Django writes those."""
    paths = (path for package in packages or PACKAGES for path in (ROOT / package).rglob("*.py"))
    return sorted(path for path in paths if "migrations" not in path.parts)


def templates() -> list[Path]:
    return sorted((ROOT / "templates").rglob("*.html"))


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def lines(path: Path) -> int:
    return path.read_text().count("\n")


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def found(pattern: str, paths: list[Path]) -> list[str]:
    """Return where a pattern occurs: ``file:line: text``."""
    return [
        f"{name(path)}:{number}: {line.strip()}"
        for path in paths
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if re.search(pattern, line, re.IGNORECASE)
    ]


def test_there_is_something_to_check() -> None:
    assert len(python_files()) > 50
    assert templates()


def test_no_file_is_longer_than_its_limit() -> None:
    assert {name(path): lines(path) for path in python_files() if lines(path) > FILE_LINES} == {}
    assert {name(path): lines(path) for path in templates() if lines(path) > TEMPLATE_LINES} == {}


def test_no_function_is_longer_than_its_limit() -> None:
    long = {
        f"{name(path)}:{function.name}": length
        for path in python_files()
        for function in functions(path)
        if (length := (function.end_lineno or 0) - function.lineno + 1) > FUNCTION_LINES
    }
    assert long == {}


def test_every_module_and_public_class_says_what_it_is() -> None:
    silent = []
    for path in python_files("bots", "evalsite", "scenarios"):
        tree = ast.parse(path.read_text())
        if tree.body and not ast.get_docstring(tree):
            silent.append(name(path))
        classes = (node for node in tree.body if isinstance(node, ast.ClassDef))
        classes = (node for node in classes if not node.name.startswith("_") and node.name != "Command")
        silent += [f"{name(path)}:{node.name}" for node in classes if not ast.get_docstring(node)]
    assert silent == []


def test_everything_a_model_says_is_escaped() -> None:
    assert found(r"\|\s*safe\b|autoescape\s+off|\|\s*safeseq\b", templates()) == []
    assert found(r"\bmark_safe\b|\bSafeString\(|@html_safe", python_files("bots", "evalsite", "scenarios")) == []


def test_no_script_or_style_is_written_into_a_page() -> None:
    inline = r"<script(?![^>]*\bsrc=)(?![^>]*\btype=\"application/json\")|<style\b|\sstyle\s*=|\son[a-z]+\s*=\s*[\"']"
    assert found(inline, templates()) == []


def test_nothing_is_loaded_from_another_host() -> None:
    assert found(r"(?:src|href|action)\s*=\s*[\"'](?:https?:)?//", [*templates()]) == []
    assert found(r"@import|url\(\s*[\"']?(?:https?:)?//", sorted((ROOT / "static" / "css").glob("*.css"))) == []


def writes_of_trial_state(path: Path) -> Iterator[str]:
    """Yield assignments to, and ``update``/``bulk_update`` of, a trial's state fields."""
    for node in ast.walk(ast.parse(path.read_text())):
        for target in node.targets if isinstance(node, ast.Assign) else []:
            if isinstance(target, ast.Attribute) and target.attr in TRIAL_STATE and _is_trial(target.value):
                yield f"{name(path)}:{target.lineno}: {ast.unparse(target)}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "update":
            written = {keyword.arg for keyword in node.keywords} & TRIAL_STATE
            if written and _is_trial(node.func.value):
                yield f"{name(path)}:{node.lineno}: update({', '.join(sorted(filter(None, written)))})"


def _is_trial(value: ast.expr) -> bool:
    return "trial" in ast.unparse(value).lower()


def test_only_lifecycle_writes_a_trials_state() -> None:
    others = [path for path in python_files("bots", "evalsite", "scenarios") if "lifecycle" not in name(path)]
    assert [write for path in others for write in writes_of_trial_state(path)] == []


def test_the_search_for_writes_finds_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.test_house_rules.ROOT", tmp_path)
    path = tmp_path / "page.py"
    path.write_text("trial.status = 'done'\nTrial.objects.filter(pk=1).update(lease=None, cost=1)\nrun.status = 1\n")

    assert list(writes_of_trial_state(path)) == ["page.py:1: trial.status", "page.py:2: update(lease)"]


def test_modules_are_named_for_one_job() -> None:
    vague = {"utils.py", "helpers.py", "util.py", "misc.py", "common.py", "manager.py"}
    assert [name(path) for path in python_files() if path.name in vague] == []


def tracked_files() -> list[str]:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for path in listed.stdout.split("\0") if path]


def test_no_benchmark_file_is_in_git() -> None:
    pinned = tomllib.loads((ROOT / "data" / "benchmarks.toml").read_text())["domains"]
    sizes = {entry["bytes"] for domain in pinned.values() for entry in domain["files"].values()}
    tracked = [ROOT / path for path in tracked_files() if (ROOT / path).is_file()]

    assert [path for path in tracked_files() if path.startswith(("data/benchmarks/", "data/var/"))] == []
    assert [name(path) for path in tracked if path.stat().st_size > 20_000 and path.stat().st_size in sizes] == []
    assert {name(path): path.stat().st_size for path in tracked if path.stat().st_size > 500_000} == {}


def test_no_secret_is_in_git() -> None:
    assert [path for path in tracked_files() if Path(path).name in {".env", "secret_key"}] == []
    text = [ROOT / path for path in tracked_files() if path.endswith((".py", ".toml", ".md", ".html", ".js"))]
    assert found(r"\bsk-[A-Za-z0-9]{20,}", text) == []


def test_imports_run_one_way() -> None:
    done = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def commands_of(path: Path) -> set[str]:
    return set(re.findall(r"manage\.py ([a-z_]+)", path.read_text()))


@pytest.mark.parametrize("document", ["README.md", "docs/operations.md"])
def test_every_command_that_a_document_names_exists(document: str) -> None:
    from django.core.management import get_commands

    path = ROOT / document
    commands = commands_of(path)
    targets = set(re.findall(r"`?make ([a-z-]+)", path.read_text()))
    makefile = (ROOT / "Makefile").read_text()

    assert commands
    assert commands - set(get_commands()) == set()
    assert {target for target in targets if not re.search(rf"^{target}:", makefile, re.MULTILINE)} == set()


def test_every_setting_that_is_read_from_the_environment_is_in_the_readme() -> None:
    settings = (ROOT / "evalsite" / "settings.py").read_text()
    read = set(re.findall(r"env\.\w+\(\s*\"([A-Z_]+)\"", settings))
    documented = set(re.findall(r"`([A-Z_]+)`", (ROOT / "README.md").read_text()))

    assert read
    assert read - documented == set()


def test_every_attribute_that_a_script_reads_is_written_somewhere() -> None:
    """One that looks unused in the templates may be ``dataset.name`` of a script."""
    scripts = "\n".join(path.read_text() for path in sorted((ROOT / "static" / "js").glob("*.js")))
    pages = "\n".join(path.read_text() for path in templates())
    read = set(re.findall(r"dataset\??\.(\w+)", scripts)) | set(re.findall(r'"(\w+)" in \([^)]*dataset', scripts))
    written = set(re.findall(r"dataset\.(\w+) = ", scripts))
    on_pages = {key for key in read if " data-" + re.sub("([A-Z])", r"-\1", key).lower() in pages}
    assert len(read) > 15
    assert read - written - on_pages == set()
