"""A `larm.ops.report.Report` as one page of HTML: no script, nothing from elsewhere, hostile texts escaped. Pure."""

from larm.engine.figures.rates import size
from larm.ops.report import Report
from larm.web.chart import chart
from larm.web.page import text_of

_MEASURES = (
    ("Requests", "requests", "{:,.0f}".format),
    ("Received", "received", size),
    ("URLs that wait", "waiting", "{:,.0f}".format),
    ("Memory", "memory", size),
)


def page(report: Report) -> str:
    """The whole of it."""
    drawn = len(report.moments) > 1
    return text_of(
        "report.html",
        report=report,
        charts=[chart(title, report.moments, name, said) for title, name, said in _MEASURES] if drawn else [],
        sites=[
            (row.host, f"{row.pages:,}", f"{row.errors:,}", f"{row.redirects:,}", size(row.received)) for row in report.sites
        ],
        slowest=[(url, f"{took:,}") for took, url in report.slowest],
        changes=[(change.url, change.what) for change in report.changes],
        largest=[(url, size(count)) for count, url in report.largest],
    )
