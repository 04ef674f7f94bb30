"""Url: an address in its two forms, and how to get there from text (LARM-21 to LARM-35). Pure; used on any thread.

The *access* form is what is sent to a server; the *normalised* form is only compared: in it two spellings of one address are
equal (LARM-22 to LARM-32). Its `KINDS` are known to `larm.model.spellings`, too.

One text of the original's rules needs a reading: escaped ``& ; @ =`` stay escaped and literal ones literal, because
``?a=b%26c`` and ``?a=b&c`` ask a server for different things. For the same reason ``%2B`` is not a space. ``+`` is one in a
query, where forms write it so (LARM-27); in a path it is a plus (RFC 3986 3.3).

LARM-30 drops whatever begins with ``index.`` or ``default.``; here it is only the page that a server shows for its folder. Of
``index.xml``, ``index.de.html`` and ``INDEX.HTML`` nobody knows what they have to do with it, and the folder itself, or they,
would never be fetched.

ada, our WHATWG parser, releases the GIL several times in each call: next to a thread that computes, a call of 1.5 us
takes 400 us. Text that the standard leaves as it is (`_PLAIN`, nine of ten links) therefore never reaches ada.
"""

import re
from collections.abc import Sequence

import ada_url
import msgspec
import xxhash

from larm.model.domain import site_of
from larm.model.file_url import FILES, PLAIN, BadPath, one_spelling
from larm.model.host_resolver import HostResolver

_KEPT = "A-Za-z0-9$\\-_.&;@="  # written as they are; of these only the unreserved ones are also decoded
_DECODED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789$-_.")

# An escape that stays as it is: upper case, and not of a character that is written literally.
_ESCAPE = r"%(?:[0189A-F][0-9A-F]|2[0-35-9ABCF]|3[A-F]|40|5[BCDE]|60|7[B-F])"
_RUN = rf"[{_KEPT}]*+(?:{_ESCAPE}[{_KEPT}]*+)*+"
ESCAPE = re.compile(_ESCAPE)
_NORMAL = re.compile(rf"(?:/(?!(?i:index|default)\.)(?=[^/?]){_RUN})*+/?(?:\?(?=.){_RUN})?")
"""Most files are normal already; this is the way they are told at once. A dot segment can't occur, see `normal_file`."""

_PATH = re.compile(rf"%[0-9A-Fa-f]{{2}}|[^/{_KEPT}]")
_QUERY = re.compile(rf"%[0-9A-Fa-f]{{2}}|[^{_KEPT}]")
_SLASHES = re.compile("//+")
KINDS = ("html", "htm", "php", "xhtml", "shtml", "asp", "aspx", "jsp", "cfm", "cgi", "pl", *(f"php{n}" for n in range(10)))
"""Of the page that a server shows for its folder, the more common ones first."""
_FOLDERS = re.compile(rf"(?:index|default)\.(?:{'|'.join(KINDS)})|(?i:index|default)\.(?i:aspx?)")
"""The last segment of a path that stands for its folder. The servers of ASP know no case."""
_FOLD = re.compile(r"(?:%[89A-F][0-9A-F])+|%[0-7][0-9A-F]|[A-Z]+")


def _spellings() -> dict[str, str]:
    """What each ASCII character outside `_KEPT`, and each escape in any case, is rewritten to (LARM-25, LARM-26)."""
    table = {chr(byte): f"%{byte:02X}" for byte in range(128)}
    table["+"] = "%20"  # LARM-27
    for byte in range(256):
        normal = chr(byte) if byte in _DECODED else f"%{byte:02X}"
        for high in {f"{byte:02X}"[0], f"{byte:02x}"[0]}:
            for low in {f"{byte:02X}"[1], f"{byte:02x}"[1]}:
                table[f"%{high}{low}"] = normal
    return table


_SPELLING = _spellings()
_IN_PATH = _SPELLING | {"+": "%2B"}


def normal_file(file: str, lowercase: bool, folder_pages: bool = True) -> str:
    """The normal form of ``/path?query``.

    ``file`` must come out of a WHATWG parser: ASCII, begins with ``/``, dot segments (``%2E`` ones too) already removed.
    With ``lowercase`` both parts are folded, escaped UTF-8 included (LARM-22, LARM-28). With ``folder_pages``,
    ``/index.html`` is ``/`` (LARM-30).
    """
    if _NORMAL.fullmatch(file):
        if not lowercase:
            return file
        if "%" not in file:
            return file.lower()
    path, _, query = file.partition("?")
    path = _PATH.sub(_spell_path, _SLASHES.sub("/", path))
    query = _QUERY.sub(_spell, query)
    if lowercase:
        path, query = _FOLD.sub(_fold, path), _FOLD.sub(_fold, query)
    last = path.rindex("/") + 1
    if folder_pages and _FOLDERS.fullmatch(path, last):
        path = path[:last]
    return f"{path}?{query}" if query else path


def _spell(match: re.Match[str]) -> str:
    return _SPELLING[match[0]]


def _spell_path(match: re.Match[str]) -> str:
    return _IN_PATH[match[0]]


def _fold(match: re.Match[str]) -> str:
    text = match[0]
    if text[0] != "%":
        return text.lower()
    if text[1] < "8":
        return text
    raw = bytes.fromhex(text.replace("%", ""))  # bytes that are no UTF-8 pass through as lone surrogates
    folded = raw.decode("utf-8", "surrogateescape").lower().encode("utf-8", "surrogateescape")
    return "".join(chr(byte) if byte in _DECODED else f"%{byte:02X}" for byte in folded)  # the Kelvin sign folds to a k


class BadUrl(ValueError):  # noqa: N818
    """The text is not a URL that larm can fetch; ``str()`` says why."""


class OtherScheme(BadUrl):
    """A URL, but neither http nor https (nor, where that is wanted, file): ``mailto:``, ``javascript:`` and the like."""


class Url(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One address. Made by `URLNormalizer`, nowhere else."""

    access: str
    """As the WHATWG URL standard serialises it, without fragment: pure ASCII (LARM-21)."""
    normalised: str
    """For comparison only: visited set, scope, known paths (LARM-22 to LARM-33)."""
    host: str
    """Key of the host record: the resolved host name, ``:port`` where it is not the scheme's default (LARM-41, LARM-73)."""
    fingerprint: int
    """63 bits of XXH3 over the normalised form."""

    @property
    def origin(self) -> str:
        """``http://host:port`` of the access form: where this URL's robots.txt is. ``file://`` of a file."""
        return self.access[: self._root]

    @property
    def path_query(self) -> str:
        """``/path?query`` of the access form, at least ``/``: what is matched against robots.txt."""
        return self.access[self._root :]

    @property
    def hostname(self) -> str:
        """Host of the access form without port; an IPv6 address without its brackets. Empty for a file."""
        authority = self.origin.partition("://")[2]
        if authority.startswith("["):
            return authority[1 : authority.index("]")]
        return authority.partition(":")[0]

    @property
    def spelled(self) -> str:
        """The normalised form with the page of a folder that it leaves out: people's rules may tell the two apart."""
        head, mark, query = self.normalised.partition("?")
        if not head.endswith("/"):
            return self.normalised
        return f"{head}{self.access.partition('?')[0].rpartition('/')[2]}{mark}{query}"

    @property
    def spelling(self) -> int:
        """63 bits of XXH3 over the access form; of most URLs it is the fingerprint."""
        return fingerprint_of(self.access)

    @property
    def site(self) -> str:
        """The registered domain of the host, by the public suffix list; the host where it has none (an IP address)."""
        return site_of(self.hostname)

    @property
    def is_one(self) -> bool:
        """Whether it has a host and a path, as all have that `URLNormalizer` makes. For those that another process tells."""
        return self.host == FILES or _WEB.match(self.access) is not None

    @property
    def _root(self) -> int:
        """Where the path begins."""
        return 7 if self.host == FILES else self.access.index("/", 8)


_WEB = re.compile(r"https?://(?:\[[0-9a-f:.]+\]|[^][/?#@:\s]+)(?::[0-9]{1,5})?/")
MAX_CHARACTERS = 100_000
"""Longer text is no URL of a page; also bounds what one link can cost."""
_HOSTS = 20_000  # host names whose key is remembered: some 4 MB

# What WHATWG's parser would return unchanged. Left to ada: IP addresses, IDNs, most odd ports, credentials, dot segments.
PLAIN_HOST = re.compile(r"(?:(?!xn--)[a-z0-9_-]++\.)*+(?!xn--)[a-z][a-z0-9_-]*+")
_PLAIN = re.compile(
    r"(https?)://"
    rf"({PLAIN_HOST.pattern}(?::(?!80/|443/)(?:[1-5][0-9]{{4}}|[1-9][0-9]{{0,3}}))?)"
    r"((?:/(?!\.|%2[eE])[A-Za-z0-9$_.&;@=%~,:!*'()+-]*+)++(?:\?[A-Za-z0-9$_.&;@=%~,:!*()+/?-]*+)?)"
)
_SERIALISED = re.compile(r"(https?)://(?:[^/@]*@)?([^/]+)(/[^#]*)")
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_HOST_PORT = re.compile(r"(?:localhost|[^/?#:@\s][^/?#:@\s.]*+\.[^/?#:@\s]++):\d+(?:[/?#]|$)", re.IGNORECASE)
_NO_SCHEME = re.compile(r"[^/?#]*://")  # "1x://host" lacks a proper one, it isn't a path on the host "1x"
WHITE = "".join(map(chr, range(33)))
"""Stripped from both ends of a URL by the standard: C0 controls and space."""


class URLNormalizer:
    """Makes Urls from text. One for the whole crawl, shared by all threads.

    ``files``: a start URL is a file. Without it there are no file: URLs; with it, only those that a person names (`parse`) and
    links of files to files: never a link or a redirect on the web. ``web_roots``: folders of files that a web server shows as
    its root, as file: URLs with a slash at the end. On their pages a link to ``/x.html`` leads below the folder.
    """

    def __init__(
        self,
        resolver: HostResolver | None = None,
        lowercase_path: bool = False,
        folder_pages: bool = True,
        *,
        files: bool = False,
        web_roots: Sequence[str] = (),
    ) -> None:
        # constant after construction
        self._files = files
        self._web_roots = tuple(web_roots)
        self._resolver = resolver or HostResolver()
        self.lowercase_path = lowercase_path
        self._folder_pages = folder_pages
        # written by any thread; what a race costs is time
        self.keys: dict[str, str] = {}

    def parse(self, text: str) -> Url:
        """The Url of an absolute URL. People type ``example.com/x`` or ``localhost:8080`` and mean http. Raises BadUrl."""
        return self.canonical(text) or self._url(_parse(_with_scheme(text)), self._files)

    def join(self, base: str, href: str) -> Url:
        """Where a link with ``href`` on the page ``base`` (an access form) leads. Raises BadUrl, OtherScheme."""
        if href.startswith("http") and (url := self.canonical(href)) is not None:
            return url
        if not (self._files and base.startswith(FILES)):
            return self._url(_parse(href, base), False)
        url = self._url(_parse(href, base), True)
        root = next((each for each in self._web_roots if base.startswith(each)), "")
        path = href.lstrip(WHITE)
        if not root or not path.startswith("/") or path.startswith("//") or url.access.startswith(self._web_roots):
            return url
        return self._url(_parse(root + url.access.removeprefix("file:///")), True)

    def canonical(self, text: str) -> Url | None:
        """The Url of ``text`` if it is, to the letter, an access form as most are; None says nothing. The fast way."""
        match = _PLAIN.fullmatch(text) if len(text) <= MAX_CHARACTERS else None
        if match is not None:
            return self._make(text, *match.groups())
        return _file(text) if self._files and len(text) <= MAX_CHARACTERS and PLAIN.fullmatch(text) else None

    def _url(self, href: str, files: bool) -> Url:
        match = _SERIALISED.match(href)
        if match is None:
            if files and href.startswith(FILES):
                try:
                    return _file(one_spelling(href))
                except BadPath as error:
                    raise OtherScheme(str(error)) from error
            raise OtherScheme(f"scheme {href.partition(':')[0][:20]}: larm fetches only http and https")
        return self._make("", *match.groups())

    def _make(self, access: str, scheme: str, authority: str, file: str) -> Url:
        access = access or f"{scheme}://{authority}{file}"  # credentials are left out: they must not reach a log
        key = self.keys.get(authority) or self.key_of(authority)
        normal = normal_file(file, self.lowercase_path, self._folder_pages)
        normalised = access if normal == file and key == authority else f"{scheme}://{key}{normal}"
        return Url(access, normalised, key, fingerprint_of(normalised))

    def key_of(self, authority: str) -> str:
        """The host record's key, which is also the authority of the normalised form."""
        host, colon, port = authority.rpartition(":")
        if not colon or port.endswith("]"):
            host, colon, port = authority, "", ""
        if len(host) > 1 and host[-1] == "." and host[-2] != ".":  # "example.com." is the same host, "1.2.." is none
            host = host[:-1]
        key = self._resolver.resolve(host) + colon + port
        if len(authority) > 300:  # no name in the DNS is
            return key
        if len(self.keys) >= _HOSTS:
            self.keys.clear()
        return self.keys.setdefault(authority, key)


def fingerprint_of(normalised: str) -> int:
    """See `Url.fingerprint`."""
    return xxhash.xxh3_64_intdigest(normalised.encode()) >> 1


def _file(access: str) -> Url:
    return Url(access, access, FILES, fingerprint_of(access))


def _parse(text: str, base: str | None = None) -> str:
    """WHATWG's serialisation of ``text``. The messages leave the text out: it may hold a password."""
    if len(text) > MAX_CHARACTERS:
        raise BadUrl(f"URL of {len(text)} characters")
    try:
        href = ada_url.normalize_url(text) if base is None else ada_url.join_url(base, text)
    except ValueError as error:
        raise BadUrl(_blame(text, base)) from error
    if len(href) > MAX_CHARACTERS:
        raise BadUrl(f"URL of {len(href)} characters")
    return href


def _blame(text: str, base: str | None) -> str:
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        return "not a URL: an unpaired surrogate"
    if not text.strip(WHITE):
        return "not a URL: empty"
    if base is None and not _SCHEME.match(text):
        return "not a URL: no scheme, no host"
    return "not a URL: its host or port is malformed"


def _with_scheme(text: str) -> str:
    text = text.strip(WHITE)
    if text.startswith("//"):
        return "http:" + text
    if not text or text[0] in "/?#\\" or (_SCHEME.match(text) and not _HOST_PORT.match(text)):
        return text
    if _NO_SCHEME.match(text):
        return text
    return "http://" + text
