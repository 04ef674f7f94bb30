"""TextLists: reads lists of lines, such as seeds or denied keys, from files and from addresses. Any thread.

A list that can't be read is no empty list: it is None, and the reason is reported once until another one comes.
"""

import threading
from collections.abc import Callable
from pathlib import Path

from larm.fetch.http_client import HttpClient, NoAnswer

_LARGEST = 5_000_000
"""Bytes: 10,000 seeds."""
_SECONDS = 20.0


class TextLists:
    """The lists that one peer reads."""

    def __init__(self, http: HttpClient, say: Callable[[str], object]) -> None:
        # constant after construction
        self._http = http
        self._say = say
        self._lock = threading.Lock()
        # guarded by self._lock
        self._reasons: dict[str, str] = {}

    def lines(self, place: str, url: str = "") -> list[str] | None:
        """Return the lines of a file, or of an address (``https://...``). ``url``: the address that it stands for."""
        found = self._fetched(url or place) if "://" in place else _read(place)
        reason = found if isinstance(found, str) else ""
        with self._lock:
            new, self._reasons[place] = self._reasons.get(place, "") != reason, reason
        if reason and new:
            self._say(f"{place}: can't be read now: {reason}; it is tried again")
        return None if isinstance(found, str) else found.decode("utf-8", "replace").splitlines()

    def _fetched(self, url: str) -> bytes | str:
        answer = self._http.ask("GET", url, {}, b"", seconds=_SECONDS, most=_LARGEST)
        if isinstance(answer, NoAnswer):
            return answer.reason
        return answer.body if answer.status == 200 else f"its server answers {answer.status}"


def _read(path: str) -> bytes | str:
    try:
        with Path(path).expanduser().open("rb") as file:
            return file.read(_LARGEST)
    except OSError as error:
        return error.strerror or str(error)
