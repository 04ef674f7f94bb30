"""The text that a page carries in its scripts: JSON-LD, the state of Next.js, Nuxt and others. Pure; any thread.

Called by `larm.parse.html` for pages with little text of their own, whose scripts would write it. Strings are found by pattern,
so that a state written as a program is read as well and no nesting can hurt. A string counts by its key or as a sentence.
"""

import html
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Final

from larm.parse.page import Reading
from larm.parse.readable import names

LITTLE: Final = 600
"""Characters outside links that a page has at most whose scripts are read."""
_LEAST: Final = 40
"""Characters of a text: shorter ones are names and labels."""
_MOST, _STRINGS = 500_000, 10_000
"""Bytes of scripts, and strings in them, that are read of a page."""
_SAME: Final = 20
"""Characters of a block from which on the scripts must repeat it, if the page has been written by a server."""
_SCRIPT = re.compile(rb"<script\b([^>]{0,500}+)>(.*?)(?:</script|\Z)", re.DOTALL | re.IGNORECASE)
_STATE = re.compile(rb"\b__\w{1,50}\s*=\s*(?=[{[(])")
# the end of a script ends a string that is open, or each quote would look through all the rest
_STRING = re.compile(r"(?:\"?(?<!\w)(@?\w{1,50}+)\"?\s*+:\s*+)?\"((?:[^\"\\]|\\(?:.|\Z))*+)(?:\"|\Z)", re.DOTALL)
_TEXTS = names("articlebody text description headline title body content html excerpt summary abstract answer question")
_NAMES = names("headline title")
_LINKS = names("href url link path permalink canonicalurl item")
_ABOUT_SITES = names("organization website breadcrumblist localbusiness person imageobject searchaction postaladdress")
"""Types of JSON-LD that say something of the site, and nothing of the page."""
_ADDRESS = re.compile(r"(?:https?:/)?/[^\s<>\"{}|\\^`\[\]]*+", re.IGNORECASE)
_FILE = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|avif|ico|css|m?js|json|woff2?|mp[34]|webm)(?:[?#]|$)", re.IGNORECASE)
_MARKUP = re.compile(r"</?(?:p|br|div|h[1-6]|li|ul|a|b|i|em|strong|span)\b[^<>]*>", re.IGNORECASE)
_CODE = re.compile(r"[{}]|=>|;\s|://|\bfunction\b")
_WORD = re.compile(r"[^\W\d_]{2,}[,.;:!?)»”’]*+")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")


def text_in_scripts(body: bytes, page: Reading) -> bytes:
    """Return the text and the links in the scripts of a page as HTML to append to it; empty where there are none, or it shows
    them. ``body``: UTF-8."""
    if not page.linked_data and b"application/json" not in body and (b"__" not in body or not _STATE.search(body)):
        return b""
    found: dict[str, str] = {}
    links: dict[str, None] = {}
    size = 0
    for key, value in _strings(body):
        if _ADDRESS.fullmatch(value):
            if (key in _LINKS or (not key and value[0] == "/")) and not _FILE.search(value):
                links[value] = None
        elif key in _NAMES or (key in _TEXTS and len(value) >= _LEAST and " " in value) or _is_sentence(value):
            found[value] = value if _MARKUP.search(value) else f"<p>{html.escape(value)}</p>"
            size += len(value)
    said = "\n".join(found)
    shown = [text for text, linked in zip(page.blocks.texts, page.blocks.linked, strict=True) if len(text) - linked >= _SAME]
    if size < max(_LEAST, page.outside) or 2 * sum([len(text) for text in shown if text in said]) > sum(map(len, shown)):
        return b""
    written = [f'<a href="{html.escape(address)}"></a>' for address in links]
    return f"<main>{''.join(found.values())}{''.join(written)}".encode("utf-8", "replace")


def _strings(body: bytes) -> Iterator[tuple[str, str]]:
    """Yield the keys (in lower case) and values of strings."""
    room = _MOST
    for attributes, script in map(re.Match.groups, _SCRIPT.finditer(body)):
        begin = 0 if b"json" in attributes.lower() else next((state.end() for state in _STATE.finditer(script)), len(script))
        text = script[begin : begin + room].decode("utf-8", "replace")
        room -= len(text)
        depth = end = 0
        typed = [(0, False)]  # the objects that are open and have a type: how deep, whether it is about the site
        for match in islice(_STRING.finditer(text), _STRINGS):
            key, written = match.groups()
            depth -= text.count("}", end, match.start())
            while typed[1:] and typed[-1][0] > depth:
                typed.pop()
            depth += text.count("{", end, match.start())
            end = match.end()
            if key == "@type":
                typed.append((depth, written.lower() in _ABOUT_SITES))
            elif written and not typed[-1][1]:
                with suppress(ValueError):  # what no JSON escapes
                    yield (key or "").lower(), json.loads(f'"{written}"', strict=False).strip()
        if room <= 0:
            return


def _is_sentence(value: str) -> bool:
    """Return True for words that a reader reads: not for names of classes, programs and addresses."""
    if len(value) < _LEAST // 2 or _CODE.search(value):
        return False
    words = value.split()
    spoken = sum(_WORD.fullmatch(word) is not None for word in words)
    return len(_UNSPACED.findall(value)) >= _LEAST // 4 or (spoken >= 5 and 4 * spoken >= 3 * len(words))
