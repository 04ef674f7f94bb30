"""Pages in which there is nothing to search, though they were fetched: names, and what a log says. Pure; any thread.

Pictures, sounds and films have no words by nature, and are none of them.

Each is counted (``hollow/NAME``), noted in the log of its thread, and told at the end of ``larm crawl``.
"""

from typing import Final

PAGES: Final = ("text/html", "application/xhtml+xml")
"""Types of pages that scripts may build, or that may ask for a password."""
LONG: Final = 3_000
"""Characters outside links, with white space as it came. A text with more says something, so nobody has to read it."""
SCRIPTS: Final = "scripts"
CHALLENGE: Final = "challenge"
LOGIN: Final = "login"
NOINDEX: Final = "noindex"
EMPTY: Final = "empty"
UNREAD: Final = "unread"
DOCUMENT: Final = "document"
TEXT_IN_SCRIPTS: Final = "processing/text_in_scripts"
"""Counts pages that are read by the text in their scripts, as they show none; such a page is not hollow."""
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
