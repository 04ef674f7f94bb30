"""What tells whether a page has changed (`digest`), and whether two say the same (`crawl_hash` of Yioop). Pure; any thread."""

import base64
import hashlib
from collections.abc import Callable

import xxhash

_PIECE = 2047
"""Bytes that hashlib takes without giving Python's lock away; next to busy threads it comes back milliseconds later."""
NO_LETTERS = bytes(each for each in range(128) if not (chr(each).isalnum() or chr(each) == "_"))


def crawl_hash(data: bytes) -> int:
    """64 bits: the halves of the MD5, one upon the other (YIOOP-10)."""
    made = hashlib.md5(usedforsecurity=False)
    for at in range(0, len(data), _PIECE):
        made.update(data[at : at + _PIECE])
    digest = made.digest()
    return int.from_bytes(digest[:8]) ^ int.from_bytes(digest[8:])


def written(value: int) -> str:
    """Its 11 characters: base64 for addresses, without padding (YIOOP-10)."""
    return base64.urlsafe_b64encode(value.to_bytes(8)).rstrip(b"=").decode()


def page_hash(title: str, text: str, of: Callable[[bytes], int] = crawl_hash) -> int:
    """Return the hash over the words of a page's text, without markup and scripts (YIOOP-9); 0 if only the title has words.

    White space and punctuation do not count, as far as they are ASCII: to look for all of Unicode's takes five times as long.
    """
    return hash_of_letters(title, letters(text), of)


def hash_of_letters(title: str, text: bytes, of: Callable[[bytes], int] = crawl_hash) -> int:
    """Return the `page_hash` by the `letters` of the text."""
    return of(letters(title) + text) if text else 0


def letters(text: str) -> bytes:
    """Return a text, in UTF-8, without what does not count."""
    return text.encode("utf-8", "surrogatepass").translate(None, NO_LETTERS)


def digest(body: bytes) -> int:
    """63 bits of XXH3 over the bytes of a body; 0 is kept for "not known"."""
    return xxhash.xxh3_64_intdigest(body) >> 1 or 1
