"""The plot of a trend, as elements that a template writes."""

from collections.abc import Iterator

import pytest
from django.template.loader import render_to_string

from evalsite.plotting import Node, drawing
from scenarios.trends import Trend, trend
from tests.factories import make_run, make_scenarios
from tests.scenarios.test_configurations import agent

pytestmark = pytest.mark.django_db
ATTACK = "<script>alert(1)</script>"


def elements(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from elements(child)


def plotted(found: Trend) -> Node:
    plot = drawing(found, [f"/runs/{point.run.pk}/" for point in found.points])
    assert plot is not None
    return plot


def test_each_run_is_a_point_with_its_interval_and_address() -> None:
    scenarios = make_scenarios(4)
    runs = [make_run(scenarios, 1, ["pass", "fail", "pass", "pass"]), make_run(scenarios, 1, ["pass"])]
    found = list(elements(plotted(trend("toy"))))
    links = [dict(node.attributes)["href"] for node in found if node.tag == "a"]
    assert links == [f"/runs/{run.pk}/" for run in runs]
    assert sum(node.tag == "circle" for node in found) == 2
    assert sum(dict(node.attributes).get("class") == "ci" for node in found) == 2
    titles = [node.text for node in found if node.tag == "title"]
    assert titles[0].startswith(f"run {runs[0].pk}: 75.0 % [")
    assert "(3 of 4)" in titles[0]


def test_each_configuration_is_a_series_of_its_own() -> None:
    scenarios = make_scenarios(2)
    for slug in ("one", "two", "one"):
        make_run(scenarios, 1, ["pass", "fail"], config={"agent": agent(slug=slug)})
    found = list(elements(plotted(trend("toy"))))
    assert [node.text for node in found if node.text in ("one", "two")] == ["one", "two"]
    assert {"series serie-0 color-0", "series serie-1 color-1"} <= {
        dict(node.attributes).get("class") for node in found
    }


def test_nothing_in_it_needs_an_inline_script_or_style() -> None:
    scenarios = make_scenarios(2)
    for _ in range(25):
        make_run(scenarios, 1, ["pass", "fail"])
    plot = plotted(trend("toy"))
    html = render_to_string("shared/_svg.html", {"node": plot})
    assert html.startswith("<svg")
    assert {node.tag for node in elements(plot)} <= {"svg", "g", "rect", "path", "text", "title", "a", "circle"}
    for forbidden in ("<script", "<style", " style=", "onclick", "xlink"):
        assert forbidden not in html


def test_a_name_from_a_profile_is_text() -> None:
    make_run(1, 1, ["pass"], config={"agent": agent(slug=ATTACK)})
    html = render_to_string("shared/_svg.html", {"node": plotted(trend("toy"))})
    assert ATTACK not in html
    assert "&lt;script&gt;" in html


def test_without_runs_there_is_no_plot() -> None:
    assert drawing(trend("toy"), []) is None


@pytest.mark.parametrize("count", [1, 2, 8, 9, 12])
def test_many_configurations_leave_the_plot_its_height(count: int) -> None:
    """A legend of twelve lines once left a plot of no height; what it would name stands in the table."""
    scenarios = make_scenarios(2)
    for number in range(count):
        make_run(scenarios, 1, ["pass", "fail"], config={"agent": agent(slug=f"agent-{number}")})
    found = list(elements(plotted(trend("toy"))))
    areas = [dict(node.attributes) for node in found if dict(node.attributes).get("class") == "background"]
    assert float(areas[-1]["height"]) > 200
    assert sum(node.text.startswith("agent-") for node in found) == (count if count <= 8 else 0)
