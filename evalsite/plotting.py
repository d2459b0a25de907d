"""Rates over runs as an SVG that is part of the page: drawn by pygal, coloured by the site's style sheet.

What pygal would add for a page of its own (style, script, tooltips) is left away, since pages run neither inline. The
tree is handed to a template that writes and escapes it like anything else.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import Element

import pygal

from scenarios.trends import Trend, TrendPoint

# A whole page, and a column of one.
WIDE, NARROW, HEIGHT = 880, 560, 320
# What a line of the legend adds to the height, and up to how many there are; the table names all configurations.
LEGEND_LINE, MOST_IN_LEGEND = 27, 8
# Runs whose numbers all fit under the plot.
ALL_LABELS = 20
_LEFT_AWAY = frozenset({"defs", "style", "script", "desc", "title"})
_CLASSES_LEFT_AWAY = frozenset({"tooltip-overlay", "text-overlay", "titles"})
_KEPT = frozenset(
    {"class", "d", "x", "y", "cx", "cy", "r", "width", "height", "transform", "viewBox", "href", "text-anchor"}
)


@dataclass(frozen=True)
class Node:
    """One element of the drawing."""

    tag: str
    attributes: Sequence[tuple[str, str]] = ()
    text: str = ""
    children: Sequence["Node"] = field(default_factory=list)


def drawing(trend: Trend, addresses: Sequence[str], width: int = WIDE) -> Node | None:
    """Return the plot of a trend, a line a configuration; None where there is nothing to plot.

    ``addresses`` are where each point leads to.
    """
    if not trend.points:
        return None
    many = len(trend.points) > ALL_LABELS
    named = len(trend.series) if len(trend.series) <= MOST_IN_LEGEND else 0
    chart = pygal.Line(
        width=width,
        height=HEIGHT + LEGEND_LINE * max(0, named - 1),
        show_legend=bool(named),
        range=(0, 100),
        js=[],
        css=[],
        dots_size=4,
        legend_at_bottom=True,
        legend_at_bottom_columns=1,
        truncate_legend=-1,
        y_labels=[0, 25, 50, 75, 100],
        formatter=lambda value: f"{value:g} %",
        show_minor_x_labels=not many,
        x_labels_major_every=5 if many else None,
    )
    chart.x_labels = [f"#{point.run.pk}" for point in trend.points]
    for series in trend.series:
        chart.add(
            series,
            [
                _value(point, address) if point.series == series else None
                for point, address in zip(trend.points, addresses, strict=True)
            ],
        )
    return _node(chart.render_tree())


def _value(point: TrendPoint, address: str) -> dict[str, Any]:
    rate = point.rate
    shown: dict[str, Any] = {
        "value": 100 * (rate.value or 0.0),
        "xlink": address,
        "label": f"run {point.run.pk}: {rate}",
    }
    if rate.interval:
        shown["ci"] = {"low": 100 * rate.interval.low, "high": 100 * rate.interval.high}
    return shown


def _node(element: Element) -> Node:
    # Some names are qualified (``{...xlink}href``); within a page none has to be.
    names = [(str(name).rpartition("}")[2].removeprefix("xlink:"), value) for name, value in element.attrib.items()]
    children = [_node(child) for child in element if _is_kept(child)]
    if element.tag == "a" and (words := _words(element)):
        children.append(Node("title", text=words))
    return Node(
        str(element.tag), [(name, value) for name, value in names if name in _KEPT], element.text or "", children
    )


def _is_kept(element: Element) -> bool:
    classes = set(element.get("class", "").split())
    return isinstance(element.tag, str) and element.tag not in _LEFT_AWAY and not classes & _CLASSES_LEFT_AWAY


def _words(link: Element) -> str:
    """Return what pygal would say in a tooltip."""
    return next((child.text or "" for child in link if child.tag == "desc" and child.get("class") == "label"), "")
