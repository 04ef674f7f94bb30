"""Which encoding a page is written in, and its text (WHATWG HTML 13.2.3.2). Pure; called by the processors on fetcher threads.

The order: byte order mark, charset of Content-Type, ``<meta>`` in the first 1,024 bytes, XML declaration. A page that declares
nothing is UTF-8 if it is, at least nearly, valid UTF-8; else its encoding is guessed from its letters. So it is where a page
declares UTF-8 and is nothing less, or declares another encoding and is UTF-8: browsers show such a page as it declares itself,
and nobody can read it. Bytes that are wrong in an encoding become U+FFFD, never an error.

Queries of links on pages in other encodings are encoded as browsers do it: ``<a href="?q=\u00fc">`` asks for ``?q=%FC`` on a
page in windows-1252, and a server that writes such pages expects so (WHATWG URL, "percent-encode after encoding"). The path is
UTF-8 in any case.
"""

import codecs
import re
from functools import cache, lru_cache
from typing import Final, NamedTuple
from urllib.parse import quote_from_bytes

import webencodings

from larm.parse.decoders import BEYOND_BROWSERS, BROKEN, decoder
from larm.parse.detector import detect

UNICODE: Final = frozenset(("", "utf-8", "utf-16le", "utf-16be", "utf-32", "utf-32le", "utf-32be"))
"""Encodings of pages, their links then ask in UTF-8."""
_CODECS = {"shift_jis": "cp932", "euc-kr": "cp949", "big5": "big5hkscs"}  # where Python's of that name know fewer characters
_AS_IT_IS = "!$%&'()*+,/:;=?@[\\]^`{|}~\"<> \t\n\r"  # ASCII: the URL parser sees to it


def in_charset(address: str, charset: str) -> str:
    """An address with its query escaped."""
    before, mark, query = address.partition("?")
    return before + mark + _escaped(query, charset) if mark else address


def _escaped(query: str, charset: str) -> str:
    if query.isascii():
        return query
    encode = _codec(charset).encode
    pieces: list[str] = []
    for character in query:
        if character.isascii():
            pieces.append(character)
            continue
        try:
            pieces.append(quote_from_bytes(encode(character, "strict")[0], _AS_IT_IS))
        except UnicodeEncodeError:
            pieces.append(f"%26%23{ord(character)}%3B")  # what a form would send: &#20013;
    return "".join(pieces)


@cache
def _codec(charset: str) -> codecs.CodecInfo:
    encoding = webencodings.lookup(charset)
    if encoding is None:
        return codecs.lookup("utf-8")
    codec: codecs.CodecInfo = encoding.codec_info
    return codecs.lookup(_CODECS[charset]) if charset in _CODECS else codec


PRESCAN: Final = 1_024
"""Bytes in which a declaration is looked for first; the standard's number."""
LATE: Final = 20_000
"""Bytes in which a late declaration counts, if there is no other."""

_BOMS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\0\0", "utf-32le"),
    (b"\0\0\xfe\xff", "utf-32be"),
    (b"\xfe\xff", "utf-16be"),
    (b"\xff\xfe", "utf-16le"),
)
_MARKUP = ((b"<\0\0\0", "utf-32le"), (b"\0\0\0<", "utf-32be"), (b"<\0", "utf-16le"), (b"\0<", "utf-16be"))
_SHIFTS = ((b"\x1b$B", "iso-2022-jp"), (b"\x1b$@", "iso-2022-jp"), (b"\x1b$)C", "iso-2022-kr"))
_HIGH = bytes(range(0x80, 0x100))
_ENOUGH = 200_000  # bytes that tell whether a text is nearly UTF-8
_ZEROS = {
    (True, False, True, False): "utf-16be",
    (False, True, False, True): "utf-16le",
    (True, True, True, False): "utf-32be",
    (False, True, True, True): "utf-32le",
}
_LABEL = re.compile(r"charset\s*=\s*[\"']?([^\s;\"',]+)", re.IGNORECASE)
_ASCII_COMPATIBLE = frozenset({*(f"iso-8859-{n}" for n in range(2, 17)), *(f"windows-{n}" for n in range(1250, 1259))})
# An attribute as the prescan reads it: its name, and its value in double quotes, single quotes or none.
_SPACE = rb"[\t\n\f\r ]*+"
_ATTRIBUTE = (
    rb"[\t\n\f\r /]*+([^\t\n\f\r />][^\t\n\f\r />=]*)"
    rb"(?:" + _SPACE + rb"=" + _SPACE + rb"(?:\"([^\"]*)\"|'([^']*)'|([^\t\n\f\r >\"'][^\t\n\f\r >]*)|(?=>)))?"
)
ATTRIBUTES: Final = rb"(?:" + re.sub(rb"\((?!\?)", rb"(?:", _ATTRIBUTE) + rb")*+"
# A token: a comment, a meta element (group 2), another tag, a declaration; or one without an end, where the scan ends too.
_TOKEN = re.compile(
    rb"<!(?=--).*?-->"
    rb"|<!--()"
    rb"|<meta(?=[\t\n\f\r /])(" + ATTRIBUTES + rb")[\t\n\f\r /]*>"
    rb"|</?[a-z][^\t\n\f\r >]*+" + ATTRIBUTES + rb"[\t\n\f\r /]*>"
    rb"|</?[a-z]()"
    rb"|<[!/?][^>]*>",
    re.IGNORECASE | re.DOTALL,
)
_NAME_VALUE = re.compile(_ATTRIBUTE)
_CONTENT = re.compile(
    rb"charset" + _SPACE + rb"=" + _SPACE + rb"(?:\"([^\"]*)\"|'([^']*)'|([^\t\n\f\r ;\"'][^\t\n\f\r ;]*))", re.IGNORECASE
)
_RAW = re.compile(rb"<(script|style|title|textarea|xmp|iframe|noframes|noembed)\b.*?(?:</\1|\Z)", re.IGNORECASE | re.DOTALL)
_XML = re.compile(rb"<\?xml[^>]*?encoding[\t\n\r ]*=[\t\n\r ]*(?:\"([^\"]+)\"|'([^']+)')")

_NO_ASCII = ("utf-16", "utf-32")
_ESCAPING = frozenset(("iso-2022-jp", "iso2022_kr", "iso-2022-kr", "hz", "hz-gb-2312", "x-user-defined"))  # all of it is ASCII
_ONE_BYTE = _ASCII_COMPATIBLE | {"windows-874", "koi8-r", "koi8-u", "macintosh", "x-mac-cyrillic", "ibm866", "ibm855"}
_CERTAIN = 10  # characters that are UTF-8 by chance once in a thousand million texts of two bytes a character
_DOZENS = 24  # characters that are no UTF-8: fewer are a few words that somebody pasted
_SOME = 3  # the same, where no character is


class Encoding(NamedTuple):
    """The outcome of the search."""

    name: str
    """As WHATWG writes it, lower case, such as ``windows-1252``."""
    skip: int = 0
    """Length of the byte order mark."""
    declared: str = ""
    """What the page says of itself, where its bytes say otherwise."""


def encoding_of(body: bytes, content_type: str = "") -> Encoding:
    """The encoding of a page with this Content-Type header."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return Encoding(name, len(mark))
    declared = header_charset(content_type) or _declared(body)
    if not declared:
        return Encoding(_undeclared(body))
    if body.isascii() or (name := _by_bytes(body, declared)) == declared:
        return Encoding(declared)
    return Encoding(name, declared=declared)


def utf8_of(body: bytes, content_type: str = "") -> tuple[bytes, Encoding]:
    """The page as UTF-8, and its own encoding. A page in UTF-8 is not copied, so it may hold invalid bytes."""
    encoding = encoding_of(body, content_type)
    if encoding.name == "utf-8":
        return (body[encoding.skip :] if encoding.skip else body), encoding
    if body.isascii() and encoding.name in _ASCII_COMPATIBLE:
        return body, encoding
    return _decode(body, encoding).encode("utf-8", "replace"), encoding


def text_of(body: bytes, content_type: str = "") -> tuple[str, Encoding]:
    """The page as text, and its encoding."""
    encoding = encoding_of(body, content_type)
    return _decode(body, encoding), encoding


@lru_cache(maxsize=1_000)
def header_charset(content_type: str) -> str:
    """The encoding named by a Content-Type header; empty where there is none that we know."""
    match = _LABEL.search(content_type)
    return _name(match[1]) if match else ""


@lru_cache(maxsize=1_000)
def _name(label: str) -> str:
    """The encoding of a label, empty for an unknown one."""
    label = label.strip("\t\n\f\r ").lower()
    if label in BEYOND_BROWSERS:
        return label
    found = webencodings.lookup(label)
    return "" if found is None or found.name == "replacement" else str(found.name)


def _decode(body: bytes, encoding: Encoding) -> str:
    data = body[encoding.skip :] if encoding.skip else body
    return decoder(encoding.name)(data)


def _declared(body: bytes) -> str:
    """What the page says of itself; empty if nothing."""
    head = body[:PRESCAN]
    if b"charset" in head.lower() and (name := _scan(head)):  # the test costs a fiftieth of the scan
        return name
    match = _XML.match(head)
    name = _name((match[1] or match[2]).decode("latin-1")) if match else ""
    if name and not name.startswith(_NO_ASCII):  # else it could not have been read: written by a program into a string
        return name
    if len(body) > PRESCAN and b"charset" in (later := body[:LATE]).lower():
        return _scan(_RAW.sub(b"", later))  # where a browser would notice while parsing, and begin anew
    return ""


def _scan(data: bytes) -> str:
    for token in _TOKEN.finditer(data):
        if token[1] is not None or token[3] is not None:
            break
        if token[2] is not None and (name := _of_meta(token[2])):
            return "utf-8" if name.startswith("utf-16") else "windows-1252" if name == "x-user-defined" else name
    return ""


@lru_cache(maxsize=100)  # most pages of a site have the same, and it is at most LATE bytes long
def _of_meta(attributes: bytes) -> str:
    """The encoding that one meta element names, as ``charset`` or in ``http-equiv=content-type``."""
    found: dict[bytes, bytes] = {}
    for name, *values in _NAME_VALUE.findall(attributes.rstrip(b"\t\n\f\r /")):
        found.setdefault(name.lower(), b"".join(values))
    label = found.get(b"charset")
    if label is None:
        match = _CONTENT.search(found.get(b"content", b""))
        if match is None or found.get(b"http-equiv", b"").lower() != b"content-type":
            return ""
        label = match[1] or match[2] or match[3] or b""
    return _name(label.decode("latin-1"))


def _undeclared(body: bytes) -> str:
    """UTF-8, or what a page looks like. Pure ASCII counts as what browsers assume, for which both are right."""
    for start, name in _MARKUP:
        if body.startswith(start):
            return name
    if body.isascii():
        if b"\x1b" in body and (name := next((name for shift, name in _SHIFTS if shift in body), "")):
            return name
        head = body[:LATE]
        if b"\0" in head and (name := _by_zeros(head)):
            return name
        return "hz" if b"~{" in head and detect(body) == "hz" else "windows-1252"
    try:
        codecs.utf_8_decode(body, "strict", False)  # not final: the page may be cut off within a character
    except UnicodeDecodeError:
        return "utf-8" if _nearly_utf8(body) else detect(body)
    return "utf-8"


def _by_bytes(body: bytes, declared: str) -> str:
    """The encoding of a page that declares one and is not all ASCII: another one only where the bytes leave no doubt."""
    if declared == "utf-8":
        return _no_utf8(body)
    if declared.startswith(_NO_ASCII) or declared in _ESCAPING:
        return declared
    try:
        text, _ = codecs.utf_8_decode(body, "strict", False)
    except UnicodeDecodeError:
        return declared
    characters = len(text) - len(body.translate(None, _HIGH))
    return "utf-8" if characters >= (1 if declared in _ONE_BYTE else _CERTAIN) else declared


def _no_utf8(body: bytes) -> str:
    """UTF-8, unless dozens of its characters are none, more than are some, or all; and all is well in another encoding."""
    try:
        codecs.utf_8_decode(body, "strict", False)
    except UnicodeDecodeError:
        pass
    else:
        return "utf-8"
    valid, broken = _utf8_characters(body)
    if broken < (_DOZENS if valid else _SOME) or valid > broken:
        return "utf-8"
    name = detect(body)
    still = _decode(body[:_ENOUGH], Encoding(name)).count(BROKEN)
    return name if still * 10 < broken else "utf-8"


def _utf8_characters(body: bytes) -> tuple[int, int]:
    """(characters other than ASCII, characters that are none) of a text as UTF-8, as far as it matters."""
    sample = body[:_ENOUGH]
    text = sample.decode("utf-8", "replace")
    broken = text.count(BROKEN)
    return len(text) - broken - len(sample.translate(None, _HIGH)), broken


def _by_zeros(head: bytes) -> str:
    """Latin letters are every second byte of UTF-16, every fourth of UTF-32; the others are zeros. Empty where none fits."""
    units = len(head) // 4
    zeros = [head[place : 4 * units : 4].count(0) > 0.6 * units for place in range(4)]
    return _ZEROS.get((zeros[0], zeros[1], zeros[2], zeros[3]), "")


def _nearly_utf8(body: bytes) -> bool:
    """Whether most of what is not ASCII is UTF-8: what somebody wrote into a page need not be in the encoding of the page."""
    valid, broken = _utf8_characters(body)
    return valid > 10 * broken
