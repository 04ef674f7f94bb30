"""Start URLs: ``-start URL``, ``-start ./folder`` and ``-start @FILE`` (LARM-1, LARM-2, LARM-111).

Called by ``larm crawl`` before anything else is built.
"""

import codecs
import os
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import msgspec

from larm.config import CrawlSettings, Seed
from larm.errors import UsageError
from larm.kit.counted import counted
from larm.model.credentials import without_credentials
from larm.model.file_url import file_url
from larm.model.url import BadUrl

Parse = Callable[[str], object]
"""Raises BadUrl where the text is no URL that larm can fetch."""

_LINE_END = re.compile(r"\r\n|\r|\n")  # not str.splitlines: it would count form feeds
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:(?!\d)", re.IGNORECASE)
_PATH = re.compile(r"/(?!/)|\.{1,2}(?:/|$)|~/")
_HOST = re.compile(r"[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}(?::\d+)?(?:[/?#]|$)", re.IGNORECASE)
_PORT = re.compile(r"[\w.-]+:\d+(?:[/?#]|$)")
_FILE = re.compile(r"@")
ARCHIVE: Final = re.compile(r"[^\0]*\.(?:w?arc(?:\.gz|\.zst)?|wacz)", re.IGNORECASE)
"""Names of archives; there is no top-level domain of such a name."""
_SPACE = re.compile(r"[ \t]+")
_WORD = re.compile(r"host|below|domain|(?:include|exclude)=.+")
_LIKE_A_WORD = re.compile(rf"{_WORD.pattern}|[a-z_]+=.*")
_WEB = re.compile(r"https?://", re.IGNORECASE)
_COMMENT = re.compile(r"[ \t]#.*")
_MOST_MISTAKES = 20
"""Malformed lines of a file that are shown one by one; a wrong file should not scroll the rest away."""


class Starts(msgspec.Struct):
    """What the start options come to."""

    urls: list[str] = []
    """In order, as written; paths as file: URLs."""
    seeds: list[Seed] = []
    """Those of them with a scope of their own."""
    mistakes: list[str] = []
    """Malformed lines, each with its file and line number; they are skipped."""
    notes: list[str] = []
    """How many lines of each file were accepted, and what may be taken for something else."""


def read_starts(
    values: Iterable[str], parse: Parse, base: Path = Path(), source: str = "-start", seeds: Iterable[Seed] = ()
) -> Starts:
    """Each value is a URL or ``@FILE`` (``@-``: stdin), relative to ``base``. Raises UsageError for a bad URL or file.

    ``source``: where the values stand, for messages. ``seeds``: start URLs of which config.yaml says more.
    """
    starts = Starts()
    for seed in seeds:
        try:
            text = _parsed(seed.url, parse, base)
        except BadUrl as error:
            raise UsageError(f"crawl.seeds: {without_credentials(seed.url)}: {error}") from error
        starts.urls.append(text)
        starts.seeds.append(msgspec.structs.replace(seed, url=text))
    for value in values:
        if value.startswith("@"):
            _read_file(value[1:], parse, base, source, starts)
        else:
            try:
                text = _parsed(value, parse, base)
            except BadUrl as error:
                raise UsageError(f"{source} {without_credentials(value)}: {error}") from error
            if text == value and not _SCHEME.match(value) and (base / value).exists():
                here = f"for what has this name here write ./{value}, for the URLs in it @{value}"
                starts.notes.append(f"{value} is taken for http://{value}; {here}")
            if text != value and text == without_credentials(value):
                starts.notes.append("user names and passwords in URLs are not used")
            starts.urls.append(text)
    return starts


def with_starts(crawl: CrawlSettings, starts: Starts) -> CrawlSettings:
    """The section ``crawl`` with what was read."""
    return msgspec.structs.replace(crawl, start=tuple(starts.urls), seeds=tuple(starts.seeds))


def _parsed(text: str, parse: Parse, base: Path) -> str:
    """Return the address of a start, without user name and password: what is kept of a crawl never has them. Raises BadUrl."""
    text = address(text, base)
    parse(text)
    return without_credentials(text)


def address(text: str, base: Path = Path()) -> str:
    """The file: URL of what is a path, relative to ``base``; any other text as it is. Raises BadUrl for a path to nothing.

    ``/a``, ``./a``, ``../a`` and ``~/a`` are paths. So is ``a/b`` if it is there, unless it looks like a host: ``a.org/b``; and
    a WARC file that is there, though ``a.warc.gz`` looks like one.
    """
    if _SCHEME.match(text):
        return text
    explicit = _PATH.match(text) is not None
    archive = ARCHIVE.fullmatch(text) is not None and os.path.isfile(base / text)
    if not explicit and not archive and (not text or text.startswith("//") or _HOST.match(text)):
        return text
    try:
        path = os.path.abspath(base / os.path.expanduser(text))
        folder, found = os.path.isdir(path), os.path.exists(path)
    except ValueError:  # NUL
        return text
    if not found:
        if explicit:
            raise BadUrl("no such file or folder")
        return text
    return file_url(os.path.join(path, "") if folder else path)


def may_be_start(word: str) -> bool:
    """Whether this word of a command line is meant as a start: it has a scheme, looks like a host, is a path, or ``@FILE``."""
    return any(looks.match(word) for looks in (_HOST, _PORT, _FILE)) or _SCHEME.match(address(word)) is not None


def _read_file(name: str, parse: Parse, base: Path, source: str, starts: Starts) -> None:
    accepted = rejected = 0
    for number, line in enumerate(_lines(name, base, source), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        try:
            text, seed = _seed(text)
            text = _parsed(text, parse, base)
        except BadUrl as error:
            rejected += 1
            if rejected <= _MOST_MISTAKES:
                starts.mistakes.append(f"{name}:{number}: skipped: {error}: {without_credentials(text)[:200]}")
        else:
            accepted += 1
            starts.urls.append(text)
            if seed is not None:
                starts.seeds.append(msgspec.structs.replace(seed, url=text))
    if rejected > _MOST_MISTAKES:
        starts.mistakes.append(f"{name}: and {rejected - _MOST_MISTAKES} more malformed lines")
    starts.notes.append(f"{name}: {counted(accepted, 'start URL')} accepted, {rejected} rejected")


def _seed(line: str) -> tuple[str, Seed | None]:
    """(URL, what is said behind it): ``https://a.org/docs/ below include=*/en/* exclude=*.zip``."""
    if web := _WEB.match(line):
        line = _COMMENT.sub("", line)  # what follows a space is no fragment; a file may have such a name
    text, *words = _SPACE.split(line)
    strange = next((word for word in words if not _WORD.fullmatch(word)), None)
    if not words or strange is not None:
        if web and strange is not None and any(_LIKE_A_WORD.fullmatch(word) for word in words):
            raise BadUrl(f"{strange} is not host, below, domain, include=GLOB or exclude=GLOB; a space in an address is %20")
        return line, None  # a space in an address or a name
    values: dict[str, list[str]] = {"include": [], "exclude": []}
    scope = ""
    for word in words:
        name, equals, value = word.partition("=")
        if equals:
            values[name].append(value)
        elif scope:
            raise BadUrl(f"{scope} and {word} exclude each other")
        else:
            scope = word
    return text, Seed(text, scope, tuple(values["include"]), tuple(values["exclude"]))  # type: ignore[arg-type]


def _lines(name: str, base: Path, source: str) -> list[str]:
    try:
        data = sys.stdin.buffer.read() if name == "-" else (base / name).read_bytes()
    except OSError as error:
        raise UsageError(f"{source} @{name}: can't read the file of start URLs: {error.strerror}") from error
    encoding = "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    return _LINE_END.split(data.decode(encoding, "replace"))
