"""CookieJar: the cookies of one section of ``sites``, by the rules of the standard library's jar. Any thread."""

import email.message
import http.cookiejar
import urllib.request
from collections.abc import Sequence
from pathlib import Path


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
        """What an answer from this address sets; ``lines``: of its header."""
        message = email.message.Message()
        for line in lines:
            name, _, value = line.decode("latin-1").partition(":")
            if name.strip().lower() == "set-cookie":
                message["Set-Cookie"] = value.strip()
        if message:
            self._jar.extract_cookies(_Answer(message), urllib.request.Request(url))  # type: ignore[arg-type]  # noqa: S310


class _Answer:
    def __init__(self, message: email.message.Message) -> None:
        self._message = message

    def info(self) -> email.message.Message:
        return self._message
