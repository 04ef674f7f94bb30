"""``larm why`` and ``larm cat``: what larm thinks of one URL, and what it has stored of it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from larm.building.start_urls import address
from larm.cli.options import LarmCommand, config_options, directory_option, effective, existing, verbose_option
from larm.cli.terminal import complain
from larm.errors import UsageError
from larm.model.credentials import without_credentials
from larm.model.url import BadUrl, URLNormalizer


@click.command(cls=LarmCommand)
@click.argument("url")
@config_options
@directory_option
@verbose_option
def why(*, url: str, file: Path | None, overrides: tuple[str, ...], directory: Path, verbose: bool) -> None:  # noqa: ARG001
    """What became of URL, and why: a sentence; then dates, who links to it, every filter's word, robots.txt, its host."""
    from larm.enquiries.afterwards import explain_url
    from larm.monitor.printable import printable

    url = _check(url)
    config = effective(directory, file, overrides)
    answer, rows = explain_url(config, existing(directory), url)
    click.echo(f"{printable(answer)}\n")
    width = max((len(topic) for topic, _ in rows), default=0)
    for topic, sentence in rows:
        click.echo(f"{printable(topic):<{width}}  {printable(sentence)}")


@click.command(cls=LarmCommand)
@click.argument("url")
@directory_option
@verbose_option
def cat(*, url: str, directory: Path, verbose: bool) -> int:  # noqa: ARG001
    """The stored bytes of a page, on stdout: as they were received, but on a terminal without what could steer it."""
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
