"""Which elements separate words, and which hide their text. Pure; any thread.

Shared by the parsers, so that a page has the same text whichever reads it.
"""

from typing import Final

from larm.kit.logs.columns import clean


def names(text: str) -> frozenset[str]:
    """A set of words, written as people write one."""
    return frozenset(text.split())


def ordered(text: str) -> list[str]:
    """The same where their order counts."""
    return text.split()


BLOCK: Final = names(
    "address article aside blockquote br button caption center col colgroup dd details dialog dir div dl dt fieldset figcaption"
    " figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li listing main menu nav ol optgroup option p plaintext pre"
    " search section select summary table tbody td textarea tfoot th thead tr ul xmp"
)
"""Elements with a line of their own: words before, in and behind them are different words."""

HIDDEN: Final = names("script style title noframes noembed iframe")
"""Elements whose content the parser reads as one text, which no reader sees."""

MAX_ANCHOR: Final = 200
"""Characters (LARM-101)."""


def is_blank(text: str) -> bool:
    """Whether there is nothing in it for readers: then the next ``<title>`` of the page is its title."""
    return not text or text.isspace()


def unbroken(text: str) -> str:
    """Without the places where words may be divided at the end of a line (``&shy;``): a word is one word."""
    return text.replace("\xad", "")


def squeeze_line(text: str) -> str:
    """A title."""
    return " ".join(text.split())


def anchor(text: str) -> str:
    """The text of a link, as links.log has it (LARM-91, LARM-93, LARM-101)."""
    return clean(" ".join(unbroken(text).split())[:MAX_ANCHOR])
