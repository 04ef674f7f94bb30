"""``larm tune``: an administrator has all peers of a group do something else, by a message that he signs."""

from pathlib import Path
from typing import Any

import click

from larm.cli.options import LarmCommand
from larm.errors import UsageError, needing

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command(cls=LarmCommand)
@click.argument("arguments", nargs=-1, required=True, metavar="REGISTRAR... [NAME=VALUE]...")
@click.option("--key", "file", type=_FILE, metavar="FILE", help="The administrator's key; default: this machine's own.")
@click.option("--secret", type=_FILE, metavar="FILE", help="The secret of a private group.")
def tune(*, arguments: tuple[str, ...], file: Path | None, secret: Path | None) -> None:
    """Change what all peers of the REGISTRARs do.

    That are length, filters, period, time_out, cache. Without changes: show it.
    """
    with needing("peers"):
        from larm.peers.yousearch.administering import current, send

    urls = [each.rstrip("/") for each in arguments if "://" in each]
    changes: dict[str, Any] = dict(each.partition("=")[::2] for each in arguments if "://" not in each)
    if not urls:
        raise UsageError("larm tune needs the address of a registrar, such as http://192.0.2.1:7070")
    now = send(urls, file, changes, secret) if changes else current(urls, file, secret)
    click.echo(" ".join(f"{name}={value:g}" for name, value in now.items()))
