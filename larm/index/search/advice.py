"""What to tell somebody whose query found nothing, or nothing with all the words. Pure; called by the searcher."""

from collections.abc import Callable

from larm.index.tree import All, In, Node, Not, Phrase, Word, join, wanted

_NAMED = 3  # words
_LONGEST = 40  # characters of one


def advice(tree: Node | None, count: Callable[[Node], int]) -> list[str]:
    """Sentences; ``count`` says how many pages a tree finds."""
    if tree is None:
        return []
    words = list(dict.fromkeys(wanted(tree)))
    if blamed := missing(tree, count):
        return blamed
    items = tree.items if isinstance(tree, All) else (tree,)
    plain = join(tuple(item.item if isinstance(item, In) else item for item in items if isinstance(item, Word | Phrase | In)))
    if plain is not None and plain != tree and (found := count(plain)):
        return [f"without {_conditions(items)}, {_pages(found)}"]
    if len(words) > 1:
        return ["each of the words is found, but on no page all of them; OR between two asks for either"]
    return []


def missing(tree: Node | None, count: Callable[[Word | Phrase], int]) -> list[str]:
    """A sentence on the words that are nowhere, if there are such."""
    words = [f'"{_short(item.text)}"' for item in dict.fromkeys(wanted(tree)) if not count(item)]
    return [f"no page has {', '.join(words[:_NAMED])}"] if words else []


def _conditions(items: tuple[Node, ...]) -> str:
    kinds = {type(item) for item in items} - {Word, Phrase}
    if kinds == {In}:
        return " and ".join(dict.fromkeys(f"in{item.field}:" for item in items if isinstance(item, In)))
    return "what must not be there" if kinds == {Not} else "the conditions"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _pages(count: int) -> str:
    return "1 page is found" if count == 1 else f"{count:,} pages are found"
