"""Charts of how a crawl went: from steps to the points of lines, for the template that draws them as SVG. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from larm.monitor.history import Step
from larm.monitor.rates import size
from larm.search.answer import moment

WIDTH, HEIGHT = 600, 120


class Chart(NamedTuple):
    """One measure over time."""

    title: str
    most: str
    """The largest value, in words."""
    last: str
    first_moment: str
    last_moment: str
    lines: tuple[str, ...]
    """Points of a line for each run, as SVG's ``polyline`` has them."""


def charts(steps: Sequence[Step]) -> list[Chart]:
    """Pages and bytes a second, URLs that wait, errors a second. Empty where there is nothing to draw."""
    if len(steps) < 2:
        return []
    return [
        _chart("Pages a second", steps, lambda step: step.pages, "{:,.1f}".format),
        _chart("Received a second", steps, lambda step: step.received, size),
        _chart("URLs that wait", steps, lambda step: step.waiting, "{:,.0f}".format),
        _chart("Errors a second", steps, lambda step: step.errors, "{:,.2f}".format),
    ]


def _chart(title: str, steps: Sequence[Step], value: Callable[[Step], float], said: Callable[[float], str]) -> Chart:
    first, last = steps[0].wall, steps[-1].wall
    most = max(map(value, steps))
    seconds, scale = max(1.0, last - first), most or 1.0
    lines: dict[int, list[str]] = {}
    for step in steps:
        x = (step.wall - first) / seconds * WIDTH
        y = HEIGHT - value(step) / scale * (HEIGHT - 4)
        lines.setdefault(step.run, []).append(f"{x:.1f},{y:.1f}")
    return Chart(title, said(most), said(value(steps[-1])), _time(first), _time(last), tuple(map(" ".join, lines.values())))


def _time(wall: float) -> str:
    return (moment(int(wall)) or "").replace("T", " ").removesuffix("Z")
