"""The small web that `larm demo` serves: a village on five hosts, readable, with a little of everything that a crawler meets.

Its pages are the files ``demo/<host>.txt``: a line ``== /path Title`` begins a page, paragraphs follow with ``[text](href)``
links, ``bakery:/bread`` being a page of another host. What is special is below: two hosts forbid a page, one page has moved,
two links are dead, and the archive is slow. Served on the thread of `SyntheticWeb`.
"""

import html as markup
import re
from importlib import resources
from typing import Self

from larm.testing.web import SyntheticWeb

HOSTS = ("village", "library", "bakery", "lighthouse", "archive")
SEARCHES = ("tide causeway", "sourdough", "great storm", "who keeps the lighthouse", "pirates", "ship's biscuit")
"""Queries that find something there."""
SLOW = 0.8
"""Seconds that the archive takes for an answer."""

_PAGE = re.compile(r"^== (\S+) (.+)\n", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]+)\]\((?:(\w+):)?([^)]+)\)")


class DemoWeb(SyntheticWeb):
    """The village, served while the context lasts."""

    def __enter__(self) -> Self:
        super().__enter__()
        for name in HOSTS:
            source = resources.files("larm.testing").joinpath("demo", f"{name}.txt").read_text(encoding="utf-8")
            for path, title, text in _pages(source):
                self.host(f"{name}.localhost").page(path, title, body=self._paragraphs(text))
        village = self.host("village.localhost")
        village.robots("User-agent: *\nDisallow: /drafts/\n")
        village.redirect("/guide.htm", "/walk")
        self.host("bakery.localhost").robots("User-agent: *\nDisallow: /till\n")
        self.host("archive.localhost").delay = SLOW
        return self

    @property
    def start_urls(self) -> list[str]:
        """The home page of each host, so that the scope of a crawl is the village and no more."""
        return [self.url(f"{name}.localhost") for name in HOSTS]

    def _paragraphs(self, text: str) -> str:
        paragraphs = (markup.escape(" ".join(each.split()), quote=False) for each in text.split("\n\n"))
        return "".join(f"<p>{_LINK.sub(self._link, each)}</p>\n" for each in paragraphs if each)

    def _link(self, match: re.Match[str]) -> str:
        anchor, name, path = match.groups()
        return f'<a href="{self.url(f"{name}.localhost", path) if name else path}">{anchor}</a>'


def _pages(source: str) -> list[tuple[str, str, str]]:
    """Path, title and text of each page."""
    _, *parts = _PAGE.split(source)
    return list(zip(parts[::3], parts[1::3], parts[2::3], strict=True))


def serve_demo(port: int = 0) -> DemoWeb:
    """The demo web as a context manager; ``port`` 0 takes a free one."""
    return DemoWeb(port)
