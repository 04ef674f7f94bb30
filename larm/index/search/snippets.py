"""The passages of a page that best show why it was found. Pure.

About 200 characters with as many different words of the query as possible; two shorter passages where one has not all of
them. Given as parts, so that each surface marks words in its own way; free of control characters, so that no page can steer a
terminal.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from larm.index.search.marks import Marks, Place, signs
from larm.model.hit import Part

WIDTH = 200
"""Characters of a snippet, roughly."""
_FIRST = 8_000  # characters of a page that are looked at first: 0.1 ms; mostly all words are there
_SEARCHED = 100_000  # characters that are looked at otherwise: 3 ms; beyond them only if these have no word of the query
_TOP = 1_000  # characters, where links to the next page and the like stand
_HEADING = 100  # characters of a line in a list of what is on a page
_SAMPLE = 100
_CLOSE = 30  # characters; words that are nearer to each other by less are as near
_NAME = 40  # characters of a name that is not cut, such as vacuum_cost_limit
_ELLIPSIS = "…"

# Cc, surrogates, and the format characters that turn the direction of writing or show nothing
_UNSAFE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e0fff]+"
)
_SPACES = re.compile(r"\s+")
_NAVIGATION = re.compile(
    r"^.*\b(?:Next|Previous|Prev|Up):.*\b(?:Next|Previous|Prev|Up):.*$|^(?:\[ ?[^\[\]\n]{1,12} ?\]\n){2,}", re.MULTILINE
)
_SENTENCE = re.compile(r"[.!?…](?=\s)\s*|[。！？]")  # its end


def safe_line(text: str) -> str:
    """The text as one line without control characters; spaces are squeezed, those at the ends too."""
    if text.isprintable() and "  " not in text:  # most are; that is a tenth of the time
        return text
    return _SPACES.sub(" ", _UNSAFE.sub(" ", text))


def make_snippet(text: str, marks: Marks, description: str = "", width: int = WIDTH, title: str = "") -> tuple[Part, ...]:
    """The best passages of ``text``.

    Where it has no word of the query: of ``description`` (what the page says of itself), else the beginning of the text. The
    ``title``, which is shown beside it, is not shown again if anything else has its words.
    """
    whole, more = _without_navigation(text), False
    for most in (_FIRST, _SEARCHED, len(whole)):
        text = whole[:most].replace("\n", " ").replace("\u00b6", " ")
        places = _below(whole, _after(title, text, marks.places(text))) if marks else []
        more = len(whole) > most
        found = {place.piece for place in places}
        if not more or len(found) >= marks.pieces or (found and most == _SEARCHED):
            break
    windows = _best_windows(_whole(text, places), marks, width)
    if description and not places:
        text, more = " ".join(description[:_SEARCHED].split()), False
        places = marks.places(text) if marks else []
        windows = _best_windows(places, marks, width)
    if not text.isascii() and signs(text[:_SAMPLE]) * 4 > min(len(text), _SAMPLE):
        width = width * 3 // 5  # these characters say more, and most of them are twice as wide
        windows = _best_windows(places, marks, width)
    each = width // len(windows)
    stretches = _apart(text, [_widen(text, start, end, each) for start, end in windows])
    parts: list[Part] = []
    at = 0
    for start, end in stretches:
        if text[at:start].strip():
            parts.append((f" {_ELLIPSIS} ", False))
        parts += _marked(text, start, end, places)
        at = end
    if text[at:].strip() or more:
        parts.append((f" {_ELLIPSIS}", False))
    return _joined(parts)


def shortened(parts: Iterable[Part], most: int | None) -> tuple[Part, ...]:
    """At most ``most`` characters of them, as some pages ask (max-snippet); None: all."""
    if most is None:
        return tuple(parts)
    found: list[Part] = []
    for text, marked in parts:
        if most > 0:
            found.append((text[:most], marked))
        most -= len(text)
    return tuple(found)


def _without_navigation(text: str) -> str:
    top = text[:_TOP]
    return _NAVIGATION.sub(" ", top) + text[_TOP:] if any(sign in top for sign in ("Next:", "Up:", "]\n[")) else text


def _after(title: str, text: str, places: list[Place]) -> list[Place]:
    """Without those in the title at the beginning of the text, where its pieces are also elsewhere."""
    title = " ".join(title.split())
    if not title or not places or places[0].start >= len(title) or text[: len(title)].casefold() != title.casefold():
        return places
    later = [place for place in places if place.start >= len(title)]
    return later if len({place.piece for place in later}) == len({place.piece for place in places}) else places


def _below(text: str, places: list[Place]) -> list[Place]:
    """Without those in a list of what is on the page, the lines of which are headings further down, where these are found."""
    top = {place for place in places if place.start < _TOP and _is_heading_below(text, place)}
    later = [place for place in places if place not in top] if top else []
    return later if len({place.piece for place in later}) == len({place.piece for place in places}) else places


def _is_heading_below(text: str, place: Place) -> bool:
    line = text[text.rfind("\n", 0, place.start) + 1 : text.find("\n", place.end) + 1]
    heading = f"\n{line[:-1]}"
    return 1 < len(line) <= _HEADING and any(text.find(heading + end, place.end) >= 0 for end in "\n\u00b6")


def _whole(text: str, places: Sequence[Place]) -> list[Place]:
    """Without those that are parts of a name, as in ``vacuum_cost_limit``, where the piece is also found by itself."""
    if "_" not in text:
        return list(places)
    names = {place for place in places if "_" in (text[place.start - 1 : place.start], text[place.end : place.end + 1])}
    alone = {place.piece for place in places if place not in names} if names else set()
    return [place for place in places if place not in names or place.piece not in alone]


def _best_windows(places: Sequence[Place], marks: Marks, width: int) -> list[tuple[int, int]]:
    """One stretch of the text, or two where they have more of the query than one; in the order of the text."""
    if not places:
        return [(0, 0)]
    count = Counter(place.piece for place in places)
    # of what is rare here, more; whole numbers, so that sums of the same pieces are the same
    worth = {piece: round(marks.worth(piece) * (1 + 1 / times) * 1e6) for piece, times in count.items()}
    one = _window(places, width, worth)
    alone = _inside(places, one)
    if len(alone) == len(count):
        return [one]
    first = _window(places, width // 2, worth)
    inside = _inside(places, first)
    second = _window(places, width // 2, {piece: value for piece, value in worth.items() if piece not in inside})
    new = _inside(places, second) - inside
    if len(inside | new) <= len(alone) or sum(map(worth.__getitem__, new)) < max(worth.values()) / 2 or _overlap(first, second):
        return [one]
    return sorted([first, second])


def _inside(places: Sequence[Place], window: tuple[int, int]) -> set[str]:
    """The pieces in a stretch of the text."""
    return {place.piece for place in places if window[0] <= place.start and place.end <= window[1]}


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _window(places: Sequence[Place], width: int, worth: dict[str, int]) -> tuple[int, int]:
    """The stretch of at most ``width`` characters with the most worth of different pieces, close together; the first such."""
    best, window = (-1, 0), (0, 0)
    inside: Counter[str] = Counter()
    value = 0
    first = 0
    for last, place in enumerate(places):
        if not inside[place.piece]:
            value += worth.get(place.piece, 0)
        inside[place.piece] += 1
        while first < last and (inside[places[first].piece] > 1 or place.end - places[first].start > width):
            piece = places[first].piece
            inside[piece] -= 1
            if not inside[piece]:
                value -= worth.get(piece, 0)
                del inside[piece]
            first += 1
        rank = (value, -((place.end - places[first].start) // _CLOSE))
        if rank > best:
            best, window = rank, (places[first].start, place.end)
    return window


def _widen(text: str, start: int, end: int, width: int) -> tuple[int, int]:
    """Add what is missing to ``width``: from the beginning of a sentence if there is room for it, else from a whole word."""
    whole = _whole_names(text, start, end)
    start, end = whole if whole[1] - whole[0] <= width else (start, end)
    room = max(0, width - (end - start))
    left = max(0, start - room * 2 // 3)
    sentence = None
    if left > 0:
        for match in _SENTENCE.finditer(text, left, start):
            sentence = match.end()
            break
        if sentence is not None:
            left = sentence
        else:
            left = max(0, start - room // 2)
            space = text.find(" ", left, start)
            left = space + 1 if space >= 0 else left
    right = min(len(text), left + max(width, end - left))
    if right < len(text):
        space = text.rfind(" ", end, right)
        right = space if space > left else right
    elif sentence is None:  # the text ends here: more of what is before
        left = max(0, min(left, right - width))
        space = text.find(" ", left, start) if left > 0 else -1
        left = space + 1 if space >= 0 else left
    return left, right


def _whole_names(text: str, start: int, end: int) -> tuple[int, int]:
    """The stretch with all of the words at its ends, unless these are very long."""
    before, after = text.rfind(" ", max(0, start - _NAME), start), text.find(" ", end, end + _NAME)
    start = before + 1 if before >= 0 else 0 if start <= _NAME else start
    return start, after if after >= 0 else len(text) if len(text) - end <= _NAME else end


def _apart(text: str, stretches: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Stretches that touch become one."""
    found: list[tuple[int, int]] = []
    for start, end in stretches:
        if found and not text[found[-1][1] : start].strip():
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _marked(text: str, start: int, end: int, places: Iterable[Place]) -> Iterable[Part]:
    at = start
    for place in places:
        if place.end <= at or place.start < start:
            continue
        if place.end > end:
            break
        if place.start > at:
            yield safe_line(text[at : place.start]), False
        yield safe_line(text[max(at, place.start) : place.end]), True
        at = place.end
    yield safe_line(text[at:end]), False


def _joined(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Without empty parts, without spaces at the ends, neighbours of one kind as one."""
    joined: list[Part] = []
    for text, marked in parts:
        if joined and marked == joined[-1][1]:
            joined[-1] = (_SPACES.sub(" ", joined[-1][0] + text), marked)
        elif text:
            joined.append((text, marked))
    if joined:
        joined[0] = (joined[0][0].lstrip(), joined[0][1])
        joined[-1] = (joined[-1][0].rstrip(), joined[-1][1])
    return tuple(part for part in joined if part[0])
