"""``larm serve``: a search page, a monitor and an API for crawls' directories, on a port of this machine."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from larm.cli.options import (
    LarmCommand,
    cluster_option,
    config_options,
    effective,
    existing,
    remote_opener,
    remote_options,
    remote_searchers,
)
from larm.cli.terminal import say
from larm.config import CONFIG_FILE
from larm.errors import UsageError, needing, refusing
from larm.kit.disk.files import is_there
from larm.model.restriction import open_to

if TYPE_CHECKING:
    from larm.config import Config, PeersSettings
    from larm.peers.yacy.service import Service
    from larm.seams import Searcher
    from larm.web.access import Access

PORT = 7070
_NAMED = "larm serve DIR names the directory of a crawl, --root FOLDER serves all that are below it"
_FILES, _FEWEST = 200, 64
"""Open files beside the connections, as indexes and logs; with so few a search page serves one person."""
_FOLDER = click.Path(path_type=Path, file_okay=False)
_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command(cls=LarmCommand)
@click.argument("directories", nargs=-1, type=_FOLDER, metavar="[DIR]...")
@click.option("--root", type=_FOLDER, metavar="FOLDER", help="Serve all crawls directly below it, also those to come.")
@cluster_option
@remote_options
@click.option("--peer", "peer", metavar="NAME", help="Be a peer of others, called NAME: search with them, and answer them.")
@click.option("--registrar", is_flag=True, help="Act as registrar: list the peers and summaries of their words.")
@click.option("--registrar-at", "registrars", multiple=True, metavar="URL", help="Where a registrar is; KEY@URL to be sure.")
@click.option("--share", "shared", type=_FOLDER, multiple=True, metavar="FOLDER", help="Let peers search and open its files.")
@click.option("--network", metavar="NAME", help="Take part in this network of peers: share these crawls, search all peers'.")
@click.option("--network-dir", type=_FOLDER, metavar="FOLDER", help="Its files; default: network/NAME in the first crawl.")
@click.option("--host", default="127.0.0.1", metavar="ADDRESS", help="Where to listen; default 127.0.0.1: this machine alone.")
@click.option("--port", type=click.IntRange(0, 65_535), default=PORT, metavar="N", help=f"Default {PORT}; 0: any that is free.")
@click.option("--stop-crawls", is_flag=True, help="Stop the crawls that it has started when it ends.")
@click.option("--open", "opened", is_flag=True, help="Open the search page in a browser.")
@click.option(
    "--public-search", is_flag=True, help="Allow anonymous search, of what is for everybody; all else needs the token."
)
@click.option("--require-token", is_flag=True, help="Nobody sees anything without the token.")
@click.option("--token-file", type=_FILE, metavar="FILE", help="Default: ~/.config/larm/token; made where there is none.")
@click.option("--name", "names", multiple=True, metavar="HOST", help="A host name by which it may be asked for.")
@click.option("--access-log", type=_FILE, metavar="FILE", help="A line for each request; '-' is stderr.")
@config_options
def serve(
    *,
    directories: tuple[Path, ...],
    root: Path | None,
    cluster: bool,
    remotes: tuple[str, ...],
    remote_token: Path | None,
    peer: str | None,
    registrar: bool,
    registrars: tuple[str, ...],
    shared: tuple[Path, ...],
    network: str | None,
    network_dir: Path | None,
    host: str,
    port: int,
    stop_crawls: bool,
    opened: bool,
    public_search: bool,
    require_token: bool,
    token_file: Path | None,
    names: tuple[str, ...],
    access_log: Path | None,
    file: Path | None,
    overrides: tuple[str, ...],
) -> None:
    """A search page, a monitor and an API.

    For crawls' directories, in a browser. Default: the crawl in the current directory.
    """
    from larm.kit.garbage import collect_rarely
    from larm.kit.processes.open_files import enough_open_files
    from larm.web.app import application
    from larm.web.directories import Directories
    from larm.web.server import CONNECTIONS, is_loopback, listen, make_server

    collect_rarely()
    if network is not None:
        overrides = (*overrides, f"network.name={network}")
    _refuse_others(directories)
    notes = [*enough_open_files(CONNECTIONS + _FILES, _FEWEST, "a server"), *(_to_come(root) if root is not None else ())]
    settings = effective(directories[0] if directories else Path(), file, overrides)
    peers = _peers(settings.peers, peer, registrar, registrars, shared)
    if public_search and settings.network.name and settings.network.mode == "private-cluster":
        raise UsageError("--public-search: visitors could search a network.mode of private-cluster; leave out one of them")
    if not directories and not (peers.name or peers.registrar):  # what others may see is named
        directories = _here(root, needed=not (remotes or settings.network.name))
    if not is_loopback(host) and not (public_search or require_token):
        raise UsageError(f"--host {host}: others could look at your crawls; add --require-token, or --public-search")
    access = _access(token_file, public_search=public_search, require_token=require_token)
    socket = listen(host, port)
    others = remote_searchers(remotes, remote_token)
    service = peering = None
    members: list[Searcher] = []
    served: Directories
    if settings.network.name:
        if peers.name or peers.registrar:
            raise UsageError("--network and --peer: each needs a larm serve of its own, on another port")
        folder = network_dir or (directories[0] if directories else root or Path())
        service = _service(settings, folder, lambda: [each.path for each in served.all()], socket.getsockname()[:2])
        members += service.searchers
        if service.jobs is not None:
            directories = (*directories, service.jobs.directory)
    if peers.name or peers.registrar:
        if cluster:
            raise UsageError("--cluster and --peer: each needs a larm serve of its own, on another port")
        with needing("peers"):
            from larm.web.peering import peering_of

        served, peering = peering_of(
            settings,
            peers,
            (host, socket.getsockname()[1]),
            directories=directories,
            root=root,
            others=others,
            copies=public_search or access.is_here,
            say=say,
        )
    else:
        served = Directories(
            directories,
            root,
            settings.search,
            others,
            members,
            agents=_agents(settings, remote_token, cluster=cluster),
            open_to=open_to(private=bool(settings.serve.private)),
        )
    closed = (
        "pages that strangers could not have had need a sign-in ('larm search open:no' has them);"
        f"{'' if settings.serve.private else ' -s serve.private=true shows those of private addresses;'}"
        " --peer NAME --share FOLDER shows files of a folder"
    )
    for note in (*notes, *(f"{each.name}: {closed}" for each in served.all() if public_search and not served.is_open(each))):
        say(note)
    app = application(
        served,
        access,
        settings.serve,
        names=(host, *names),
        log=_writer(access_log),
        say=say,
        peering=peering,
        network=service,
        stop_crawls=stop_crawls,
    )
    scheme, place = "https" if settings.serve.certificate else "http", f"[{host}]" if ":" in host else host
    address = f"{scheme}://{place}:{socket.getsockname()[1]}/"
    say(f"{address}  (Ctrl-C ends it{'' if access.only_search else f'; the token is in {access.token.path}'})")
    if opened:
        webbrowser.open(address)
    make_server(app, settings.serve.certificate).run(sockets=[socket])


def _agents(settings: Config, remote_token: Path | None, *, cluster: bool) -> Callable[[Sequence[Path]], Sequence[Searcher]]:
    if not cluster:
        return lambda _: ()
    from larm.peers.cluster import ClusterSearchers

    return ClusterSearchers(settings.search, remote_opener(remote_token)).of


def _service(settings: Config, folder: Path, directories: Callable[[], Sequence[Path]], address: tuple[str, int]) -> Service:
    from larm.config.file_names import certificate_and_key

    with needing("peers"):
        from larm.peers.yacy.service import Crawls, Service, folder_of
        from larm.web.starting import Starting
    place = folder_of(folder, settings.network.name)
    names = settings.serve.certificate
    return Service(
        place,
        settings.network,
        settings.search,
        directories,
        address=address,
        say=say,
        certificate=certificate_and_key(names, "serve.certificate", Path())[0] if names else None,
        private=settings.serve.private == "network",
        crawls=Crawls(settings, Starting(None, stop=True).run),
    )


def _peers(
    settings: PeersSettings, name: str | None, registrar: bool, registrars: tuple[str, ...], shared: tuple[Path, ...]
) -> PeersSettings:
    """As configured, and as the options say."""
    import msgspec

    return msgspec.structs.replace(
        settings,
        name=settings.name if name is None else name[:64],
        registrar=settings.registrar or registrar,
        registrars=tuple(dict.fromkeys([*settings.registrars, *(each.rstrip("/") for each in registrars)])),
        share=tuple(dict.fromkeys([*settings.share, *map(str, shared)])),
    )


def _here(root: Path | None, *, needed: bool) -> tuple[Path, ...]:
    from larm.crawldir.form import MARKER

    here = Path()
    if is_there(here / MARKER):
        return (here,)
    if root is None and not needed:
        return ()
    if root is None:
        raise UsageError("no crawl in the current directory; larm serve DIR names one, --root FOLDER many")
    existing(root, "--root names the folder that has the directories of crawls")
    return ()


def _to_come(root: Path) -> Iterator[str]:
    """Of folders that have the settings of a crawl that never ran: they are not served, nor started by a schedule."""
    from larm.crawldir.form import MARKER

    for each in sorted(existing(root, _NAMED).glob(f"*/{CONFIG_FILE}")):
        if not is_there(each.with_name(MARKER)):
            yield f"{each} is of no crawl yet: a crawl in {each.parent} begins it, or name {each.parent} itself"


def _refuse_others(directories: Sequence[Path]) -> None:
    """What is no crawl, and has no settings of one to come. Raises UsageError, StorageError."""
    from larm.crawldir.marker import is_crawl

    for each in directories:
        if not (is_crawl(existing(each, _NAMED)) or is_there(each / CONFIG_FILE)):
            raise UsageError(f"no crawl in {each}, nor a {CONFIG_FILE} of one; {_NAMED}, also those to come")


def _access(token_file: Path | None, *, public_search: bool, require_token: bool) -> Access:
    from larm.web.access import Access, default_path, open_token

    token = open_token(token_file or default_path())
    return Access(token, public_search=public_search, require_token=require_token)


def _writer(path: Path | None) -> Callable[[str], None] | None:
    """Of the access log."""
    if path is None:
        return None
    if str(path) == "-":
        return lambda line: click.echo(line, err=True)
    from larm.web.accounting import AccessLog

    with refusing(f"--access-log {path}", OSError):
        return AccessLog(path, say).write
