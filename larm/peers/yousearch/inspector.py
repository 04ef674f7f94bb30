"""Inspector: whether anything in a shared folder has changed since its index was made, and who makes it anew (YOUS-9, 10).

Changes are seen by names, times and sizes; a crawl of the folder, a process of its own, then reads what is new or changed, and
forgets what is gone. On a thread of their own: the first crawl of a large folder takes its time, and the peer lives meanwhile.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import msgspec
import yaml

from larm.config import CONFIG_FILE
from larm.errors import LarmError, StorageError
from larm.kit.disk.atomic import write_atomically
from larm.kit.disk.files import is_there
from larm.model.file_url import file_url
from larm.peers.yousearch.forgotten import ForgottenFiles
from larm.peers.yousearch.shares import Share, Shares

OUTPUT = "crawl.out"
"""What the last crawl of a folder said."""
_DEEPEST = 100
_INDEX_PAGES = "index-pages"
"""A file with a hash of those that the crawl has seen."""
_LONGEST = 3_600.0
"""Seconds for a crawl of a folder; one that takes longer is ended, and goes on the next time."""
_PATIENCE = 60.0
"""Seconds for its end in good order. One that hangs is killed: it is resumed like one that was not."""


class Inspectors:
    """Of all shares, as they come and go."""

    def __init__(self, shares: Shares) -> None:
        # constant after construction
        self._shares = shares
        self._crawling = Crawling()
        # only the inspectors' thread
        self._seen: dict[str, bytes] = {}
        """What was indexed last, by folders."""

    def look(self, tell: Callable[[str, str], object]) -> bool:
        """At each; of what is not shared any more the index is removed. True: something has changed.

        ``tell`` takes names of shares and what is wrong with each, or nothing."""
        shared = {share.folder for share in self._shares.all}
        changed = not self._seen.keys() <= shared
        self._seen = {folder: seen for folder, seen in self._seen.items() if folder in shared}
        for share in self._shares.named:
            wrong = ""
            try:
                if share.folder in shared:
                    changed = self._look(share, self._shares.forgotten[share.name]) or changed
                else:
                    self._shares.forgotten[share.name].remove_index()
            except (LarmError, OSError) as error:
                wrong = f"{share.name}, which is {'' if share.folder in shared else 'no longer '}shared: {error}"
            tell(f"share {share.name}", wrong)
        return changed

    def stop(self) -> None:
        """A crawl under way stops in good order, and none begins; the next start goes on. Any thread."""
        self._crawling.stop()

    def _look(self, share: Share, forgotten: ForgottenFiles) -> bool:
        """True: the index was made anew, as something had changed. Raises StorageError, OSError."""
        seen, index_pages = self._picture(share)
        if seen == self._seen.get(share.folder):
            return False
        self._configure(share, forgotten, index_pages)
        if self._forget_again(share, forgotten) and self._crawling.run(share.directory):
            self._seen[share.folder] = seen
        elif not self._crawling.stopped:
            raise StorageError(f"not all of it could be indexed, {share.directory / OUTPUT} says why; it is tried again")
        return True

    def _picture(self, share: Share) -> tuple[bytes, bytes]:
        """Equal as long as nothing changes; and of index pages alone. Nothing is followed or opened."""
        picture, pages = sha256(), sha256(os.fsencode(share.place))
        for line in _walk(share.folder, _DEEPEST):
            picture.update(line)
            if os.fsdecode(line.partition(b"\0")[0].rpartition(b"/")[2]) in self._shares.files.index_pages:
                pages.update(line)
        return picture.digest(), pages.digest()

    def _configure(self, share: Share, forgotten: ForgottenFiles, index_pages: bytes) -> None:
        """The crawl's settings, which are ours. What an index page does not link to any more is not to be found, so then the
        crawl begins anew."""
        directory = share.directory
        before = directory / _INDEX_PAGES
        if is_there(directory) and (not is_there(before) or before.read_bytes() != index_pages):
            forgotten.remove_index()
        settings = {
            "crawl": {"start": [file_url(share.place + "/")]},
            "files": msgspec.to_builtins(
                msgspec.structs.replace(self._shares.files, hidden=False, places={share.name: share.folder})
            ),
            "recrawl": {"most_gone": 1.0},  # on a disk, what is gone is gone
        }
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomically(before, index_pages)
        write_atomically(directory / CONFIG_FILE, yaml.safe_dump(settings, allow_unicode=True).encode())

    def _forget_again(self, share: Share, forgotten: ForgottenFiles) -> bool:
        """What was forgotten of an earlier index never gets into this one: a crawl that reads no file is told of it first."""
        run, directory, left = self._crawling.run, share.directory, forgotten.left()
        if left:
            run(directory, "crawl", "-q", "-s", 'files.exclude=["*"]')
            if not run(directory, "forget", "--yes", *left):
                return False
            forgotten.told()
        return True


class Crawling:
    """The crawl under way. Run by one thread, stopped by any."""

    def __init__(self) -> None:
        # constant after construction
        self._lock = threading.Lock()
        # guarded by self._lock
        self._process: subprocess.Popen[bytes] | None = None
        self.stopped = False

    def run(self, directory: Path, *words: str) -> bool:
        """Whether it came to its end. ``words``: another command than that of the crawl. Raises OSError."""
        command = [sys.executable, "-P", "-m", "larm", *(words or ("crawl", "-q")), "--dir", str(directory)]
        with (directory / OUTPUT).open("wb") as output:
            with self._lock:
                if self.stopped:
                    return False
                process = self._process = subprocess.Popen(  # noqa: S603 - our own words
                    command, stdin=subprocess.DEVNULL, stdout=output, stderr=output
                )
            try:
                return process.wait(_LONGEST) == 0
            except subprocess.TimeoutExpired:
                _ended(process)
                return False

    def stop(self) -> None:
        """For good."""
        with self._lock:
            self.stopped = True
            if self._process is not None and self._process.poll() is None:
                self._process.terminate()


def _ended(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


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
