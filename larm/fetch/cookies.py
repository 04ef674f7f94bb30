"""CookieJar: the cookies of one section of ``sites``, by the rules of the standard library's jar. Any thread."""

import email.message
import http.cookiejar
import urllib.request
from collections.abc import Sequence
from pathlib import Path

_LINE = 6_000
"""Characters of the cookies that a request sends before no more of them are kept: servers refuse lines of 8 KB."""
_MOST = 1_000
"""Cookies of a jar."""


class CookieJar:
    """In memory: what answers have set is gone with the run."""

    def __init__(self) -> None:
        self._jar = http.cookiejar.MozillaCookieJar()  # it has a lock of its own

    def load(self, path: Path) -> None:
        """From a file in Netscape's form. Raises OSError, and ValueError where it is none."""
        try:
            self._jar.load(str(path), ignore_discard=True, ignore_expires=True)
        except http.cookiejar.LoadError as error:
            raise ValueError(str(error)) from error
        for cookie in self._jar:
            cookie.expires = cookie.expires or None  # browsers and curl write 0 for those of a session

    def header(self, url: str) -> bytes:
        """The line for a request to this address; empty: there are none."""
        request = urllib.request.Request(url)  # noqa: S310  nothing is opened
        self._jar.add_cookie_header(request)
        value = request.get_header("Cookie")
        return f"Cookie: {value}".encode() if value else b""

    def take(self, url: str, lines: Sequence[bytes]) -> None:
        """What an answer from this address sets, as far as there is room; ``lines``: of its header.

        Some servers set a cookie for each page. Those that came first are kept: a session is among them.
        """
        fields = [
            (name.strip().lower(), value.strip())
            for name, _, value in (line.decode("latin-1").partition(":") for line in lines)
        ]
        if not (told := [value for name, value in fields if name == "set-cookie"]):
            return
        sent = self.header(url).decode("latin-1").removeprefix("Cookie: ")
        known, size = {each.partition("=")[0].strip() for each in sent.split(";")}, len(sent)
        message = email.message.Message()
        for value in told:
            pair = value.partition(";")[0]
            if pair.partition("=")[0].strip() in known or (size + len(pair) <= _LINE and len(self._jar) < _MOST):
                size += len(pair)
                message["Set-Cookie"] = value
        self._jar.extract_cookies(_Answer(message), urllib.request.Request(url))  # type: ignore[arg-type]  # noqa: S310


class _Answer:
    def __init__(self, message: email.message.Message) -> None:
        self._message = message

    def info(self) -> email.message.Message:
        return self._message
