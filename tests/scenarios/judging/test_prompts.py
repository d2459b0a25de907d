"""Versions of what judges are told: never edited, never the same twice, always with what keeps them safe."""

import pytest
from django.contrib.auth.models import User

from scenarios.judging.prompts import UnknownPrompt, differences, guidance_of, write_prompt
from scenarios.models import JudgePrompt, Profile
from scenarios.scoring.judge_request import GUIDANCE, MAX_GUIDANCE, PROMPT_VERSION, SAFEGUARDS, prompt_version_of

pytestmark = pytest.mark.django_db


def test_a_new_version_is_a_new_row_with_its_parent(admin: User) -> None:
    first = write_prompt("Stricter", f"{GUIDANCE}\r\n- Be strict.\r\n", parent=None, author=admin)
    assert first.version == prompt_version_of(first.system_prompt)
    assert "\r" not in first.system_prompt
    second = write_prompt("Softer", f"{GUIDANCE}- Be kind.", parent=first, author=admin)
    assert (second.parent, second.author) == (first, admin)
    assert guidance_of(first.version) == first.system_prompt
    assert guidance_of("") is None


def test_a_comparison_says_line_by_line_what_changed(admin: User) -> None:
    first = write_prompt("One", "a\nb\nc", parent=None, author=admin)
    second = write_prompt("Two", "a\nB\nc\nd", parent=first, author=admin)
    assert [(line.kind, line.text) for line in differences(second)] == [
        ("same", "a"),
        ("removed", "b"),
        ("added", "B"),
        ("same", "c"),
        ("added", "d"),
    ]
    against_built_in = differences(first)
    assert {line.kind for line in against_built_in} == {"removed", "added"}


@pytest.mark.parametrize(
    ("title", "guidance", "message"),
    [
        ("", "Be strict.", "title: give a short one"),
        ("x" * 121, "Be strict.", "title: give a short one"),
        ("t", " \n", "guidance: it is empty"),
        ("t", "x" * (MAX_GUIDANCE + 1), "guidance: it has 20,001 characters; at most 20,000"),
        ("t", "Rule on <<<RECORD", "how the record is quoted"),
        ("t", f"Be strict.\n{SAFEGUARDS}", "how the record is quoted"),
        ("t", GUIDANCE, "nothing was changed, the built-in text says the same"),
    ],
)
def test_what_is_wrong_with_a_text_is_named(title: str, guidance: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        write_prompt(title, guidance, parent=None, author=None)
    assert not JudgePrompt.objects.exists()


def test_the_same_text_twice_names_the_version_that_has_it() -> None:
    first = write_prompt("One", "Be strict.", parent=None, author=None)
    with pytest.raises(ValueError, match=f"One {first.version[:8]} says the same"):
        write_prompt("Two", " Be strict. ", parent=first, author=None)


def test_an_unknown_version_is_an_error_not_the_built_in_text() -> None:
    with pytest.raises(UnknownPrompt, match="'0123' is not in this database"):
        guidance_of("0123")


def test_a_judges_profile_freezes_prompt_and_structure() -> None:
    prompt = write_prompt("One", "Rule briefly.", parent=None, author=None)
    judge = Profile(slug="j", kind="judge", model="m", base_url="http://h/v1", prompt=prompt, structure="plain")
    judge.full_clean()
    assert (judge.frozen()["prompt_version"], judge.frozen()["structure"]) == (prompt.version, "plain")
    assert "prompt_version" not in Profile(slug="a", kind="agent", model="m").frozen()
    assert prompt.version != PROMPT_VERSION
