"""``larm crawl``: from options to settings, and where to begin; `larm.cli.running` does the rest. Main thread only."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from larm.building.start_urls import may_be_start, read_starts, with_starts
from larm.cli.elsewhere import CRAWL
from larm.cli.options import LarmCommand, config_options, directory_option, effective
from larm.cli.running import run
from larm.cli.terminal import Call, complain, is_terminal, say, with_call
from larm.errors import ConfigError, StorageError, UsageError, refusing
from larm.model.url import BadUrl

if TYPE_CHECKING:
    from larm.config import Config

_KEYS = {
    "start": "crawl.start",
    "restrictto": "crawl.restrict_to",
    "include": "crawl.include",
    "exclude": "crawl.exclude",
    "threads": "fetch.threads",
    "hostresolver": "urls.host_resolver",
    "delay": "frontier.delay",
    "per_host": "frontier.per_host",
    "max_pages": "crawl.max_pages",
    "max_depth": "crawl.max_depth",
    "max_time": "crawl.max_time",
    "max_bytes": "limits.bytes",
    "timeout": "fetch.timeout",
    "allow_private": "crawl.private_networks",
    "cluster": "cluster.name",
    "listen": "cluster.listen",
    "etcd": "cluster.etcd",
    "agents": "cluster.agents",
}
"""Parameter of `crawl` -> key of config.yaml."""
_NO_START = (
    "no start URL. Usage: larm crawl URL|PATH|@FILE ... [-restrictto REGEX] [--dir DIR]; 'larm crawl -?' shows all options"
)


_SECTIONS = {
    "Where": ("start", "below", "domain", "include", "exclude", "restrictto", "unrestricted", "allow_private"),
    "How much": ("max_pages", "max_depth", "max_time", "max_bytes"),
    "How fast": ("delay", "per_host", "timeout", "threads"),
    "What becomes of it": ("directory", "add", "fresh", "parked", "no_index", "warc"),
    "Together with other agents": ("cluster", "etcd", "listen", "agents"),
}
"""Of ``larm crawl --help``."""


@click.command(cls=LarmCommand, sections=_SECTIONS, elsewhere=CRAWL)
@click.argument("words", nargs=-1, metavar="[URL|PATH|@FILE]...")
@click.option(
    "-start",
    "--start",
    multiple=True,
    metavar="URL|PATH|@FILE",
    help="Where to begin: a URL, a folder such as ./docs, or @FILE with one a line. May be repeated.",
)
@click.option(
    "-restrictto", "--restrictto", metavar="REGEX", help="Must match a whole URL. Default: the hosts of the start URLs."
)
@click.option("--below", is_flag=True, help="Stay in the folder of each start URL.")
@click.option("--domain", is_flag=True, help="All hosts of the registered domain of each start URL.")
@click.option("--include", multiple=True, metavar="GLOB", help="Only URLs such as '/docs/*'. May be repeated.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="No URLs such as '*.pdf' or '/print/*'. May be repeated.")
@click.option("--unrestricted", is_flag=True, help="Follow links anywhere: -restrictto '.*'.")
@click.option("-threads", "--threads", type=int, metavar="N", help="Fetcher threads (each drives many transfers).")
@click.option(
    "-hostresolver", "--hostresolver", type=click.Path(), metavar="FILE", help="Rules that make one host of several names."
)
@config_options
@directory_option
@click.option("--delay", metavar="S", help="Seconds between two requests to a host.")
@click.option("--per-host", type=int, metavar="N", help="Requests at a time to a host.")
@click.option("--max-pages", type=int, metavar="N", help="Stop after N pages.")
@click.option("--max-depth", type=int, metavar="N", help="Follow at most N links from a start URL.")
@click.option("--max-time", metavar="S", help="Stop after S seconds (also 10min, 2h).")
@click.option("--max-bytes", metavar="N", help="Stop after N bytes were received (also 500MB, 2GB).")
@click.option("--timeout", metavar="S", help="Seconds that one request may take.")
@click.option("--parked", is_flag=True, help="Also fetch what earlier runs left, as it looked like a trap.")
@click.option("--add", is_flag=True, help="Add start URLs of another site to the crawl that is there, without asking.")
@click.option("--fresh", is_flag=True, help="Start over: forget what this directory has.")
@click.option("--no-index", is_flag=True, help="Logs and page files only: nothing to search, no link graph.")
@click.option("--warc", is_flag=True, help="Also keep all that goes over the wire, in WARC files.")
@click.option("--allow-private", is_flag=True, default=None, help="Also fetch from private, loopback and link-local addresses.")
@click.option("--cluster", metavar="NAME", help="Do this crawl together with other agents; needs larm[cluster].")
@click.option("--listen", metavar="ADDRESS", help="Where other agents reach this one: 127.0.0.1:7441.")
@click.option("--etcd", multiple=True, metavar="URL", help="Where etcd answers; run: it runs here. May be repeated.")
@click.option("--agents", type=int, metavar="N", help="Begin when so many agents are there.")
@click.option("-gui", "--gui", is_flag=True, hidden=True)
@click.option("-q", "--quiet", is_flag=True, help="Nothing but errors.")
@with_call
def crawl(
    call: Call,
    /,
    *,
    words: tuple[str, ...],
    file: Path | None,
    overrides: tuple[str, ...],
    directory: Path,
    unrestricted: bool,
    below: bool,
    domain: bool,
    add: bool,
    fresh: bool,
    parked: bool,
    no_index: bool,
    warc: bool,
    gui: bool,
    quiet: bool,
    **given: Any,
) -> int:
    """Crawl from the start URLs and make the pages searchable.

    The same command again continues an unfinished crawl, or revisits a finished one; so does one without start URLs.
    Ctrl-C stops it in good order.
    """
    given["start"] += _starts(words)
    if quiet and call.verbose:
        raise UsageError("-q and -v exclude each other")
    if gui and not quiet:
        say("-gui: there is no GUI; the progress is shown here, and 'larm stats' has the numbers")
    scope = [name for name, wanted in (("below", below), ("domain", domain)) if wanted]
    command_line = _command_line(given, unrestricted=unrestricted, scope=scope)
    config = effective(directory, file, overrides, command_line)
    if no_index or warc:
        chain = _chain(config.storage.chain, no_index=no_index, warc=warc)
        config = msgspec.structs.replace(config, storage=msgspec.structs.replace(config.storage, chain=chain))
    config, notes = _with_starts(config, directory, from_command_line=bool(given["start"]))
    if given["start"] and not (add or fresh) and (note := _ask_about_another_site(config, directory)):
        notes, fresh = [*notes, note], True
    return run(config, directory, notes, fresh=fresh, parked=parked, quiet=quiet, verbose=call.verbose)


def _chain(chain: Sequence[str], *, no_index: bool, warc: bool) -> tuple[str, ...]:
    wanted = [name for name in chain if not (no_index and name in ("index", "graph"))]
    return (*wanted, *(["warc"] if warc and "warc" not in wanted else []))


def _starts(words: Sequence[str]) -> tuple[str, ...]:
    """What stands behind no option. An address or a folder can be nothing else; any other word is a mistake."""
    for word in words:
        with refusing(word, BadUrl):
            known = may_be_start(word)
        if not known:
            raise UsageError(f"{word}: neither an address nor a file or a folder ('larm crawl -?' lists the options)")
    return tuple(words)


def _command_line(given: Mapping[str, Any], *, unrestricted: bool, scope: Sequence[str]) -> dict[str, object]:
    """The options that were given, by their keys."""
    scopes = ["--unrestricted"] * unrestricted + ["-restrictto"] * (given["restrictto"] is not None)
    scopes += [f"--{name}" for name in scope]
    if len(scopes) > 1:
        raise UsageError(f"{' and '.join(scopes)} exclude each other")
    values: dict[str, object] = {_KEYS[name]: value for name, value in given.items() if value not in (None, ())}
    if given["allow_private"]:
        values["crawl.private_networks"] = ["all"]
    if scope:
        values |= {"crawl.scope": scope[0], "crawl.restrict_to": ""}
    if unrestricted:
        values |= {"crawl.restrict_to": ".*", "crawl.scope": ""}
    elif given["restrictto"] is not None:
        values["crawl.scope"] = ""  # whatever config.yaml has
        from larm.filters.scope import ScopeFilter

        try:
            ScopeFilter(given["restrictto"])
        except ConfigError as error:
            raise UsageError(f"-restrictto {given['restrictto']}: {str(error).partition(': ')[2]}") from error
    if given["hostresolver"]:
        values["urls.host_resolver"] = str(Path(given["hostresolver"]).absolute())
    return values


def _with_starts(config: Config, directory: Path, *, from_command_line: bool) -> tuple[Config, list[str]]:
    """With @FILEs read; malformed lines are shown, the numbers of accepted ones returned. Raises UsageError."""
    from larm.model.url import URLNormalizer

    base, source = (Path(), "-start") if from_command_line else (directory, "crawl.start:")
    seeds = () if from_command_line else config.crawl.seeds
    starts = read_starts(config.crawl.start, URLNormalizer(files=True).parse, base, source, seeds)
    for mistake in starts.mistakes:
        complain(mistake)
    if not starts.urls:
        earlier = _earlier(config, directory) if not config.crawl.start else None
        if earlier is None:
            raise UsageError("; ".join((*starts.notes, _NO_START)))
        return earlier, starts.notes
    return msgspec.structs.replace(config, crawl=with_starts(config.crawl, starts)), starts.notes


def _earlier(config: Config, directory: Path) -> Config | None:
    """The settings with the start URLs and the scope of the crawl that is in the directory; None: there is none."""
    from larm.building.scoping import as_before
    from larm.crawldir.state import last_header

    header = last_header(directory)
    if header is None:
        return None
    crawl = msgspec.structs.replace(config.crawl, start=tuple(header.start_urls))
    return as_before(msgspec.structs.replace(config, crawl=crawl), header)


def _ask_about_another_site(config: Config, directory: Path) -> str:
    """A start URL of a site that the crawl of the directory has not may be a slip: wrong DIR. Raises UsageError.

    Where no request of that crawl was ever answered, its own start URL was the slip: returns that it begins anew; else nothing.
    """
    from larm.crawldir.form import read_marker

    if read_marker(directory) is None:  # nearly always; the crawl that was there is loaded for the others alone
        return ""
    from larm.building.readers import normalizer_of
    from larm.crawldir.state import last_header

    try:
        header = last_header(directory)
    except StorageError:  # of a first run that was killed, or worse: who opens it to write knows
        return ""
    if header is None or header.restrict_to:
        return ""
    parse = normalizer_of(config, directory, [*config.crawl.start, *header.start_urls]).parse
    known = {parse(url).site for url in header.start_urls}
    new = sorted({url.site for url in map(parse, config.crawl.start)} - known - {""})
    if not new or not known:
        return ""
    if not (header.answered or config.cluster.name):
        return f"nothing was ever fetched of {', '.join(header.start_urls[:3])}: the crawl in {directory} begins anew"
    what = f"{directory} has a crawl of {', '.join(sorted(known)[:3])}; {', '.join(new[:3])} is not part of it"
    if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        raise UsageError(f"{what}: --add adds it, --dir names another directory")
    say(what)
    if not click.confirm("larm: add it to this crawl?", err=True):
        raise UsageError("nothing was started; --dir names another directory")
    return ""
