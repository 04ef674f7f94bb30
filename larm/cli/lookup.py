"""``larm why`` and ``larm cat``: what larm thinks of one URL, and what it has stored of it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from larm.building.start_urls import address
from larm.cli.options import LarmCommand, config_options, directory_option, effective, existing, verbose_option
from larm.cli.terminal import complain
from larm.errors import UsageError
from larm.model.credentials import without_credentials
from larm.model.url import BadUrl, URLNormalizer

if TYPE_CHECKING:
    from larm.enquiries.afterwards import Explained


@click.command(cls=LarmCommand)
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@click.option("--scope", is_flag=True, help="Only say which of the URLs belong to the crawl; there need not be one yet.")
@config_options
@directory_option
@verbose_option
def why(
    *,
    urls: tuple[str, ...],
    scope: bool,
    file: Path | None,
    overrides: tuple[str, ...],
    directory: Path,
    verbose: bool,  # noqa: ARG001
) -> None:
    """What became of URL, and why.

    A sentence; then dates, who links to it, every filter's word, robots.txt, its host.
    """
    from larm.enquiries.afterwards import explain_url, judge_urls
    from larm.monitor.printable import printable

    config = effective(directory, file, overrides)
    if scope:
        for url, reason in judge_urls(config, directory, urls):
            click.echo(printable(f"{reason or 'passes'}: {url}"))
        return
    for number, url in enumerate(urls):
        if number:
            click.echo()
        _explain(explain_url(config, existing(directory), _check(url)))


def _explain(explained: Explained) -> None:
    from larm.monitor.printable import printable

    answer, rows = explained
    click.echo(f"{printable(answer)}\n")
    width = max((len(topic) for topic, _ in rows), default=0)
    for topic, sentence in rows:
        click.echo(f"{printable(topic):<{width}}  {printable(sentence)}")


@click.command(cls=LarmCommand)
@click.argument("url")
@directory_option
@verbose_option
def cat(*, url: str, directory: Path, verbose: bool) -> int:  # noqa: ARG001
    """The stored bytes of a page, on stdout.

    As they were received, but on a terminal without what could steer it.
    """
    from larm.monitor.printable import harmless
    from larm.storage.reader import StoreLog

    access = _check(url)
    log = StoreLog(existing(directory))
    entry = log.find(access)
    if entry is None:
        complain(f"{access}: not stored in {directory}; 'larm why {access}' says why")
        return 1
    if entry.size and not entry.file:
        complain(f"{access}: it was fetched, but asks that no copy of it is kept (noarchive)")
        return 1
    body = log.body(entry)
    if sys.stdout.isatty():
        click.echo(harmless(body.decode("utf-8", "replace")), nl=False)
    else:
        sys.stdout.buffer.write(body)
    return 0


def _check(url: str) -> str:
    """The access form. Raises UsageError."""
    try:
        return URLNormalizer(files=True).parse(address(url)).access
    except BadUrl as error:
        raise UsageError(f"{without_credentials(url)}: {error}") from error
