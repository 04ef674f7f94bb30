"""Starting: a crawl as a child process that outlives this one; in a directory that is served, or in a new one below the root.

Whatever is asked for is checked first as ``larm check`` does. On threads, one start at a time; the form and the buttons
that ask for it are answered on the event loop.
"""

import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

import yaml
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from larm.building.own_parts import import_beside
from larm.building.wiring import check
from larm.config import CONFIG_FILE, load
from larm.crawldir.control_socket import socket_of
from larm.errors import LarmError, Mistakes, StorageError, UsageError
from larm.kit.disk.atomic import write_atomically
from larm.kit.disk.disk_failure import disk_failure, disk_failures
from larm.kit.disk.files import is_there
from larm.web.page import crawl_named, form_of, message, page

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_OUTPUT = "crawl.out"
"""In the directory: what the child says. It is our file, not the crawl's."""
_PATIENCE = 0.1
_LOOKS = 100
FIELDS: Mapping[str, str] = {
    "start": "crawl.start",
    "restrict_to": "crawl.restrict_to",
    "max_pages": "crawl.max_pages",
    "max_depth": "crawl.max_depth",
    "max_time": "crawl.max_time",
    "delay": "frontier.delay",
    "contact": "agent.contact",
}
"""Of the form, and the settings that they are."""


class Starting:
    """One for a server."""

    def __init__(self, root: Path | None, *, stop: bool = False) -> None:
        """``stop``: the crawls that were started here stop when the server ends."""
        # constant after construction
        self._root = root
        self._stop = stop
        self._lock = threading.Lock()
        # guarded by self._lock
        self._children: list[subprocess.Popen[bytes]] = []

    def new(self, name: str, fields: Mapping[str, str]) -> Path:
        """A new directory with a configuration of the form's fields, and its crawl. Raises UsageError, StorageError."""
        if self._root is None:
            raise UsageError("a new crawl needs a place: larm serve --root FOLDER")
        if not _NAME.fullmatch(name):
            raise UsageError("a name has letters, digits, '.', '_' and '-', at most 64, and begins with a letter or digit")
        directory, mistakes = self._root / name, Mistakes()
        settings = _settings(fields, mistakes)
        with mistakes.noted():
            config = load(None, (), settings, also=lambda config: check(config, directory, tried=True))
            check(config, directory, tried=True)
        mistakes.refuse()
        try:
            directory.mkdir()
        except FileExistsError as error:
            begun = f".{CONFIG_FILE}."  # a power cut may leave no more of a start that was not confirmed
            if not directory.is_dir() or any(not each.name.startswith(begun) for each in directory.iterdir()):
                raise UsageError(f"{name}: there is such a directory already; choose another name") from error
        except OSError as error:
            raise disk_failure(directory, error) from error
        try:
            write_atomically(directory / CONFIG_FILE, yaml.safe_dump(_tree(settings), allow_unicode=True).encode())
        except StorageError:
            shutil.rmtree(directory, ignore_errors=True)  # or the name would be taken
            raise
        self.run(directory)
        return directory

    def run(self, directory: Path) -> None:
        """The crawl of a directory that has one, or a configuration. Returns when it can be asked, or has ended well.

        Raises UsageError with what it said, StorageError.
        """
        config = directory / CONFIG_FILE
        settings = load(config if is_there(config) else None)
        import_beside(settings, directory)
        check(settings, directory)
        command = [sys.executable, "-P", "-m", "larm", "crawl", "-q", "--dir", str(directory)]
        with self._lock:
            self._children = [child for child in self._children if child.poll() is None]  # or they would be zombies
            with disk_failures(directory / _OUTPUT), (directory / _OUTPUT).open("ab") as output:
                begin = output.tell()
                child = subprocess.Popen(  # noqa: S603 - our own words
                    command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
                )
            self._children.append(child)
        _await_start(child, directory, begin)

    def close(self) -> None:
        """At the end of the server: crawls that run go on, or are told to stop; nobody waits for that."""
        with self._lock:
            self._children = [child for child in self._children if child.poll() is None]
            for child in self._children if self._stop else ():
                child.terminate()


def _await_start(child: subprocess.Popen[bytes], directory: Path, begin: int) -> None:
    for _ in range(_LOOKS):
        try:
            status = child.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            if socket_of(directory) is not None:
                return
            continue
        if status:
            said = (directory / _OUTPUT).read_bytes()[begin:].decode("utf-8", "replace").strip().splitlines()
            raise UsageError(said[-1].removeprefix("larm: ") if said else f"the crawl ended at once, with status {status}")
        return


def _settings(fields: Mapping[str, str], mistakes: Mistakes) -> dict[str, object]:
    """Return dotted keys and values; empty fields are left to their defaults."""
    found: dict[str, object] = {}
    for name, key in FIELDS.items():
        text = fields.get(name, "").strip()
        if name == "start":
            if not text:
                mistakes.lines.append("a crawl needs an address to start from")
            elif all(url.lower().startswith(("http://", "https://")) for url in text.split()):
                found[key] = text.split()
            else:
                mistakes.lines.append("a start address begins with http:// or https://")
        elif text and name in {"max_pages", "max_depth"}:
            if text.isascii() and text.isdecimal() and len(text) < 16:
                found[key] = int(text)
            else:
                mistakes.lines.append(f"{name}: expected a number")
        elif text:
            found[key] = text
    return found


def _tree(settings: Mapping[str, object]) -> dict[str, dict[str, object]]:
    tree: dict[str, dict[str, object]] = {}
    for key, value in settings.items():
        section, _, name = key.partition(".")
        tree.setdefault(section, {})[name] = value
    return tree


async def form(request: Request) -> Response:
    """An empty one."""
    if request.app.state.directories.root is None:
        return message(request, 404, "No place for a new crawl", "larm serve --root FOLDER gives it one.")
    return page(request, "start.html", fields=dict.fromkeys([*FIELDS, "name"], ""), wrong="")


async def start(request: Request) -> Response:
    """It is sent: a crawl begins, or the form comes back with a sentence."""
    given = await form_of(request)
    fields = {name: given.get(name, "") for name in [*FIELDS, "name"]}
    name = fields["name"].strip()
    try:
        path = await request.app.state.desk.look(request.app.state.starting.new, name, fields)
    except LarmError as error:
        return page(request, "start.html", 400, fields=fields, wrong=str(error))
    return _to(request, next(each.name for each in request.app.state.directories.all() if each.path == path.absolute()))


async def go_on(request: Request) -> Response:
    """The crawl of a directory that is served, as it is configured there."""
    served = crawl_named(request)
    try:
        await request.app.state.desk.look(request.app.state.starting.run, served.path)
    except LarmError as error:
        return message(request, 409, "It does not start", str(error))
    return _to(request, served.name)


def _to(request: Request, name: str) -> Response:
    return RedirectResponse(f"/crawls/{name}?done={request.app.state.notices.put(['The crawl has begun.'])}", 303)
