"""The passage of a page that best shows why it was found. Pure.

About 200 characters with as many different words of the query as possible. Given as parts, so that each surface marks words in
its own way; free of control characters, so that no page can steer a terminal.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from larm.index.terms import Span, Spans

WIDTH = 200
"""Characters of a snippet, roughly."""
_SEARCHED = 100_000  # characters of a page that are looked at: 10 ms
_ELLIPSIS = "…"

Part = tuple[str, bool]
"""Some text, and whether it is a word of the query."""

# Cc, surrogates, and the format characters that turn the direction of writing
_UNSAFE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]+")
_SPACES = re.compile(r"\s+")


def safe_line(text: str) -> str:
    """The text as one line without control characters; spaces are squeezed, those at the ends too."""
    return _SPACES.sub(" ", _UNSAFE.sub(" ", text))


def make_snippet(text: str, words: Collection[str], spans_of: Spans) -> tuple[Part, ...]:
    """The best passage of ``text``; its beginning if none of ``words`` is in it."""
    text = text[:_SEARCHED]
    hits = [span for span in spans_of(text) if span.word in words] if words else []
    start, end = _best_window(hits)
    start, end = _widen(text, start, end)
    parts = list(_marked(text, start, end, [hit for hit in hits if start <= hit.start and hit.end <= end]))
    if start > 0:
        parts.insert(0, (_ELLIPSIS + " ", False))
    if end < len(text):
        parts.append((" " + _ELLIPSIS, False))
    return _joined(parts)


def _best_window(hits: Sequence[Span]) -> tuple[int, int]:
    """The stretch of at most WIDTH characters with the most different words, each perhaps twice; the first such one."""
    best, window = (0, 0), (0, 0)
    inside: Counter[str] = Counter()
    first = 0
    for last, hit in enumerate(hits):
        inside[hit.word] += 1
        while hit.end - hits[first].start > WIDTH and first < last:
            word = hits[first].word
            inside[word] -= 1
            if not inside[word]:
                del inside[word]
            first += 1
        value = (len(inside), min(last - first + 1, 2 * len(inside)))
        if value > best:
            best, window = value, (hits[first].start, hit.end)
    return window


def _widen(text: str, start: int, end: int) -> tuple[int, int]:
    """Add what is missing to WIDTH on both sides, then step inwards to whole words."""
    room = max(0, WIDTH - (end - start))
    left = max(0, start - room // 2)
    right = min(len(text), left + max(WIDTH, end - start))
    left = max(0, min(left, right - WIDTH))
    if left > 0 and (space := text.find(" ", left, start)) >= 0:
        left = space + 1
    if right < len(text) and (space := text.rfind(" ", end, right)) > left:
        right = space
    return left, right


def _marked(text: str, start: int, end: int, hits: Iterable[Span]) -> Iterable[Part]:
    at = start
    for hit in hits:
        yield safe_line(text[at : hit.start]), False
        yield safe_line(text[hit.start : hit.end]), True
        at = hit.end
    yield safe_line(text[at:end]), False


def _joined(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Without empty parts, without spaces at the ends, unmarked neighbours as one."""
    joined: list[Part] = []
    for text, marked in parts:
        if joined and not marked and not joined[-1][1]:
            joined[-1] = (_SPACES.sub(" ", joined[-1][0] + text), False)
        elif text:
            joined.append((text, marked))
    if joined:
        joined[0] = (joined[0][0].lstrip(), joined[0][1])
        joined[-1] = (joined[-1][0].rstrip(), joined[-1][1])
    return tuple(part for part in joined if part[0])
