"""Links: where a page leads, in columns; Link: one of them.

A page has a hundred links, and a crawl no time for a hundred objects a page: most are only written down. So whoever reads a
page writes them as links.log has them, with what else there is to know beside, and they go on as bytes: to the storages, and
from one process to another. Who wants objects gets them one by one. Immutable; any thread.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from typing import overload

import msgspec

from larm.kit.logs.columns import clean
from larm.model.url import Url


class Link(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One link of a page, resolved (LARM-89)."""

    url: Url
    link_type: int
    """ORDINARY, FRAME, REDIRECT or SITEMAP of `larm.model.message`."""
    anchor: str
    """Text of the link or ALT, spaces squeezed, at most 200 characters (LARM-91, LARM-101), no control characters."""
    follow: bool = True
    """False: recorded in links.log, but not put into the river (images, style sheets, rel=nofollow)."""


SPELLED = 2
"""In `Links.follow`: the link is followed, and its access form is not its normalised form."""
Row = tuple[str, Url, str]
"""One link as `Links` is made of it: its line, where it leads, its text."""


def row(url: Url, link_type: int, anchor: str) -> Row:
    """Of texts without control characters. Whoever finds a link often keeps its row: half of the time of a page's links."""
    return f"{url.access}\t{url.normalised}\t{link_type}\t{anchor}\n", url, anchor


class Links(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """All links of a page, in their order. A sequence of `Link`, which are made when they are asked for.

    In texts there is a line break between one link and the next. What is said twice is what most pages are asked for: to take
    it out of the lines would cost five times as much.
    """

    lines: bytes = b""
    """A line each, of four columns: access form, normalised form, type, text (LARM-89). UTF-8."""
    targets: bytes = b""
    """The fingerprints of the Urls: 64 bits each, in this machine's order of bytes."""
    hosts: str = ""
    """The keys of the hosts."""
    follow: bytes = b""
    """A byte each: 0 if it is not followed, `SPELLED`, or 1 for all others that are followed."""
    accesses: str = ""
    """The access forms of those that are followed."""
    anchors: str = ""
    """The texts of those that are followed."""

    @classmethod
    def of(cls, links: Iterable[Link]) -> Links:
        """Of these."""
        found = tuple(links)
        rows = [row(_clean(link.url), link.link_type, clean(link.anchor)) for link in found]
        return cls.made(rows, bytes([link.follow for link in found]))

    @classmethod
    def made(cls, rows: Sequence[Row], follow: bytes) -> Links:
        """Of their rows. ``follow``: a byte each, 0 if it is not followed."""
        if not rows:
            return NONE
        follow = bytes([goes and 1 + (url.access != url.normalised) for goes, (_, url, _) in zip(follow, rows, strict=True)])
        followed = list(compress(rows, follow))
        return cls(
            "".join([line for line, _, _ in rows]).encode("utf-8", "replace"),
            array("Q", [url.fingerprint for _, url, _ in rows]).tobytes(),
            "\n".join([url.host for _, url, _ in rows]),
            follow,
            "\n".join([url.access for _, url, _ in followed]),
            "\n".join([words for _, _, words in followed]),
        )

    @classmethod
    def joined(cls, pages: Sequence[Links]) -> Links:
        """Those of several pages, with the columns `targets`, `follow` and `accesses` alone."""
        accesses = "\n".join([each.accesses for each in pages if each.accesses])
        return cls(b"", b"".join([each.targets for each in pages]), "", b"".join([each.follow for each in pages]), accesses)

    @property
    def size(self) -> int:
        """Bytes that they take, roughly."""
        columns = len(self.lines) + len(self.accesses) + len(self.anchors) + len(self.hosts)
        return columns + len(self.targets) + len(self.follow)

    def followed(self) -> list[int]:
        """The fingerprints of those that are followed."""
        return list(compress(array("Q", self.targets), self.follow))

    def at(self, places: Iterable[int]) -> list[Link]:
        """Those in these places."""
        lines, targets, hosts, follow = (
            self.lines.decode().split("\n"),
            array("Q", self.targets),
            self.hosts.split("\n"),
            self.follow,
        )
        found = []
        for place in places:
            access, normalised, link_type, anchor = lines[place].split("\t")
            url = Url(access, normalised, hosts[place], targets[place])
            found.append(Link(url, int(link_type), anchor, follow[place] > 0))
        return found

    def unfollowed(self) -> Links:
        """The same, but that none of them is followed."""
        return msgspec.structs.replace(self, follow=bytes(len(self.follow)), accesses="", anchors="")

    def __len__(self) -> int:
        return len(self.follow)

    def __iter__(self) -> Iterator[Link]:
        return iter(self.at(range(len(self.follow))))

    @overload
    def __getitem__(self, place: int) -> Link: ...

    @overload
    def __getitem__(self, place: slice) -> list[Link]: ...

    def __getitem__(self, place: int | slice) -> Link | list[Link]:
        places = range(len(self.follow))[place]
        return self.at([places])[0] if isinstance(places, int) else self.at(places)

    def __reversed__(self) -> Iterator[Link]:
        return reversed(list(self))


NONE = Links()


def _clean(url: Url) -> Url:
    """Those that the normaliser makes are."""
    return msgspec.structs.replace(url, access=clean(url.access), normalised=clean(url.normalised), host=clean(url.host))
