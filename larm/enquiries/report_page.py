"""A `larm.enquiries.report.Report` as one page of HTML: no script, nothing from elsewhere, hostile texts escaped. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from itertools import groupby, pairwise

from larm.enquiries.report import Report
from larm.kit.counted import counted
from larm.monitor.history import Moment
from larm.monitor.rates import minute, size

_WIDE, _HIGH = 600, 120  # of a curve, in its own units
_MOST_ROWS = 100
_STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 2rem; }
caption { text-align: left; font-weight: 600; font-size: 1.2rem; padding: .5rem 0; }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid #8884; }
td { vertical-align: top; overflow-wrap: anywhere; }
td.n, th.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
td.bar { width: 30%; } td.bar span { display: block; height: .8rem; margin-top: .35rem; background: #47a; }
figure { margin: 1rem 0; } svg { width: 100%; height: auto; background: #8881; }
polyline { fill: none; stroke: #47a; stroke-width: 1.5; }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src 'none'; base-uri 'none'; form-action 'none'"


def page(report: Report) -> str:
    """The whole of it."""
    title = f"Crawl {report.directory}"
    return (
        "<!DOCTYPE html>\n"
        f'<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f'<meta name="viewport" content="width=device-width"><title>{escape(title)}</title><style>{_STYLE}</style></head>\n'
        f"<body><h1>{escape(title)}</h1>\n<p>{escape(_summary(report))}</p>\n" + "".join(_parts(report)) + "</body></html>\n"
    )


def _summary(report: Report) -> str:
    when = f", fetched {minute(report.first)} to {minute(report.last)}" if report.first else ""
    same = f"; {report.aliases:,} of them say the same as another" if report.aliases else ""
    return f"{counted(report.pages, 'page')} of {counted(len(report.sites), 'host')}, {size(report.received)}{when}{same}."


def _parts(report: Report) -> Iterator[str]:
    if len(report.moments) > 1:
        yield _curve("Requests", report.moments, lambda each: each.requests, "{:,.0f}".format)
        yield _curve("Received", report.moments, lambda each: each.received, size)
        yield _curve("URLs that wait", report.moments, lambda each: each.waiting, "{:,.0f}".format)
        yield _curve("Memory", report.moments, lambda each: each.memory, size)
    rows = [
        (each.host, f"{each.pages:,}", f"{each.errors:,}", f"{each.redirects:,}", size(each.received)) for each in report.sites
    ]
    yield _table("Sites", ("host", "pages", "errors", "redirects", "bytes"), rows)
    yield _bars("Answers", "status", report.statuses.most_common())
    yield _bars("Errors by cause", "cause", report.causes.most_common())
    yield _bars("Types", "MIME type", report.types.most_common())
    yield _bars("Sizes", "bytes of a page", list(report.sizes.items()))
    yield _bars("Depth", "links from a start URL", [(str(depth), count) for depth, count in report.depths.items()])
    yield _bars("Languages", "language", report.languages)
    yield _table("Slowest", ("URL", "ms"), [(url, f"{took:,}") for took, url in report.slowest])
    yield _table("Largest", ("URL", "bytes"), [(url, size(count)) for count, url in report.largest])


def _table(title: str, names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    head = "".join([f'<th scope="col"{_number(n)}>{escape(name)}</th>' for n, name in enumerate(names)])
    body = "".join(
        [
            "<tr>" + "".join([f"<td{_number(n)}>{escape(cell)}</td>" for n, cell in enumerate(row)]) + "</tr>\n"
            for row in rows[:_MOST_ROWS]
        ]
    )
    more = f"<p>{len(rows) - _MOST_ROWS:,} more.</p>\n" if len(rows) > _MOST_ROWS else ""
    return f"<table><caption>{escape(title)}</caption>\n<tr>{head}</tr>\n{body}</table>\n{more}"


def _number(column: int) -> str:
    return ' class="n"' if column else ""


def _bars(title: str, name: str, counts: Iterable[tuple[str, int]]) -> str:
    rows = [(label, count) for label, count in counts if count][:_MOST_ROWS]
    if not rows:
        return ""
    most = max(count for _, count in rows)
    body = "".join(
        [
            f'<tr><td>{escape(label)}</td><td class="n">{count:,}</td>'
            f'<td class="bar"><span style="width:{100 * count / most:.1f}%"></span></td></tr>\n'
            for label, count in rows
        ]
    )
    head = f'<th scope="col">{escape(name)}</th><th scope="col" class="n">pages</th><th></th>'
    return f"<table><caption>{escape(title)}</caption>\n<tr>{head}</tr>\n{body}</table>\n"


def _curve(title: str, moments: Sequence[Moment], value: Callable[[Moment], int], said: Callable[[float], str]) -> str:
    """Over time: a line for each run; the time between runs is left out."""
    values = [value(each) for each in moments]
    most = max(values) or 1
    times: list[float] = []
    passed = 0.0
    for one, other in pairwise(moments):
        times.append(passed)
        passed += other.wall - one.wall if one.run == other.run else 0.0
    times.append(passed)
    lines = []
    for _, group in groupby(range(len(moments)), lambda n: moments[n].run):
        points = " ".join(
            [f"{times[n] / (passed or 1) * _WIDE:.1f},{_HIGH - values[n] / most * (_HIGH - 4):.1f}" for n in group]
        )
        lines.append(f'<polyline points="{points}"/>')
    label = f"{title}: at most {said(most)}, over {passed:,.0f} s"
    picture = f'<svg viewBox="0 0 {_WIDE} {_HIGH}" role="img" aria-label="{escape(label)}">{"".join(lines)}</svg>'
    return f"<figure>{picture}<figcaption>{escape(label)}</figcaption></figure>\n"
