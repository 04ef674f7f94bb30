"""peering_of: what ``larm serve`` searches and shows as a peer or a registrar. Called once, on the main thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from larm.config import Config, Peers
from larm.errors import UsageError
from larm.index.search.shared import SharedSearcher
from larm.model.restriction import open_to
from larm.seams import Searcher
from larm.web.directories import Directories

if TYPE_CHECKING:
    from larm.peers.yousearch.wiring import Peering


def peering_of(
    settings: Config,
    peers: Peers,
    address: tuple[str, int],
    *,
    directories: Sequence[Path],
    root: Path | None,
    others: Sequence[Searcher],
    copies: bool,
    say: Callable[[str], object],
) -> tuple[Directories, Peering]:
    """``address``: where it listens; ``others``: machines searched by their addresses; ``copies``: everybody may look
    at stored copies. Raises UsageError, StorageError."""
    try:
        from larm.peers.yousearch.visible import PublishedSearcher
        from larm.peers.yousearch.wiring import build, indexed
    except ImportError as error:
        raise UsageError(f"{error.name} is missing: pip install 'larm[peers]'") from error

    served: Directories

    def local() -> dict[Path, SharedSearcher]:
        return {each.path: each.searcher for each in served.all()}

    peering = build(
        peers,
        settings.files,
        settings.serve,
        address=address,
        searchers=local,
        copies=copies,
        tell=say,
    )
    folders = {share.directory.absolute() for share in peering.shares.named}
    network: list[Searcher] = [each for each in (peering.network, peering.recommended) if each is not None]
    served = Directories(
        directories,
        root,
        settings.search,
        others,
        network,
        more=partial(indexed, peering.shares),
        published=lambda each: PublishedSearcher(each.searcher, peering.shares) if each.path in folders else each.searcher,
        shared=lambda each: each.path in folders,
        open_to=open_to(private=bool(settings.serve.private)),
    )
    what = " and ".join(["peer " + peers.name] * bool(peers.name) + ["registrar"] * peers.registrar)
    say(f"{what}, key {peering.card.key}")
    return served, peering
