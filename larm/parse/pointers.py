"""Where a page points beside its ``<a>``: refresh, the Link header, canonical and alternate addresses. Pure; any thread."""

import re
from collections.abc import Iterator, Sequence

from larm.model.document import Alternate
from larm.model.url import Url
from larm.parse.page import Attributes, Element

_REFRESH = re.compile(
    r"\s*+[\d.]++(?:\s*+[;,]\s*+|\s++)(?:url\s*+=\s*+)?(?:\"([^\"]*)|'([^']*)|(.+))", re.IGNORECASE | re.DOTALL
)
_LINK = re.compile(r"<([^<>]*)>((?:\s*+;\s*+[^\s=;,]++\s*+(?:=\s*+(?:\"[^\"]*\"|[^\s;,\"]*+))?)*+)")
_PARAMETER = re.compile(r";\s*([^\s=;,]+)\s*(?:=\s*(?:\"([^\"]*)\"|([^\s;,\"]*)))?")

MAX_ALTERNATES = 1_000
"""Of a page; there are fewer languages."""

Related = tuple[Attributes, Url]
"""A ``<link>`` and where it leads."""


def refresh_target(content: str) -> str:
    """The URL of a refresh (WHATWG HTML 4.2.5.3), as it stands there; empty where it only reloads the page."""
    match = _REFRESH.match(content)
    return (match[1] or match[2] or match[3] or "").strip() if match else ""


def header_elements(link: str, refresh: str) -> list[Element]:
    """What the headers Link (RFC 8288) and Refresh say, as the elements that would say the same."""
    found: list[Element] = [("link", attributes, "") for attributes in _header_links(link)]
    if refresh:
        found.append(("refresh", {"href": refresh_target(refresh)}, ""))
    return found


def _header_links(header: str) -> Iterator[Attributes]:
    for match in _LINK.finditer(header):
        attributes: dict[str, str | None] = {}
        for name, quoted, plain in _PARAMETER.findall(match[2]):
            attributes.setdefault(name.lower(), quoted or plain)
        if "anchor" in attributes:  # it is about another page (RFC 8288 3.2)
            continue
        yield {**attributes, "href": match[1]}


def canonical(links: Sequence[Related], page: Url) -> Url | None:
    """The address under which a page wants to be known; None where it says none, or its own.

    The first ``rel=canonical`` counts, a header before the page. It may name another host: what a page gives away is only
    itself, so nobody gains by a lie. With ``hreflang`` or ``media`` it speaks of another edition of the page.
    """
    for attributes, url in links:
        if "canonical" in (attributes.get("rel") or "").lower().split() and not (
            attributes.get("hreflang") or attributes.get("media")
        ):
            return None if url.fingerprint == page.fingerprint else url
    return None


def alternates(links: Sequence[Related]) -> tuple[Alternate, ...]:
    """The editions of a page in other languages: ``rel=alternate`` with ``hreflang``, each once, in their order."""
    found: dict[Alternate, None] = {}
    for attributes, url in links:
        language = (attributes.get("hreflang") or "").strip().lower()
        if language and "alternate" in (attributes.get("rel") or "").lower().split() and len(found) < MAX_ALTERNATES:
            found[Alternate(language[:35], url)] = None  # the longest tag that software must take (RFC 5646 4.4.1)
    return tuple(found)
