"""canonical: what a query comes to, so that two that mean the same are one (YOUS-18); and who is to be asked (YOUS-20). Pure.

``group:`` and ``-group:`` choose peers, and are no words; the rest goes to the peers as it was typed. Terms are sets with
labels: keyword, phrase, exclude, site, group, and ``-site`` and ``-group``. What can't be said by these (``OR``, other
operators) makes a query its own, under the label ``query``.
"""

import re
from collections.abc import Mapping
from urllib.parse import quote

import msgspec

from larm.index.search.query import parse_question
from larm.index.tree import All, Meta, Node, Not, Phrase, Word

_GROUP = re.compile(r'(?<![^\s(])(-?)group:("[^"]*"|[^\s()"]+)', re.IGNORECASE)
_SPACE = re.compile(r"\s+")


class Canonical(msgspec.Struct, frozen=True):
    """A query for a cache, a registrar and peers."""

    key: str
    """Equal for queries that mean the same."""
    text: str
    """For the peers: without what chooses them."""
    groups: tuple[str, ...] = ()
    """Peers of any of these are asked, in lower case; empty: all."""
    not_groups: tuple[str, ...] = ()


def canonical(query: str) -> Canonical:
    """Of what was typed."""
    groups: dict[bool, set[str]] = {True: set(), False: set()}
    for minus, name in _GROUP.findall(query):
        if name.strip('"'):
            groups[not minus].add(name.strip('"').lower())
    text = _SPACE.sub(" ", _GROUP.sub(" ", query)).strip()
    labels: dict[str, set[str]] = {"group": groups[True], "-group": groups[False]}
    tree = parse_question(text).tree
    for item in tree.items if isinstance(tree, All) else () if tree is None else (tree,):
        label, term = _labelled(item)
        if not label:
            labels["query"] = {text.lower()}
            break
        labels.setdefault(label, set()).add(term.lower())
    if "query" in labels:
        labels = {name: terms for name, terms in labels.items() if name in {"query", "group", "-group"}}
    return Canonical(_key(labels), text, tuple(sorted(groups[True])), tuple(sorted(groups[False])))


def _labelled(item: Node) -> tuple[str, str]:
    match item:
        case Word(text):
            return "keyword", text
        case Phrase(text):
            return "phrase", _SPACE.sub(" ", text.strip())
        case Meta("site", value):
            return "site", value
        case Not(Word(text)):
            return "exclude", text
        case Not(Meta("site", value)):
            return "-site", value
        case _:
            return "", ""


def _key(labels: Mapping[str, set[str]]) -> str:
    named = sorted((label, terms) for label, terms in labels.items() if terms)
    return "&".join(
        f"{label}={','.join(quote(term, safe='', errors='replace') for term in sorted(terms))}" for label, terms in named
    )
