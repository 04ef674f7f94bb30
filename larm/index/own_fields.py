"""Fields of documents that users have named: the words by which they are found, and the form in which they are stored. Pure.

They are found like meta words (`larm.index.meta_words`), in one field with these: ``author:jane_doe`` is the whole value, and
of fields that are tokenised each word is there as well. ``author:all`` is on each page that has the field.
"""

import re
from collections.abc import Iterable, Mapping

import msgspec

from larm.config import Field
from larm.index.meta_words import meta_word
from larm.index.terms import composed
from larm.index.tree import All, Any, Meta, Node

_WORD = re.compile(r"\w+(?:[.,'’-]\w+)*")
_DEFAULT = Field()
_decoder = msgspec.json.Decoder(dict[str, tuple[str, ...]])


def field_words(fields: Mapping[str, Iterable[str]], flags: Mapping[str, Field]) -> str:
    """What a document has of them, parted by spaces."""
    found: dict[str, None] = {}
    for name, values in fields.items():
        flag = flags.get(name, _DEFAULT)
        if not flag.index:
            continue
        for value in values:
            found[meta_word(name, _key(value))] = None
            if flag.tokenise:
                found |= dict.fromkeys(meta_word(name, word) for word in _words(value))
        found[meta_word(name, "all")] = None
    return " ".join(found)


def field_query(name: str, value: str) -> Node:
    """Pages in which a field has this value, or all of its words."""
    whole, words = Meta(name, _key(value)), _words(value)
    if words in ([], [whole.value]):
        return whole
    return Any((whole, All(tuple(Meta(name, word) for word in words)) if len(words) > 1 else Meta(name, words[0])))


def stored(fields: Mapping[str, Iterable[str]], flags: Mapping[str, Field]) -> str:
    """What is stored of them; empty: nothing."""
    kept = {name: tuple(values) for name, values in fields.items() if flags.get(name, _DEFAULT).store}
    return msgspec.json.encode(kept).decode() if kept else ""


def read_stored(text: str) -> dict[str, tuple[str, ...]]:
    """The inverse. Raises ValueError."""
    return _decoder.decode(text) if text else {}


def _key(value: str) -> str:
    return "_".join(composed(value).casefold().split())


def _words(value: str) -> list[str]:
    return _WORD.findall(composed(value).casefold())
