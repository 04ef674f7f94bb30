"""Decoders: bytes to text as browsers do it (WHATWG Encoding). Pure; any thread.

Python's codecs do the work. They differ from browsers in few characters, all of which stand below, and in how many bytes a
broken one takes along: browsers never let it swallow an ASCII character, which may be the ``<`` of the next tag.
"""

import codecs
import re
from collections.abc import Callable, Mapping
from functools import cache
from itertools import islice
from typing import Final

import webencodings

from larm.parse.decoding_tables import BIG5_MISSING, BIG5_OTHER, BIG5_TWINS, EUC_JP_OTHER, GB18030_OTHER

BROKEN: Final = "\ufffd"
"""What stands for bytes that mean nothing."""
_MANY = 20_000  # broken characters: what has more of them is no text, and each costs a microsecond

Decoder = Callable[[bytes], str]

BEYOND_BROWSERS: Final = {  # browsers refuse most of these, for fear of scripts; larm only reads
    "hz-gb-2312": "hz",
    "iso-2022-kr": "iso2022_kr",
    "iso-2022-cn": "gb18030",
    "utf-32": "utf-32",
    "utf-32be": "utf-32-be",
    "utf-32le": "utf-32-le",
    "ibm855": "cp855",
    "johab": "johab",
}


@cache
def decoder(name: str) -> Decoder:
    """The decoder of an encoding, by WHATWG's name in lower case, one of `BEYOND_BROWSERS` or Python's; it never raises."""
    if name in _OWN:
        return _OWN[name]
    encoding = None if name in BEYOND_BROWSERS else webencodings.lookup(name)
    if encoding is None:
        return _plain(codecs.lookup(BEYOND_BROWSERS.get(name, name)))
    info: codecs.CodecInfo = encoding.codec_info
    return _plain(info) if name.startswith(("utf", "x-user")) else _single_byte(info)


def _plain(info: codecs.CodecInfo) -> Decoder:
    return lambda data: info.decode(data, "replace")[0]


def _single_byte(info: codecs.CodecInfo) -> Decoder:
    """A table for all bytes. Those without a character are control characters to browsers, if their numbers are."""
    table = "".join(_OTHER_BYTES.get((info.name, byte)) or _character(info, byte) for byte in range(256))
    return lambda data: codecs.charmap_decode(data, "replace", table)[0]


_OTHER_BYTES = {("koi8-u", 0xAE): "\u045e", ("koi8-u", 0xBE): "\u040e", ("cp1255", 0xCA): "\u05ba"}


def _character(info: codecs.CodecInfo, byte: int) -> str:
    text = info.decode(bytes([byte]), "replace")[0]
    return chr(byte) if text == BROKEN and byte < 0xA0 and info.name.startswith("cp") else text


def _exactly(data: bytes, codec: str, errors: str, other: Mapping[str, str]) -> str:
    """``data`` by Python's codec, what it can't read by the handler ``errors``, and some characters replaced."""
    text = data.decode(codec, "replace")
    if 0 < text.count(BROKEN) <= _MANY:
        text = data.decode(codec, errors)
    wrong = [character for character in other if character in text]  # a tenth of the time of `translate`, which is slow
    if any(other[character] in wrong for character in wrong):  # two that change places
        return text.translate({ord(character): other[character] for character in wrong})
    for character in wrong:
        text = text.replace(character, other[character])
    return text


# -- what is broken: (text, where to go on)


def _after(data: bytes, at: int, length: int) -> tuple[str, int]:
    """Behind ``length`` bytes that belong together but mean nothing; but an ASCII character is not swallowed."""
    end = at + length
    if end > len(data):
        return BROKEN, len(data)
    return BROKEN, end - 1 if length > 1 and data[end - 1] < 0x80 else end


def _on_pair(error: UnicodeDecodeError) -> tuple[str, int]:
    """Big5, EUC-KR, Shift_JIS: a lead byte and another one."""
    data, at = error.object, error.start
    return _after(data, at, 1 if data[at] in (0x80, 0xFF) else 2)


def _on_big5(error: UnicodeDecodeError) -> tuple[str, int]:
    character = BIG5_MISSING.get(error.object[error.start : error.start + 2])
    return (character, error.start + 2) if character else _on_pair(error)


def _on_gb18030(error: UnicodeDecodeError) -> tuple[str, int]:
    """Two bytes, or four of which every other one is a digit."""
    data, at = error.object, error.start
    lead, second, third, fourth = (*data[at : at + 4], -1, -1, -1)[:4]
    if lead in (0x80, 0xFF):
        return ("\u20ac" if lead == 0x80 else BROKEN), at + 1
    if not 0x30 <= second <= 0x39:
        return _after(data, at, 2)
    ended = -1 in (third, fourth) and (third == -1 or 0x81 <= third <= 0xFE)
    whole = 0x81 <= third <= 0xFE and 0x30 <= fourth <= 0x39
    return BROKEN, len(data) if ended else at + 4 if whole else at + 1


def _on_euc_jp(error: UnicodeDecodeError) -> tuple[str, int]:
    """Two bytes, or three that begin with 0x8F. What JIS X 0208 leaves open, browsers fill as Shift_JIS does."""
    data, at = error.object, error.start
    pair = data[at : at + 2]
    if len(pair) == 2 and min(pair) >= 0xA1 and max(pair) <= 0xFE:
        character = _jis0208(*pair)
        return character, at + 2
    if pair[0] == 0x8F and len(pair) == 2 and 0xA1 <= pair[1] <= 0xFE:
        return _after(data, at, 3)
    return _after(data, at, 2 if pair[0] in (0x8E, 0x8F) or 0xA1 <= pair[0] <= 0xFE else 1)


def _jis0208(row: int, cell: int) -> str:
    """The character at a place of JIS X 0208, as two bytes of EUC-JP."""
    odd, half = row & 1, (row - 0xA1) >> 1
    lead = half + (0x81 if half < 0x1F else 0xC1)
    trail = (cell - 0x60 - (cell < 0xE0)) if odd else cell - 2
    return bytes((lead, trail)).decode("cp932", "replace")[:1]


for _name, _handler in (("pair", _on_pair), ("big5", _on_big5), ("gb18030", _on_gb18030), ("euc-jp", _on_euc_jp)):
    codecs.register_error(f"larm.{_name}", _handler)  # type: ignore[arg-type]  # nobody encodes with them


# -- the encodings


def _big5(data: bytes) -> str:
    if not 0 < sum(map(data.count, BIG5_TWINS)) <= _MANY:
        return _exactly(data, "big5hkscs", "larm.big5", BIG5_OTHER)
    pieces: list[str] = []
    at = 0
    for pair in _BIG5_PAIR.finditer(data):
        if pair[0] in BIG5_TWINS:
            pieces += _exactly(data[at : pair.start()], "big5hkscs", "larm.big5", BIG5_OTHER), BIG5_TWINS[pair[0]]
            at = pair.end()
    pieces.append(_exactly(data[at:], "big5hkscs", "larm.big5", BIG5_OTHER))
    return "".join(pieces)


_BIG5_PAIR = re.compile(rb"[\x81-\xfe][\x40-\x7e\x80-\xff]")


def _euc_jp(data: bytes) -> str:
    if 0 < data.count(_TILDE) <= _MANY:
        return "\uff5e".join(map(_euc_jp, data.split(_TILDE)))
    return _exactly(data, "euc_jp", "larm.euc-jp", EUC_JP_OTHER)


_TILDE = b"\x8f\xa2\xb7"  # to Python the one of ASCII


def _iso_2022_jp(data: bytes) -> str:
    """Its text changes between character sets by escape sequences. One right behind another is taken for an attack."""
    pieces: list[str] = []
    escape = b"\x1b(B"
    at = 0
    for match in islice(_ESCAPE.finditer(data), 10 * _MANY):
        piece = data[at : match.start()]
        pieces.append(_SETS[escape](piece) if piece else BROKEN if at else "")
        escape, at = match[0], match.end()
    pieces.append(_SETS[escape](data[at:]))
    return "".join(pieces)


_ESCAPE = re.compile(rb"\x1b(?:\([BJI]|\$[@B])")
_TWO_BYTES = re.compile(rb"((?:[\x21-\x7e]{2})+)|[\x21-\x7e](?:[^\x1b\x21-\x7e]|$)?|.", re.DOTALL)
_HIGH = bytes(range(0x80, 0x100)) * 2
_ASCII = "".join(BROKEN if byte in (0x0E, 0x0F, 0x1B) or byte > 0x7F else chr(byte) for byte in range(256))
_ROMAN = _ASCII.replace("\\", "\u00a5").replace("~", "\u203e")
_KATAKANA = "".join(chr(byte + 0xFF40) if 0x21 <= byte <= 0x5F else BROKEN for byte in range(256))


def _by_table(table: str) -> Decoder:
    return lambda data: codecs.charmap_decode(data, "replace", table)[0]


def _two_bytes(data: bytes) -> str:
    runs = islice(_TWO_BYTES.finditer(data), _MANY)
    return "".join(_euc_jp(match[1].translate(_HIGH)) if match[1] else BROKEN for match in runs)


_SETS: dict[bytes, Decoder] = {
    b"\x1b(B": _by_table(_ASCII),
    b"\x1b(J": _by_table(_ROMAN),
    b"\x1b(I": _by_table(_KATAKANA),
    b"\x1b$@": _two_bytes,
    b"\x1b$B": _two_bytes,
}


def _gb18030(data: bytes) -> str:
    return _exactly(data, "gb18030", "larm.gb18030", GB18030_OTHER)


_OWN: dict[str, Decoder] = {
    "big5": _big5,
    "euc-jp": _euc_jp,
    "euc-kr": lambda data: _exactly(data, "cp949", "larm.pair", {}),
    "gb18030": _gb18030,
    "gbk": _gb18030,
    "iso-2022-jp": _iso_2022_jp,
    "shift_jis": lambda data: _exactly(data, "cp932", "larm.pair", dict.fromkeys("\uf8f0\uf8f1\uf8f2\uf8f3", BROKEN)),
}
