"""Charts of how a crawl went: from moments to the points of lines, for the templates that draw them as SVG. Pure."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from larm.engine.figures.rates import size
from larm.index.search.answer import moment
from larm.ops.history import Moment, Step

WIDTH, HEIGHT = 600, 120


class Chart(NamedTuple):
    """One measure over time; the time between runs is left out."""

    title: str
    most: str
    """The largest value, in words."""
    last: str
    first_moment: str
    last_moment: str
    seconds: float
    """That the runs took."""
    lines: tuple[str, ...]
    """Points of a line for each run, as SVG's ``polyline`` has them."""


def charts(steps: Sequence[Step]) -> list[Chart]:
    """Pages and bytes a second, URLs that wait, errors a second. Empty where there is nothing to draw."""
    if len(steps) < 2:
        return []
    return [
        chart("Pages a second", steps, "pages", "{:,.1f}".format),
        chart("Received a second", steps, "received", size),
        chart("URLs that wait", steps, "waiting", "{:,.0f}".format),
        chart("Errors a second", steps, "errors", "{:,.2f}".format),
    ]


def chart(title: str, moments: Sequence[Moment | Step], name: str, said: Callable[[float], str]) -> Chart:
    """Of the field of this ``name``; ``said``: its value in words."""
    values: list[float] = [getattr(each, name) for each in moments]
    times = [0.0]
    for one, other in pairwise(moments):
        times.append(times[-1] + (other.wall - one.wall) * (one.run == other.run))
    width, most = WIDTH / (times[-1] or 1), max(values)
    lines: dict[int, list[str]] = {}
    for each, time, value in zip(moments, times, values, strict=True):
        lines.setdefault(each.run, []).append(f"{time * width:.1f},{HEIGHT - value / (most or 1) * (HEIGHT - 4):.1f}")
    first, last = clock(moments[0].wall), clock(moments[-1].wall)
    return Chart(title, said(most), said(values[-1]), first, last, times[-1], tuple(map(" ".join, lines.values())))


def clock(wall: float) -> str:
    """``2026-11-23 02:45:00``, in UTC; ``wall``: seconds since 1970."""
    return (moment(int(wall)) or "").replace("T", " ").removesuffix("Z")
