"""FolderProcessor: a folder's listing, made by the file fetcher, is a page of links (LARM-111). Fetcher threads; no state."""

from urllib.parse import unquote

from larm.model.document import Document
from larm.model.link_memo import LinkMemo
from larm.model.links import Link, Links
from larm.model.message import ORDINARY, URLMessage
from larm.model.outcome import Fetched
from larm.model.url import BadUrl, Url
from larm.parse.readable import squeeze_line


class FolderProcessor:
    """For inode/directory: the path of an entry on each line, written as in URLs. Nobody searches for listings."""

    def __init__(self, links: LinkMemo) -> None:
        # constant after construction
        self._memo = links

    def process(self, message: URLMessage, fetched: Fetched, mime: str) -> Document:
        """See `larm.seams.Processor`."""
        resolver = self._memo.at(message.url.access)
        links: list[Link] = []
        for line in fetched.body.decode("utf-8", "replace").splitlines():
            try:
                url = resolver.resolve(line)
            except BadUrl:
                continue
            if url is not None:
                links.append(Link(url, ORDINARY, name_of(url)))
        return Document(mime, title=unquote(message.url.path_query), links=Links.of(links), index=False)


def name_of(url: Url) -> str:
    """The name of a file or folder, as people know it."""
    return squeeze_line(unquote(url.path_query.rstrip("/").rpartition("/")[2]))
