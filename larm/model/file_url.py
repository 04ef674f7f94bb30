"""file: URLs and the paths that they stand for, in both directions. Pure; used on any thread.

Of a file there is one spelling: no host, no query, no fragment, no empty segments, and escapes only where they are needed. So
the access form is the normalised form, and what a server may do with a path (``index.html``, ``+``) does not count.
"""

import os
import re
from typing import Final
from urllib.parse import quote_from_bytes, unquote_to_bytes

FILES: Final = "file:"
"""Key of the one host record that all files share; no name of a host has a colon without a port."""
_LITERAL = "/!$&'()*+,;=:@~"  # what the WHATWG standard leaves as it is in a path, but for | (C| means C:)
_ESCAPE = "%(?:0[1-9A-F]|[189A-F][0-9A-F]|2[0235]|3[CEF]|5[B-E]|60|7[B-DF])"
_NAME = rf"(?!\.)(?:[A-Za-z0-9_.&;@=~,:!*'()+$-]|{_ESCAPE})++"
PLAIN: Final = re.compile(rf"file:///(?:{_NAME}(?:/{_NAME})*+/?)?")
"""Spelled as here, to the letter, as most are; it says nothing of others."""
_SLASHES = re.compile("//+")


class BadPath(ValueError):  # noqa: N818
    """No file can have this address; ``str()`` says why."""


def file_url(path: str) -> str:
    """The URL of an absolute path. A folder's should end in a slash, and so does its URL then."""
    if os.sep != "/":  # pragma: no cover  Windows
        path = "/" + path.replace(os.sep, "/")
    return "file://" + quote_from_bytes(os.fsencode(_SLASHES.sub("/", path)), safe=_LITERAL)


def file_path(url: str) -> str:
    """The path that a URL of `file_url` stands for; a folder's keeps its slash."""
    path = os.fsdecode(unquote_to_bytes(url.removeprefix("file://")))
    if os.sep != "/":  # pragma: no cover  Windows
        path = path.removeprefix("/").replace("/", os.sep)
    return path


def one_spelling(href: str) -> str:
    """``href``, a file: URL as WHATWG serialises it (no dot segments), as `file_url` writes it. Raises BadPath."""
    if not href.startswith("file:///"):
        raise BadPath("a file on another host")
    raw = unquote_to_bytes(re.split("[?#]", href[7:], maxsplit=1)[0])
    if b"\0" in raw or "%2f" in href.lower():
        raise BadPath("no file can have this name")
    return "file://" + quote_from_bytes(_SLASHES.sub("/", raw.decode("latin-1")).encode("latin-1"), safe=_LITERAL)
