"""SessionLinks: parameters that look like a visitor's session in the links of one page. Pure; on the threads that read.

A server that wants to know a visitor without a cookie writes an identifier into all links of a page, and makes a new one for
each request that has none. What the text says does not matter: pages of one address but for the session have the same list of
links, also where clocks, counters and names of visitors are never the same.
"""

import re
from collections import Counter
from typing import NamedTuple

from larm.model.url import Url
from larm.model.url_shape import form_of, number_of, parts_of, without

_TOKEN = re.compile(r"[?&;]([^=&;?\n]+)=(?=[A-Za-z_,-]*[0-9])[0-9A-Za-z_,-]{8,}(?=[&;?/\n]|$)")
"""A parameter whose value may be an identifier: at least eight characters, and a digit among them."""
_LEAST = 3
"""Links that have to carry it; fewer are no list."""
_REMEMBERED = 16
"""Numbers that stand for the links, and for the values: the smallest of them."""


class SessionLinks(NamedTuple):
    """One parameter."""

    name: str
    links: tuple[int, ...]
    """The links that have it, as if they had not: numbers, the smallest ones, in order."""
    values: frozenset[int]
    """What it is in these links."""
    names_visitor: bool
    """At least three quarters of the links have one value, or each its own that is no number: no list of last changes has."""

    def is_fresh_beside(self, other: "SessionLinks") -> bool:
        """Return True if the two have the same list of links, by half, and no value in common."""
        first = sorted({*self.links, *other.links})[: max(len(self.links), len(other.links))]
        both = sum(each in self.links and each in other.links for each in first)
        return both * 2 >= len(first) and self.values.isdisjoint(other.values)


def session_links(url: Url, accesses: str) -> tuple[SessionLinks, ...]:
    """Return what may be sessions in the links of a page, of which the access forms are given, a line each.

    Most links with parameters have such a parameter, and it is not what tells them apart: so the number of an article or a day
    is none. Nor is what the page's own address has, which every link to it has as well.
    """
    queries = [access for access in accesses.split("\n") if "=" in access] if accesses.count("=") >= _LEAST else []
    if len(queries) < _LEAST:
        return ()
    often = Counter(_TOKEN.findall("\n".join(queries)))
    likely = [name for name, times in often.items() if times >= _LEAST]
    if not likely:
        return ()
    own = parts_of(url.access)
    linked = [parts_of(access) for access in set(queries) if access.startswith(own.origin + "/")]
    found = []
    for raw in likely:
        for name in {raw, ";" + raw}:
            carrying = [parts for parts in linked if name in parts.parameters]
            values = Counter([parts.parameters[name] for parts in carrying])
            if not values or own.parameters.get(name) in values or len(carrying) * 2 < len(linked):
                continue
            links = sorted({form_of(without(parts, {name})) for parts in carrying})
            if len(links) >= _LEAST and len(links) * 3 >= len(carrying):
                numbers = sorted(map(number_of, values))[:_REMEMBERED]
                each_its_own = len(values) == len(carrying) and not any(map(str.isdecimal, values))
                visitor = each_its_own or max(values.values()) * 4 >= len(carrying) * 3
                found.append(SessionLinks(name, tuple(links[:_REMEMBERED]), frozenset(numbers), visitor))
    return tuple(found)
