"""Pages that would keep a parser busy for minutes, or fill the memory: they are cut where that begins. Pure; any thread.

The standard's algorithm is quadratic in three cases: deep nesting (each tag may climb the open elements), formatting
elements left open (each paragraph opens all of them again: 50 KB make 14 million nodes), very many attributes of one tag.
Real pages come nowhere near; nearly all pay a count, the larger ones a look at their formatting, one in a hundred `_tame`.
``effort`` (``processing.effort``): times the limits.
"""

import re
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Final

HARMLESS: Final = 1_000
"""Start tags that can't make more than 250,000 nodes (100 MB), whatever they are."""
SHALLOW: Final = 20_000
"""Tags that can't take half a second, however deep they are nested."""
MAX_WORK: Final = 200_000_000
"""Steps up the open elements: a third of a second."""
MAX_COPIES: Final = 300_000
"""Formatting elements opened again: 380 bytes each."""
MAX_ATTRIBUTES: Final = 5_000
"""Of one tag."""
MAX_STEPS: Final = 500_000
"""Tags that nest, of a page that `_tame` does not clear: two seconds. A page of 20 MB may have 4 million."""
_BLOCK: Final = 250_000
"""Bytes of a page between two looks at what its tags have done."""

_NAMES = tuple(b"b big code em font i nobr s small strike strong tt u".split())
_FORMATTING = frozenset(_NAMES)
# The names one by one and in both cases: half the time of lowering the page first, or of re.IGNORECASE.
_STYLED = re.compile(
    rb"<(?:[bBiIsSuU]|[bB][iI][gG]|[cC][oO][dD][eE]|[eE][mM]|[fF][oO][nN][tT]|[nN][oO][bB][rR]|[tT]{2}"
    rb"|[sS](?:[mM][aA][lL]{2}|[tT][rR](?:[iI][kK][eE]|[oO][nN][gG])))(?=[\s/>])[^>]*"
)


class _Plain:
    """For who has no compiler."""

    @staticmethod
    def tags(page: bytes) -> tuple[int, int]:
        return page.count(b"<"), page.count(b"</")

    @staticmethod
    def styled(page: bytes, _: tuple[bytes, ...]) -> set[bytes]:
        return set(_STYLED.findall(page))


_quick: Any
try:
    _quick = import_module("larm.parse.compiled")  # a fifth of the time
except ImportError:  # not compiled, or for another machine
    _quick = _Plain
_CELLS = frozenset((b"td", b"th", b"caption"))
_WALLS = _CELLS | {b"table", b"object", b"marquee", b"applet", b"template"}  # the standard calls these markers
_STYLES_OR_WALLS = _FORMATTING | _WALLS
# All tags but those that don't nest, or close each other.
_NESTING = re.compile(
    rb"<(/?)(?!(?:a|area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr|p|li|tr|tbody|option|dt|dd)[\s/>])"
    rb"([a-z][^\s/>]*)"
)
_NESTING_NAME = re.compile(_NESTING.pattern.replace(b"(/?)", b"(/?").replace(b"([a-z]", b"[a-z]"))  # in one group
_SLASH = ord("/")
_HUGE = 40_000  # bytes of a tag that may have too many attributes
_HUGE_TAG = re.compile(rb"<[a-z][^>]{%d,}" % _HUGE, re.IGNORECASE)
_QUOTED = re.compile(rb"=\s*(?:\"[^\"]*\"|'[^']*')")
_ATTRIBUTE = re.compile(rb"[\s/][^\s/>=]")


def cut(body: bytes, effort: int = 1) -> tuple[bytes, list[str]]:
    """(the page or its harmless beginning, warnings)."""
    if len(body) > _HUGE and (match := _huge_tag(body, effort)) is not None:
        return body[: match.start()], [f"a tag of {match.end() - match.start()} bytes; the rest of the page is ignored"]
    tags, ends = _quick.tags(body)
    if tags <= HARMLESS or (tags <= 2 * HARMLESS and tags - ends <= HARMLESS):  # two of three pages
        return body, []
    # An element that is formatted like three open ones isn't opened again (the Noah's Ark clause): only variety does harm.
    # End tags say nothing: those of elements that aren't open close none.
    variety = 3 * len(_quick.styled(body, _NAMES))
    if tags <= SHALLOW and variety * tags < MAX_COPIES * effort:
        return body, []  # nearly all others
    page = body.lower()
    if _tame(page, tags, variety, effort):
        return body, []
    end = _harmful(page, variety, effort)
    return (body, []) if end is None else (body[:end], [f"nested too deep at byte {end}; the rest of the page is ignored"])


def _huge_tag(body: bytes, effort: int) -> re.Match[bytes] | None:
    place = 0
    while len(body) - place > _HUGE:
        end = body.rfind(b">", place, place + _HUGE) + 1
        if not end:
            break
        place = end
    else:
        return None  # no stretch of that length without the end of a tag: nearly all pages
    for match in _HUGE_TAG.finditer(body, place):
        if len(_ATTRIBUTE.findall(_QUOTED.sub(b" ", match[0]))) > MAX_ATTRIBUTES * effort:
            return match
    return None


def _tame(page: bytes, tags: int, variety: int, effort: int) -> bool:
    """Return True if all tags together do no harm, at most as much as counted here. A quarter of the time of `_harmful`.

    ``page``: in lower case, here and below; ``variety``: formatting elements that can be opened again at once.
    """
    opened: dict[bytes, int] = {}
    styles, styled = _OpenStyles(), tags * variety > MAX_COPIES * effort
    depth = work = most = end = 0
    while end < len(page):
        begin, end = end, page.find(b"<", end + _BLOCK)
        end = len(page) if end < 0 else end
        names = _NESTING_NAME.findall(page, begin, end)
        deepest = depth
        for name in names:
            work += depth
            if name in _CELLS:
                continue
            if name[0] != _SLASH:
                opened[name] = opened.get(name, 0) + 1
                depth += 1
                if depth > deepest:  # noqa: PLR1730  a call takes as long as all the rest
                    deepest = depth
            elif opened.get(name[1:]):
                opened[name[1:]] -= 1
                depth -= 1
        work += (page.count(b"<", begin, end) - len(names)) * deepest
        for name in names if styled else ():
            begins = name[0] != _SLASH
            bare = name if begins else name[1:]
            if bare in _STYLES_OR_WALLS:
                styles.note(bare, opens=begins)
                most = max(most, styles.total)
        if work > MAX_WORK * effort or tags * min(variety, most) > MAX_COPIES * effort:
            return False
    return True


def _harmful(page: bytes, variety: int, effort: int) -> int | None:
    """Where the parser would have done too much; None if nowhere. Counts the open elements, roughly."""
    most_work, most_copies = MAX_WORK * effort, MAX_COPIES * effort
    depth = work = copies = last = 0
    copying = True  # one formatting element behind the other opens nothing again
    opened: Counter[bytes] = Counter()
    styles = _OpenStyles()
    for step, (at, ends, name) in enumerate(_nesting(page)):
        found = page.count(b"<", last, at)  # the last one, and those that don't nest
        started = found - page.count(b"</", last, at)
        work += found * depth
        reopened = min(variety, styles.total)
        copies += (started - (not copying)) * reopened
        closes = ends and opened[name] > 0  # else it closes nothing
        if closes and name not in _FORMATTING:
            copies += reopened  # the formatting that ended with this element goes on behind it
        if step > MAX_STEPS * effort:
            return at
        if work > most_work or copies > most_copies:
            excess = max((work - most_work) // max(depth, 1), (copies - most_copies) // max(reopened, 1))
            return _back(page, last, at, excess)
        last, copying = at, ends or name not in _FORMATTING
        if not ends:
            depth += name not in _CELLS
            opened[name] += 1
        elif closes:
            depth -= name not in _CELLS
            opened[name] -= 1
        if name in _STYLES_OR_WALLS:
            styles.note(name, opens=not ends)
    return None


def _back(page: bytes, first: int, end: int, tags: int) -> int:
    """The place so many start tags before ``end``, at least ``first``."""
    while tags >= 0 and end > first:
        end = page.rfind(b"<", first, end)
        tags -= page[end + 1 : end + 2] != b"/"
    return max(end, first)


def _nesting(page: bytes) -> Iterator[tuple[int, bool, bytes]]:
    """(place, is it an end tag, name) of the tags that nest, and the end of the page."""
    for tag in _NESTING.finditer(page):
        yield tag.start(), bool(tag[1]), tag[2]
    yield len(page), True, b""


class _OpenStyles:
    """Formatting elements that are open. An end tag closes one of its own name, and none behind a wall: a cell of a table."""

    def __init__(self) -> None:
        self.total = 0
        self._rooms: list[tuple[bytes, Counter[bytes]]] = [(b"", Counter())]

    def note(self, name: bytes, *, opens: bool) -> None:
        """One of `_STYLES_OR_WALLS` begins or ends."""
        if name in _WALLS:
            self._wall(name, opens)
            return
        inside = self._rooms[-1][1]
        if opens:
            self.total += 1
            inside[name] += 1
        elif inside[name]:
            inside[name] -= 1
            self.total -= 1

    def _wall(self, name: bytes, opens: bool) -> None:
        """What was opened behind a wall ends with it; a cell ends where the next one begins, and with its table."""
        if opens and name == b"table":
            return
        last = self._rooms[-1][0]
        if last and (not opens or (last in _CELLS and name in _CELLS)):
            self.total -= self._rooms.pop()[1].total()
        if opens:
            self._rooms.append((name, Counter()))
