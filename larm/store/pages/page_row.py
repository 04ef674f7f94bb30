"""PageRow: what the page book has of each page, and how it is written (LARM-121). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec

from larm.errors import REPAIR, StorageError
from larm.model.crawl_hash import digest
from larm.model.cuts import may_be_whole
from larm.model.document import Visit
from larm.model.message import Known, URLMessage, as_whole
from larm.model.url import Url

REMOVED, REFUSED, MOVED, UNREACHED = range(4)
"""Kinds of failure."""
LEAST_RUNS = 5
"""Revisits in a row that a page must be unreached: some failures of one evening are no proof."""
HOST_GIVEN_UP = "its host was given up, as it does not answer"
"""Failure of a page that was not requested for this."""
_OURS = ("set aside", "it was dropped")
"""How failures begin that say nothing of the page: larm could not read it, or a filter of the user's did not let it pass."""
_BUSY = frozenset({408, 425, 429})


class Failing(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One page's failures since it last came."""

    since: int
    """When the first was noted, in seconds since 1970."""
    kind: int
    """Of the last one."""
    runs: int = 0
    """Number of revisits in a row without the page."""
    same: int = 0
    """Number of the last of these that failed by the same kind."""

    def again(self, kind: int) -> Failing:
        """Return it with one more failure."""
        return Failing(self.since, kind, self.runs + 1, self.same + 1 if kind == self.kind else 1)

    def is_over(self, now: float, give_up: float, *, leads_to_page: bool) -> bool:
        """Return True if the page is to leave the index. ``leads_to_page``: it redirects to one that is stored."""
        if self.kind == UNREACHED:
            return self.runs >= LEAST_RUNS and now - self.since >= give_up
        return self.kind == REMOVED or self.same > 1 or leads_to_page


def kind_of(status: int, why: str) -> int | None:
    """Return the kind of failure of a response; None: it says nothing of the page. ``why`` as of an `Answer`."""
    if why.startswith(_OURS):
        return None
    if status == 451:
        return REMOVED
    if 300 <= status < 400 and status != 304:
        return MOVED
    forbidden = not status and "robots.txt" in why
    return REFUSED if forbidden or 200 <= status < 300 or (400 <= status < 500 and status not in _BUSY) else UNREACHED


_DAY = 86_400


class Past(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """How often a page was found changed, and whether sitemaps were right about it.

    Times are seconds since 1970; 0: not known.
    """

    since: int = 0
    """When it came first."""
    changes: int = 0
    """So often it had changed, or was gone, when it was asked for again."""
    sitemap: bool = False
    """It is one."""
    claimed: int = 0
    """When it changed by a sitemap (``lastmod``), where it was not asked for since then."""
    heard: int = 0
    """The claim of before, which was looked into."""
    right: int = 0
    """Claims after which it had changed."""
    wrong: int = 0
    """Claims after which it was as before."""

    def seen(self, *, changed: bool) -> Past:
        """It was asked for again."""
        claims = bool(self.claimed)
        return msgspec.structs.replace(
            self,
            changes=self.changes + changed,
            claimed=0,
            heard=self.claimed or self.heard,
            right=self.right + (claims and changed),
            wrong=self.wrong + (claims and not changed),
        )


def claim(past: Past, lastmod: int, fetched: int) -> Past:
    """After a sitemap has said of a page, which came at ``fetched``, when it changed: ``past``, unless that is news.

    Many dates are of a day, and mean all of it.
    """
    until = lastmod + _DAY - 1 if lastmod % _DAY == 0 else lastmod
    return past if until <= fetched or lastmod in (past.heard, past.claimed) else msgspec.structs.replace(past, claimed=lastmod)


FORBIDDEN = "robots.txt forbade it"
_DROPPED = "it was dropped by the filter "
CURRENT = frozenset({200, 304})
"""Answers without a page that say that the one we have is current."""


class Answer(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What came of the last request for a page."""

    status: int = 0
    """Of HTTP; 0: there was no response."""
    asked: int = 0
    """When it came, in seconds since 1970; 0: not known."""
    since: int = 0
    """Since when it is always the same."""
    why: str = ""
    """What went wrong where no status of 4xx or 5xx says it, for a person."""
    moved: str = ""
    """Where a redirect leads, in access form."""

    @property
    def forbidden(self) -> bool:
        """There was none: robots.txt, or a filter of the user's, did not let it be asked for."""
        return self.why == FORBIDDEN or self.why.startswith(_DROPPED)

    @property
    def brought(self) -> bool:
        """The page, or that it is what we have."""
        return self.status in CURRENT and not self.why


class PageRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One page."""

    access: str
    normalised: str
    host: str
    referrer: str
    link_type: int
    depth: int
    known: Known
    stored: bool
    """False: it could not be fetched yet (a time-out, a 500, a 404), or was forgotten."""
    gone: int = 0
    """The status that said so; 0: it is there."""
    forgotten: int = 0
    """What `gone` was when it was forgotten: the other storages may not have come to forget it, then it is gone once more."""
    cuts: dict[str, int] = {}
    """What was not read of it, and the limits that held (`larm.model.cuts`)."""
    last: Answer = Answer()
    fetched: int = 0
    """When it last came, or was unchanged, in seconds since 1970; 0: never, or not known."""
    index: bool = True
    """False: it asks not to be indexed."""
    current: int = 0
    """Until when it is, as its server says, in seconds since 1970; 0: it does not say."""
    by: str = ""
    """The crawl that has fetched it, where it came with its host from another one; empty: this one."""
    left: bool = False
    """Its host is another crawl's now; this one has the page still (`larm.store.pages.page_rows.kept_pages`)."""
    past: Past | None = None
    """None: it was asked for once, and is no sitemap."""
    asks: str = ""
    """What it asks of crawlers beside that, as an X-Robots-Tag says it."""
    failing: Failing | None = None
    """None: the page came when it was last asked for, or nothing is stored of it."""
    left_at: int = 0
    """When it left the index, in seconds since 1970; 0: it did not."""
    came: int = 0
    """When the bytes that are stored came first, in seconds since 1970; 0: never, or not known."""

    @property
    def only_forbidden(self) -> bool:
        """It was never asked for, see `Answer.forbidden`."""
        return self.last.forbidden and not self.stored

    @property
    def only_moved(self) -> bool:
        """An address that was never more than a redirect that was followed: nothing is to be asked for again."""
        return bool(self.last.moved) and not (self.stored or self.gone or self.forgotten or self.last.why)

    def is_current(self, now: float, longest: float) -> bool:
        """It need not be asked for, as its server says; who is believed for ``longest`` seconds after it came."""
        return self.stored and not self.gone and now < min(self.current, self.fetched + longest)

    def message(self, key: int, limits: Mapping[str, int] = MappingProxyType({})) -> URLMessage:
        """To ask for it again; for the whole page where it was gone the last time, as "unchanged" would leave it marked.

        The same where ``limits``, those of now, let more of it be read.
        """
        url = Url(self.access, self.normalised, self.host, key)
        whole = self.gone or (self.cuts and may_be_whole(self.cuts, limits))
        return URLMessage(url, self.referrer, self.link_type, self.depth, known=as_whole(self.known) if whole else self.known)


_encode = msgspec.msgpack.Encoder().encode
_decoder = msgspec.msgpack.Decoder(PageRow)


def forbidden(message: URLMessage, name: str = "") -> Visit:
    """What robots.txt, or the user's filter of this name, does not let us ask for, as a visit: each revisit asks them again."""
    url, via, why = message.url, message.referrer, _DROPPED + name if name else FORBIDDEN
    return Visit(url.access, url=url, referrer=via, link_type=message.link_type, depth=message.depth, failure=why)


def part_of(host: str) -> int:
    """The number by which the rows of a host are found; some hosts may share one."""
    return digest(host.encode("utf-8", "replace")) & 0x7FFF_FFFF or 1


def encode_row(row: PageRow) -> bytes:
    """The inverse of `decode_row`."""
    return _encode(row)


def decode_row(data: bytes, path: Path) -> PageRow:
    """Raises StorageError on damage."""
    try:
        return _decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StorageError(f"{path}: a page's record is damaged ({error}); {REPAIR}") from error
