"""NamedWeb: a generated web of which is known what a crawl of it has to fetch; and how it is served.

A web is a pure function from addresses to answers, so it can be served over loopback (`serve`), or asked without any network:
a simulation follows ``resolved(address, link)`` of a page's links. Addresses are URLs without a port. Nothing is stored for a
page, and the same address has the same answer in every process.
"""

import html as markup
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urldefrag, urljoin, urlsplit

from larm.testing.replies import Reply, html, moved
from larm.testing.request_log import Request
from larm.testing.web import SyntheticWeb


@dataclass(frozen=True)
class Page:
    """An HTML page."""

    title: str
    text: str = ""
    """Paragraphs, an empty line between two."""
    links: Sequence[str | tuple[str, str]] = ()
    """Addresses as they are written in the page, or pairs of address and link text."""
    around: str = ""
    """What all pages of the host say, beside their main text."""
    status: int = 200
    language: str = "en"

    @property
    def targets(self) -> list[str]:
        """Its links without their texts."""
        return [link if isinstance(link, str) else link[0] for link in self.links]


@dataclass(frozen=True)
class Moved:
    """A redirect."""

    to: str
    status: int = 302

    @property
    def targets(self) -> list[str]:
        """Where it leads, as if it were a page's only link."""
        return [self.to]


Answer = Page | Moved
Answers = Callable[[str, str], Answer]
"""From a host and a request target (path and query) to what is there."""
_HARD = re.compile(r"#|\.\.?/|^//")
"""What a link to a path of the same host must not have, to need no parser."""
NOTHING = Page("Not found", "There is nothing of that name.", status=404)


@dataclass(frozen=True)
class NamedWeb:
    """One or several hosts, and what is expected of a crawler."""

    name: str
    starts: tuple[str, ...]
    """Where a crawl begins."""
    real: frozenset[str]
    """Addresses of all pages that have to be fetched."""
    answers: Answers
    within: int
    """So many requests, breadth first and without any rule about traps, have all real pages among them."""
    budget: int | None = None
    """So many requests may be spent on all of it; None: not known, as only a bound for hosts ends it."""
    trap: bool = False
    """Goes on beyond the real pages: for ever, or for very long."""
    further: tuple[str, ...] = ()
    """Hosts without real pages, which the others link to."""
    real_name: Callable[[str], str] = str
    """By which of the real addresses a page is known that is reached by several."""

    @property
    def hosts(self) -> tuple[str, ...]:
        """All that answer, those of the start addresses first."""
        return tuple(dict.fromkeys([*(host_of(each) for each in (*self.starts, *sorted(self.real))), *self.further]))

    def answer(self, address: str) -> Answer:
        """What is there."""
        parts = urlsplit(address)
        return self.answers(parts.netloc, (parts.path or "/") + (f"?{parts.query}" if parts.query else ""))

    def found(self, addresses: Iterable[str]) -> set[str]:
        """The real pages among addresses that were fetched."""
        return {self.real_name(each) for each in addresses} & self.real


def finite(name: str, host: str, targets: Iterable[str], answers: Answers, starts: Iterable[str] = ("/",)) -> NamedWeb:
    """A site of one host, all of whose pages are real and have one address."""
    real = frozenset(f"http://{host}{each}" for each in targets)
    return NamedWeb(name, tuple(f"http://{host}{each}" for each in starts), real, answers, len(real), len(real))


def resolved(address: str, link: str) -> str:
    """Where a link on that page leads, without its fragment."""
    if link.startswith("/") and not _HARD.search(link):
        return address[: address.index("/", 7)] + link
    url = urldefrag(urljoin(address, link)).url
    return url if url.count("/") > 2 else f"{url}/"


def host_of(address: str) -> str:
    """Its host."""
    return address[7:].partition("/")[0]


def serve(named: NamedWeb, web: SyntheticWeb) -> list[str]:
    """Have the server answer for the web's hosts; returns the start URLs, with the port."""

    def reply(request: Request) -> Reply:
        return rendered(named.answers(request.host, request.path), web.port)

    for host in named.hosts:
        web.host(host).otherwise(reply)
    return [with_port(start, web.port) for start in named.starts]


def fetched(named: NamedWeb, web: SyntheticWeb) -> set[str]:
    """The real pages that were answered."""
    return named.found(f"http://{key}" for host in named.hosts for key in web.fetched(host))


def rendered(answer: Answer, port: int) -> Reply:
    """As it goes over the wire."""
    if isinstance(answer, Moved):
        return moved(with_port(answer.to, port), answer.status)
    title = markup.escape(answer.title)
    paragraphs = "".join(f"<p>{markup.escape(each)}</p>\n" for each in answer.text.split("\n\n") if each)
    pairs = ((link, link) if isinstance(link, str) else link for link in answer.links)
    items = "".join(
        f'<li><a href="{markup.escape(with_port(href, port))}">{markup.escape(text)}</a></li>\n' for href, text in pairs
    )
    around = f"<footer><p>{markup.escape(answer.around)}</p></footer>\n" if answer.around else ""
    return html(
        f'<!DOCTYPE html>\n<html lang="{answer.language}">\n<head><meta charset="utf-8"><title>{title}</title></head>\n<body>\n'
        f"<main><h1>{title}</h1>\n{paragraphs}</main>\n"
        + (f"<ul>\n{items}</ul>\n" if items else "")
        + f"{around}</body>\n</html>\n",
        status=answer.status,
    )


def with_port(address: str, port: int) -> str:
    """An address of these webs with the server's port; a relative one as it is."""
    if not address.startswith("http://"):
        return address
    host, slash, path = address[7:].partition("/")
    return f"http://{host}:{port}{slash}{path}"
