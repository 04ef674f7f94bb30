"""Suggestions while somebody types: what the last word may become, and titles. Pure, but for the reader that it asks.

Words come from the pages, those first that most pages have beside what was typed before; titles are queries, too: they find
their page. Nothing is remembered of what others have asked.
"""

from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest

import msgspec

from larm.index.reader import IndexReader
from larm.index.scripts import is_unspaced
from larm.index.search.query import parse_question
from larm.index.search.snippets import safe_line
from larm.index.terms import composed
from larm.index.tree import In, Node, Word, join, split

MOST_SUGGESTED = 8
_LEAST = 2
"""Letters of a word; of one letter nearly all words of the index would have to be looked at."""
_LONGEST = 70
"""Characters of a title: nobody types more."""


class Suggestion(msgspec.Struct, frozen=True):
    """One query that may be meant."""

    query: str
    pages: int = 0
    """That have all its words; 0: it is the title of one."""


def suggest(reader: IndexReader, typed: str) -> tuple[Suggestion, ...]:
    """For what was typed so far; the last word may be unfinished. Raises StorageError, OutOfTimeError."""
    typed = composed(safe_line(typed))
    spans = reader.analyzer.spans(typed)
    if not spans:
        return ()
    last = spans[-1]
    ended = last.end < len(typed)
    beginning = "" if ended or (len(last.word) < _LEAST and not is_unspaced(last.word)) else last.word
    if not ended and not beginning:
        return ()
    head = typed[: last.start] if beginning else typed
    tree = parse_question(head, is_field=reader.has_field).tree
    known = typed.casefold().strip()
    words: list[Suggestion] = []
    if beginning and not is_unspaced(beginning):
        seen = {beginning}
        for word, pages in reader.words_beginning(tree, beginning):
            if word not in seen and not reader.is_function_word(word):
                seen.update(reader.forms(word))
                words.append(Suggestion(head + word, pages))
            if len(words) == MOST_SUGGESTED:
                break
    titles = [" ".join(safe_line(title).split()) for title in reader.titles_with(_in_titles(tree), beginning)]
    found = [Suggestion(title) for title in titles if 0 < len(title) <= _LONGEST and title.casefold() != known]
    return merged([(*words, *found)])


def merged(answers: Iterable[Sequence[Suggestion]]) -> tuple[Suggestion, ...]:
    """Those of several indexes, or one: half of them words, as far as there are titles."""
    pages: dict[str, int] = {}
    titles: list[list[Suggestion]] = []
    for answer in answers:
        for each in answer:
            if each.pages:
                pages[each.query] = pages.get(each.query, 0) + each.pages
        titles.append([each for each in answer if not each.pages])
    words = [Suggestion(query, number) for query, number in sorted(pages.items(), key=lambda pair: -pair[1])]
    rest = [each for each in chain.from_iterable(zip_longest(*titles)) if each is not None]
    different = list({each.query.casefold(): each for each in reversed(rest)}.values())[::-1]
    room = max(MOST_SUGGESTED // 2, MOST_SUGGESTED - len(different))
    chosen = words[:room]
    return (*chosen, *different[: MOST_SUGGESTED - len(chosen)])


def _in_titles(tree: Node | None) -> Node | None:
    """The plain words are looked for in titles."""
    words, rest = split(tree)
    named: tuple[Node, ...] = tuple(In("title", Word(each.text)) for each in words)
    return join(named if rest is None else (*named, rest))
