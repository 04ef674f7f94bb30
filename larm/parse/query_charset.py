"""Queries of links on pages in other encodings than UTF-8: browsers send them in the encoding of the page. Pure; any thread.

``<a href="?q=\u00fc">`` asks for ``?q=%FC`` on a page in windows-1252, and a server that writes such pages expects so (WHATWG
URL, "percent-encode after encoding"). The path is UTF-8 in any case.
"""

import codecs
from functools import cache
from typing import Final
from urllib.parse import quote_from_bytes

import webencodings

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
