"""``larm export``: the pages of a crawl, or those that a query finds, for other programs."""

from pathlib import Path

import click

from larm.cli.options import LarmCommand, with_config
from larm.cli.terminal import say, write
from larm.config import Config
from larm.crawldir.marker import refuse_own
from larm.errors import StorageError
from larm.kit.counted import counted
from larm.kit.disk.atomic import output_file

_FORMATS = ("jsonl", "csv", "markdown", "sitemap")


@click.command(cls=LarmCommand)
@click.argument("query", nargs=-1)
@click.option("--format", "form", type=click.Choice(_FORMATS), default="jsonl", help="Default: jsonl, an object a page.")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="A file, replaced at the end if it is there; of markdown a folder with a file a page, of sitemap a folder with an "
    "index. Default: stdout.",
)
@click.option("--raw", is_flag=True, help="No quotation mark before cells of csv that spreadsheets take for formulas.")
@with_config
def export(*, query: tuple[str, ...], form: str, output: Path | None, raw: bool, config: Config, directory: Path) -> None:
    """Write pages as JSON, CSV, Markdown or a sitemap.

    All, or those that QUERY finds: addresses, texts, links and all that is known of them. Pages come in the order in which
    they were fetched. Of pages that ask that no copy is kept there is no text.
    """
    from larm.ops.exporting import FORMS, SITEMAP_MOST, exported, write_all, write_markdown, write_sitemaps
    from larm.store.reader import LeftOut

    if output is not None:
        refuse_own(output)
    made = FORMS[form](config, raw)
    left_out = LeftOut()
    pages = exported(config, directory, " ".join(query), left_out)
    try:
        if output is None:
            written = write_all(pages, made, write)
        elif form == "markdown":
            written = write_markdown(pages, made, output)
        elif form == "sitemap":
            written = write_sitemaps(pages, output)
        else:
            with output_file(output) as out:
                written = write_all(pages, made, lambda text: out.write(text.encode()))
    except BrokenPipeError:
        raise
    except OSError as error:
        raise StorageError(f"{output or 'stdout'}: can't write: {error.strerror}") from error
    if form == "sitemap" and output is None and written > SITEMAP_MOST:
        say(f"{written:,} URLs are more than a sitemap may have ({SITEMAP_MOST:,}): --output FOLDER makes several and an index")
    say(f"{counted(written, 'page')} exported")
    left_out.refuse()
