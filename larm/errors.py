"""What larm raises, and nothing more.

What normally happens in a crawl (a 404, a time-out, a broken page) is a value, see ``larm.model.outcome``.
Exceptions are for wrong configuration, broken disks and our own bugs::

    LarmError
    |-- UsageError        the command line is wrong                      exit status 2
    |   `-- ConfigError   config.yaml or a file that it names is wrong   exit status 2
    |-- StorageError      a disk or an index does not work               exit status 3
    `-- StageError        a stage of the river died                      exit status 1

Foreign errors (OSError, sqlite3, tantivy, yaml) are translated in the one module that imports their library.
Each message says what is wrong, where, and what to do about it.
"""

from collections.abc import Iterator
from contextlib import contextmanager

REPAIR = "'larm repair' mends it"
"""What to do about damage."""


class LarmError(Exception):
    """Base of all errors that larm raises on purpose; ``str()`` of it is one line for a person."""

    exit_status = 1


class UsageError(LarmError):
    """The command line asks for something that can't be."""

    exit_status = 2


class ConfigError(UsageError):
    """config.yaml, or a file that it names, has unknown keys or malformed values: a sentence for each."""

    def __str__(self) -> str:
        return "\n".join(self.args)


@contextmanager
def refusing(what: str, *kinds: type[Exception], remedy: str = "") -> Iterator[None]:
    """Raise a UsageError about ``what`` in place of an error of these kinds, with what that says. ``remedy``: what to do."""
    try:
        yield
    except kinds as error:
        raise UsageError(f"{what}: {getattr(error, 'strerror', None) or error}{remedy and '; '}{remedy}") from error


@contextmanager
def needing(extra: str) -> Iterator[None]:
    """Raise a UsageError where a package is not installed that is imported within; ``extra``: the extra that has it."""
    try:
        yield
    except ImportError as error:
        package = str(error.name).partition(".")[0]
        raise UsageError(f"{package} is missing: pip install 'larm[{extra}]'") from error


class Mistakes:
    """The mistakes of a configuration, to be raised together, a line each."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Keep a UsageError of the block, and go on behind it."""
        try:
            yield
        except UsageError as error:
            self.lines += error.args

    def refuse(self) -> None:
        """Raise a ConfigError if there are any."""
        if self.lines:
            raise ConfigError(*dict.fromkeys(self.lines))


class StorageError(LarmError):
    """A file, database or index can't be read or written; the last checkpoint stays usable."""

    exit_status = 3


class StageError(LarmError):
    """A thread of the river ended by an exception: the crawl can't go on."""
