"""without_credentials: a URL as somebody wrote it, fit for a message: user names and passwords in URLs reach no log.

The URLs that larm works with have none (`larm.model.url`); this is for texts that are no URLs, or not yet. Pure; any thread.
"""

import re
from typing import Final

HIDDEN: Final = "***"
"""Stands in their place."""

_BEFORE = re.compile(r"[\x00-\x20]*(?:[a-z][a-z0-9+.\-]*:[/\\]*|[/\\]{2,})?", re.IGNORECASE)
_AUTHORITY_END = re.compile(r"[/\\?#]|$")
_PORT = re.compile(r":[0-9]*$")
_REMOVED = {ord(character): None for character in "\t\n\r"}  # anywhere in a URL, says the standard


def without_credentials(text: str) -> str:
    """``http://user:secret@host/`` as ``http://***@host/``; also where the host is malformed, or the scheme is missing."""
    if "@" not in text or text.startswith("mailto:"):
        return text
    text = text.translate(_REMOVED)
    before = _BEFORE.match(text)
    start = before.end() if before else 0
    found = _AUTHORITY_END.search(text, start)
    end = found.start() if found else len(text)
    at = text.rfind("@", start, end)
    if at < 0 and ":" in text[start:end] and not _PORT.search(text[start:end]):  # a password with a slash in it
        at = text.find("@", end)
    return text if at < 0 else f"{text[:start]}{HIDDEN}{text[at:]}"
