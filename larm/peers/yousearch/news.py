"""News: what there is to say of registrars and of what is shared, once each time that it is something else. Any thread."""

from __future__ import annotations

import threading
from collections.abc import Callable


class News:
    """Of one peer."""

    def __init__(self, say: Callable[[str], object]) -> None:
        # constant after construction
        self.say = say
        self._lock = threading.Lock()
        # guarded by self._lock
        self._said: dict[str, str] = {}

    def tell(self, about: str, sentence: str) -> None:
        """Empty: there is nothing to say of it any more."""
        with self._lock:
            if self._said.get(about, "") == sentence:
                return
            self._said[about] = sentence
        if sentence:
            self.say(sentence)

    @property
    def now(self) -> dict[str, str]:
        """By what it is about."""
        with self._lock:
            return {about: sentence for about, sentence in self._said.items() if sentence}
