"""What to tell somebody whose query found nothing: what of it is to blame. Pure; called by the searcher."""

from __future__ import annotations

from collections.abc import Callable

from larm.index.tree import All, Node, Not, Phrase, Word, join, wanted

_NAMED = 3  # words


def advice(tree: Node | None, count: Callable[[Node], int]) -> list[str]:
    """Sentences; ``count`` says how many pages a tree finds."""
    if tree is None:
        return []
    words = list(dict.fromkeys(wanted(tree)))
    missing = [f'"{item.text}"' for item in words if not count(item)]
    if missing:
        return [f"no page has {', '.join(missing[:_NAMED])}"]
    items = tree.items if isinstance(tree, All) else (tree,)
    plain = join(tuple(item for item in items if isinstance(item, Word | Phrase)))
    if plain is not None and plain != tree and (found := count(plain)):
        kinds = "what must not be there" if all(isinstance(item, Not | Word | Phrase) for item in items) else "the conditions"
        return [f"without {kinds}, {_pages(found)}"]
    if len(words) > 1:
        return ["each of the words is found, but on no page all of them; OR between two asks for either"]
    return []


def _pages(count: int) -> str:
    return "1 page is found" if count == 1 else f"{count:,} pages are found"
