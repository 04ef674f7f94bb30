"""``larm backup``: a copy of a crawl, also of one that runs."""

from pathlib import Path

import click

from larm.cli.options import LarmCommand, directory_option, existing
from larm.cli.terminal import say
from larm.kit.counted import counted


@click.command(cls=LarmCommand)
@click.argument("target", type=click.Path(path_type=Path, file_okay=False), metavar="DEST")
@directory_option
def backup(*, target: Path, directory: Path) -> None:
    """Copy a crawl, also while it runs.

    DEST is a folder that is empty or not there yet. The copy is a crawl's directory like any other: it can be searched, and
    larm crawl --dir DEST goes on with it.
    """
    from larm.ops.backup import back_up

    made = back_up(existing(directory), target, say)
    say(f"copied to {target}: {counted(made.files, 'file')}, {made.size / 1e6:,.1f} MB")
