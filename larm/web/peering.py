"""Peering: ``larm serve`` as a peer or a registrar: what it searches (`peering_of`, on the main thread), and its page.

The page says who there is, what is shared here, and who asked. It is for who may look at this machine, not for peers: in a
public search there is no such page. On the event loop.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from larm.config import Config, PeersSettings
from larm.errors import LarmError
from larm.index.search.query import LONGEST
from larm.index.search.shared import SharedSearcher
from larm.model.restriction import open_to
from larm.peers.addresses import host_of
from larm.peers.yousearch.canonical import canonical
from larm.peers.yousearch.protocol import Recommend
from larm.peers.yousearch.shares import FILES_ROOT
from larm.peers.yousearch.visible import PublishedSearcher
from larm.peers.yousearch.wiring import Peering, build, indexed
from larm.seams import Searcher
from larm.web.access import Kind
from larm.web.directories import Directories
from larm.web.page import can_be_opened, form_of, message, page

if TYPE_CHECKING:
    from larm.peers.channel import Contact
    from larm.peers.yousearch.shares import Share


def peering_of(
    settings: Config,
    peers: PeersSettings,
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
    served: Directories

    def local() -> dict[Path, SharedSearcher]:
        return {each.path: each.searcher for each in served.all()}

    peering = build(
        peers,
        settings.files,
        settings.serve,
        address=address,
        searchers=local,
        is_closed=lambda url: _is_closed(served, url),
        copies=copies,
        tell=say,
    )
    folders = {share.directory.absolute() for share in peering.shares.named}
    network: list[Searcher] = [each for each in (peering.network, peering.recommended) if each is not None]
    if peering.network is not None and peering.visitors is None:
        say("visitors search only what is here: the other peers answer members of their group alone")
    served = Directories(
        directories,
        root,
        settings.search,
        others,
        network,
        more=partial(indexed, peering.shares),
        published=lambda each: PublishedSearcher(each.searcher, peering.shares) if each.path in folders else each.searcher,
        visitors=peering.visitors or (),
        shared=lambda each: each.path in folders,
        hidden=lambda each: each.path in folders and not peering.is_for_all(each.path),
        kept=peering.recommended.kept if peering.recommended is not None else lambda _: None,
        opened_at=peering.network.opened_at if peering.network is not None else str,
        open_to=open_to(private=bool(settings.serve.private)),
    )
    what = " and ".join(["peer " + peers.name] * bool(peers.name) + ["registrar"] * peers.registrar)
    say(f"{what}, key {peering.card.key}")
    return served, peering


Handler = Callable[[Request], Awaitable[Response]]


def page_routes(peering: Peering) -> Sequence[tuple[Kind, str, str, Handler]]:
    """As `larm.web.app` lists others."""

    async def show(request: Request) -> Response:
        """All of it."""
        peers = _peers(peering)
        names: dict[str, list[str]] = {}
        for each, _ in peers:
            names.setdefault(each.address or host_of(each.url), []).append(each.name)
        return page(
            request,
            "peers.html",
            card=peering.card,
            private=peering.passes.needed,
            only=peering.shares.only,
            said=sorted(peering.peer.news.now.items()) if peering.peer is not None else [],
            shares=await request.app.state.desk.look(_shares, request.app.state.directories, peering),
            peers=peers,
            asked=peering.door.asked(),
            names=names,
            own=[(each, readable(each.query)) for each in (peering.shelf.all() if peering.shelf else ()) if not each.gone],
        )

    async def share(request: Request) -> Response:
        """The button beside a folder."""
        form = await form_of(request)
        name, shared = form.get("name", ""), form.get("shared") == "1"
        await request.app.state.desk.look(lambda: peering.shares.set_shared(name, shared=shared))
        if peering.peer is not None:
            peering.peer.hurry()
        return RedirectResponse("/peers", 303)

    async def recommend(request: Request) -> Response:
        """The button beside a result."""
        form = await form_of(request)
        query, url = form.get("q", ""), form.get("url", "")
        peer, shelf = peering.peer, peering.shelf
        if peer is None or shelf is None or not query or not can_be_opened(url) or len(query) > LONGEST:
            return message(request, 400, "This can't be recommended")
        served: Directories = request.app.state.directories
        share = unquote(url.removeprefix(peering.url).removeprefix(FILES_ROOT).partition("/")[0])
        if share in peering.shares.only or await request.app.state.desk.look(served.is_closed, url):
            return message(request, 403, "This can't be recommended", "Strangers could not have had this page.")
        url = peering.url + url if url.startswith("/") else url
        title, anonymous = form.get("title", ""), form.get("anonymous") == "1"
        key = canonical(query).key
        said = await request.app.state.desk.look(lambda: shelf.add(key, url, title, anonymous=anonymous))
        if said is None:
            return message(request, 409, "You recommend too much", "Take some recommendations back, on the page Peers.")
        peer.tell(Recommend((said,)))
        return RedirectResponse("/search?" + urlencode({"q": query}, errors="replace"), 303)

    async def take_back(request: Request) -> Response:
        """The button beside a recommendation of one's own."""
        form = await form_of(request)
        peer, shelf = peering.peer, peering.shelf
        if peer is not None and shelf is not None:
            which = [form.get(name, "") for name in ("query", "url", "author")]
            gone = await request.app.state.desk.look(lambda: shelf.take_back(*which))
            if gone is not None:
                peer.tell(Recommend((gone,)))
        return RedirectResponse("/peers", 303)

    return (
        (Kind.SHOW, "GET", "/peers", show),
        (Kind.CHANGE, "POST", "/peers/share", share),
        (Kind.CHANGE, "POST", "/peers/recommend", recommend),
        (Kind.CHANGE, "POST", "/peers/take-back", take_back),
    )


def _is_closed(served: Directories, url: str) -> bool:
    """Return True if visitors may not see a page that is here; False where an index can't be read."""
    with suppress(LarmError):
        return served.is_closed(url)
    return False


def readable(key: str) -> str:
    """Return a canonical query as people type it."""
    forms = {"exclude": "-{}", "phrase": '"{}"', "keyword": "{}", "query": "{}"}
    labels = [part.partition("=") for part in key.split("&")]
    labels.sort(key=lambda each: each[0] not in {"keyword", "phrase", "query"})
    typed = [(forms.get(label, label + ':"{}"'), unquote(term)) for label, _, terms in labels for term in terms.split(",")]
    return " ".join(form.format(term) if " " in term else form.replace(':"{}"', ":{}").format(term) for form, term in typed)


def _shares(directories: Directories, peering: Peering) -> list[tuple[Share, bool, int]]:
    """Each, whether it is shared now, and how many of its files can be found."""
    files = {each.path: each.searcher.known for each in directories.all()}
    shared = peering.shares.all
    return [(each, each in shared, files.get(each.directory.absolute(), 0)) for each in peering.shares.named]


def _peers(peering: Peering) -> list[tuple[Contact, str]]:
    """Those that this machine keeps as a registrar, or has been told of."""
    found: dict[str, tuple[Contact, str]] = {}
    if peering.network is not None:
        found |= {each.key: (each, peering.network.state_of(each)) for each in peering.network.contacts()}
    if peering.registrar is not None:
        found |= {each.key: (each, found[each.key][1] if each.key in found else "") for each in peering.registrar.members}
    found.pop(peering.card.key, None)
    return sorted(found.values(), key=lambda pair: (pair[0].name, pair[0].key))
