import pytest

from evalsite.templatetags.comparisons import p_value, points, points_bare, setting


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "-"),
        (0.0, "<\u00a00.0001"),
        (0.00009, "<\u00a00.0001"),
        (0.0012, "0.0012"),
        (0.03125, "0.031"),
        (1, "1.000"),
    ],
)
def test_p_values(value: float | None, written: str) -> None:
    assert p_value(value) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [(None, "-"), (0.032, "+3.2"), (-0.032, "\u22123.2"), (0.0, "0.0"), (-0.0001, "0.0"), (1, "+100.0")],
)
def test_differences_in_points(value: float | None, written: str) -> None:
    assert points(value) == written
    assert points_bare(None) == "-"
    assert points_bare(0.051) == "5.1"


def test_settings_on_one_line() -> None:
    assert [setting(value) for value in (None, "", "text", False, 0.7, ["a"])] == [
        "-",
        '""',
        "text",
        "false",
        "0.7",
        '["a"]',
    ]
