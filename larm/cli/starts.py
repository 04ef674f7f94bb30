"""``larm starts``: the start URLs of a crawl, and taking one back."""

from pathlib import Path

import click

from larm.cli.options import LarmCommand, access_form, directory_option, existing
from larm.cli.terminal import say
from larm.kit.counted import counted


@click.command(cls=LarmCommand)
@click.option("--remove", multiple=True, metavar="URL", help="Take this start URL back. May be repeated.")
@directory_option
def starts(*, remove: tuple[str, ...], directory: Path) -> None:
    """Show the start URLs, or take one back.

    Each with what belongs to it. Pages that were fetched stay. What waits at a host that no other start URL reaches is
    blocked: larm ctl unblock HOST.
    """
    from larm.kit.printable import printable
    from larm.ops.start_list import start_urls, take_back

    if not remove:
        for url, region in start_urls(existing(directory)):
            click.echo(f"{printable(url)}  {printable(region)}".rstrip())
        return
    removed = take_back(existing(directory), [access_form(url) for url in remove])
    blocked = f"; not asked any more: {', '.join(removed.blocked)}" if removed.blocked else ""
    say(f"{counted(len(removed.left), 'start URL')} left{blocked}")
