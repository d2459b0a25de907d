"""The style sheets: readable contrast in both colour schemes, a 4-px grid, nothing from elsewhere."""

import re
from itertools import product
from pathlib import Path

import pytest
from django.conf import settings

CSS = Path(settings.BASE_DIR) / "static" / "css"
TOKEN = re.compile(r"--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)")
TOKENS = {name: colours for name, *colours in TOKEN.findall((CSS / "site.css").read_text())}
GROUNDS = ("ground", "surface", "sunken")
ON_GROUNDS = ("ink", "ink-soft", "accent", "pass", "fail", "fault", "idle", "live")


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


PAIRS = [
    *product(ON_GROUNDS, GROUNDS),
    *((name, f"{name}-ground") for name in ("pass", "fail", "fault", "idle", "live")),
    *(("ink-soft", f"{name}-ground") for name in ("pass", "fail", "fault", "idle", "live")),
    ("accent-ink", "accent"),
    ("ink", "mark"),
]


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("ink", "ground"), PAIRS)
def test_text_is_readable(ink: str, ground: str, scheme: int) -> None:
    assert contrast(TOKENS[ink][scheme], TOKENS[ground][scheme]) >= 4.5


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("ground", GROUNDS)
def test_borders_of_controls_can_be_seen(ground: str, scheme: int) -> None:
    assert contrast(TOKENS["line-strong"][scheme], TOKENS[ground][scheme]) >= 3


@pytest.mark.parametrize("path", sorted(CSS.glob("*.css")), ids=lambda path: path.name)
def test_sheets_fetch_nothing_and_stay_on_the_grid(path: Path) -> None:
    text = path.read_text()
    assert "url(" not in text
    assert "@import" not in text
    for gap in re.findall(r"(?:gap|padding|margin)[a-z-]*: ([^;]+);", text):
        for pixels in re.findall(r"(?<![\w.-])(\d+)px", gap):
            assert int(pixels) % 4 == 0 or int(pixels) in (2, 5, 6), f"{pixels}px in {gap!r}"


def test_every_outcome_has_a_shape_of_its_own_or_shares_its_family() -> None:
    text = (CSS / "site.css").read_text()
    for key in ("pass", "fail", "stalled", "judge_error", "infra_error", "tainted", "cancelled", "unscored", "queued"):
        assert f".is-{key} > .shape" in text
