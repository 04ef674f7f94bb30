"""``larm forget``, ``backup``, ``reindex``, ``repair`` and ``starts``: care of the crawl in a directory."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from larm.cli.options import LarmCommand, access_form, directory_option, existing, with_config
from larm.cli.terminal import is_terminal, say
from larm.config import Config
from larm.errors import UsageError
from larm.kit.counted import counted

if TYPE_CHECKING:
    from larm.ops.forgetting import Forgot


@click.command(cls=LarmCommand)
@click.argument("what", nargs=-1)
@click.option("--undo", multiple=True, metavar="WHAT", help="Let this be fetched again. May be repeated.")
@click.option("--yes", is_flag=True, help="Do it without asking.")
@with_config
def forget(*, what: tuple[str, ...], undo: tuple[str, ...], yes: bool, config: Config, directory: Path) -> None:
    """Take pages out for good.

    They leave index, link graph, page files and archive, and are not fetched again. WHAT is the address of a page, the name
    of a host, or a pattern such as 'example.org/private/*'. Without WHAT: list what is forgotten. The crawl must not run.
    """
    from larm.engine.figures.rates import minute
    from larm.ops.forgetting import forgotten_items, let_back, meant, pages_of, take_out

    known = forgotten_items(directory)
    if undo:
        if what:
            raise UsageError("forget something, or let it back with --undo: not both at once")
        let_back(config, directory, undo)
        said = f"no longer forgotten: {', '.join(undo)}"
        say(f"{said}; the next revisit reads all pages whole, and fetches it where one leads there")
        return
    if not what and not known.pending:
        for item in known.items:
            click.echo(f"{item.said}  since {minute(item.when)}")
        return
    items = meant(config, directory, what)
    if what and not yes:
        _ask(pages_of(directory, items).pages, directory)
    if known.pending:
        say("completes what was begun before")
    for sentence in _sentences(take_out(config, directory, items), what):
        say(sentence)


def _ask(pages: int, directory: Path) -> None:
    """Raises UsageError where the answer is no, or nobody can be asked."""
    question = f"{counted(pages, 'page')} of {directory} would be removed for good"
    if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        raise UsageError(f"{question}: --yes does it")
    if not click.confirm(f"larm: {question}: go on?", err=True):
        raise UsageError("nothing was removed")


def _sentences(found: Forgot, what: tuple[str, ...]) -> Iterator[str]:
    from larm.ops.forgetting import undoing

    said = f"forgotten: {counted(found.pages, 'page')}"
    said += f", {counted(found.size, 'byte')} of page files overwritten" if found.size else ""
    said += f", {counted(found.records, 'record')} taken out of the archive" if found.records else ""
    yield f"{said}; not fetched again, unless you say: {undoing(what)}" if what else said
    for path in found.left:
        yield f"{path} has words of deleted documents still, until its files are merged: 'larm reindex' makes it anew at once"
    if found.waits:
        yield "the crawl was not finished: what waits in its queue of this is an address, and leaves it as the crawl goes on"
    if found.without:
        yield (
            f"{found.without:,} captures that are kept said the same as one of these, of which alone the archive had the"
            " payload: they can't be replayed any more"
        )


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


@click.command(cls=LarmCommand)
@with_config
def reindex(*, config: Config, directory: Path) -> None:
    """Make the index anew from the stored pages.

    Where an update of larm asks for it. Nothing is fetched.
    """
    from larm.ops.reindex import reindex_pages

    found = reindex_pages(config, directory)
    notes = ""
    if found.left_out:
        notes += f"; {found.left_out:,} stay out, as in the old one"
    if found.bodiless:
        notes += f"; {found.bodiless:,} by address, title and main text alone, for no copy of them is kept"
    say(f"{counted(found.pages, 'page')} {'is' if found.pages == 1 else 'are'} in the new index{notes}")
    found.damaged.refuse()


@click.command(cls=LarmCommand)
@with_config
def repair(*, config: Config, directory: Path) -> None:
    """Repair a damaged directory.

    Drops unreadable records and rebuilds index and link graph from the stored pages. The next run fetches the lost pages;
    nothing is fetched before. The crawl must not run.
    """
    from larm.ops.repair import LOG
    from larm.ops.repair import repair as mend

    done = mend(config, directory)
    for each in done.found:
        say(f"damaged: {each.path}: {each.why}")
    for note in done.notes:
        say(note)
    if done.lost:
        one = len(done.lost) == 1
        pages = f"{counted(len(done.lost), 'page')} {'is' if one else 'are'} lost ({directory}/logs/{LOG}.log)"
        say(f"{pages}: the next 'larm crawl' fetches {'it' if one else 'them'}, and the one after that revisits the others")
    say("repaired" if done.found or done.unfinished else "nothing is damaged, and nothing was changed")


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
