"""Commands: what a button asks of a running crawl, and what that has answered, for the page that is shown then.

On the event loop.
"""

import secrets
from collections.abc import Callable, Mapping, Sequence

from larm.engine.orders import Add, Block, Done, Pause, Reopen, Resume, Set, Unblock
from larm.ops.control.requests import Checkpoint, Do, Request, Stop

Fields = Mapping[str, str]


class BadCommandError(Exception):
    """There is no such command, or something is missing; ``str`` says what."""


_COMMANDS: Mapping[str, Callable[[Fields], Request[Done]]] = {
    "pause": lambda _: Do(Pause()),
    "resume": lambda _: Do(Resume()),
    "stop": lambda _: Stop(),
    "checkpoint": lambda _: Checkpoint(),
    "add": lambda fields: Do(Add(tuple(_needed(fields, "urls").split()))),
    "set": lambda fields: Do(Set(_needed(fields, "key"), _needed(fields, "value"))),
    "block": lambda fields: Do(Block(_needed(fields, "host"))),
    "unblock": lambda fields: Do(Unblock(_needed(fields, "host"))),
    "reopen": lambda fields: Do(Reopen(_needed(fields, "pattern"), fields.get("host", "").strip())),
}
NAMES = tuple(_COMMANDS)


def request_of(command: str, fields: Fields) -> Request[Done]:
    """Raises BadCommandError."""
    found = _COMMANDS.get(command)
    if found is None:
        raise BadCommandError(f"there is no such command; there are {', '.join(NAMES)}")
    return found(fields)


def _needed(fields: Fields, name: str) -> str:
    value = fields.get(name, "").strip()
    if not value:
        raise BadCommandError(f"{name} is missing")
    return value


_MOST = 100


class Notices:
    """Each is taken once."""

    def __init__(self) -> None:
        # only the event loop
        self._kept: dict[str, Sequence[str]] = {}

    def put(self, sentences: Sequence[str]) -> str:
        """By what it is taken."""
        while len(self._kept) >= _MOST:
            del self._kept[next(iter(self._kept))]
        key = secrets.token_urlsafe(8)
        self._kept[key] = sentences
        return key

    def take(self, key: str) -> Sequence[str]:
        """Empty for one that is not there, or not any more."""
        return self._kept.pop(key, ())
