"""CDXJ: one line for each capture, sorted by key and time: where in which WARC file it is. Pure.

The form is that of ``cdxj-indexer``, which pywb and others read: key, fourteen digits, and a JSON object. The key is `surt`.
"""

import json
import re
from typing import Any
from urllib.parse import quote_from_bytes, unquote_to_bytes, urlsplit

import msgspec

_WWW = re.compile(r"^www\d*\.")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_SAFE = "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"  # all of ASCII that can be printed, but space, % and #
_SESSIONS_IN_PATHS = (
    re.compile(r"^(.*/)(?:\((?:[a-z]\([0-9a-z]{24}\))+\)/)([^?]+\.aspx.*)$"),
    re.compile(r"^(.*/)(?:\([0-9a-z]{24}\)/)([^?]+\.aspx.*)$"),
)
_SESSIONS_IN_QUERIES = tuple(
    re.compile(rf"^(.*)(?:{name})(?:&(.*))?$")
    for name in (
        "jsessionid=[0-9a-z]{32}",
        "phpsessid=[0-9a-z]{32}",
        "sid=[0-9a-z]{32}",
        "aspsessionid[a-z]{8}=[a-z]{24}",
        "cfid=[^&]+&cftoken=[^&]+",
    )
)


def surt(url: str) -> str:
    """Return the key of a URL in a CDX index (SURT with the canonical form of the Internet Archive).

    ``http://www.Example.com/A/?b&a`` is ``com,example)/a?a&b``. URLs that differ only in what seldom matters have one key, so
    it is for finding, not for telling apart. Text that is no URL of a host or file is its own key.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return url
    if not parts.scheme or (not host and parts.scheme != "file"):
        return url
    query = _query(parts.query)
    if not host:
        return f"{parts.scheme}:{_path(parts.path, free=True)}{query}"
    name = ",".join(reversed(_WWW.sub("", host.lower(), count=1).split(".")) if ":" not in host else [host])
    where = f":{port}" if port is not None and port != _DEFAULT_PORTS.get(parts.scheme) else ""
    return f"{name}{where}){_path(parts.path)}{query}"


def _path(path: str, *, free: bool = False) -> str:
    """``free``: not below a host, and so without rules of its own."""
    text = _escaped_once(path)
    if not free:
        text = _without_dots(text)
    text = text.lower()
    for pattern in _SESSIONS_IN_PATHS:
        if found := pattern.match(text):
            text = found[1] + found[2]
    return text[:-1] if text.endswith("/") and len(text) > 1 else text


def _query(query: str) -> str:
    text = _escaped_once(query).lower()
    for pattern in _SESSIONS_IN_QUERIES:
        if found := pattern.match(text):
            text = found[1] + (found[2] or "")
    if len(text) > 1:
        text = "&".join("=".join(pair) for pair in sorted(tuple(each.split("=", 1)) for each in text.split("&")))
    return f"?{text}" if text else ""


def _escaped_once(text: str) -> str:
    raw = text.encode("utf-8", "surrogateescape")
    while (plain := unquote_to_bytes(raw)) != raw:
        raw = plain
    return quote_from_bytes(raw, safe=_SAFE)


def _without_dots(path: str) -> str:
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == ".." and kept:
            kept.pop()
        elif segment != ".":
            kept.append(segment)
    folders = [name for name in kept[:-1] if name]
    return "/" + "".join(f"{name}/" for name in folders) + (kept[-1] if kept else "")


_NOT_DIGITS = re.compile(r"\D")
_SPACE = re.compile(r"[; ]")


class Capture(msgspec.Struct, frozen=True):
    """What a line says."""

    url: str
    date: str
    """As in WARC-Date."""
    mime: str
    """``warc/revisit`` for a revisit; empty: not known. So is `status`."""
    status: str
    digest: str
    """``sha1:`` and base 32, of the payload."""
    length: int
    """Bytes of the record in the file, compressed."""
    offset: int
    file: str


def cdxj_line(capture: Capture) -> str:
    """With the line end."""
    fields: dict[str, Any] = {
        "url": capture.url,
        "mime": _SPACE.split(capture.mime, maxsplit=1)[0].strip(),
        "status": capture.status,
        "digest": capture.digest,
        "length": str(capture.length),
        "offset": str(capture.offset),
        "filename": capture.file,
    }
    text = json.dumps({name: value for name, value in fields.items() if value})  # others compare such lines as text
    return f"{surt(capture.url)} {_NOT_DIGITS.sub('', capture.date)[:14]} {text}\n"


def place_of(line: str) -> tuple[int, int]:
    """Offset and length of the record that a line is about. Raises ValueError."""
    try:
        said = msgspec.json.decode(line.split(" ", 2)[2])
        return int(said["offset"]), int(said["length"])
    except (msgspec.DecodeError, IndexError, KeyError, TypeError) as error:
        raise ValueError(f"no line of a CDXJ index: {line[:100]!r}") from error
