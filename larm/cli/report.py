"""``larm report``: a crawl as one page of HTML."""

from pathlib import Path

import click

from larm.cli.options import LarmCommand, directory_option, existing


@click.command(cls=LarmCommand)
@click.argument("where", required=False, metavar="[DIR]", type=click.Path(path_type=Path, file_okay=False))
@click.option("--changes", is_flag=True, help="In its place lines of text: what the last run found new, changed or gone.")
@directory_option
def report(*, where: Path | None, changes: bool, directory: Path) -> None:
    """One page of HTML about the crawl, on stdout.

    Such as: larm report DIR > report.html. Curves over time; what the last run changed; sites, answers, errors by cause,
    types, sizes, depth, languages, what was slowest and largest.
    """
    from larm.kit.printable import harmless

    found = existing(where or directory)
    if changes:
        from larm.ops.changes import changes_of

        for change in changes_of(found):
            click.echo(harmless(f"{change.what}\t{change.url}"))
        return
    from larm.ops.report import report_of
    from larm.web.report_page import page

    click.echo(harmless(page(report_of(found))))
