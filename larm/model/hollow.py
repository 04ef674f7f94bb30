"""Pages in which there is nothing to search, though they were fetched: names, and what a person is told. Pure; any thread.

Pictures, sounds and films have no words by nature, and are none of them.

Each is counted (``hollow/NAME``), noted in the log of its thread, and told at the end of ``larm crawl``.
"""

from collections.abc import Mapping
from typing import Final

SCRIPTS: Final = "scripts"
CHALLENGE: Final = "challenge"
LOGIN: Final = "login"
NOINDEX: Final = "noindex"
EMPTY: Final = "empty"
UNREAD: Final = "unread"
DOCUMENT: Final = "document"
COUNTED: Final = "hollow/"
"""What the names of the statistics begin with."""

NOTES: Final = {
    SCRIPTS: "built by scripts, which are not run",
    CHALLENGE: "asks whether larm is a browser",
    LOGIN: "a login form",
    NOINDEX: "asks not to be indexed",
    EMPTY: "without any text",
    UNREAD: "of a type that larm does not read",
    DOCUMENT: "no text could be read of it",
}
"""Said of one page."""
_SAID = {
    SCRIPTS: ("is built by scripts, and larm runs none", "are built by scripts, and larm runs none"),
    CHALLENGE: ("asks whether larm is a browser", "ask whether larm is a browser"),
    LOGIN: ("is a login form", "are login forms"),
    NOINDEX: ("asks not to be indexed (noindex)", "ask not to be indexed (noindex)"),
    EMPTY: ("has no text", "have no text"),
    UNREAD: ("is of a type that larm does not read", "are of types that larm does not read"),
    DOCUMENT: (
        "is a document of which no text could be read (damaged, locked, or pictures of pages)",
        "are documents of which no text could be read (damaged, locked, or pictures of pages)",
    ),
}


def sentence(statistics: Mapping[str, int], pages: int) -> str:
    """What is said of a run that fetched so many pages, by its counters; empty where all pages had something to say."""
    found = {name: statistics.get(COUNTED + name, 0) for name in _SAID}
    total = sum(found.values())
    if not total:
        return ""
    said = [f"{count:,} {_SAID[name][count != 1]}" for name, count in found.items() if count]
    whole = "the only page has" if pages == total == 1 else f"{total:,} of {pages:,} pages ha{'s' if total == 1 else 've'}"
    return f"{whole} nothing to search: {'; '.join(said)}"
