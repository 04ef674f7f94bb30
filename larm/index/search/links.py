"""``link:`` and ``info:``: their addresses become the pages that are meant. Asks the link graph and the table of aliases.

Called by the searcher, on its thread.
"""

from pathlib import Path

from larm.errors import StorageError
from larm.graph.reader import GraphReader, open_graph
from larm.index.duplicates.lookup import kin_of
from larm.index.search.snippets import safe_line
from larm.index.tree import All, Any, Info, Linking, Node, Not, Pages
from larm.model.page_record import PageLink, PageLinks
from larm.model.url import BadUrl, Url, URLNormalizer

_MOST = 2_000
"""Pages that link to one; the most important of them."""
_normalizer = URLNormalizer(files=True)


DAMAGED = "is damaged"
"""End of a note; the command line adds the remedy."""


class LinkDesk:
    """Answers for one directory; the graph is opened when it is needed, and again for each query, for it may have grown."""

    def __init__(self, directory: Path) -> None:
        # constant after construction
        self._path = directory / "graph"
        self._aliases = directory / "cachingqueue" / "aliases.db"

    def resolve(self, node: Node | None, notes: list[str]) -> Node | None:
        """The tree with `Pages` in the places of `Linking` and `Info`. Raises StorageError."""
        match node:
            case Linking(text):
                return self._linking(text, notes)
            case Info(text):
                return self._info(text, notes)
            case Not(item):
                inner = self.resolve(item, notes)
                return None if inner is None else Not(inner)
            case All(items) | Any(items):
                found = tuple(new for item in items if (new := self.resolve(item, notes)) is not None)
                return None if not found else found[0] if len(found) == 1 else type(node)(found)
            case _:
                return node

    def _info(self, text: str, notes: list[str]) -> Node | None:
        url = _url("info", text, notes)
        if url is None:
            return None
        kin = None
        try:
            kin = kin_of(self._aliases, url.fingerprint)
        except StorageError:
            notes.append(f"whether {url.access} is like another page is not known: the table of these {DAMAGED}")
        if kin is not None:
            notes.append(f"{url.access}: {kin.why} {kin.first}")
        if kin is None or kin.indexed:
            return Pages((url.access, url.normalised))
        return Pages((kin.first,))

    def _linking(self, text: str, notes: list[str]) -> Node | None:
        url = _url("link", text, notes)
        if url is None:
            return None
        try:
            graph = self.graph()
            found = graph.in_links(url.fingerprint, _MOST) if graph is not None else []
        except StorageError:
            notes.append(f"link: was ignored: the link graph {DAMAGED}")
            return None
        if graph is None:
            notes.append("link: was ignored: there is no link graph; a crawl makes one unless it runs with --no-index")
            return None
        if len(found) == _MOST:
            notes.append(f"of the pages that link to {url.access}, the {_MOST:,} most important ones were looked at")
        return Pages(tuple(found))

    def both(self, text: str, limit: int) -> PageLinks:
        """Links to and from a page. An address that is none has no links."""
        url, graph = _url("info", text, []), self.graph()
        if url is None or graph is None:
            return PageLinks()
        out = [
            PageLink(graph.address(each.fingerprint), safe_line(each.text)) for each in graph.out_links(url.fingerprint)[:limit]
        ]
        return PageLinks(tuple(graph.in_links(url.fingerprint, limit)), tuple(out))

    def graph(self) -> GraphReader | None:
        """The link graph as it is now; None where there is none."""
        return open_graph(self._path)


def _url(name: str, text: str, notes: list[str]) -> Url | None:
    try:
        return _normalizer.parse(text)
    except BadUrl as error:
        notes.append(f"{name}:{text[:50]} was ignored: {error}")
        return None
