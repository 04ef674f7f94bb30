"""Inspector: whether anything in a shared folder has changed since its index was made, and who makes it anew (YOUS-9, 10).

Changes are seen by names, times and sizes; a crawl of the folder, a process of its own, then reads what is new or changed, and
forgets what is gone. On the peer's thread.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import yaml

from larm.config import CONFIG_FILE, Files
from larm.kit.disk.atomic import write_atomically
from larm.kit.disk.disk_failure import disk_failure
from larm.model.file_url import file_url
from larm.peers.yousearch.shares import Share, Shares

_DEEPEST = 100
_LONGEST = 3_600.0
"""Seconds for a crawl of a folder; one that takes longer is ended, and goes on the next time."""


class Inspectors:
    """Of all shares, as they come and go."""

    def __init__(self, shares: Shares, files: Files) -> None:
        # constant after construction
        self._shares = shares
        self._files = files
        # only the peer's thread
        self._each: dict[str, Inspector] = {}

    def look(self) -> None:
        """At each; of what is not shared any more the index is removed. Raises StorageError."""
        shared = {share.folder: share for share in self._shares.all}
        self._each = {folder: each for folder, each in self._each.items() if folder in shared}
        for share in self._shares.named:
            if share.folder not in shared:
                shutil.rmtree(share.directory, ignore_errors=True)
        for folder, share in shared.items():
            self._each.setdefault(folder, Inspector(share, self._files)).look()


class Inspector:
    """Of one share."""

    def __init__(self, share: Share, files: Files) -> None:
        # constant after construction
        self.share = share
        self._files = files
        # only the peer's thread
        self._seen = b""

    def look(self) -> bool:
        """True: the index was made anew, as something had changed. Raises StorageError."""
        seen = self._picture()
        if seen == self._seen:
            return False
        self._configure()
        if self._crawl():
            self._seen = seen
        return True

    def _picture(self) -> bytes:
        """Equal as long as nothing changes. Nothing is followed or opened."""
        picture = sha256()
        for line in _walk(self.share.folder, _DEEPEST):
            picture.update(line)
        return picture.digest()

    def _configure(self) -> None:
        """The crawl's settings, which are ours."""
        directory = self.share.directory
        settings = {
            "crawl": {"start": [file_url(self.share.folder + "/")]},
            "files": {"include": list(self._files.include), "exclude": list(self._files.exclude)},
            "recrawl": {"most_gone": 1.0},  # on a disk, what is gone is gone
        }
        try:
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise disk_failure(directory, error) from error
        write_atomically(directory / CONFIG_FILE, yaml.safe_dump(settings, allow_unicode=True).encode())

    def _crawl(self) -> bool:
        directory: Path = self.share.directory
        command = [sys.executable, "-P", "-m", "larm", "crawl", "-q", "--dir", str(directory)]
        try:
            with (directory / "crawl.out").open("wb") as output:
                done = subprocess.run(  # noqa: S603 - our own words
                    command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, timeout=_LONGEST, check=False
                )
        except subprocess.TimeoutExpired:
            return False
        except OSError as error:
            raise disk_failure(directory, error) from error
        return done.returncode == 0


def _walk(folder: str, deepest: int) -> Iterator[bytes]:
    try:
        with os.scandir(folder) as entries:
            inside = sorted((each for each in entries if not each.name.startswith(".")), key=lambda each: each.name)
    except OSError:
        return
    for entry in inside:
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            continue
        path = os.fsencode(entry.path)
        yield b"%b\0%d\0%d\0%d\n" % (path, status.st_mode, status.st_size, status.st_mtime_ns)
        if entry.is_dir(follow_symlinks=False) and deepest:
            yield from _walk(entry.path, deepest - 1)
