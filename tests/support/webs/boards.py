"""Board: a host like a PHP board, which gives each visitor without its cookie a new session, and writes it into every link.

No page is the same twice: it has a clock, a count of visitors and the names of some of them.
"""

import hashlib
from html import escape
from itertools import count
from typing import Literal
from urllib.parse import parse_qs, urlsplit

from larm.testing.replies import Reply, html
from larm.testing.request_log import Request
from larm.testing.web import SyntheticWeb
from tests.support.webs.words import hashed, name, prose, words

Cookies = Literal["kept", "ignored", "none"]
"""The board sets a cookie and reads it; it sets one and writes sessions all the same; it sets none."""
_FORUMS, _TOPICS_SHOWN, _POSTS = 6, 25, 5


class Board:
    """``topics`` topics of some posts; each page of posts has 5 of them."""

    def __init__(
        self, web: SyntheticWeb, topics: int, cookies: Cookies, *, each_link: bool = False, host: str = "board.localhost"
    ) -> None:
        """``each_link``: every link has a session of its own, not every page."""
        self.topics, self.cookies, self.each_link = topics, cookies, each_link
        self._numbers = count(1)
        web.host(host).otherwise(self.reply)
        self.posts = {topic: 1 + hashed("posts", topic) % 12 for topic in range(topics)}
        self.real = {
            f"/viewtopic.php?f={topic % _FORUMS}&t={topic}" + (f"&start={start}" if start else "")
            for topic, posts in self.posts.items()
            for start in range(0, posts, _POSTS)
        }

    def real_page(self, target: str) -> str:
        """The address of a page of posts without session; empty: it is none, or one of its further views."""
        parts = urlsplit(target)
        asked = {key: values[0] for key, values in parse_qs(parts.query).items()}
        if parts.path != "/viewtopic.php" or "view" in asked or "t" not in asked:
            return ""
        start = f"&start={asked['start']}" if asked.get("start", "0") != "0" else ""
        return f"/viewtopic.php?f={int(asked['t']) % _FORUMS}&t={asked['t']}{start}"

    def reply(self, request: Request) -> Reply:
        """Answer any request."""
        parts = urlsplit(request.path)
        asked = {key: values[0] for key, values in parse_qs(parts.query).items()}
        number = next(self._numbers)
        known = self.cookies == "kept" and "board_sid=" in request.headers.get("cookie", "")
        session = hashlib.md5(str(number).encode()).hexdigest()
        body = self._page(parts.path, asked)
        if body is None:
            return html("<title>Information</title><p>The requested page does not exist.</p>", status=404)
        title, markup, links = body
        written = []
        for place, (href, text) in enumerate(links):
            sid = hashlib.md5(f"{number} {place}".encode()).hexdigest() if self.each_link else session
            target = href if known else f"{href}{'&' if '?' in href else '?'}sid={sid}"
            written.append(f'<a href=".{escape(target)}">{escape(text)}</a>')
        online = ", ".join(name("user", hashed(number, each) % 900) for each in range(2 + number % 5))
        page = (
            f"<!DOCTYPE html><html lang=en><head><title>{escape(title)}</title></head><body><div id=page-header>"
            f"<p>It is currently Sat Nov 28, 2026 {number // 60 % 12}:{number % 60:02} pm</p></div><div id=page-body>"
            f"<h2>{escape(title)}</h2>"
            f"{markup}<p>{' '.join(written)}</p><h3>Who is online</h3><p>In total there are {number % 40} users online :: "
            f"{2 + number % 5} registered and {number % 33} guests. Registered users: {online}</p></div>"
            "<div id=page-footer>Powered by a board</div></body></html>"
        )
        headers = {} if known or self.cookies == "none" else {"Set_Cookie": f"board_sid={session}; path=/; HttpOnly"}
        return html(page, **headers)

    def _page(self, path: str, asked: dict[str, str]) -> tuple[str, str, list[tuple[str, str]]] | None:
        menu = [("/index.php", "Board index"), ("/ucp.php?mode=login", "Login"), ("/faq.php", "FAQ"), ("/search.php", "Search")]
        if path in ("/", "/index.php"):
            return "Index", "<p>A board.</p>", menu + [(f"/viewforum.php?f={each}", f"Forum {each}") for each in range(_FORUMS)]
        if path == "/viewforum.php" and asked.get("f", "").isdigit() and int(asked["f"]) < _FORUMS:
            forum, start = int(asked["f"]), int(asked.get("start", "0"))
            inside = list(range(forum, self.topics, _FORUMS))
            links = [(f"/viewtopic.php?f={forum}&t={each}", _title(each)) for each in inside[start : start + _TOPICS_SHOWN]]
            if start + _TOPICS_SHOWN < len(inside):
                links.append((f"/viewforum.php?f={forum}&start={start + _TOPICS_SHOWN}", "Next"))
            return f"Forum {forum}", f"<p>{len(inside)} topics</p>", menu + links
        topic = int(asked["t"]) if asked.get("t", "").isdigit() else -1
        if path == "/viewtopic.php" and topic in self.posts:
            start = int(asked.get("start", "0"))
            shown = range(start, min(start + _POSTS, self.posts[topic]))
            posts = "".join(
                f"<div class=post><p>by {name('author', topic, each)}</p><p>{escape(prose(40, 'post', topic, each))}</p></div>"
                for each in shown
            )
            links = [(f"/viewforum.php?f={topic % _FORUMS}", f"Forum {topic % _FORUMS}")]
            links += [
                (f"/viewtopic.php?f={topic % _FORUMS}&t={topic}&start={at}", str(at))
                for at in range(0, self.posts[topic], _POSTS)
                if at
            ]
            links += [(f"/viewtopic.php?f={topic % _FORUMS}&t={topic}&view=print", "Print view")] if "view" not in asked else []
            links += [(f"/memberlist.php?mode=viewprofile&u={hashed('author', topic, each) % 60}", "Profile") for each in shown]
            return _title(topic), posts, menu + links
        if path == "/memberlist.php" and "u" in asked:
            return f"Profile {asked['u']}", f"<p>{name('profile', asked['u'])} has joined the board.</p>", menu
        if path in ("/ucp.php", "/faq.php", "/search.php"):
            return path[1:-4].upper(), f"<p>{prose(30, path)}</p>", menu
        return None


def _title(topic: int) -> str:
    return " ".join(words(4, "title", topic)).capitalize()
