"""Shares: folders that others may search and open, each by a name. Any thread; constant after construction.

What is opened is asked for by a share's name and a path below it: it is walked name by name without following any link, and
what is hidden, or excluded by `files` of the configuration, is not there. So others can open what the index has, and nothing
else.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote_from_bytes

from larm.config import Files
from larm.errors import UsageError
from larm.fetching.disk import CAN_WALK, LinkMet, NotPlain, Opened, names_in, open_below
from larm.model.file_rules import FileRules, Root
from larm.model.file_url import FILES, file_path

FILES_ROOT = "/files/"
_MOST_NAMES = 10_000
"""In a listing."""


class Share(NamedTuple):
    """One folder."""

    name: str
    folder: str
    """Real."""
    directory: Path
    """Of the crawl that indexes it."""


class Shares:
    """All of one peer."""

    def __init__(self, folders: Sequence[Path], directory: Path, files: Files) -> None:
        """``directory``: where the crawls of the folders are. Raises UsageError."""
        if folders and not CAN_WALK:
            raise UsageError("folders can't be shared on this system: it has no way to open a file without following links")
        shares: dict[str, Share] = {}
        for folder in folders:
            real = os.path.realpath(folder)
            if not os.path.isdir(real):
                raise UsageError(f"{folder}: no such folder; --share names one")
            if _contains(real, os.path.realpath(directory)):
                raise UsageError(f"{folder}: larm's own files are in it; share a folder of yours, or set peers.directory")
            first = name = os.path.basename(real).lstrip(".") or "files"
            number = 1
            while name in shares:
                number += 1
                name = f"{first}-{number}"
            shares[name] = Share(name, real, directory / "shares" / name)
        self.all = tuple(shares.values())
        self._shares = shares
        self._rules = {
            share.name: FileRules([Root(share.folder, listed=True)], include=files.include, exclude=files.exclude)
            for share in self.all
        }

    def address(self, url: str) -> str | None:
        """Where others find the file of a file: URL, as a path on this server; None: it is not shared."""
        if not url.startswith(FILES):
            return None
        path = file_path(url)
        for share in self.all:
            below = Root(share.folder, listed=True).below(path)
            if below is not None and (not below or self._rules[share.name].unwanted(below, folder=path.endswith("/")) is None):
                names = quote_from_bytes(os.fsencode(below), safe="/")
                return (
                    f"{FILES_ROOT}{quote_from_bytes(share.name.encode())}/{names}{'/' * (path.endswith('/') and bool(below))}"
                )
        return None

    @contextmanager
    def opened(self, name: str, below: str) -> Iterator[Opened | None]:
        """A file or folder; None for what is not there for others, whatever the reason."""
        share = self._shares.get(name)
        names = [each for each in below.split("/") if each]
        if share is None or any(each in {".", ".."} or "\0" in each for each in names):
            yield None
            return
        path = "/".join(names)
        with ExitStack() as stack:
            try:
                found = stack.enter_context(open_below(share.folder, path))
            except (LinkMet, NotPlain, OSError, ValueError):
                yield None
                return
            wanted = not names or self._rules[name].unwanted(path, folder=found.folder) is None
            yield found if wanted else None

    def names(self, name: str, below: str, opened: Opened) -> list[str]:
        """What is in an open folder, a slash behind folders; links are left out, as nobody can follow them."""
        prefix = "/".join(each for each in below.split("/") if each)

        def wanted(entry: str, folder: bool) -> bool:
            path = f"{prefix}/{entry}" if prefix else entry
            link = os.stat(entry, dir_fd=opened.descriptor, follow_symlinks=False).st_mode & 0o170000 == 0o120000
            return not link and self._rules[name].unwanted(path, folder=folder) is None

        try:
            return names_in(opened.descriptor, wanted, _MOST_NAMES)[0]
        except OSError:
            return []


def _contains(folder: str, path: str) -> bool:
    return os.path.commonpath([folder, path]) == folder
