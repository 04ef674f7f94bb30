"""``larm why`` and ``larm cat``: what larm thinks of one URL, and what it has stored of it."""

import sys
from pathlib import Path

import click

from larm.cli.options import LarmCommand, access_form, config_options, directory_option, effective, existing
from larm.cli.terminal import complain, shown, topic_rows
from larm.kit.commands import command


@click.command(cls=LarmCommand)
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@click.option("--scope", is_flag=True, help="Only say which of the URLs belong to the crawl; there need not be one yet.")
@click.option("--cluster", is_flag=True, help="Ask the agent that has the host, where several do the crawl.")
@config_options
@directory_option
def why(
    *, urls: tuple[str, ...], scope: bool, cluster: bool, file: Path | None, overrides: tuple[str, ...], directory: Path
) -> None:
    """What became of URL, and why.

    A sentence; then dates, who links to it, every filter's word, robots.txt, its host.
    """
    from larm.kit.printable import printable
    from larm.ops.afterwards import explain_url, judge_urls

    config = effective(directory, file, overrides)
    if scope:
        for url, reason in judge_urls(config, directory, urls):
            click.echo(printable(f"{reason or 'passes'}: {url}"))
        return
    for number, url in enumerate(urls):
        if number:
            click.echo()
        if cluster:
            from larm.ops.why_cluster import explain_in_cluster  # for who has a cluster

            verdict, rows = explain_in_cluster(config, existing(directory), access_form(url))
        else:
            found = explain_url(config, existing(directory), access_form(url))
            verdict, rows = found.verdict, list(found.rows)
        click.echo("\n".join([f"{shown(verdict)}\n", *topic_rows(rows)]))


@click.command(cls=LarmCommand)
@click.argument("url")
@click.option("--removed", is_flag=True, help="Also of a page that was removed since it was stored.")
@directory_option
def cat(*, url: str, removed: bool, directory: Path) -> int:
    """The stored bytes of a page, on stdout.

    As they were received, but on a terminal without what could steer it.
    """
    from larm.crawldir.state import PAGES, QUEUES
    from larm.kit.printable import harmless
    from larm.model.url import fingerprint_of
    from larm.store.pages.page_rows import page_row
    from larm.store.reader import LeftOut, StoreLog

    access = access_form(url)
    left_out = LeftOut()
    log = StoreLog(existing(directory), left_out=left_out)
    entry = log.find(access)
    if entry is None:
        left_out.refuse()
        complain(f"{access}: not stored in {directory}; {command('why', access)} says why")
        return 1
    if entry.size and not entry.file:
        complain(f"{access}: it was fetched, but asks that no copy of it is kept (noarchive)")
        return 1
    row = left_out.read(access, lambda: page_row(directory / QUEUES / PAGES, fingerprint_of(entry.normalised)))
    if row is not None and row.forgotten:
        why = row.last.why or f"HTTP status {row.last.status or row.forgotten}"
        see = "this is the copy of before" if removed else f"{command('cat', '--removed', access)} shows the copy of before"
        complain(f"{access}: the page was removed ({why}); {see}")
        if not removed:
            return 1
    body = log.body(entry)
    if sys.stdout.isatty():
        click.echo(harmless(body.decode("utf-8", "replace")), nl=False)
    else:
        sys.stdout.buffer.write(body)
        sys.stdout.buffer.flush()
    left_out.refuse()
    return 0
