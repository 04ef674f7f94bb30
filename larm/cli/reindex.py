"""``larm reindex``: the index anew, from the pages that are stored."""

from pathlib import Path

import click

from larm.cli.options import LarmCommand, with_config
from larm.cli.terminal import say
from larm.config import Config
from larm.kit.counted import counted


@click.command(cls=LarmCommand)
@with_config
def reindex(*, config: Config, directory: Path) -> None:
    """Make the index anew from the stored pages.

    Where an update of larm asks for it. Nothing is fetched.
    """
    from larm.ops.afterwards import reindex_pages

    found = reindex_pages(config, directory)
    notes = ""
    if found.left_out:
        notes += f"; {found.left_out:,} stay out, as in the old one"
    if found.bodiless:
        notes += f"; {found.bodiless:,} by address, title and main text alone, for no copy of them is kept"
    say(f"{counted(found.pages, 'page')} {'is' if found.pages == 1 else 'are'} in the new index{notes}")
