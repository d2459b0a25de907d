"""Commands: labels out and in, and attribution of what was scored before."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from scenarios.models import Review, ReviewQueue, Run
from tests.evalsite.labelled import judge_version, judged_run, label
from tests.scenarios.test_faults import front_run, held

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    run = judged_run(3)
    label(run, ["ann"])
    return run


def told(capsys: pytest.CaptureFixture[str], *command: Any) -> str:
    call_command(*command)
    return capsys.readouterr().out


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_out_and_in_again(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str) -> None:
    file = tmp_path / f"labels.{form}"
    call_command("export_labels", "--run", str(run.pk), "--format", form, "-o", str(file))
    assert "12 labels" in capsys.readouterr().err
    Review.objects.all().delete()
    assert "12 taken, 0 known already, 0 refused" in told(capsys, "import_labels", str(file))
    assert "0 taken, 12 known already, 0 refused" in told(capsys, "import_labels", str(file))
    with pytest.raises(CommandError, match="never replaced"):
        call_command("export_labels", "-o", str(file))


def test_to_standard_output_by_judge_and_queue(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "export_labels", "--judge", str(judge_version().pk)).count("\n") == 12
    queue = ReviewQueue.objects.create(title="q")
    assert told(capsys, "export_labels", "--queue", str(queue.pk)) == ""


@pytest.mark.parametrize("option", ["--run", "--judge", "--queue"])
def test_there_is_no_such(option: str) -> None:
    with pytest.raises(CommandError, match="there is no"):
        call_command("export_labels", option, "999")


def test_a_refused_line_is_told_and_ends_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "labels.jsonl"
    file.write_text("nonsense\n")
    with pytest.raises(SystemExit) as ended:
        call_command("import_labels", str(file))
    assert ended.value.code == 1
    assert f"refused  {file}, line 1: is no JSON object" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("labels.txt", b"", "ends in neither"),
        ("labels.csv", b"\xff", "not UTF-8 text .byte 0."),
        ("missing.csv", None, "cannot be read: No such file"),
    ],
)
def test_a_file_that_cannot_be_read(tmp_path: Path, name: str, content: bytes | None, words: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(CommandError, match=words):
        call_command("import_labels", str(tmp_path / name))


def test_calls_scored_before_are_attributed_once(capsys: pytest.CaptureFixture[str]) -> None:
    run = front_run(2)
    held(run.trials.all()[0])
    assert f"run {run.pk}: 2 calls read, 1 have a side now" in told(capsys, "attribute_faults")
    assert "nothing to attribute" in told(capsys, "attribute_faults", str(run.pk))
    with pytest.raises(CommandError, match="there is no run 999"):
        call_command("attribute_faults", "999")
