"""Synonyms: words that the user says mean the same (``search.synonyms``). Pure, but for reading its file; any thread.

A group on a line, its words parted by commas; what follows a # is a remark::

    car, automobile, motor car
    ebook, e-book

Who asks for a word of a group also finds the others, in all of their forms; several words are looked for next to each other,
and stand for the single ones of their group, not the other way round.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec

from larm.errors import ConfigError
from larm.index.analysis import Analyzer
from larm.index.terms import Clause

_LARGEST = 10_000_000
"""Bytes of the file."""
_MOST = 50
"""In a group: each is a look-up for each query that has one of them."""


class Synonyms(msgspec.Struct, frozen=True):
    """By word, as the index has it."""

    words: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    phrases: Mapping[str, tuple[Clause, ...]] = MappingProxyType({})


NONE = Synonyms()


def read_synonyms(path: Path, analyzer: Analyzer) -> Synonyms:
    """Raises ConfigError, with the number of the line where it is one."""
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        raise ConfigError(f"search.synonyms: {path}: {error.strerror or error}") from error
    if len(data) > _LARGEST:
        raise ConfigError(f"search.synonyms: {path}: larger than {_LARGEST:,} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"search.synonyms: {path}: not in UTF-8") from error
    words: dict[str, dict[str, None]] = {}
    phrases: dict[str, dict[Clause, None]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        written = line.partition("#")[0].strip()
        if not written:
            continue
        group = [clause for part in written.split(",") if (clause := tuple(analyzer.words(part)))]
        if not 2 <= len(group) <= _MOST:
            raise ConfigError(f"search.synonyms: {path}, line {number}: expected 2 to {_MOST} words, parted by commas")
        single = [clause[0] for clause in group if len(clause) == 1]
        for word in single:
            words.setdefault(word, {}).update(dict.fromkeys(other for other in single if other != word))
            phrases.setdefault(word, {}).update(dict.fromkeys(clause for clause in group if len(clause) > 1))
    return Synonyms({word: tuple(its) for word, its in words.items()}, {word: tuple(its) for word, its in phrases.items()})
