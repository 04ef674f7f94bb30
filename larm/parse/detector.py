"""What encoding the letters of a text speak for, where nothing else tells: about one page in a hundred. Pure; any thread.

By chardet, which knows the frequencies of letters in many languages. It is loaded when first asked: 40 MB, and a quarter of a
second. Later a page takes a millisecond.
"""

import codecs
import re
from functools import cache
from types import ModuleType
from typing import Final

import webencodings

from larm.parse.readable import names

FALLBACK: Final = "windows-1252"
"""What browsers take an unknown encoding for, in most of the world."""
_SEARCHED = 1_000_000  # bytes
_SAMPLE = 30_000  # bytes of text with other characters than ASCII: more of it does not tell more
_TAG = re.compile(rb"<[^<>]*>")
# Python's names. What is on neither list is rarer than the mistakes that it is good for.
_COMMON = names(
    "cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 cp866 cp874 koi8-r koi8-u iso8859-2 iso8859-5 iso8859-6"
    " iso8859-7 iso8859-8 iso8859-13 iso8859-15 tis-620 big5hkscs cp932 shift_jis_2004 euc_jis_2004 cp949 euc_kr gb18030 hz"
    " iso2022_kr iso2022_jp_2 utf-16-le utf-16-be utf-32-le utf-32-be"
)
_LATIN = names("cp1250 cp1252 cp1254 cp1257 cp1258 iso8859-2 iso8859-13 iso8859-15")
_SELDOM = 150  # bytes with one that is not ASCII among them: an English text with a foreign word
_TWO = re.compile(rb"[\x80-\xff]{2}")  # no word in another script is without
_RARE = names("cp855 mac-cyrillic mac-roman johab iso8859-3 iso8859-4 iso8859-10 iso8859-14 iso8859-16")
_FEW = 40  # bytes that are not ASCII; so few do not speak for a rare encoding
_SUPERSETS = {  # by what bytes for control characters stand for: no text has those
    "iso-8859-2": "windows-1250",
    "iso-8859-4": "windows-1257",
    "iso-8859-5": "windows-1251",
    "iso-8859-6": "windows-1256",
    "iso-8859-7": "windows-1253",
    "iso-8859-8": "windows-1255",
    "iso-8859-13": "windows-1257",
    "iso-8859-15": "windows-1252",
    "iso-8859-16": "windows-1250",
}
_LATIN_9 = re.compile(rb"\xa4|[a-z][\xbc\xbd]|[\xbc\xbd][a-z]", re.IGNORECASE)  # a euro sign, or \u0153 in a word
# Quotation marks, dashes, no-break spaces, (c): the same in all of Windows' encodings, and all there is in an English page
_SIGNS = b"\x80\x82\x84\x85\x91\x92\x93\x94\x95\x96\x97\x99\xa0\xa7\xa9\xab\xae\xb0\xb7\xbb"
_CONTROLS = bytes(range(0x80, 0xA0))
_NOT_ASCII = bytes(range(0x80, 0x100))
_NAMES = {  # chardet's own, and what WHATWG calls them
    "big5hkscs": "big5",
    "cp874": "windows-874",
    "cp932": "shift_jis",
    "cp949": "euc-kr",
    "euc_jis_2004": "euc-jp",
    "maccyrillic": "x-mac-cyrillic",
    "macroman": "macintosh",
    "shift_jis_2004": "shift_jis",
    "utf-16": "utf-16le",
    "utf-16-be": "utf-16be",
    "utf-16-le": "utf-16le",
    "utf-32": "utf-32le",
    "utf-32-be": "utf-32be",
    "utf-32-le": "utf-32le",
}


def detect(body: bytes) -> str:
    """The encoding of a text: a name that `larm.parse.decoders.decoder` knows; FALLBACK where nothing speaks for any."""
    sample = _sample(body)
    high = len(sample) - len(sample.translate(None, _NOT_ASCII))
    if high and sample.translate(None, _SIGNS).isascii():
        return FALLBACK
    if high and not _TWO.search(sample):
        name = FALLBACK if high * _SELDOM < len(sample) else _ask(sample, _LATIN)
    else:
        name = _ask(sample, _COMMON if high < _FEW else _COMMON | _RARE)
    if name == "iso-8859-15" and not _LATIN_9.search(sample):
        return FALLBACK
    if name in _SUPERSETS and len(sample.translate(None, _CONTROLS)) < len(sample):
        return _SUPERSETS[name]
    return name


def _ask(sample: bytes, candidates: frozenset[str]) -> str:
    try:
        found = _chardet().detect(sample, include_encodings=candidates)["encoding"]
    except Exception:  # noqa: BLE001  whatever a page does to it, a page has some encoding
        return FALLBACK
    return _name(found) if found else FALLBACK


def _sample(body: bytes) -> bytes:
    """The parts between tags that have other characters than ASCII: the more there is of all else, the less is certain."""
    parts: list[bytes] = []
    size = 0
    for part in _TAG.split(body[:_SEARCHED]):
        if not part.isascii():
            parts.append(part)
            size += len(part)
            if size > _SAMPLE:
                break
    return b"\n".join(parts)[: 2 * _SAMPLE] if parts else body[:_SAMPLE]


@cache
def _name(found: str) -> str:
    label = found.lower()
    known = _NAMES.get(label)
    if known is None and (encoding := webencodings.lookup(label)) is not None and encoding.name != "replacement":
        known = str(encoding.name)
    try:
        return known or codecs.lookup(label).name
    except LookupError:
        return FALLBACK


@cache
def _chardet() -> ModuleType:
    import chardet  # few crawls need it

    return chardet
