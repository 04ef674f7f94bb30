"""``larm warc``: archives of crawls, and of others: export, index, verify."""

from importlib.util import find_spec
from pathlib import Path

import click

from larm.cli.options import LarmGroup, with_config
from larm.cli.terminal import complain, say
from larm.config import Config
from larm.errors import UsageError
from larm.kit.counted import counted

_PATH = click.Path(path_type=Path)
_FILE = click.Path(path_type=Path, dir_okay=False, exists=True)


@click.group("warc", cls=LarmGroup)
def warc() -> None:
    """Archives: make one of a crawl, index and check any.

    `larm crawl --warc` writes one while it crawls; `larm crawl FILE.warc.gz` crawls one.
    """
    if find_spec("fastwarc") is None:
        raise UsageError("larm warc needs FastWARC: pip install 'larm[warc]'")


@warc.command()
@click.option("--output", type=_PATH, required=True, metavar="PATH", help="An empty folder, or a file NAME.wacz.")
@with_config
def export(*, output: Path, config: Config, directory: Path) -> None:
    """Make WARC files of the page files of a crawl that kept none, or a WACZ file, for readers in a browser, of any crawl.

    Pages become resource records: what went over the wire was not kept, and of dates only that of the page file.
    """
    from larm.ops.archiving import export_archive
    from larm.store.reader import LeftOut

    left_out = LeftOut()
    pages = export_archive(config, directory, output, complain, left_out)
    say(f"{output}: {counted(pages, 'page')}")
    left_out.refuse()


@warc.command()
@click.argument("files", nargs=-1, required=True, type=_FILE, metavar="FILE...")
@click.option("--output", type=_PATH, metavar="FILE", help="Default: stdout.")
def index(*, files: tuple[Path, ...], output: Path | None) -> None:
    """Write the CDXJ index of WARC or ARC files: a sorted line for each capture."""
    from larm.crawldir.marker import refuse_own
    from larm.kit.disk.atomic import output_file
    from larm.store.archive.indexing import index_lines, say_damage

    if output is not None:
        refuse_own(output)
    lines = sorted(line for path in files for line in index_lines(path, say_damage(path, complain)))
    if output is None:
        click.echo("".join(lines), nl=False)
    else:
        with output_file(output) as file:
            file.write("".join(lines).encode())


@warc.command()
@click.argument("files", nargs=-1, required=True, type=_FILE, metavar="FILE...")
def verify(*, files: tuple[Path, ...]) -> int:
    """Read all records of WARC or ARC files, and check their lengths and digests. Exit status 1 if anything is damaged."""
    from larm.store.archive.indexing import check, say_damage

    damaged = 0
    for path in files:
        found = check(path, say_damage(path, complain))
        kinds = ", ".join(f"{n:,} {kind}" for kind, n in sorted(found.records.items()))
        total = sum(found.records.values())
        click.echo(f"{path}: {total:,} records ({kinds}), {found.digests:,} digests right, {found.damaged:,} damaged")
        damaged += found.damaged
    return 1 if damaged else 0
