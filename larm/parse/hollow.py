"""Which pages have nothing to search: built by scripts, a challenge, a login form, empty, or asking for it.

Called by `larm.engine.landing` for each page, on the threads that fetch. Outside its links a page seldom says as little as what
is asked here, so most pages cost some comparisons.

A page is built by scripts if it has scripts, a place for what they build, and nothing of its own. A page with
few words is judged alone, any other by what all pages of its host share, however long their menus are.
"""

import re
import threading
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Final

from larm.model import hollow
from larm.model.cuts import PROCESSOR
from larm.model.document import Document
from larm.parse.apart.protocol import KINDS

_WITHOUT_WORDS = ("image", "audio", "video", "font", "inode")  # by nature
_FOR_PROGRAMS = ("text/css", "text/javascript")
_SHORT = 600  # characters of a page that is a form or a challenge: menus and a notice
_NOTHING = 200  # characters outside links that a page has beside an empty place for an application: a footer
_NOTICE = 60  # characters of "loading", of a name, in place of the page
_LABEL = 20  # characters of a heading that is no more than "loading"
_FEW = 3  # links to other pages that a page has of its own: imprint, privacy, home
_LOOKED_AT = 200_000  # bytes; what is asked for stands in the head, or soon behind it
_MOUNTS, _WITHIN = 3, 50_000  # places for applications that are read, and bytes of each: all may be open to the end of the page
_HOSTS, _LINES, _ASKED = 500, 500, 50
"""What a judge remembers: hosts, lines of each, and pages of a host after which it asks no more if none was like the others."""
# Of pages in lower case: re.IGNORECASE takes ten times as long.
_PASSWORD = re.compile(rb"<input[^>]{0,500}?\btype\s*=\s*[\"']?password\b")
_NOSCRIPT = re.compile(rb"<noscript\b[^>]{0,500}+>(.{0,1000}?)</noscript", re.DOTALL)
_FRAME = re.compile(rb"<iframe\b[^>]{0,500}?\ssrc\s*=(?!\s*[\"']?(?:javascript|about):)")
_REFRESH = re.compile(rb"http-equiv\s*=\s*[\"']?refresh\b")
_MEDIA = re.compile(  # what is content without being text
    rb"<(?:img(?![^>]{0,500}?(?:load|spin|logo))|video|audio|object|embed|select|textarea"
    rb"|input(?![^>]{0,500}?\btype\s*=\s*[\"']?hidden))\b[^>]{0,1000}+"
)
_MOUNT = re.compile(  # where frameworks put an application
    rb"<(?:(div|main|section)\b[^>]{0,200}?\bid\s*=\s*[\"']?(?:(?:vue|react|ember|main|my|q|js)-)?"
    rb"(?:root|app|app-root|_+next|_+nuxt|_+gatsby|svelte|application)(?=[\"'\s>])|((?:[a-z]{1,30}-)?(?:app-root|app|root)\b))"
    rb"[^>]{0,500}+>"
)
_EMPTY = re.compile(rb"<(div|section|article)\b(?=[^>]{0,500}?\bid\s*=)[^>]{0,500}+>(?:\s++|<!--.{0,500}?-->)*+</\1", re.DOTALL)
_EMPTY_MAIN = re.compile(rb"<main\b[^>]{0,500}+>(?:\s++|<!--.{0,500}?-->)*+</main", re.DOTALL)
_WAITS = re.compile(
    rb"class\s*=\s*[\"']?[^\"'>]{0,500}?\b(?:skeleton|spinner|loading|loader|shimmer)|aria-busy\s*=\s*[\"']?true\b"
    rb"|\sng-(?:app|view)\b|\sv-cloak\b"
)
_HEADING = re.compile(rb"<h[1-6]\b")
_LINK = re.compile(rb"<a\b[^>]{0,1000}+>.{0,500}?</a\b", re.DOTALL)
_TAG = re.compile(rb"<!--.{0,500}?-->|<[^<>]{0,1000}>|\{\{[^{}]{0,200}+\}\}", re.DOTALL)
_CHALLENGES: Final = (  # what the common ones are made of
    b"/cdn-cgi/challenge-platform,cf-chl,cf_chl,cf-turnstile,_incapsula_resource,sucuri_cloudproxy,awswaf,aws-waf-token"
    b",captcha-delivery.com,px-captcha,perimeterx,ddos-guard,botverification,bot verification,anubis_challenge,id=anubis"
    b',id="anubis,g-recaptcha,h-captcha,smartcaptcha,checking your browser'
    b",verify you are human,verify you are a human,verify that you are human,verify that you are a human"
    b",verifying you are human,verifying you are a human,verifying that you are human,verifying that you are a human"
).split(b",")


class HollowJudge:
    """Judges the pages of a crawl, each beside those of its host. Thread-safe; what it remembers is bounded, and not saved."""

    def __init__(self) -> None:
        # constant after construction
        self._lock = threading.Lock()
        # guarded by self._lock
        self._hosts: dict[str, _Host] = {}

    def judge(self, document: Document, body: bytes, host: str) -> tuple[str, int]:
        """Return a name of `larm.model.hollow`, or nothing, and the number of pages that have it.

        Earlier pages count as well of which only the later ones tell that they share all they have.
        """
        if document.mime not in hollow.PAGES:
            return _of_file(document, body), 1
        if not document.index:
            return "" if PROCESSOR in document.cuts else hollow.NOINDEX, 1
        lines, name = [], ""
        if document.outside <= hollow.LONG:
            text = f"{document.raw_text}\n{document.other_text}"
            lines = list(filter(None, map(str.strip, text.split("\n"))))
            name = _of_short(document, body, lines)
        with self._lock:
            known = self._hosts[host] = self._hosts.pop(host) if host in self._hosts else _Host()
            if len(self._hosts) > _HOSTS:
                del self._hosts[next(iter(self._hosts))]
            shared = known.shares(lines if known.asks else ())
        low = body[:_LOOKED_AT].lower() if shared and not name else b""
        if name or not shared or not _may_be_built(document, low) or not _has_place(document, low):
            return name, 1
        media = frozenset(_MEDIA.findall(low))
        with self._lock:
            found = known.shells(media)
        return (hollow.SCRIPTS, found) if found else ("", 1)


class _Host:
    """What pages of one host have in common."""

    def __init__(self) -> None:
        self.asks = True
        """The next page may have nothing of its own."""
        self._pages = 0
        self._seen = Counter[str]()
        self._media: frozenset[bytes] | None = None
        self._untold = 1
        """Pages without anything of their own that were not known to be so: the first one, and the first with other media."""

    def shares(self, lines: Sequence[str]) -> bool:
        """Add a page. Return True if each of its lines with a letter is on at least half of the pages of its host."""
        self._pages += 1
        if lines:
            self._seen.update(set(lines))
        if len(self._seen) > _LINES:
            self._seen = Counter(dict(self._seen.most_common(_LINES // 2)))
        least = max(2, self._pages / 2)
        shared = bool(lines) and not any(self._seen[line] < least and any(map(str.isalpha, line)) for line in lines)
        self.asks = shared or self._untold != 1 or self._pages < _ASKED
        return shared

    def shells(self, media: frozenset[bytes]) -> int:
        """Return how many pages are told now to be built by scripts, given the pictures and fields of one that shares all text.

        A gallery has other pictures on each page.
        """
        told = self._untold + 1 if media == self._media else 0
        self._media, self._untold = media, 0 if told else self._untold + 1
        return told


def _of_file(document: Document, body: bytes) -> str:
    if document.raw_text or document.fields or document.cuts or not document.index:
        return ""
    if document.mime in KINDS:  # a scanned book with an outline is one, too
        return hollow.DOCUMENT
    if document.other_text:
        return ""
    family, _, kind = document.mime.partition("/")
    if family == "text" and (document.mime in _FOR_PROGRAMS or not body.strip()):
        return ""
    silent = family in _WITHOUT_WORDS or kind == "xml" or kind.endswith("+xml")
    return "" if document.links or silent else hollow.UNREAD


def _of_short(document: Document, body: bytes, lines: Sequence[str]) -> str:
    size, anchors = sum(map(len, lines)), document.links.anchors
    if size > _SHORT and size - len(anchors) > hollow.LONG // 2:
        return ""
    linked = frozenset(anchors.split("\n"))  # a page may have each link in two menus
    words = min(size - len(anchors), sum([len(line) for line in lines if line not in linked]))
    if size > _SHORT and words > _NOTHING:
        return ""
    body = body[:_LOOKED_AT].lower()
    links = len(set(document.links.followed()))
    if size <= _SHORT:
        if b"<script" in body and any(name in body for name in _CHALLENGES):
            return hollow.CHALLENGE
        if _PASSWORD.search(body):
            return hollow.LOGIN
    if words <= _NOTHING and _may_be_built(document, body):
        few = links <= _FEW and words <= _NOTICE and not document.headings
        if _has_mount(body) or (few and (_waits(body, lines) or (words <= _NOTICE // 2 and _has_notice(body)))):
            return hollow.SCRIPTS
    return "" if lines or links else hollow.EMPTY


def _waits(body: bytes, lines: Sequence[str]) -> bool:
    """Return True if a page shows that its text is yet to come, or has nothing at all."""
    if lines:
        return _WAITS.search(body) is not None or "javascript" in "".join(lines).lower()
    return _MEDIA.search(body) is None


def _may_be_built(document: Document, body: bytes) -> bool:
    """Return True if a page has scripts, and no frame or refresh that shows more than the page itself."""
    if b"<script" not in body or b"<frameset" in body or hollow.TEXT_IN_SCRIPTS in document.counts:
        return False
    body = _NOSCRIPT.sub(b"", body) if b"<noscript" in body else body
    return not (_REFRESH.search(body) or _FRAME.search(body))


def _has_place(document: Document, body: bytes) -> bool:
    """Return True if there is a place for what scripts build: that of an application, or any in a page without headings."""
    return _has_mount(body) or (not document.headings and bool(_EMPTY.search(body) or _WAITS.search(body) or _has_notice(body)))


def _has_notice(body: bytes) -> bool:
    """Return True if a page has words for browsers without scripts, in any language."""
    return any(_TAG.sub(b"", found).strip() for found in _NOSCRIPT.findall(body))


def _has_mount(body: bytes) -> bool:
    """Return True if the place of an application has nothing in it but some words, such as "loading"."""
    for mount in islice(_MOUNT.finditer(body), _MOUNTS):
        depth, end = 1, len(body)
        for tag in re.finditer(rb"<(/?)%b\b" % re.escape(mount[1] or mount[2]), body[mount.end() :]):
            depth += -1 if tag[1] else 1
            if not depth:
                end = mount.end() + tag.start()
                break
        end = min(end, mount.end() + _WITHIN)
        inner = _LINK.sub(b"", body[mount.end() : end])
        said = _TAG.sub(b"", inner).decode("utf-8", "replace").strip()
        some = _MEDIA.search(inner) or (len(said) > _LABEL and _HEADING.search(inner))
        if len(said) <= 2 * _NOTICE and not some and (len(inner) == end - mount.end() or _EMPTY.search(inner)):
            return True
    return _EMPTY_MAIN.search(body) is not None
