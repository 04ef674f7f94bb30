"""<noscript> with something left open in it: it ends at its end tag, as in a browser with scripts. Pure; any thread.

A parser without scripts takes what is in it for elements. One that is left open there makes it ignore ``</noscript>``, and
all the rest of the page would be said to people without scripts. Called by the readers that make a tree, before they do; the
one without a tree (``regular/``) leaves such pages to them. Each byte is looked at a few times at most, whatever the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from larm.processing.charset import ATTRIBUTES
from larm.processing.page import LINKING, SPEAKING
from larm.processing.readable import BLOCK, HIDDEN, names

MOST: Final = 100
"""Elements of a page that are looked at: of more the text counts (`larm.processing.walk`)."""
_DEPTH = 400  # elements in it that may be open

_BEGIN = re.compile(rb"<noscript(?=[\s/>])", re.IGNORECASE)
_END = re.compile(rb"</noscript(?=[\s/>])", re.IGNORECASE)
_TAG = re.compile(rb"<(/?)([a-z][^\t\n\f\r />]*+)" + ATTRIBUTES + rb"[\t\n\f\r /]*+>", re.IGNORECASE)
_TEXTS = {name.encode(): re.compile(rb"</%b(?=[\s/>])" % name.encode(), re.IGNORECASE) for name in HIDDEN | {"xmp"}}
"""Elements that hold nothing but text, and what ends them."""
_VOID = frozenset(b"area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr".split())
_SECTION = "p td th tr colgroup caption tbody thead tfoot"
_ENDS_AT: dict[bytes, frozenset[bytes]] = dict.fromkeys(
    (name.encode() for name in BLOCK - names("br button")), frozenset((b"p",))
)
_ENDS_AT |= {
    name.encode(): frozenset(ended.encode().split())
    for beginning, ended in (
        ("li", "p li"),
        ("dd dt", "p dd dt"),
        ("td th", "p td th"),
        ("tr", "p td th tr"),
        ("tbody thead tfoot caption colgroup", _SECTION),
        ("option", "option"),
        ("optgroup", "option optgroup"),
    )
    for name in beginning.split()
}
"""What has ended where another element begins, though it has no end tag."""
_NONE: frozenset[bytes] = frozenset()
_IMPLIED = _NONE.union(*_ENDS_AT.values())
_BEGUN_BY_THEIR_END = (b"p", b"br")
_LEADING = frozenset(name.encode() for name in LINKING | SPEAKING)


def closed(body: bytes) -> bytes:
    """The page with each such element reduced to what leads somewhere in it; the same object where there is none.

    One that has no end tag at all is left out, and its content is text of the page.
    """
    first = _BEGIN.search(body)
    if first is None or all(content is not None and _is_closed(content) for content in _contents(body, first.start())):
        return body
    pieces: list[bytes] = []
    done = 0
    for begin, content, end in _noscripts(body):
        if end < 0:
            pieces.append(body[done:begin])
            done = content
        elif not _is_closed(body[content:end]):
            pieces += body[done:content], b"".join(_alone(tag) for tag in _tags(body[content:end]) if tag is not None)
            done = end
    return b"".join((*pieces, body[done:])) if pieces else body


def _contents(body: bytes, at: int) -> Iterator[bytes | None]:
    """Those of all that looks like one, even in a script: nearly always all are closed. None: it doesn't end."""
    for _ in range(MOST):
        begin = _BEGIN.search(body, at)
        if begin is None:
            return
        at = body.find(b">", begin.end()) + 1
        end = _END.search(body, at) if at else None
        yield None if end is None else body[at : end.start()]
        if end is None:
            return
        at = end.end()


def _noscripts(body: bytes) -> Iterator[tuple[int, int, int]]:
    """(where it begins, where its content begins, where that ends or -1) of each, but not of what only looks like one."""
    at = seen = 0
    while seen < MOST and (begin := body.find(b"<", at)) >= 0:
        at, tag = _token(body, begin)
        if at < 0:
            return
        if tag is not None and not tag[1] and tag[2].lower() == b"noscript":
            seen += 1
            end = _END.search(body, at)
            yield begin, at, -1 if end is None else end.start()
            at = at if end is None else end.end()


def _token(body: bytes, at: int) -> tuple[int, re.Match[bytes] | None]:
    """(where that ends which begins with the ``<`` there, its tag if it is one); -1: nowhere."""
    if body.startswith(b"<!--", at):
        close = body.find(b"-->", at + 2)
        return (close + 3 if close >= 0 else -1), None
    tag = _TAG.match(body, at)
    if tag is None:
        return (-1 if body[at + 1 : at + 3].lstrip(b"/")[:1].isalpha() else at + 1), None
    text = None if tag[1] else _TEXTS.get(tag[2].lower())
    if text is None:
        return tag.end(), tag
    end = text.search(body, tag.end())
    return (end.start() if end is not None else -1), tag


def _tags(content: bytes) -> Iterator[re.Match[bytes] | None]:
    """Those in it, as far as one begins that does not end; for that one None."""
    at = 0
    while at >= 0 and (begin := content.find(b"<", at)) >= 0:
        at, tag = _token(content, begin)
        if tag is not None or at < 0:
            yield tag


def _is_closed(content: bytes) -> bool:
    """Whether all that begins in it ends in it."""
    opened: list[bytes] = []
    for tag in _tags(content):
        if tag is None or len(opened) > _DEPTH:
            return False
        name = tag[2].lower()
        if not tag[1]:
            if name not in _VOID:
                ended = _ENDS_AT.get(name, _NONE)
                while opened and opened[-1] in ended:
                    opened.pop()
                opened.append(name)
        elif name in opened:
            while (last := opened.pop()) != name:
                if last not in _IMPLIED:
                    return False
        elif name not in _BEGUN_BY_THEIR_END:
            return False
    return not opened


def _alone(tag: re.Match[bytes]) -> bytes:
    """An element that leads somewhere, with nothing in it; nothing for all others."""
    name = tag[2].lower()
    if tag[1] or name not in _LEADING:
        return b""
    return tag[0] if name in _VOID else b"%b</%b>" % (tag[0], name)
