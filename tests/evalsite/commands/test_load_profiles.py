"""Profiles from the command line; what a file may say is tested with scenarios.profiles."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from scenarios.models import Profile

pytestmark = pytest.mark.django_db
ONE = '[[agent]]\nslug = "mini"\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"\n'


def test_each_profile_is_named(tmp_path: Path) -> None:
    first, second = tmp_path / "a.toml", tmp_path / "b.toml"
    first.write_text(ONE)
    second.write_text(ONE.replace("agent", "judge").replace("mini", "strict"))
    out = StringIO()
    call_command("load_profiles", str(first), str(second), stdout=out)
    assert out.getvalue() == "agent mini\njudge strict\n"
    assert Profile.objects.count() == 2


def test_a_wrong_file_changes_nothing_and_says_why(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(ONE + '\n[[judge]]\nslug = "strict"\nmodel = "m"\nbase_url = "ftp://x"\n')
    with pytest.raises(CommandError, match=r"a.toml: judge 1 \(strict\): base_url: Give an address"):
        call_command("load_profiles", str(path))
    assert Profile.objects.count() == 0
