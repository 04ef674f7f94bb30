"""Where larm reads real pages otherwise than the lists of links-real, and why. Every directive is (file, reason)."""

from __future__ import annotations

DIRECTIVES = {
    "www1.wdr.de-Correctiv-Recherche.html": "unavailable_after: the day has passed, so the page is not indexed",
    "theverge/source.html": "nocache is Bing's word for noarchive",
}
"""The links that larm lacks are links to the page itself (``#``), which LARM-102 ignores."""
