"""Shares: folders that others may search and open, each by a name. Any thread.

What is opened is asked for by a share's name and a path below it: it is walked name by name without following any link, and
what is hidden, excluded by `files` of the configuration, or forgotten (``larm forget``), is not there. Where a folder has an
index page (YOUS-11), its other files are there if the index has found them by links, and pictures and style sheets if one knows
their names. So others can open what the index has, and what its pages look like, and nothing else.
"""

import os
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote_from_bytes

import msgspec

from larm.building.start_folders import INDEX_PAGES
from larm.config import FilesSettings
from larm.errors import UsageError
from larm.fetch.disk import CAN_WALK, LinkMet, NotPlain, Opened, has_any, names_in, open_below
from larm.kit.disk.atomic import write_atomically
from larm.kit.disk.json_file import read_json
from larm.model.file_rules import FileRules, Root
from larm.model.file_url import FILES, file_path, file_url
from larm.peers.yousearch.forgotten import ForgottenFiles

FILES_ROOT = "/files/"
_LOOKS = frozenset((".css", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".ico", ".woff", ".woff2"))
"""Endings of what pages show, which is in no index."""
_MOST_NAMES = 10_000
"""In a listing."""


class Share(NamedTuple):
    """One folder."""

    name: str
    folder: str
    """Real."""
    directory: Path
    """Of the crawl that indexes it."""

    @property
    def place(self) -> str:
        """What that crawl calls the folder (`files.places`): nobody learns by it in which folders of this machine it is."""
        return f"/{self.name}"


class Shares:
    """All of one peer."""

    def __init__(
        self,
        folders: Sequence[Path],
        directory: Path,
        files: FilesSettings,
        only: Mapping[str, Collection[str]] | None = None,
        *,
        indexed: Callable[[Path, str], bool] = lambda _, __: False,
    ) -> None:
        """``directory``: where the crawls of the folders are. ``only``: by the names of shares that are not for everybody,
        the groups that they are for. ``indexed``: the index of such a crawl has a file: URL.

        Raises UsageError, StorageError."""
        if folders and not CAN_WALK:
            raise UsageError("folders can't be shared on this system: it has no way to open a file without following links")
        shares: dict[str, Share] = {}
        for folder in folders:
            real = os.path.realpath(folder)
            if not os.path.isdir(real):
                raise UsageError(f"{folder}: no such folder; --share names one")
            if _contains(real, os.path.realpath(directory)):
                raise UsageError(f"{folder}: larm's own files are in it; share a folder of yours")
            first = name = os.path.basename(os.path.abspath(folder)).lstrip(".") or "files"
            number = 1
            while name in shares:
                number += 1
                name = f"{first}-{number}"
            place = f"{name}-{sha256(os.fsencode(real)).hexdigest()[:8]}"  # another folder of that name has another index
            shares[name] = Share(name, real, directory / "shares" / place)
        self.named = tuple(shares.values())
        """All that the configuration names, shared or not."""
        self.only = {name: frozenset(group.lower() for group in groups) for name, groups in (only or {}).items()}
        _check(self.only.keys(), self.named)
        self._stopped_file = directory / "not-shared.json"
        self._lock = threading.Lock()
        # guarded by self._lock; replaced as a whole, so read without it
        self._stopped = frozenset(read_json(self._stopped_file, list[str], "remove it to share all that is configured") or ())
        self._indexed = indexed
        self.files = msgspec.structs.replace(
            files,
            hidden=False,
            exclude=(*files.exclude, "*\n*"),  # which no address of a server leads to
            index_pages=files.index_pages or INDEX_PAGES,
        )
        """What of a folder is shared."""
        self._rules = {
            share.name: FileRules(
                [Root(share.folder, listed=True)],
                include=files.include,
                exclude=self.files.exclude,
                index_pages=self.files.index_pages,
                listed=files.listed,
            )
            for share in self.named
        }
        self.forgotten = {share.name: ForgottenFiles(share.directory) for share in self.named}

    @property
    def all(self) -> tuple[Share, ...]:
        """Those that are shared now."""
        return tuple(share for share in self.named if share.folder not in self._stopped)

    def set_shared(self, name: str, *, shared: bool) -> None:
        """From now on, also after a restart. Raises StorageError."""
        with self._lock:
            folders = {share.folder for share in self.named if share.name == name}
            stopped = self._stopped - folders if shared else self._stopped | folders
            write_atomically(self._stopped_file, msgspec.json.encode(sorted(stopped)))
            self._stopped = frozenset(stopped)

    def address(self, url: str, hidden: Collection[str] = ()) -> str | None:
        """Where others find the file of a file: URL, as a path on this server; None: it is not shared.

        ``hidden``: names of shares that are not for them."""
        if not url.startswith(FILES):
            return None
        name, _, below = file_path(url).removeprefix("/").partition("/")
        share = next((each for each in self.all if each.name == name and name not in hidden), None)
        if share is None or (below and not self._may_open(share, below.rstrip("/"), folder=below.endswith("/"))):
            return None
        return FILES_ROOT + quote_from_bytes(os.fsencode(f"{name}/{below}"), safe="/")

    @contextmanager
    def opened(self, name: str, below: str) -> Iterator[Opened | None]:
        """A file or folder; None for what is not there for others, whatever the reason."""
        share = next((each for each in self.all if each.name == name), None)
        names = [each for each in below.split("/") if each]
        if share is None or any(each in {".", ".."} or "\0" in each for each in names):
            yield None
            return
        path = "/".join(names)
        with ExitStack() as stack:
            found: Opened | None = None
            with suppress(LinkMet, NotPlain, OSError, ValueError):
                there = stack.enter_context(open_below(share.folder, path))
                if not names or (self._may_open(share, path, folder=there.folder) and self._is_for_all(share, path, there)):
                    found = there
            yield found

    def below_web_root(self, path: str) -> str | None:
        """Return the address of the file that pages of a shared web root call ``path``, such as ``/x.html``; None: no file."""
        for share in self.all:
            if share.name not in self.only and any(os.path.isfile(os.path.join(share.folder, page)) for page in INDEX_PAGES):
                with self.opened(share.name, path) as found:
                    if found is not None:
                        return FILES_ROOT + quote_from_bytes(os.fsencode(share.name + path), safe="/")
        return None

    def names(self, name: str, below: str, opened: Opened) -> list[str]:
        """What is in an open folder, a slash behind folders; links are left out, as nobody can follow them."""
        prefix = "/".join(each for each in below.split("/") if each)
        share = next((each for each in self.named if each.name == name), None)
        alone = share is not None and self._has_index_page(share, prefix, opened.descriptor)

        def wanted(entry: str, folder: bool) -> bool:
            path = f"{prefix}/{entry}" if prefix else entry
            link = os.stat(entry, dir_fd=opened.descriptor, follow_symlinks=False).st_mode & 0o170000 == 0o120000
            if link or share is None or not self._may_open(share, path, folder=folder):
                return False
            return folder or not alone or self._is_linked(share, path)

        try:
            return names_in(opened.descriptor, wanted, _MOST_NAMES)[0]
        except OSError:
            return []

    def _is_for_all(self, share: Share, path: str, found: Opened) -> bool:
        """Not hidden behind the index page of its folder."""
        folder, _, name = path.rpartition("/")
        if found.folder or os.path.splitext(name)[1].lower() in _LOOKS:
            return True
        with open_below(share.folder, folder) as around:
            return not self._has_index_page(share, folder, around.descriptor) or self._is_linked(share, path)

    def _is_linked(self, share: Share, path: str) -> bool:
        if path.rpartition("/")[2] in self.files.index_pages:
            return True
        return self._indexed(share.directory, file_url(f"{share.place}/{path}"))

    def _has_index_page(self, share: Share, folder: str, descriptor: int) -> bool:
        rules = self._rules[share.name]
        return not rules.may_be_listed(folder) and has_any(descriptor, rules.index_pages)

    def _may_open(self, share: Share, below: str, *, folder: bool) -> bool:
        if self._rules[share.name].unwanted(below, folder=folder) is not None:
            return False
        return not self.forgotten[share.name].holds(file_url(f"{share.place}/{below}{'/' * folder}"))


def _check(only: Collection[str], named: Sequence[Share]) -> None:
    """Fail closed: what is said to be for some must not be for all by a slip."""
    names = {share.name: share.folder for share in named}
    for name in only:
        if name not in names:
            raise UsageError(f"peers.only: {name}: no shared folder has this name; there are: {', '.join(names) or 'none'}")
        for other, folder in names.items():
            if other != name and (_contains(folder, names[name]) or _contains(names[name], folder)):
                raise UsageError(f"peers.only: {name}: {other} is shared as well, and one is in the other")


def _contains(folder: str, path: str) -> bool:
    return os.path.commonpath([folder, path]) == folder
