"""Lander: what follows from the outcome of a fetch (LARM-16, LARM-17). The decisions of the river.

Its only state is what `larm.parse.hollow.HollowJudge` remembers of each host.

`land` runs on the threads that fetch or read, outside all locks: this is where pages are parsed that nobody else has read. What
it returns is carried out by `larm.engine.unloading` in one step of the gate.
"""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain, compress

import msgspec

from larm.config import FrontierSettings
from larm.engine.causes import cause_of
from larm.engine.landed import Landed, landed_of
from larm.filters.chain import SEEN
from larm.frontier.host import Host
from larm.frontier.politeness import Decision, policy
from larm.model import cuts, hollow
from larm.model.crawl_hash import digest
from larm.model.credentials import without_credentials
from larm.model.document import Document, Visit
from larm.model.lease import Lease
from larm.model.left import TOO_DEEP
from larm.model.links import Link, Links
from larm.model.lost import Lost
from larm.model.message import BY_ROBOTS, LISTED, ORDINARY, REDIRECT, SITEMAP, Known, URLMessage, as_whole, tag_of
from larm.model.outcome import Failed, Fetched, Moved, NotModified, Outcome, Refused
from larm.model.restriction import renewed
from larm.model.spellings import shorter
from larm.model.url import BadUrl, Url
from larm.parse.apart.protocol import KINDS
from larm.parse.hollow import HollowJudge
from larm.seams import CrawlOrder
from larm.store.pages.page_book import GONE

NOWHERE = "downloader/exception_type_count/redirect"
"""Counts answers that lead on, and don't say where."""
TOO_MANY = "redirect/too_many"
"""Counts redirects that were not followed, as there were so many before them."""
CIRCLE = "redirect/circle"
"""Counts redirects of pages to themselves, and back to what has redirected there."""
SITEMAPS = "robotstxt/sitemaps_fetched"
"""Counts sitemaps."""
KEPT = "revisit/redirected"
"""Counter: pages of a revisit that redirect for now (302, 303, 307), as to a login; see `larm.store.pages.page_row`."""


class Lander:
    """Shared by all threads that fetch or read."""

    def __init__(
        self,
        process: Callable[[URLMessage, Fetched], Document],
        join: Callable[[str, str], Url],
        settings: FrontierSettings,
        max_depth: int | None,
        order: CrawlOrder | None = None,
        *,
        recall: Callable[[Sequence[int]], Mapping[str, AbstractSet[int]]] | None = None,
        limits: Mapping[str, int] | None = None,
        text: bool = True,
        news_among: Callable[[Links, Sequence[str], Sequence[int], AbstractSet[int]], set[int]] | None = None,
        is_outside: Callable[[URLMessage], bool] = lambda _: False,
    ) -> None:
        """``process`` makes a Document of any bytes, and never raises; `larm.parse.by_mime`.

        ``recall``: of some fingerprints those of which it is known at once that a filter will drop them, by its name.

        ``news_among``: that of `larm.filters.spellings.Spellings`; None: there is no such filter. ``is_outside``: True for a
        page that is out of scope.

        ``limits``: how much is read of a page, by the names of `larm.model.cuts`. ``text``: whether documents have their text.
        """
        # constant after construction
        self._process = process
        self._join = join
        self._settings = settings
        self._order = order
        self._recall = recall
        self._news_among = news_among
        self._is_outside = is_outside
        self._limits = limits or {}
        self._text = text
        self._hollow = HollowJudge()
        # replaced by who steers the crawl
        self.max_depth = max_depth

    def land(self, lease: Lease, outcome: Outcome, document: Document | None = None) -> Landed:
        """For a page; robots.txt has a way of its own. ``document``: what it says, if it was read elsewhere."""
        known = lease.message.known
        if isinstance(outcome, NotModified):
            same = known is not None and _is_as_before(known, outcome)
            if known is None or not (same or known.conditional):  # nothing was asked that this answers
                outcome = Refused(304, outcome.headers, outcome.timing)
            elif not same:
                return self._whole_again(lease, outcome, known)
        match outcome:
            case Fetched():
                return self._page(lease, outcome, document)
            case Moved():
                return self._moved(lease, outcome)
            case NotModified():
                unchanged, counts = _unchanged(lease.message, 304, outcome.headers), {"revisit/unchanged": 1}
                return landed_of(lease, outcome, "304 not modified", status=304, counts=counts, visit=unchanged)
            case Refused(status=status):
                lost = 300 <= status < 400  # a redirect that does not say where, or "not modified" to who did not ask
                landed = landed_of(lease, outcome, f"{status}", status=status, error=status >= 400 or lost)
                if lost:
                    landed.counts[NOWHERE] = 1
                visit = self._no_page(lease.message, outcome, f"HTTP status {status}", status)
                again, failed = self._other_spelling(lease.message, outcome)
                return msgspec.structs.replace(landed, visit=visit, again=again, messages=failed)
            case Failed():
                counts = {f"downloader/exception_type_count/{outcome.reason.value}": 1}
                text = f"{outcome.reason.value}: {outcome.detail}"
                landed = landed_of(lease, outcome, text, error=True, counts=counts)
                retry = policy(outcome, lease.message.tries, self._settings).retry
                failed = () if retry else self._for_spellings(lease.message)
                return msgspec.structs.replace(
                    landed, visit=self._no_page(lease.message, outcome, cause_of(outcome, 0.0)), messages=failed
                )

    def decide(self, lease: Lease, outcome: Outcome, host: Host) -> Decision:
        """What becomes of the page, and of its host. Under the lock of the host records."""
        message = lease.message
        silent = isinstance(outcome, Failed) and host.is_silent(message.url.access)
        return policy(outcome, message.tries, self._settings, blocks=host.backoffs, silent=silent)

    def set_aside(self, lease: Lease, outcome: Outcome, why: Lost) -> Landed:
        """A page that is not read. The next revisit tries again; see also `larm.engine.suspects`."""
        visit = self._no_page(lease.message, outcome, why.why)
        return landed_of(lease, outcome, why.why, error=True, counts={why.counter: 1}, visit=visit)

    def _whole_again(self, lease: Lease, outcome: NotModified, known: Known) -> Landed:
        """Request an unchanged page as a whole: its header says something new, of which the storages must know."""
        again = msgspec.structs.replace(lease.message, known=as_whole(known))
        return landed_of(lease, outcome, "304 not modified, but its header is", status=304, again=again)

    def _page(self, lease: Lease, outcome: Fetched, document: Document | None) -> Landed:
        message, known = lease.message, lease.message.known
        if known is not None and known.digest == digest(outcome.body) and _is_as_before(known, outcome):
            said, counts = f"{outcome.status} unchanged", {"revisit/unchanged": 1}
            visit = _unchanged(message, 200, outcome.headers)
            return landed_of(lease, outcome, said, status=outcome.status, counts=counts, visit=visit)
        if document is None:
            document = self._process(message, outcome)
        if message.is_sitemap and self._is_outside(message):
            if document.lastmods is None:
                said, status = f"{outcome.status} no sitemap", outcome.status
                none = self._no_page(message, outcome, "it is no sitemap, and out of scope", status)
                return landed_of(lease, outcome, said, status=status, error=True, visit=none)
            document = msgspec.structs.replace(document, index=False)
        visit = Visit(
            page=message.url.access,
            links=document.links,
            url=message.url,
            referrer=message.referrer,
            link_type=message.link_type,
            depth=message.depth,
            status=outcome.status,
            headers=_without_validators(outcome.headers) if outcome.flaw else outcome.headers,
            body=outcome.body,
            document=document,
            revisited=known is not None,
            cuts=self._cuts(outcome, document),
            restricted=outcome.restricted,
        )
        same = bool(known and known.text == document.seen != 0)
        limits = [name for name in visit.cuts if name != cuts.ENDS_EARLY]
        cut = f" (cut off at {', '.join(limits)})" if limits else ""
        empty, found = self._hollow.judge(document, outcome.body, message.url.host) if self._text else ("", 0)
        notes = cut + f" ({outcome.flaw})" * bool(outcome.flaw) + " (same text)" * same
        notes += f" ({hollow.NOTES[empty]})" if empty else ""
        counts = dict.fromkeys((*document.counts, *[cuts.COUNTED + name for name in visit.cuts]), 1)
        if message.is_sitemap:
            counts[SITEMAPS] = 1
        if outcome.truncated:
            counts["downloader/truncated"] = 1
        if empty:
            counts[hollow.COUNTED + empty] = found
        if outcome.flaw:
            counts["downloader/flawed"] = 1
        if known is not None and known.digest:
            counts["revisit/same_text" if same else "revisit/changed"] = 1
        if self._is_deepest(lease) and self._leads_on(document):
            counts[TOO_DEEP] = 1
        return landed_of(
            lease,
            outcome,
            f"{outcome.status} {len(outcome.body)} {document.mime}{notes}",
            status=outcome.status,
            counts=counts,
            visit=visit,
            warnings=document.warnings,
            error=bool(outcome.truncated or outcome.flaw or visit.cuts),
        )

    def _cuts(self, outcome: Fetched, document: Document) -> Mapping[str, int]:
        """What was not read of a page, and by which limits."""
        found = document.cuts
        if outcome.truncated:
            found = (cuts.ENDS_EARLY if outcome.flaw else cuts.FILE if document.mime in KINDS else cuts.PAGE, *found)
        most = self._limits.get(cuts.TEXT)
        if most is not None and document.index:
            whole = all(cuts.cut_text(text, most) is text for text in (document.raw_text, document.other_text))
            found = found if whole else (*found, cuts.TEXT)
        return {name: 0 if name == cuts.PROCESSOR else self._limits.get(name, 0) for name in found} if found else _NONE

    def follow(self, landed: Sequence[Landed]) -> Mapping[str, Sequence[str]]:
        """Give pages the messages of their links. Return the access forms of links that a filter would drop, by its name.

        Nine of ten links lead to pages that were visited. To make messages of them, only to have the handler drop them, takes
        three times as long as to ask first, for all pages together. An order needs all links, as each says something of its
        target.
        """
        pages = {n: each.document for n, each in enumerate(landed) if each.document and not self._is_deepest(each.lease)}
        asks = self._recall if self._order is None else None
        joined = Links.joined([page.links for page in pages.values()])
        targets = joined.followed()
        dropped = asks(targets) if asks is not None and targets else {}
        accesses = joined.accesses.split("\n") if dropped else []
        seen, spared = dropped.get(SEEN), set[int]()
        if seen and self._news_among is not None:
            spared = self._news_among(joined, accesses, targets, seen)
        if dropped and any(_SITEMAPS in page.links.lines for page in pages.values()):
            followed = filter(_follows, chain.from_iterable(page.links for page in pages.values()))
            spared.update(n for n, link in enumerate(followed) if link.link_type == SITEMAP)
        known, over = dict[str, list[str]](), bytes(len(targets))
        for name, gone in dropped.items():
            drops = bytearray(map(gone.__contains__, targets))
            for place in spared:
                drops[place] = False
            if any(drops):
                known[name] = list(compress(accesses, drops))
                over = bytes(map(operator.or_, over, drops))
        end = 0
        for n, page in pages.items():
            follow = page.links.follow
            begin, end = end, end + len(follow) - follow.count(0)
            if self._order is not None or 0 in over[begin:end]:
                places = compress(compress(range(len(follow)), follow), map(operator.not_, over[begin:end]))
                landed[n].messages = self._messages(landed[n].lease.message, page, places)
        return known

    def _messages(self, message: URLMessage, page: Document, places: Iterable[int]) -> Sequence[URLMessage]:
        """Return the messages of links in these places."""
        access, depth = message.url.access, message.depth + 1
        found = [URLMessage(link.url, access, _kind(link, message, page), depth) for link in page.links.at(places)]
        return found if self._order is None else self._order.found(message, found)

    def _is_deepest(self, page: Lease) -> bool:
        return self.max_depth is not None and page.message.depth >= self.max_depth

    def _leads_on(self, document: Document) -> bool:
        """Whether there is a link that no filter is known to drop."""
        targets = set(document.links.followed())
        dropped = self._recall(list(targets)) if self._recall is not None and targets else {}
        return not targets <= set().union(*dropped.values())

    def _moved(self, lease: Lease, outcome: Moved) -> Landed:
        """A link of type 2, and the target as a message of its own (LARM-17)."""
        message = lease.message
        landed = landed_of(
            lease, outcome, f"{outcome.status} -> {without_credentials(outcome.location)}", status=outcome.status
        )
        kept = {KEPT: 1} if message.known is not None and message.known.digest and outcome.status not in GONE else {}
        try:
            target = self._join(message.url.access, outcome.location)
        except BadUrl as error:
            landed.counts.update({NOWHERE: 1, **kept})
            visit = Visit(page=message.url.access, url=message.url, depth=message.depth, status=outcome.status)
            return _lost_way(landed, visit, f"to {without_credentials(outcome.location)}, which is no address: {error}")
        same = target.fingerprint == message.url.fingerprint
        if not same:
            landed.counts.update(kept)
        visit = Visit(
            page=message.url.access, links=Links.of((Link(target, REDIRECT, ""),)), url=message.url, status=outcome.status
        )
        if message.redirects >= self._settings.redirects:
            landed.counts[TOO_MANY] = 1
            if same:
                landed = msgspec.structs.replace(landed, messages=self._for_spellings(message))
            return _lost_way(landed, visit, f"more than {message.redirects} in a row")
        chain = (*message.chain, message.url.fingerprint)
        stays = message.is_sitemap and (message.link_type & BY_ROBOTS or target.host == message.url.host)
        kind = message.link_type if stays else REDIRECT
        onward = URLMessage(target, message.url.access, kind, message.depth, message.redirects + 1)
        own = target.access == message.url.access
        tried = message.tried if own else (*message.tried, message.url.spelling)  # no circle by way of other pages goes on
        onward = msgspec.structs.replace(onward, released=message.released, chain=chain, tried=tried)
        ring = len(chain) - 1 - chain.index(target.fingerprint) if target.fingerprint in message.chain and not same else 0
        back = own or ring
        first = message.redirects < max(2, ring + 1) or (own and message.referrer != message.url.access)
        if back and outcome.keeps_cookies and first and target.host == message.url.host:
            return msgspec.structs.replace(landed, visit=visit, again=onward)  # once more, with the cookies
        if back:
            landed.counts[CIRCLE] = 1
            landed = msgspec.structs.replace(landed, messages=self._for_spellings(onward))
        why = "to itself" if own else ""
        if ring == 1 and target.host == message.url.host:
            why = f"in a circle by {message.url.access}"  # the page, not what sets its cookie, is asked for by a later run
            visit = Visit(page=target.access, url=target, depth=message.depth, status=outcome.status)
            landed = msgspec.structs.replace(landed, forgotten=message.known is None)
        if why:
            return _lost_way(landed, visit, why)
        if not same:
            messages = (onward,) if self._order is None else self._order.found(message, (onward,))
            return msgspec.structs.replace(landed, visit=visit, messages=messages)
        if message.known is not None:  # still the page that the storages have, but not at the address that this is known of
            onward = msgspec.structs.replace(onward, known=as_whole(message.known))
        return msgspec.structs.replace(landed, visit=visit, again=onward)

    def _other_spelling(self, message: URLMessage, outcome: Outcome) -> tuple[URLMessage | None, Sequence[URLMessage]]:
        """Return what to request in place of a refused spelling, such as ``/a/`` for ``/a/index.html``.

        If there is none, return the failed request for the visited filter, which knows the spellings that were linked.
        The page book keeps the first spelling.
        """
        if policy(outcome, message.tries, self._settings).retry:
            return None, ()
        failed = _failed(message)
        other = next((each for each in shorter(message.url, self._join) if each.spelling not in failed.tried), None)
        if other is None:
            return None, self._for_spellings(message)
        known = None if message.known is None else as_whole(message.known)
        return msgspec.structs.replace(failed, url=other, known=known), ()

    def _for_spellings(self, message: URLMessage) -> Sequence[URLMessage]:
        """Return the failed request for the visited filter, if there is one."""
        return () if self._news_among is None else (_failed(message),)

    def _no_page(self, message: URLMessage, outcome: Outcome, failure: str, status: int = 0) -> Visit | None:
        """For the page book: we may have had this page before, or it may be there the next time.

        None where it is tried again: what is in the river must not be in the book as well, or a revisit asks for it twice.
        """
        if (message.tried and not message.redirects) or policy(outcome, message.tries, self._settings).retry:
            return None
        return Visit(
            page=message.url.access,
            url=message.url,
            referrer=message.referrer,
            link_type=message.link_type,
            depth=message.depth,
            status=status,
            failure=failure,
        )


_NONE: Mapping[str, int] = {}
_SITEMAPS = f"\t{SITEMAP}\t".encode()
_follows = operator.attrgetter("follow")


def _failed(message: URLMessage) -> URLMessage:
    return msgspec.structs.replace(message, tried=(*message.tried, message.url.spelling), tries=0)


def _kind(link: Link, message: URLMessage, document: Document) -> int:
    """Return the type of a link's message.

    Only robots.txt, and an index that it names, may name sitemaps on other hosts (sitemaps.org), or each page could send the
    crawl to any host. An index that an index lists names none, so this ends.
    """
    if link.link_type != SITEMAP:
        return link.link_type
    is_index = document.lastmods is not None  # or a page, which may be in the place of a sitemap
    by_robots = message.link_type & BY_ROBOTS if is_index else 0
    if (is_index and message.link_type & LISTED) or not (by_robots or link.url.host == message.url.host):
        return ORDINARY
    return SITEMAP | by_robots | (LISTED if is_index else 0)


def _is_as_before(known: Known, outcome: Fetched | NotModified) -> bool:
    """Return True if the header of a response says nothing new of a page whose body is unchanged."""
    headers, restricted, tag = outcome.headers, outcome.restricted, tag_of(outcome.headers)
    if isinstance(outcome, NotModified):
        restricted = renewed(known.restricted, headers, restricted)
        tag = tag if "x-robots-tag" in headers else known.tag
    return (restricted, tag) == (known.restricted, known.tag)


def _lost_way(landed: Landed, visit: Visit, why: str) -> Landed:
    """A redirect that is not followed."""
    visit = msgspec.structs.replace(visit, failure=f"redirects, {why}")
    return msgspec.structs.replace(landed, visit=visit, error=True, log_line=f"{landed.log_line}: {why}")


def _unchanged(message: URLMessage, status: int, headers: dict[str, str]) -> Visit:
    """For the page book: the page that we have is still the one that is there."""
    return Visit(page=message.url.access, url=message.url, status=status, headers=headers)


def _without_validators(headers: dict[str, str]) -> dict[str, str]:
    """Of a body that is not what the server has: or it would be "not modified" for ever."""
    return {name: value for name, value in headers.items() if name not in ("etag", "last-modified")}
