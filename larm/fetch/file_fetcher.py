"""FileFetcher: the `Fetcher` of the seams for file: URLs (LARM-111). What the disk says becomes what a server would answer.

With the `Router`, one `Fetcher` for files and the web, which hands each lease to the fetcher for its scheme. Made by the wiring
where a start URL is a file, one for each fetcher thread, driven by that thread alone.
"""

import errno
import os
from collections.abc import Callable
from email.utils import formatdate

from larm.config import FetchSettings
from larm.fetch.classify import one_line
from larm.fetch.disk import LinkMet, NotPlain, Opened, has_any, names_in, open_below, read_bytes
from larm.fetch.file_types import FOLDER, type_of
from larm.fetch.large import is_document_type
from larm.fetch.local_fetcher import LocalFetcher
from larm.model.file_rules import FileRules, Root
from larm.model.file_url import FILES, file_path, file_url
from larm.model.lease import Lease
from larm.model.message import Known
from larm.model.outcome import Failed, FailReason, Fetched, Moved, NotModified, Outcome, Refused, Timing
from larm.seams import Clock, Fetcher


class Router:
    """Implements `larm.seams.Fetcher`. Only the web's fetcher ever waits, so it is the one that is woken."""

    def __init__(self, web: Fetcher, files: Fetcher) -> None:
        # constant after construction
        self._web = web
        self._files = files

    def start(self, lease: Lease) -> None:
        """See `larm.seams.Fetcher`."""
        (self._files if lease.message.url.host == FILES else self._web).start(lease)

    def wait(self, seconds: float) -> list[tuple[Lease, Outcome]]:
        """See `larm.seams.Fetcher`."""
        if not self._files.in_flight:
            return self._web.wait(seconds)
        ended = self._files.wait(0.0)
        return ended + self._web.wait(0.0) if self._web.in_flight else ended

    def wake(self) -> None:
        """See `larm.seams.Fetcher`. Any thread."""
        self._web.wake()

    @property
    def in_flight(self) -> int:
        """See `larm.seams.Fetcher`."""
        return self._web.in_flight + self._files.in_flight

    @property
    def aside(self) -> int:
        """See `larm.seams.Fetcher`."""
        return self._web.aside

    def abandon(self) -> list[Lease]:
        """See `larm.seams.Fetcher`."""
        return self._files.abandon() + self._web.abandon()

    def close(self) -> None:
        """See `larm.seams.Fetcher`."""
        self._files.close()
        self._web.close()


_SETTLED = 2.0  # seconds: a file that was changed less long ago may change again without its times telling
_MISSING = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)


class FileFetcher(LocalFetcher):
    """Implements `larm.seams.Fetcher`."""

    def __init__(self, settings: FetchSettings, rules: FileRules, clock: Clock) -> None:
        super().__init__()
        # constant after construction
        self._size = int(settings.page_size)
        self._document_size = max(self._size, int(settings.document_size))
        self._rules = rules
        self._clock = clock

    def answer(self, lease: Lease) -> Outcome:
        """See `LocalFetcher`."""
        began = self._clock.monotonic()

        def timing(received: int = 0) -> Timing:
            return Timing(self._clock.monotonic() - began, received)

        path = file_path(lease.message.url.access)
        root, refusal = self._rules.root_of(path), self._rules.refusal(path)
        if root is None or refusal is not None:
            return Failed(FailReason.PRIVATE, refusal or "", timing())
        below = root.below(path)
        try:
            if below is not None:
                with open_below(root.place or root.path, below) as opened:
                    if opened.folder or path.endswith(os.sep):
                        return self._folder(root, path, opened, timing)
                    return self._file(path, opened, lease.message.known, timing)
        except LinkMet:
            pass
        except NotPlain as error:
            return Failed(FailReason.FILE, str(error), timing())
        except OSError as error:
            return _failed(error, timing())
        return self._elsewhere(root, path, timing)

    def _file(self, path: str, opened: Opened, known: Known | None, timing: Callable[..., Timing]) -> Outcome:
        status = opened.status
        headers = {"last-modified": formatdate(status.st_mtime, usegmt=True)}
        changed = max(status.st_mtime, status.st_ctime)
        if self._clock.wall() - changed > _SETTLED:
            headers["etag"] = f'"{status.st_mtime_ns:x}-{status.st_ctime_ns:x}-{status.st_size:x}"'
            if known is not None and known.etag == headers["etag"]:
                return NotModified(headers, timing())
        body = read_bytes(opened.descriptor, self._size + 1)
        if said := type_of(os.path.basename(path), body):
            headers["content-type"] = said
        size = self._size
        if len(body) > size and is_document_type(said or "", body):
            size = self._document_size
            body += read_bytes(opened.descriptor, size + 1 - len(body))
        return Fetched(200, headers, body[:size], timing(len(body)), len(body) > size)

    def _folder(self, root: Root, path: str, opened: Opened, timing: Callable[..., Timing]) -> Outcome:
        if not opened.folder:
            return Refused(404, {}, timing())
        if not path.endswith(os.sep):
            return Moved(302, file_url(path + os.sep), timing())
        if not root.listed:
            return Failed(FailReason.PRIVATE, "no start folder: only files that a page names are read here", timing())
        below, rules = root.below(path) or "", self._rules
        inner = f"{below}{os.sep}" if below else ""
        alone = not rules.may_be_listed(below) and has_any(opened.descriptor, rules.index_pages)

        def wanted(name: str, folder: bool) -> bool:
            if alone and not folder and name not in rules.index_pages:
                return False
            return rules.unwanted(inner + name, folder=folder) is None

        here = file_url(path).removeprefix("file://")
        names, complete = names_in(opened.descriptor, wanted, self._size // len(here))
        body = "".join([f"{here}{file_url(name).removeprefix('file://')}\n" for name in names]).encode("ascii")
        if len(body) > self._size:
            body, complete = body[: body.rfind(b"\n", 0, self._size) + 1], False
        return Fetched(200, {"content-type": FOLDER}, body, timing(len(body)), not complete)

    def _elsewhere(self, root: Root, path: str, timing: Callable[..., Timing]) -> Outcome:
        """A symbolic link is another name of what has an address already, as a redirect is; so a loop of them ends, too."""
        try:
            real = os.path.realpath(root.on_disk(path), strict=True)
            folder = os.path.isdir(real)
        except OSError as error:
            return _failed(error, timing())
        real = os.path.join(real, "") if folder else real
        called = self._rules.called(real)
        refusal = "not in a start folder" if called is None else self._rules.refusal(called)
        if called is None or refusal is not None:
            return Failed(FailReason.PRIVATE, one_line(f"a symbolic link to {real}: {refusal}"), timing())
        if called == path:
            return Failed(FailReason.FILE, "it changed while it was looked at", timing())
        return Moved(302, file_url(called), timing())


def _failed(error: OSError, timing: Timing) -> Outcome:
    if error.errno in _MISSING:
        return Refused(404, {}, timing)
    return Failed(FailReason.FILE, one_line(error.strerror or str(error)), timing)
