"""What a page and its headers ask of crawlers: robots directives, refresh, the Link header. Pure; any thread."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_AGENT = re.compile(r"\s*([a-z*][a-z0-9_*-]*)\s*:\s*(.*)", re.IGNORECASE | re.DOTALL)
_WITH_VALUE = frozenset({"max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"})
_REFRESH = re.compile(
    r"\s*+[\d.]++(?:\s*+[;,]\s*+|\s++)(?:url\s*+=\s*+)?(?:\"([^\"]*)|'([^']*)|(.+))", re.IGNORECASE | re.DOTALL
)
_LINK = re.compile(r"<([^<>]*)>((?:\s*+;\s*+[^\s=;,]++\s*+(?:=\s*+(?:\"[^\"]*\"|[^\s;,\"]*+))?)*+)")
_REL = re.compile(r";\s*rel\s*=\s*(?:\"([^\"]*)\"|([^\s;,\"]*))", re.IGNORECASE)


class Robots(NamedTuple):
    """What may be done with a page."""

    indexed: bool = True
    follow: bool = True

    def also(self, tokens: list[str]) -> Robots:
        """These rules and, on top of them, the ones of ``tokens``."""
        none = "none" in tokens
        return Robots(
            self.indexed and not none and "noindex" not in tokens, self.follow and not none and "nofollow" not in tokens
        )


def of_meta(robots: Robots, content: str) -> Robots:
    """With the rules of a ``<meta name=robots>``."""
    return robots.also([token.strip().lower() for token in content.split(",")])


def of_header(robots: Robots, header: str, product: str = "larm") -> Robots:
    """With the rules of X-Robots-Tag. Those behind ``otherbot:`` are for that crawler alone, up to the next name."""
    tokens: list[str] = []
    ours = True
    for part in header.split(","):
        directive = part
        match = _AGENT.match(part)
        if match and match[1].lower() not in _WITH_VALUE:
            ours = match[1].lower() in (product, "*")
            directive = match[2]
        if ours:
            tokens.append(directive.strip().lower())
    return robots.also(tokens)


def refresh_target(content: str) -> str:
    """The URL of a refresh (WHATWG HTML 4.2.5.3), as it stands there; empty where it only reloads the page."""
    match = _REFRESH.match(content)
    return (match[1] or match[2] or match[3] or "").strip() if match else ""


def header_links(header: str) -> Iterator[tuple[str, str]]:
    """The (target, rel) of each link of a Link header (RFC 8288)."""
    for match in _LINK.finditer(header):
        rel = _REL.search(match[2])
        yield match[1], (rel[1] or rel[2] or "") if rel else ""
