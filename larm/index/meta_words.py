"""Meta words: what a page is besides its text, as words of one field of the index (YIOOP-66). Pure; the writer thread calls it.

``site:example.org path:/docs filetype:pdf lang:de`` and so on, each also as ``name:all`` (pages of which the thing is known at
all). A query's operator is then the look-up of one word. Yioop's words that are not here: ``time:``, ``dns:``, ``ip:`` and
``location:`` (a document knows nothing of its transfer), ``duration:`` (larm reads no films), ``safe:`` and ``class:`` (it has
no classifiers). ``info:`` and ``link:`` need no words: the first is the key of the index, the second asks the link graph.

What pages have in common is remembered, which saves most of the time: 3 us a page are left.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache

from larm.model.restriction import open_word
from larm.model.url import Url

NAMES = (
    "site",  # every suffix of the host's name; with its port, too
    "host",  # the whole host; host:all is Yioop's word for the start page of a host
    "path",  # every directory on the way to the page, and the page
    "cld",  # company level domain (YIOOP-40)
    "filetype",  # extension of the file, and what the MIME type is usually called
    "mime",  # text/html
    "media",  # text, image, video, audio: the first half of the MIME type
    "lang",  # ISO 639-1
    "size",  # bytes of the page, rounded down to 5000
    "code",  # HTTP status
    "numlinks",  # links of the page
    "modified",  # when it was changed: Y, Y-m, Y-m-d
    "date",  # when it was fetched: Y, Y-m, Y-m-d
    "server",  # name of the server's program
    "version",  # and its version
    "os",  # and its system
    "robot",  # what the page asks of robots
    "cut",  # why not all of it was read
    "open",  # whether anybody could have had it: yes; private, on the private network of the crawl; no
)
SIZE_STEP = 5_000

_EXTENSION = re.compile(r"\.([A-Za-z0-9]{1,8})\Z")
_SERVER = re.compile(r"([^\s/(]+)(?:/([^\s(]+))?(?:\s*\(([^)\s]+)\))?")
_ODD = re.compile(r"[^\x21-\x7e]+")
_DAY = 86_400
_LAST_DAY = 253_402_300_800 // _DAY  # 1 January 10000
_DEEPEST = 8  # directories of a path; deeper ones are found by words of the URL
_LONGEST = 200  # characters of a word
MIME_NAMES = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/plain": "txt",
    "application/pdf": "pdf",
    "application/rss+xml": "rss",
    "application/atom+xml": "atom",
    "application/xml": "xml",
    "text/xml": "xml",
    "application/json": "json",
    "application/feed+json": "json",
    "text/markdown": "md",
    "text/csv": "csv",
    "application/rtf": "rtf",
    "application/epub+zip": "epub",
    "application/msword": "doc",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.oasis.opendocument.spreadsheet": "ods",
    "application/vnd.oasis.opendocument.presentation": "odp",
}
"""What people call a type."""


def meta_words(
    url: Url,
    mime: str,
    *,
    language: str = "",
    size: int = 0,
    modified: int = 0,
    fetched: int = 0,
    status: int = 0,
    links: int | None = None,
    domain: str = "",
    headers: Mapping[str, str] | None = None,
    robots: tuple[str, ...] = (),
    cuts: Iterable[str] = (),
    restricted: int | None = None,
) -> str:
    """The meta words of a page, parted by spaces; what is empty or 0 is not known. Times are seconds since 1970."""
    file = url.access.partition("://")[2].partition("/")[2].partition("?")[0].rpartition("/")[2]
    extension = _EXTENSION.search(file)
    server = headers.get("server", "") if headers else ""
    found = [_host(url.host, domain, server), _kind(mime, extension[1].lower() if extension else "", language, status)]
    if restricted is not None:
        found.append(f"open:{open_word(restricted)} open:all")
    if modified:
        found.append(_days("modified", modified // _DAY))
    if fetched:
        found.append(_days("date", fetched // _DAY))
    if robots:
        found.append(_words("robot", *robots))
    if cuts:
        found.append(_words("cut", *cuts))
    path = "/" + url.normalised.partition("://")[2].partition("/")[2].partition("?")[0].lower()
    folder, _, name = path.rpartition("/")
    if folder:
        found.append(_folders(folder))
    if name:
        found.append(meta_word("path", path))
    if folder or name:
        found.append("path:all")
    elif "?" not in url.normalised:
        found.append("host:all")
    if size:
        found.append(f"size:{size // SIZE_STEP * SIZE_STEP} size:all")
    if links is not None:
        found.append(f"numlinks:{links} numlinks:all")
    return " ".join(filter(None, found))


def meta_word(name: str, value: str) -> str:
    """One word, as it is in the index and looked up."""
    return f"{name}:{value}"[:_LONGEST]


@lru_cache(1_000)
def _host(host: str, domain: str, server: str) -> str:
    """A host with and without its port, every suffix of its name, and what is known of it."""
    found = ["host:" + host]
    name, _, port = host.rpartition(":")
    if name and port.isdigit() and not host.endswith("]"):
        found += ["site:" + host, "host:" + name]
    else:
        name = host
    while name:
        found.append("site:" + name)
        name = "" if name.startswith("[") or name.replace(".", "").isdigit() else name.partition(".")[2]
    found.append("site:all")
    if domain:
        found.append(f"cld:{domain} cld:all")
    if server:
        found.append(_server(server))
    return " ".join(filter(None, found))


@lru_cache(1_000)
def _folders(folder: str) -> str:
    """Every directory on the way to a page."""
    found = []
    at = 0
    for _ in range(_DEEPEST):
        at = folder.find("/", at + 1)
        found.append(meta_word("path", folder[:at] if at > 0 else folder))
        if at < 0:
            break
    return " ".join(found)


@lru_cache(1_000)
def _kind(mime: str, extension: str, language: str, status: int) -> str:
    """The MIME type in three ways, the extension of the file, and what else takes few values."""
    kinds = sorted({kind for kind in (extension, MIME_NAMES.get(mime, "")) if kind})
    found = [_words("mime", mime), _words("media", mime.partition("/")[0]), _words("filetype", *kinds)]
    if language:
        found.append(_words("lang", language))
    if status:
        found.append(f"code:{status} code:all")
    return " ".join(filter(None, found))


@lru_cache(1_000)
def _days(name: str, day: int) -> str:
    """Year, month and day of a moment, given in days since 1970."""
    if not 0 <= day < _LAST_DAY:
        return ""
    date = datetime.fromtimestamp(day * _DAY, UTC)
    year, month = f"{name}:{date.year:04}", f"{date.month:02}"
    return f"{year} {year}-{month} {year}-{month}-{date.day:02} {name}:all"


def _server(text: str) -> str:
    """``Apache/2.4.57 (Debian)``: program, version, system."""
    match = _SERVER.match(text.strip())
    parts = match.groups() if match else ()
    return " ".join(_words(name, part) for name, part in zip(("server", "version", "os"), parts, strict=False) if part)


def _words(name: str, *values: str) -> str:
    """Meta words of texts that somebody else wrote, and the one for all; empty where nothing fit for one is in them."""
    found = [meta_word(name, clean) for value in values if (clean := _ODD.sub("", value).lower())]
    return " ".join([*found, f"{name}:all"]) if found else ""
