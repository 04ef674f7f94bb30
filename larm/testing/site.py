"""Site: one virtual host of the synthetic web, and what it answers to each path.

Built by a test on its own thread, before or while the server's thread asks it (`answer`). Changes to a path take effect with
the next request; single dictionary operations, so no lock.
"""

import html as markup
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from email.utils import formatdate

from larm.testing.replies import Reply, html, moved
from larm.testing.request_log import Request

Handler = Callable[[Request], Reply]
"""Makes the answer from the request, on the server's thread; for webs without end."""

_FIRST_MODIFIED = 1_700_000_000  # a fixed date, so that two runs serve the same bytes


@dataclass(frozen=True)
class _Page:
    title: str
    text: str
    links: tuple[str | tuple[str, str], ...]
    head: str
    body: str
    delay: float
    version: int = 0


class Site:
    """One host. Every method that takes a ``path`` means the request target with its query, as the client sends it.

    ``{port}`` in links and in `redirect`'s target stands for the port of the server.
    """

    def __init__(self, name: str, port: int) -> None:
        # constant after construction
        self.name = name
        self.port = port
        # set by the test's thread, read by the server's
        self.delay = 0.0
        """Seconds that each answer of this host takes longer."""
        self.broken: Reply | None = None
        """Answer to everything, robots.txt included, while it is not None: a host that is down for a while."""
        self._replies: dict[str, Reply | Handler] = {}
        self._otherwise: Reply | Handler = Reply(404, {"Content-Type": "text/plain"}, b"not found\n")
        self._pages: dict[str, _Page] = {}
        # filled by the test's thread, emptied by the server's (deque is safe for that)
        self._first: dict[str, deque[Reply]] = {}

    def page(
        self,
        path: str,
        title: str = "",
        text: str = "",
        links: Iterable[str | tuple[str, str]] = (),
        *,
        head: str = "",
        body: str = "",
        delay: float = 0.0,
    ) -> None:
        """An HTML page with ETag and Last-Modified.

        ``text``: paragraphs, an empty line between two. ``links``: addresses, or pairs of address and link text.
        ``head``, ``body``: further markup, as it is.
        """
        self._publish(path, _Page(title, text, tuple(links), head, body, delay))

    def change(
        self,
        path: str,
        *,
        title: str | None = None,
        text: str | None = None,
        links: Iterable[str | tuple[str, str]] | None = None,
    ) -> None:
        """Publish a new version of a `page`, an hour younger, with another ETag. Raises KeyError where there is none."""
        old = self._pages[path]
        new = replace(
            old,
            title=old.title if title is None else title,
            text=old.text if text is None else text,
            links=old.links if links is None else tuple(links),
            version=old.version + 1,
        )
        self._publish(path, new)

    def add(self, path: str, reply: Reply | Handler) -> None:
        """Any other answer; see ``larm.testing.replies``."""
        self._replies[path] = reply

    def first(self, path: str, *replies: Reply) -> None:
        """The next requests of ``path`` get these, one each (503, 503, ...); then it answers as before."""
        self._first.setdefault(path, deque()).extend(replies)

    def otherwise(self, reply: Reply | Handler) -> None:
        """What paths that nobody added answer (404 by default), robots.txt excepted."""
        self._otherwise = reply

    def redirect(self, path: str, to: str, status: int = 301) -> None:
        """A redirect to ``to``, absolute or relative."""
        self.add(path, moved(to.replace("{port}", str(self.port)), status))

    def status(self, path: str, status: int, **headers: str) -> None:
        """A bare status with a line of text; ``headers`` with ``_`` for ``-``."""
        fields = {"Content-Type": "text/plain"} | {name.replace("_", "-"): value for name, value in headers.items()}
        self.add(path, Reply(status, fields, b"" if status in (204, 304) else b"status %d\n" % status))

    def robots(self, text: str) -> None:
        """Its robots.txt (without: 404). `status` gives it a bad one: ``site.status("/robots.txt", 503)``."""
        self.add("/robots.txt", Reply(200, {"Content-Type": "text/plain"}, text.encode()))

    def raw(self, path: str, answer: bytes, *, close: bool = True) -> None:
        """The bytes of a whole answer."""
        self.add(path, Reply(raw=answer, end="close" if close else "keep"))

    def remove(self, path: str) -> None:
        """From now on 404. Raises KeyError where there is nothing."""
        del self._replies[path]
        self._pages.pop(path, None)

    def answer(self, request: Request) -> Reply:
        """The answer to a request, 304 where its conditions say so. Only the server's thread."""
        if self.broken is not None:
            return self.broken
        first = self._first.get(request.path)
        if first:
            return first.popleft()
        found = self._replies.get(request.path)
        if found is None:
            found = _NO_ROBOTS if request.path == "/robots.txt" else self._otherwise
        reply = found if isinstance(found, Reply) else found(request)
        return reply.not_modified if reply.validators and _holds(reply.validators, request.headers) else reply

    def _publish(self, path: str, page: _Page) -> None:
        self._pages[path] = page
        reply = html(_render(page).replace("{port}", str(self.port)), delay=page.delay)
        validators = {
            "ETag": f'"{zlib.crc32(reply.body):08x}-{page.version}"',
            "Last-Modified": formatdate(_FIRST_MODIFIED + 3600 * page.version, usegmt=True),
        }
        self.add(path, replace(reply, headers={**reply.headers, **validators}))


_NO_ROBOTS = Reply(404, {"Content-Type": "text/plain"}, b"no robots.txt\n")


def _holds(validators: Mapping[str, str], conditions: Mapping[str, str]) -> bool:
    """Is the client's copy current? If-None-Match decides alone where it is there (RFC 9110 13.2.2)."""
    tags = conditions.get("if-none-match")
    if tags is not None:
        known = {tag.strip().removeprefix("W/") for tag in tags.split(",")}
        return "*" in known or validators.get("etag", "").removeprefix("W/") in known
    since = conditions.get("if-modified-since")
    return since is not None and since == validators.get("last-modified")


def _render(page: _Page) -> str:
    title = markup.escape(page.title)
    paragraphs = "".join(f"<p>{markup.escape(paragraph)}</p>\n" for paragraph in page.text.split("\n\n") if paragraph)
    pairs = ((link, link) if isinstance(link, str) else link for link in page.links)
    items = "".join(f'<li><a href="{markup.escape(href)}">{markup.escape(anchor)}</a></li>\n' for href, anchor in pairs)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{title}</title>{page.head}</head>\n'
        f"<body>\n<h1>{title}</h1>\n{paragraphs}{page.body}" + (f"<ul>\n{items}</ul>\n" if items else "") + "</body>\n</html>\n"
    )
