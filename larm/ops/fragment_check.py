"""FragmentCheck: links that lead to a place in a page which is not there. For `larm.ops.link_check`; main thread.

All pages are told first (`add`), as a link may lead to any of them: the places of each, as fingerprints, and its links go into
files in a temporary folder, so that memory does not grow with the pages.
"""

import tempfile
from array import array
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote

import msgspec

from larm.kit.disk.table import Table, TableRow
from larm.model.url import BadUrl, Url, URLNormalizer
from larm.parse.fragments import fragments

_BATCH = 500
"""Pages in one transaction."""
_KEPT = 2_000
"""Pages whose places are remembered; each has some hundred."""

_Link = tuple[str, str, str, str]
"""Address of the target, place, page with the link, its text."""


class FragmentCheck:
    """Of one directory; used once."""

    def __init__(self, normalizer: URLNormalizer, effort: int) -> None:
        """``effort``: see `larm.parse.hostile`."""
        # constant after construction
        self._normalizer = normalizer
        self._effort = effort
        self._folder = tempfile.TemporaryDirectory(prefix="larm-links-")
        self._places = Table.of_checkpoint(Path(self._folder.name) / "places.db", None)
        self._links = (Path(self._folder.name) / "links").open("w+b")
        # only the calling thread
        self._batch: list[TableRow] = []

    def add(self, url: Url, body: bytes) -> None:
        """A page of HTML. Raises StorageError."""
        found = fragments(body, self._effort)
        base = url.access
        if found.base:
            with suppress(BadUrl):
                base = self._normalizer.join(base, found.base).access
        key, places = url.fingerprint, array("q", sorted({hash(place) for place in found.places}))
        self._batch.append(TableRow(key, key, places.tobytes()))
        for address, place, text in found.links:
            try:
                target = self._normalizer.join(base, address)
            except BadUrl:
                continue  # told as malformed, where the page was read
            self._links.write(msgspec.json.encode((target.access, place, url.access, text)) + b"\n")
        if len(self._batch) >= _BATCH:
            self._write()

    def broken(self, resolve: Callable[[Url], Url]) -> Iterator[tuple[str, str, tuple[str, str]]]:
        """(address, place, (page with the link, its text)). ``resolve``: the page that answers for a URL. Raises StorageError.

        Links to what is no page of HTML of this crawl are not looked at. The last thing that is asked: the files go.
        """
        self._write()
        decode = msgspec.json.Decoder(_Link).decode

        @lru_cache(maxsize=_KEPT)
        def places(address: str) -> frozenset[int] | None:
            record = self._places.get(resolve(self._normalizer.parse(address)).fingerprint)
            return None if record is None else frozenset(array("q", record.data))

        self._links.seek(0)
        for line in self._links:
            address, place, page, text = decode(line)
            known = places(address)
            if known is not None and hash(place) not in known and hash(unquote(place)) not in known:
                yield address, place, (page, text)
        self._places.close()
        self._links.close()
        self._folder.cleanup()

    def _write(self) -> None:
        self._places.write(1, self._batch)
        self._batch = []
