from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings


def test_an_unknown_figure_is_refused(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CommandError) as refused:
        call_command("bench", "nope")

    assert refused.value.returncode == 2
    assert "no figure is called nope; there are gold, page, compare, agreement, " in capfd.readouterr().err


def test_an_installed_package_says_where_the_benchmarks_are(tmp_path: Path, settings: Settings) -> None:
    settings.BASE_DIR = tmp_path

    with pytest.raises(CommandError, match=f"tests/bench of a checkout; {tmp_path} has none"):
        call_command("bench")
