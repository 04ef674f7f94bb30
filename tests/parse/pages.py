"""Processes one page, as a crawl would."""

from __future__ import annotations

from larm.config import ProcessingSettings
from larm.model.document import Document
from larm.model.link_memo import LinkMemo
from larm.model.url import URLNormalizer
from larm.parse.by_mime import ByMime, processors
from larm.testing.fakes import message, page

PAGE = "http://a.localhost/dir/page.html"
normalizer = URLNormalizer()


def by_mime(text: bool = True, **settings: object) -> ByMime:
    return processors(LinkMemo(normalizer), ProcessingSettings(**settings), text=text)  # type: ignore[arg-type]


def document(
    html: str | bytes, url: str = PAGE, content_type: str = "text/html; charset=utf-8", **settings: object
) -> Document:
    headers = settings.pop("headers", {})
    assert isinstance(headers, dict)
    text = bool(settings.pop("text", True))
    return by_mime(text, **settings).process(message(url), page(html, content_type=content_type, **headers))


def links(html: str | bytes, **settings: object) -> list[tuple[str, int, str, bool]]:
    """(path or address, type, anchor, follow) of each link."""
    return [
        (link.url.access.removeprefix("http://a.localhost"), link.link_type, link.anchor, link.follow)
        for link in document(html, **settings).links
    ]
