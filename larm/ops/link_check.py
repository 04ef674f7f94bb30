"""LinkCheck: which links of a directory's pages are broken, redirected, or lead outside. For ``larm links``; main thread.

What became of a URL is in the page book; the links are those of the pages as they are stored now. Nothing is fetched: a link
that the crawl did not follow (out of scope, robots.txt, nofollow, depth) is not checked, and counted as such. Memory grows with
what is found, and by eight bytes for each URL that was fetched.
"""

import enum
import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec

from larm.building.scoping import as_before, scope_of
from larm.config import Config
from larm.crawldir.state import PAGES, QUEUES, forgotten_of, last_header
from larm.engine.causes import cause_of_status
from larm.errors import UsageError
from larm.frontier.hosts import HostBook
from larm.kit.clock import SystemClock
from larm.kit.counted import counted
from larm.kit.disk.block_store import BlockStore
from larm.kit.disk.files import is_there
from larm.model.forgotten import ForgottenPages
from larm.model.message import START, URLMessage
from larm.model.url import BadUrl, Url
from larm.ops.explain import NOT_READ, end_of, robots_troubles, waits_at
from larm.ops.fragment_check import FragmentCheck
from larm.ops.stored_pages import StoredPage, StoredPages
from larm.ops.verdict import Waits
from larm.parse.fragments import HTML
from larm.store.pages.page_row import Answer
from larm.store.pages.page_rows import page_rows

_MALFORMED = re.compile(r"malformed link (['\"])(.+)\1: (.+)", re.DOTALL)
_IN_A_CIRCLE = "redirects, in a circle"


class Kind(enum.StrEnum):
    """What may be asked for."""

    BROKEN = "broken"
    REDIRECTED = "redirected"
    EXTERNAL = "external"


class Referrer(msgspec.Struct, frozen=True):
    """A link to it."""

    page: str
    text: str


class Finding(msgspec.Struct):
    """An address, and the links that lead to it."""

    kind: Kind
    url: str
    status: int
    """Of HTTP; 0 where there is none: no answer, not asked for, or the page is there and the place in it is not."""
    why: str
    """What is wrong; where a redirect leads in the end."""
    links: list[Referrer]


class Checked(msgspec.Struct, frozen=True):
    """The answer."""

    findings: list[Finding]
    """By kind, then in the order in which their links were found."""
    links: int
    """That were looked at, each once a page."""
    unchecked: int
    """Of them, links within the crawl that were not asked for."""


class _Known:
    """What became of all URLs: of those that are fine only that they are."""

    def __init__(self, path: Path, forgotten: ForgottenPages) -> None:
        self._asked = array("Q")
        self.troubles: dict[int, Answer] = {}
        for key, row in page_rows(path):
            if not row.stored and forgotten.holds(row.normalised):  # nobody knows any more
                continue
            if not row.only_forbidden:
                self._asked.append(key)
            if row.last.forbidden:
                continue
            if row.last.moved or row.last.why or row.last.status >= 400:
                self.troubles[key] = row.last

    def __contains__(self, key: int) -> bool:
        place = bisect_left(self._asked, key)
        return place < len(self._asked) and self._asked[place] == key


class LinkCheck:
    """Of one directory; used once."""

    def __init__(self, settings: Config, directory: Path, kinds: frozenset[Kind], *, places: bool) -> None:
        """``places``: also look whether fragments lead to a place. Raises UsageError where there is no crawl, StorageError."""
        book = directory / QUEUES / PAGES
        if not is_there(book):
            raise UsageError(f"no crawl in {directory}; --dir names another directory")
        # constant after construction
        self._known = _Known(book, ForgottenPages(forgotten_of(last_header(directory)).items))
        embedded = msgspec.structs.replace(settings.processing, follow_embedded=True)  # or style sheets would have no links
        self._pages = StoredPages(msgspec.structs.replace(settings, processing=embedded), directory)
        self.left_out = self._pages.left_out
        """Pages that can't be read."""
        self._kinds = kinds
        self._scope = scope_of(as_before(settings, self._pages.header), self._pages.normalizer, self._pages.header)
        ask = places and Kind.BROKEN in kinds
        self._fragments = FragmentCheck(self._pages.normalizer, settings.processing.effort) if ask else None
        # only the calling thread
        self._found: dict[tuple[Kind, str], Finding] = {}
        self._verdicts: dict[int, tuple[Kind, int, str] | None] = {}
        self._links = self._unchecked = 0
        self._store = BlockStore(directory / QUEUES, read_only=True)
        self._hosts = HostBook(self._store, settings.frontier, SystemClock())
        self._troubles = robots_troubles(directory)

    def run(self) -> Checked:
        """Look at all links."""
        with self._pages, closing(self._store):
            for address in self._pages.header.start_urls if self._pages.header else ():
                if (url := self._parsed(address)) is not None:
                    self._follow(url, Referrer(START, ""))
            for page in self._pages:
                self._look_at(page)
            if self._fragments is not None:
                for address, place, referrer in self._fragments.broken(self._resolved):
                    self._note(Kind.BROKEN, f"{address}#{place}", 0, "no such place in the page", Referrer(*referrer))
        return Checked(sorted(self._found.values(), key=lambda each: list(Kind).index(each.kind)), self._links, self._unchecked)

    def _look_at(self, page: StoredPage) -> None:
        if (document := self._pages.read_whole(page)) is None:
            return
        for link in document.links:
            self._follow(link.url, Referrer(page.url.access, link.anchor))
        for warning in document.warnings:
            address, why = malformed(warning.removeprefix(f"{page.url.access}: "))
            if address:
                self._note(Kind.BROKEN, address, 0, f"malformed: {why}", Referrer(page.url.access, ""))
        if self._fragments is not None and document.mime in HTML and (body := self._pages.body(page)):
            self._fragments.add(page.url, body)

    def _follow(self, url: Url, referrer: Referrer) -> None:
        self._links += 1
        judged = self._judge(url)
        if judged is not None:
            kind, status, why = judged
            self._note(kind, url.access, status, why, referrer)
        elif url.fingerprint not in self._known:
            self._unchecked += 1

    def _judge(self, url: Url) -> tuple[Kind, int, str] | None:
        key = url.fingerprint
        if key not in self._verdicts:
            self._verdicts[key] = self._verdict(url)
        return self._verdicts[key]

    def _verdict(self, url: Url) -> tuple[Kind, int, str] | None:
        first = self._known.troubles.get(url.fingerprint)
        if first is None:
            return None if url.fingerprint in self._known else self._unasked(url)
        last, address = end_of(first, self._answer_at)
        if last is not None and (last.status >= 400 or last.why or last.moved):
            said = last.why or (_IN_A_CIRCLE if last.moved else cause_of_status(last.status))
            return Kind.BROKEN, last.status, f"redirects to {address}: {said}" if address else said
        return (Kind.REDIRECTED, first.status, address) if first.moved else None

    def _unasked(self, url: Url) -> tuple[Kind, int, str] | None:
        """Of one that the page book has nothing of: it is outside, or it waits, perhaps at a host that does not answer."""
        if self._scope.explain(URLMessage(url)) is not None:
            return Kind.EXTERNAL, 0, "not checked: outside of the crawl"
        with self._hosts.lock:
            host = self._hosts.find_locked(url.host)
        why = "" if host is None else _trouble(waits_at(host, url, self._troubles))
        return (Kind.BROKEN, 0, why) if why else None

    def _answer_at(self, address: str) -> Answer | None:
        """None: a page, or nobody asked."""
        url = self._parsed(address)
        return None if url is None else self._known.troubles.get(url.fingerprint)

    def _resolved(self, url: Url) -> Url:
        """The page that answers for a URL in the end."""
        answer = self._known.troubles.get(url.fingerprint)
        if answer is None or not answer.moved:
            return url
        return self._parsed(end_of(answer, self._answer_at)[1]) or url

    def _parsed(self, address: str) -> Url | None:
        try:
            return self._pages.normalizer.parse(address)
        except BadUrl:
            return None

    def _note(self, kind: Kind, url: str, status: int, why: str, referrer: Referrer) -> None:
        if kind not in self._kinds:
            return
        finding = self._found.get((kind, url))
        if finding is None:
            finding = self._found[kind, url] = Finding(kind, url, status, why, [])
        if referrer not in finding.links[-3:]:  # an address that a page has twice, with one text
            finding.links.append(referrer)


def _trouble(waits: Waits) -> str:
    if waits.given_up:
        return f"its host was given up: {waits.given_up}"
    if waits.tries:
        return f"failed {counted(waits.tries, 'time')}"
    return "" if waits.robots == NOT_READ else waits.robots


def malformed(warning: str) -> tuple[str, str]:
    """(address, what is wrong with it) where the warning of a page is about a malformed link; else both are empty."""
    found = _MALFORMED.fullmatch(warning)
    return (found[2], found[3]) if found else ("", "")


def rows_of(findings: list[Finding]) -> Iterator[dict[str, object]]:
    """A row for each link, for tables."""
    for each in findings:
        for link in each.links:
            yield {
                "kind": each.kind.value,
                "status": each.status or "",
                "url": each.url,
                "why": each.why,
                "text": link.text,
                "page": link.page,
            }
