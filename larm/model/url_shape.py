"""What addresses have in common: their shapes, their parameters. Pure; any thread.

All of it reads access forms, so that it can also be asked of an address that is only known as text.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote_plus

import xxhash

_ID = re.compile(r"(?<![0-9A-Za-z])(?=[A-Za-z_-]*[0-9])(?:[0-9a-fA-F-]{8,}|[0-9A-Za-z_-]{20,})(?![0-9A-Za-z])")
_UNESCAPED = "(?<!%(?=[0-9A-Fa-f]{2}))(?<!%[0-9A-Fa-f](?=[0-9A-Fa-f]))"
"""Of a letter in another script, as ``%D9%88``, no digit is a number."""
_NUMBER = re.compile("[0-9](?<!%(?=[0-9A-Fa-f]{2})[0-9])(?<!%[0-9A-Fa-f][0-9])[0-9]*")
"""The same, with the digit first: a text without digits takes a tenth of the time."""
_SERIAL = re.compile(f"{_UNESCAPED}[0-9A-Za-z]*[0-9][0-9A-Za-z]*")
_MORE_FORMS = re.compile("[?;%+]")
"""In an address that has none of these, the path is all that a text can repeat of it."""
_ESCAPED_QUERY = re.compile("%(?:25)*3[Ff]")
"""A ``?`` that was escaped, any number of times."""
_ADDRESS = ("/", "./", "../", "http://", "https://")
_INNER, _LEVELS = 2, 16
"""An address that is in another has a ``?`` of its own; of one that has others in it, so many are looked at."""
_DEPTH = 4  # folders that patterns know
_LONG = 2
"""Characters; shorter segments of a path may repeat as they like: shards of directories, days and months."""


class Pattern(NamedTuple):
    """A set of addresses of one host."""

    text: str
    """For people: ``/calendar/0/0``, ``/list?page&sort=up``, ``/list?page&sort``, ``*?sid``, ``/list?*``, ``/shop/**``."""
    breadth: int
    """How much it takes in: an index of `BREADTHS`."""
    key: int
    """63 bits of its text."""


SHAPE = 1
"""The breadth of a path but for its numbers, where its text has no ``?``; else with the names of parameters."""
BREADTHS = ("one view", "one shape", "one set of parameters", "one path or folder", "the whole host")


class Parts(NamedTuple):
    """An address taken apart."""

    origin: str
    path: str
    """Without parameters of its segments (``;jsessionid=1``)."""
    parameters: dict[str, str]
    """Of the query and of the path's segments; the names of these begin with ``;``. Of equal names the last."""


def parts_of(access: str) -> Parts:
    """Take an access form apart; of other text something without meaning comes out."""
    slash = access.find("/", 8)
    if slash < 0:
        return Parts(access, "/", {})
    path, _, query = access[slash:].partition("?")
    parameters: dict[str, str] = {}
    if ";" in path:
        segments = [segment.split(";") for segment in path.split("/")]
        path = "/".join(segment[0] for segment in segments)
        _add(parameters, (";" + each for segment in segments for each in segment[1:]))
    if query:
        _add(parameters, query.replace(";", "&").split("&"))
    return Parts(access[:slash], path, parameters)


def patterns_of(parts: Parts) -> list[Pattern]:
    """The patterns that an address belongs to, those first that say most of it. What is alone in its shape has none for it."""
    if not parts.parameters:
        return list(_path_patterns(parts.path))
    shape = generalised(parts.path)
    names = "?" + "&".join(sorted({generalised(name) for name in parts.parameters}))
    found = [_pattern(shape + names, 1), _pattern(shape + "?*", 3), _pattern("*" + names, 2)]
    return [*found, *_folder_patterns(shape.rpartition("/")[0])]


def chosen_pattern(parts: Parts, words: Mapping[str, str]) -> Pattern:
    """The first of `patterns_of`, narrower still: with the values of some of the parameters, as in ``/list?page&sort=up``."""
    written = {generalised(name) + (f"={words[name]}" if name in words else "") for name in parts.parameters}
    return _pattern(generalised(parts.path) + "?" + "&".join(sorted(written)), 0)


def generalised(text: str) -> str:
    """Numbers as ``0``, numbers in hex, dates and long identifiers as ``ID``."""
    folder, slash, name = text.rpartition("/")
    return _generalised_folder(folder) + slash + _generalised(name)


def _generalised(text: str) -> str:
    if "*" in text:  # in a pattern that stands for anything
        text = text.replace("*", "%*")
    return _NUMBER.sub("0", _ID.sub("ID", text)) if _NUMBER.search(text) else text


# what the pages of a folder share is remembered, which saves half of the time

_generalised_folder = lru_cache(1_000)(_generalised)


@lru_cache(1_000)
def _path_patterns(path: str) -> tuple[Pattern, ...]:
    shape = generalised(path)
    folders = _folder_patterns(shape.rpartition("/")[0])
    return (_pattern(shape, 1), *folders) if _NUMBER.search(path) else folders


@lru_cache(1_000)
def _folder_patterns(folder: str) -> tuple[Pattern, ...]:
    folders = folder.split("/")[1:]
    found = [_pattern("/" + "/".join(folders[:depth]) + "/**", 3) for depth in range(min(len(folders), _DEPTH), 0, -1)]
    return (*found, _pattern("/**", 4))


def numbered(parts: Parts) -> dict[str, int]:
    """The segments of its path that have digits, which may be sessions: ``/s-0/**``, ``/*/0``, and their places."""
    if not _NUMBER.search(parts.path):
        return {}
    segments = parts.path.split("/")[1:]
    return {
        "/" + "*/" * place + _SERIAL.sub("0", segment) + "/**" * (place + 1 < len(segments)): place
        for place, segment in enumerate(segments)
        if _NUMBER.search(segment)
    }


def without(parts: Parts, names: Collection[str]) -> Parts:
    """As if these parameters, and segments that are `numbered` so, were not there."""
    if not names:
        return parts
    path = parts.path
    if any(name.startswith("/") for name in names):
        gone = {place for name, place in numbered(parts).items() if name in names}
        path = "".join("/" + each for place, each in enumerate(path.split("/")[1:]) if place not in gone) or "/"
    left = {name: value for name, value in parts.parameters.items() if name not in names}
    return Parts(parts.origin, path, left)


def without_parameters(access: str, names: Iterable[str]) -> str:
    """Return an access form without these parameters, named as in `Parts`."""
    path, mark, query = access.partition("?")
    before = query
    for name in names:
        if name.startswith(";"):
            path = re.sub(f"{re.escape(name)}(?:=[^;/]*)?(?=[;/]|$)", "", path)
        else:
            query = re.sub(f"(?:^|(?<=[&;])){re.escape(name)}(?:=[^&;]*)?(?:[&;]|$)", "", query)
    return path + (mark + query if query == before else f"?{query.rstrip('&;')}" if query else "")


def form_of(parts: Parts) -> int:
    """A number for the address; the order of its parameters does not count."""
    return number_of("\0".join((parts.path, *(f"{name}={value}" for name, value in sorted(parts.parameters.items())))))


def without_echo(text: str, access: str) -> str:
    """A text without its own address: "nothing found for /a/b?c=d" is what many hosts say to whatever they are asked."""
    slash = access.find("/", 8)
    if slash >= 0 and access[slash:] not in text and not _MORE_FORMS.search(access):
        return text  # nearly always, and three times as fast
    parts = parts_of(access)
    target = access[len(parts.origin) :]
    for echo in (access, target, parts.path, *parts.parameters.values()):
        for written in (echo, unquote_plus(echo)):
            if len(written) > _LONG and written in text:
                text = text.replace(written, " ")
    return text


def repeats(path: str) -> int:
    """How often the commonest longer segment stands in the path."""
    segments = [segment for segment in path.split("/") if len(segment) > _LONG]
    most = len(segments) - len(set(segments))
    return max(map(segments.count, set(segments))) if most else min(len(segments), 1)


def nested(access: str) -> int:
    """Return how often an address stands in itself: 2 for ``/login?next=/join?next=/login?next=/a``, at least 1.

    Addresses in parameters may be escaped any number of times, and be relative: of a path, the last segment counts, and the
    name of the parameter.
    """
    if access.count("?") < _INNER and ("%" not in access or not _ESCAPED_QUERY.search(access)):
        return 1  # nearly always
    times: Counter[tuple[str, str]] = Counter()
    waiting = [access]
    for _ in range(_LEVELS):
        if not waiting:
            break
        path, _, query = waiting.pop().partition("?")
        for name, _, value in (each.partition("=") for each in query.split("&")):
            inner, before = value, ""
            while "?" not in inner and inner != before:
                inner, before = unquote_plus(inner), inner
            if "?" in inner or inner.startswith(_ADDRESS):
                times[path.rstrip("/").rpartition("/")[2], name] += 1
                waiting.append(inner)
    return max(times.values(), default=1)


def number_of(text: str) -> int:
    """63 bits."""
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass")) >> 1


@lru_cache(5_000)
def _pattern(text: str, breadth: int) -> Pattern:
    return Pattern(text, breadth, number_of(text))


def _add(parameters: dict[str, str], written: Iterable[str]) -> None:
    for each in written:
        name, _, value = each.partition("=")
        if name:
            parameters[name] = value
