"""Hit: one page that a search has found. A frozen value that every searcher gives and every surface shows."""

from collections.abc import Iterable

from larm.model.page_record import PageFacts

Part = tuple[str, bool]
"""Some text, and whether it is a word of the query."""


def as_html(parts: Iterable[Part]) -> str:
    """The parts as safe HTML, words of the query in ``<mark>``."""
    import html  # 2 ms, which a crawl does not need

    return "".join(f"<mark>{html.escape(text)}</mark>" if marked else html.escape(text) for text, marked in parts)


class Hit(PageFacts, frozen=True, kw_only=True):
    """One page that was found; its title is one line, or the URL where it has none. What was cut may have more of the words."""

    parts: tuple[Part, ...] = ()
    """About 200 characters of the page as (text, is it a word of the query); free of control characters."""
    passage: str = ""
    """The address at which a browser shows these characters; empty where there is none."""
    complete: bool = True
    """It has all words of the query."""
    score: float = 0.0
    explanation: str = ""
    """How the score came about, as JSON, if it was asked for."""
    digest: int = 0
    """Of its title and main text, by words: pages with equal ones say the same; 0: it has no text."""
    source: str = ""
    """Which of several indexes has it; empty where there is one."""
    copy: str = ""
    """The address of the copy that a peer has stored of it; empty where there is none for others."""

    @property
    def snippet(self) -> str:
        """The passage of the page that shows best why it was found, as one line of plain text."""
        return "".join(text for text, _ in self.parts)

    @property
    def html(self) -> str:
        """The same as safe HTML, with the words of the query in ``<mark>``."""
        return as_html(self.parts)
