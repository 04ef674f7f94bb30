"""``larm reindex``: the index anew, from the pages that are stored."""

from __future__ import annotations

from pathlib import Path

import click

from larm.cli.options import LarmCommand, config_options, directory_option, effective, existing, verbose_option
from larm.cli.terminal import say


@click.command(cls=LarmCommand)
@config_options
@directory_option
@verbose_option
def reindex(*, file: Path | None, overrides: tuple[str, ...], directory: Path, verbose: bool) -> None:  # noqa: ARG001
    """Make the index anew from the stored pages.

    Where an update of larm asks for it. Nothing is fetched.
    """
    from larm.enquiries.afterwards import reindex_pages

    found = reindex_pages(effective(directory, file, overrides), existing(directory))
    notes = ""
    if found.left_out:
        notes += f"; {found.left_out:,} stay out, as in the old one"
    if found.bodiless:
        notes += f"; {found.bodiless:,} by address, title and main text alone, for no copy of them is kept"
    say(f"{found.pages:,} pages are in the new index{notes}")
