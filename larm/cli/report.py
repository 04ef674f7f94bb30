"""``larm report``: a crawl as one page of HTML."""

from __future__ import annotations

from pathlib import Path

import click

from larm.cli.options import LarmCommand, directory_option, existing


@click.command(cls=LarmCommand)
@click.argument("where", required=False, metavar="[DIR]", type=click.Path(path_type=Path, file_okay=False))
@directory_option
def report(*, where: Path | None, directory: Path) -> None:
    """One page of HTML about the crawl, on stdout.

    Such as: larm report DIR > report.html. Curves over time; sites, answers, errors by cause, types, sizes, depth,
    languages, what was slowest and largest.
    """
    from larm.enquiries.report import report_of
    from larm.web.report_page import page

    click.echo(page(report_of(existing(where or directory))))
