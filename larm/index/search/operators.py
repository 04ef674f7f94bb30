"""Operators of the query language: ``site:``, ``intitle:``, ``before:`` and the others. Pure; never raises.

Each one turns its value into the form that the index has. Where that can't be, it is no operator but a word, as in error
messages and code that are pasted (``could not connect to server: Connection refused``), and a note says so. Every meta word
(`larm.index.meta_words`) is an operator; ``name:all`` finds the pages of which the thing is known.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Literal

from larm.index.meta_words import MIME_NAMES, NAMES, SIZE_STEP
from larm.index.own_fields import field_query
from larm.index.search.spelling import distance
from larm.index.tree import All, Any, Dates, In, Info, Linking, Meta, Node, Not, Phrase, Word
from larm.kit.units import ByteSize
from larm.model.own_fields import is_field_name
from larm.model.url import BadUrl, URLNormalizer

FIELDS: dict[str, Literal["title", "url"]] = {"intitle": "title", "inurl": "url", "title": "title", "url": "url"}
"""Operators that may stand before a word, a phrase or a group."""

_EXPECTED = {
    **dict.fromkeys(FIELDS, "a word"),
    "site": "a host",
    "host": "a host",
    "cld": "a domain",
    "path": "a path",
    "link": "an address",
    "info": "an address",
    "before": "a date",
    "after": "a date",
    "modified": "a date",
    "date": "a date",
    "filetype": "an extension",
    "lang": "a language",
    "mime": "a MIME type",
    "type": "a type, as html or pdf",
    "size": "a size",
    "code": "a number",
    "numlinks": "a number",
}
_DATE = re.compile(r"(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?", re.ASCII)
_LANGUAGE = re.compile(r"([a-z]{2,3})(?:[-_]\w+)*")
_SPACE = re.compile(r"\s+")
_SHORT = 4  # letters; shorter words before a colon are like an operator by chance: "line:"
_SCHEMES = {"http", "https", "file"}
_normalizer = URLNormalizer(files=True)


IsField = Callable[[str], bool]
"""Whether pages have a field of this name, which users have given to it (`larm.index.own_fields`)."""


def no_field(_: str) -> bool:
    """There are none."""
    return False


def word(text: str, notes: list[str], is_field: IsField = no_field) -> Node | None:
    """What a typed word is: ``name:value`` where ``name`` is an operator or a field, else a word."""
    name, colon, value = text.partition(":")
    if colon and name.lower() in OPERATORS:
        return _operator(name.lower(), value, notes, text)
    if value and is_field_name(name) and is_field(name):
        return field_query(name, value)
    if value.startswith("//") and name.lower() in _SCHEMES:
        return _address(text, value.lstrip("/"))
    if value and len(name) > _SHORT and name.isalpha():
        near = [known for known in OPERATORS if distance(name.lower(), known, 1) == 1]
        if near:
            notes.append(f"{name[:20]}: is no operator; there is {near[0]}:")
    return Word(text)


def _address(text: str, rest: str) -> Node:
    """An address that was typed: this page, or pages with its words in their addresses or texts."""
    try:
        _normalizer.parse(text)
    except BadUrl:
        return Word(text)
    return Any((Info(text), Word(rest))) if rest else Word(text)


def phrase(name: str, text: str, notes: list[str], is_field: IsField = no_field) -> Node | None:
    """What stands in quotes: ``"a b"``, ``name:"a b"``; None where nothing does."""
    if text.strip() and is_field_name(name) and is_field(name):
        return field_query(name, text)
    if name and name.lower() not in OPERATORS:
        return All((Word(name), Phrase(text))) if text.strip() else Word(name)
    if name.lower() in FIELDS and text.strip():
        return In(FIELDS[name.lower()], Phrase(text))
    if name:
        found = _operator(name.lower(), text, notes, f"{name}:{text}")
        return All((Word(name), Phrase(text))) if isinstance(found, Word) and text.strip() else found
    return Phrase(text) if text.strip() else None


def within(name: str, group: Node | None) -> Node | None:
    """``intitle:(a OR "b c")``: the words of the group, all of them in the title; other operators in it stay as they are."""
    match group:
        case Word() | Phrase():
            return In(FIELDS[name.lower()], group)
        case Not(item):
            inner = within(name, item)
            return None if inner is None else Not(inner)
        case All(items):
            return All(tuple(node for item in items if (node := within(name, item)) is not None))
        case Any(items):
            return Any(tuple(node for item in items if (node := within(name, item)) is not None))
        case _:
            return group


def _operator(name: str, value: str, notes: list[str], typed: str = "") -> Node | None:
    """``typed``: what to look for where it is no operator."""
    value = value.strip()
    if name in NAMES and value.lower() == "all":
        return Meta(name, "all")
    node = OPERATORS[name](name, value) if value else None
    if node is None:
        expected = _EXPECTED.get(name, "a word")
        form = " (2024, 2024-05 or 2024-05-17)" if expected == "a date" else ""
        what = "was ignored" if not typed else "was taken for a word" if not value else "was taken for words"
        notes.append(f"{name}:{value[:50]} {what}: not followed by {expected}{form}")
        return Word(typed) if typed else None
    return node


def _plain(name: str, value: str) -> Node:
    return Meta(name, _SPACE.sub("", value).lower())


def _field(name: str, value: str) -> Node:
    return In(FIELDS[name], Word(value))


def _linking(_: str, value: str) -> Node:
    return Linking(value)


def _info(_: str, value: str) -> Node:
    return Info(value)


def _site(name: str, value: str) -> Node | None:
    """A host, every name under it, or a folder of them; ``host:`` is the host alone."""
    if not value[:1].isalnum() and value[:1] not in "*.[/":
        return None
    rest = value.partition("://")[2] or value
    host, slash, path = rest.lstrip("*./").partition("/")
    key = _host(host)
    if not key:
        return None
    place = Meta(name, key)
    folder = _folder(slash + path) if path else ""
    return All((place, Meta("path", folder))) if folder else place


def _path(_: str, value: str) -> Node | None:
    folder = _folder(value)
    return Meta("path", folder) if folder else None


def _domain(_: str, value: str) -> Node | None:
    host = _host(value.lstrip("*."))
    return Meta("cld", host) if host else None


def _extension(_: str, value: str) -> Node | None:
    value = value.lstrip(".").lower()
    return Meta("filetype", value) if value.isalnum() else None


def _type(_: str, value: str) -> Node | None:
    """As the facet calls it: ``html`` for all MIME types of that name, or the MIME type where it has none."""
    value = value.lower()
    if value == "all" or "/" in value.strip("/"):
        return _plain("mime", value)
    types = tuple(Meta("mime", mime) for mime, name in MIME_NAMES.items() if name == value)
    return None if not types else types[0] if len(types) == 1 else Any(types)


def _language(_: str, value: str) -> Node | None:
    match = _LANGUAGE.fullmatch(value.lower())
    return Meta("lang", match[1]) if match else None


def _number(name: str, value: str) -> Node | None:
    return Meta(name, str(int(value))) if value.isascii() and value.isdigit() else None


def _size(_: str, value: str) -> Node | None:
    try:
        size = ByteSize.parse(value)
    except (ValueError, OverflowError):
        return None
    return Meta("size", str(size // SIZE_STEP * SIZE_STEP))


def _day(name: str, value: str) -> Node | None:
    match = _DATE.fullmatch(value)
    if match is None or period(value) is None:
        return None
    year, month, day = match.groups()
    return Meta(name, "-".join([year, *(f"{int(part):02}" for part in (month, day) if part)]))


def _before(_: str, value: str) -> Node | None:
    dates = period(value)
    return None if dates is None else Dates(high=dates[0])


def _after(_: str, value: str) -> Node | None:
    dates = period(value)
    return None if dates is None else Dates(low=dates[0])


def period(text: str) -> tuple[int, int] | None:
    """First second of a year, month or day (UTC), and of the next one; None if it is no date."""
    match = _DATE.fullmatch(text)
    if not match:
        return None
    year, month, day = int(match[1]), int(match[2] or 1), int(match[3] or 1)
    try:
        first = datetime(year, month, day, tzinfo=UTC)
        if match[3]:
            following = first + timedelta(days=1)
        elif match[2]:
            following = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
        else:
            following = datetime(year + 1, 1, 1, tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    return int(first.timestamp()), int(following.timestamp())


def _host(text: str) -> str:
    """The key of a host as a page's address has it (IDNs in their ASCII form); empty if it is none."""
    try:
        return _normalizer.parse(f"http://{text.strip('.')}/").host if text.strip(".") else ""
    except BadUrl:
        return ""


def _folder(path: str) -> str:
    """``/a/b`` as meta words have it; empty for the root or what is no path."""
    try:
        normalised = _normalizer.parse("http://host/" + path.lstrip("/")).normalised
    except BadUrl:
        return ""
    return normalised.removeprefix("http://host").partition("?")[0].rstrip("/").lower()


OPERATORS: dict[str, Callable[[str, str], Node | None]] = {
    **dict.fromkeys(NAMES, _plain),
    **dict.fromkeys(FIELDS, _field),
    "site": _site,
    "host": _site,
    "cld": _domain,
    "path": _path,
    "filetype": _extension,
    "type": _type,
    "lang": _language,
    "size": _size,
    "code": _number,
    "numlinks": _number,
    "modified": _day,
    "date": _day,
    "before": _before,
    "after": _after,
    "link": _linking,
    "info": _info,
}
