"""FileRules: which files belong to a crawl that begins in folders: of what is below them, what is wanted (LARM-111).

Made by the wiring; asked by the filter on the handler thread and by the file fetcher on its threads. Names only: that no
symbolic link leads out is seen to where a file is opened (`larm.fetch.disk`). Constant after construction.
"""

import fnmatch
import os
import re
from collections.abc import Collection, Sequence
from typing import NamedTuple


class Root(NamedTuple):
    """A folder that files may be read from."""

    path: str
    """Real: no symbolic link in it. Without a slash at its end."""
    listed: bool
    """The start was the folder itself. Else it was a file, whose neighbours are read only where a page has a link to them."""
    alias: str = ""
    """As it was given, where that is not ``path``: who asks for it is sent there."""
    place: str = ""
    """Where it is on the disk, where that is not ``path`` (`files.places`); real, too."""

    def below(self, path: str) -> str | None:
        """``path`` as seen from this folder, whose own is empty; None: it is not in it."""
        return path[len(self.path) :].strip(os.sep) if _within(path, self.path) else None

    def on_disk(self, path: str) -> str:
        """Where a path in it is."""
        return self.place.rstrip(os.sep) + path[len(self.path) :] if self.place else path

    def reaches(self, path: str) -> bool:
        """Whether ``path`` is this folder or below it, under either of its names."""
        return _within(path, self.path) or (self.alias != "" and _within(path, self.alias))


class FileRules:
    """``hidden``: names with a dot in front, too. ``include``, ``exclude``: shell patterns, ``*`` stands for slashes as well.

    A pattern with a slash is for a path as seen from the start folder, any other for a name. ``include`` (where not empty) is
    for files alone; ``exclude`` is also for folders, and then for all that is in them. ``index_pages``: in a folder with one of
    these, other files are read only where a page links to them (YOUS-11), but in folders that are ``listed``. ``own``: real
    paths of what larm itself writes, which would grow while it is read.
    """

    def __init__(
        self,
        roots: Sequence[Root],
        *,
        hidden: bool = False,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        index_pages: Sequence[str] = (),
        listed: Sequence[str] = (),
        own: Collection[str] = (),
    ) -> None:
        # constant after construction
        self.roots = tuple(roots)
        self._hidden = hidden
        self._include = _Patterns(include)
        self._exclude = _Patterns(exclude)
        self.index_pages = tuple(index_pages)
        self._listed = _Patterns(listed)
        self._own = tuple(own)

    def root_of(self, path: str) -> Root | None:
        """The start folder that ``path`` is in; None: it is not for this crawl."""
        return next((root for root in self.roots if root.reaches(path)), None)

    def called(self, real: str) -> str | None:
        """What the start folder calls a real path of this disk; None: it is in none."""
        for root in self.roots:
            if _within(real, root.place or root.path):
                return root.path + real.removeprefix(root.place.rstrip(os.sep)) if root.place else real
        return None

    def refusal(self, path: str) -> str | None:
        """Why the file or folder (with a slash at its end) is not read; None if it is."""
        root = self.root_of(path)
        if root is None:
            return "not in a start folder"
        if any(_within(root.on_disk(path), own) for own in self._own):
            return "written by larm itself"
        below = root.below(path)
        if below is None:
            below = path[len(root.alias) :].strip(os.sep)
        return self.unwanted(below, folder=path.endswith(os.sep)) if below else None

    def unwanted(self, below: str, *, folder: bool) -> str | None:
        """The same for a path as seen from a start folder, which it is in."""
        names = below.split(os.sep)
        if not self._hidden and any(name.startswith(".") for name in names):
            return "hidden (files.hidden)"
        ends = range(1, len(names) + 1)
        if any(map(self._exclude.name, names)) or any(self._exclude.path(os.sep.join(names[:end])) for end in ends):
            return "in files.exclude"
        if self._include.any and not folder and not self._include.name(names[-1]) and not self._include.path(below):
            return "not in files.include"
        return None

    def may_be_listed(self, folder: str) -> bool:
        """All files of a folder are for whoever lists it, whether it has an index page or not; ``folder``: as seen from the
        start folder, which itself is empty."""
        return not self.index_pages or self._listed.name(folder.rpartition(os.sep)[2]) or self._listed.path(folder)


def _within(path: str, folder: str) -> bool:
    return path.startswith(folder) and (len(path) == len(folder) or path[len(folder)] == os.sep or folder == os.sep)


class _Patterns:
    """Shell patterns; case matters."""

    def __init__(self, patterns: Sequence[str]) -> None:
        # constant after construction
        self.any = bool(patterns)
        self._names = _matcher([each for each in patterns if "/" not in each])
        self._paths = _matcher([each.strip("/") for each in patterns if "/" in each])

    def name(self, text: str) -> bool:
        return self._names is not None and self._names.match(text) is not None

    def path(self, text: str) -> bool:
        return self._paths is not None and self._paths.match(text) is not None


def _matcher(patterns: Sequence[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(map(fnmatch.translate, patterns))) if patterns else None
