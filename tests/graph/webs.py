"""Link graphs for tests, as visits: small ones written down, and public ones with many pages."""

from __future__ import annotations

import zipfile
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from larm.errors import StorageError
from larm.model.document import Document, Visit
from larm.model.links import Link, Links
from larm.model.message import REDIRECT
from larm.model.url import URLNormalizer
from larm.store.graph import GraphStorage
from larm.testing.clock import FakeClock

parse = URLNormalizer().parse


def fingerprint(name: str) -> int:
    """Of the page with this name."""
    return parse(address(name)).fingerprint


def address(name: str) -> str:
    """``a.org/x`` or just a letter."""
    return f"http://{name}" if "/" in name else f"http://{name}.test/"


def page(name: str, links: Mapping[str, str] | Sequence[str] = (), *, follow: bool = True) -> Visit:
    """A page that links to others; a mapping has the texts of the links."""
    texts = links if isinstance(links, Mapping) else dict.fromkeys(links, "")
    found = Links.of(Link(parse(address(to)), 0, text, follow) for to, text in texts.items())
    url = parse(address(name))
    return Visit(url.access, found, url, status=200, document=Document("text/html", links=found))


def moved(name: str, to: str) -> Visit:
    """A redirect."""
    url = parse(address(name))
    return Visit(url.access, Links.of([Link(parse(address(to)), REDIRECT, "")]), url, status=301)


def gone(name: str) -> Visit:
    """A page that a revisit found gone."""
    url = parse(address(name))
    return Visit(url.access, url=url, gone=True)


def stored(directory: Path, *visits: Visit, position: Mapping[str, object] | None = None) -> Mapping[str, object]:
    """The graph of these visits, with its snapshot; the position of the checkpoint."""
    storage = GraphStorage(directory, FakeClock())
    try:
        storage.open(position)
        storage.store(visits)
        position = storage.commit()
    except StorageError:
        with suppress(StorageError):
            storage.close()
        raise
    storage.close()
    return position


def numbers(path: Path, name: str) -> array[float] | array[int]:
    """An array of numpy's format, so that tests do without numpy."""
    with zipfile.ZipFile(path) as file:
        data = file.read(f"{name}.npy")
    length = int.from_bytes(data[8:10], "little")
    kind = {"<u4": "I", "<i4": "i", "<i8": "q", "<u8": "Q", "<f8": "d", "<f4": "f"}
    head = data[10 : 10 + length].decode()
    found = array(next(code for name, code in kind.items() if name in head))
    found.frombytes(data[10 + length :])
    return found


def graph_visits(starts: Sequence[int], targets: Sequence[int]) -> Iterator[Visit]:
    """Visits of the pages of a graph in rows (CSR); page 7 is ``http://web.test/7``."""
    urls = [parse(f"http://web.test/{number}") for number in range(len(starts) - 1)]
    document = Document("text/html")
    for number, url in enumerate(urls):
        links = Links.of(Link(urls[to], 0, "", True) for to in targets[starts[number] : starts[number + 1]])
        yield Visit(url.access, links, url, status=200, document=document)
