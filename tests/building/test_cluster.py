"""What an agent finds again in its links.log after another one is lost."""

from __future__ import annotations

from pathlib import Path

from larm.building.cluster import _links
from larm.model.links import Link, Links
from larm.model.message import FRAME, ORDINARY, REDIRECT
from larm.model.url import URLNormalizer
from larm.store.store_log import format_links

PAGE = "http://a.example/"


def test_links_that_are_not_followed_are_not_found_again(tmp_path: Path) -> None:
    """Neither images nor what a page asks not to be followed; redirects are, whatever else is said of them."""
    normalizer, log = URLNormalizer(), tmp_path / "links.log"
    made = [
        Link(normalizer.parse("http://b.example/page"), ORDINARY, "page"),
        Link(normalizer.parse("http://b.example/image.png"), ORDINARY, "-", follow=False),
        Link(normalizer.parse("http://b.example/nofollow"), ORDINARY, "", follow=False),
        Link(normalizer.parse("http://b.example/frame"), FRAME, ""),
        Link(normalizer.parse("http://b.example/moved"), REDIRECT, "", follow=False),
    ]
    marked = format_links(PAGE, Links.of(made), marked=True)
    log.write_bytes(marked + b"torn")
    found = [message.url.access for message in _links(log, [PAGE], normalizer)]
    assert found == [PAGE, "http://b.example/page", "http://b.example/frame", "http://b.example/moved"]
