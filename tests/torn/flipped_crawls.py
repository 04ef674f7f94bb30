"""Three crawls, finished, stopped and killed, of which bytes are flipped: each flip must be found, or change nothing.

`Crawls` makes the directories and knows what the commands say of an undamaged copy, now and after one more run. `flip` damages
a copy, and `examine` returns what is wrong with what larm makes of it.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple, Self

import yaml

from larm.errors import LarmError
from larm.ops.observers import build_crawl
from larm.testing.replies import Reply
from tests.stories.crawls import ALL_HOSTS, asked, config_of, run_crawl, watch
from tests.stories.processes import Process, crawl_arguments
from tests.support.random_web import RandomWeb
from tests.torn.bases import SETTINGS, give_orders
from tests.torn.observations import Observations, differences, larm, observe

KINDS = ("indexed", "archived", "revisited")
STATES = ("finished", "stopped", "killed")
SIZE = 8
"""Bytes that are flipped at a place."""
_OWN = {"indexed": {}, "revisited": {}, "archived": {"storage.chain": ["log", "index", "graph", "warc"]}}
_FOR_PEOPLE = re.compile(r"^logs/(?!store\.log|links\.log|pagefile_).*|^config\.yaml$|^lock$|\.lock$|-shm$")
"""Files whose bytes larm does not trust: the user's own, locks, and logs that only people read."""
_WORDS = (
    "anchor",
    "birch",
    "copper",
    "dune",
    "ember",
    "quarry",
    "raven",
    "stone",
    "river",
    "amber",
    "tower",
    "ridge",
    "oyster",
)
_ADDRESS = re.compile(r"https?://[^\s'\"<>,;]+")


class Place(NamedTuple):
    """Where bytes of a file are flipped."""

    file: str
    offset: int
    flip: bytes


class Crawls:
    """The directories, the webs they are of, and what is right. A context manager."""

    def __init__(self, folder: Path, seed: int, *, hosts: int = 4, pages: int = 40, ports: tuple[int, int] = (0, 0)) -> None:
        self._folder = folder
        self._copies = 0
        self._webs = [RandomWeb(seed, hosts, pages, port=port) for port in ports]
        self._stack = ExitStack()
        self._made: set[str] = set()
        self._right: dict[tuple[str, bool], tuple[Observations, dict[str, int]]] = {}
        self._urls: dict[RandomWeb, list[str]] = {}

    def __enter__(self) -> Self:
        for web in self._webs:
            self._stack.enter_context(web)
            self._urls[web] = publish(web)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def directory(self, name: str) -> Path:
        """``name``: a kind and a state. Made at the first call."""
        if name not in self._made:
            self._made.add(name)
            self._make(name)
        return self._folder / name

    def web(self, name: str) -> RandomWeb:
        """The one that this directory is of."""
        return self._webs[name.startswith("revisited")]

    def copy(self, name: str) -> Path:
        """With hard links and times."""
        self._copies += 1
        copy = self._folder / f"copy-{self._copies}"
        subprocess.run(["cp", "-a", self.directory(name), copy], check=True)
        return copy

    def files(self, name: str) -> dict[str, int]:
        """Sizes of the files whose bytes larm trusts."""
        there = self.directory(name)
        sizes = {path.relative_to(there).as_posix(): path.stat().st_size for path in there.rglob("*") if path.is_file()}
        return {file: size for file, size in sorted(sizes.items()) if size and not _FOR_PEOPLE.search(file)}

    def places(self, name: str, count: int, seed: object) -> Iterator[Place]:
        """As many places, in turn in each kind of file, in bytes that are not all zero."""
        choose = random.Random(f"{seed} {name}")
        kinds: dict[str, list[str]] = {}
        for file in self.files(name):
            kinds.setdefault(kind_of(file), []).append(file)
        order = sorted(kinds)
        choose.shuffle(order)
        for number in range(count):
            yield self.place(name, choose.choice(kinds[order[number % len(order)]]), choose)

    def place(self, name: str, file: str, choose: random.Random) -> Place:
        """One in this file."""
        data = (self.directory(name) / file).read_bytes()
        for _ in range(20):
            offset = choose.randrange(max(1, len(data) - SIZE + 1))
            if any(data[offset : offset + SIZE]):
                break
        return Place(file, offset, bytes(choose.randrange(1, 256) for _ in data[offset : offset + SIZE]))

    def observe(self, name: str, directory: Path) -> Observations:
        """Ask everything of a copy of this directory."""
        web = self.web(name)
        return observe(directory, self._urls[web], questions(web))

    def run(self, name: str, directory: Path) -> tuple[str, dict[str, int]]:
        """The same crawl command once more. Return how it ended, and the number of requests of each page."""
        web = self.web(name)
        watch(web)
        try:
            reason = run_crawl(directory, starts(web), self._settings(name)).reason
        except LarmError as error:
            reason = f"refused: {error}"
        return reason, dict(asked(web))

    def right(self, name: str, *, after: bool) -> tuple[Observations, dict[str, int]]:
        """What is right of an undamaged copy, now or after one more run; and the requests of this run."""
        if (name, after) not in self._right:
            copy = self.copy(name)
            requests: dict[str, int] = {}
            if after:
                reason, requests = self.run(name, copy)
                assert reason == "finished"
            self._right[name, after] = self.observe(name, copy), requests
            shutil.rmtree(copy)
        return self._right[name, after]

    def _settings(self, name: str) -> dict[str, object]:
        return ALL_HOSTS | SETTINGS | _OWN[name.partition("-")[0]]

    def _make(self, name: str) -> None:
        kind, _, state = name.partition("-")
        web, there = self.web(name), self._folder / name
        there.mkdir()
        settings = self._settings(name)
        nested: dict[str, dict[str, object]] = {}
        for key, value in (settings | {"agent.contact": "mailto:tests@example.org"}).items():
            *path, last = key.split(".")
            level = nested
            for part in path:
                level = level.setdefault(part, {})  # type: ignore[assignment]
            level[last] = value  # type: ignore[assignment]
        (there / "config.yaml").write_text(yaml.safe_dump(nested))
        if kind == "revisited":
            first = self._folder / "first"
            if not first.exists():
                run_crawl(first, starts(web), settings)
                change(web)
            shutil.copytree(first, there, dirs_exist_ok=True)
        log, middle = watch(web), len(self._urls[web]) * 6 // 10
        if state == "killed":
            with Process(*crawl_arguments(there, starts(web), settings)) as process:
                log.at(middle, lambda: process.stop(signal.SIGKILL))
                assert process.end().status == -signal.SIGKILL
            return
        crawl = build_crawl(config_of(starts(web), settings), there)
        if state == "stopped":
            log.at(middle, lambda: (give_orders(crawl), crawl.stop()))
        assert crawl.run().reason == ("shutdown" if state == "stopped" else "finished")


def kind_of(file: str) -> str:
    """The file without numbers and the names of segments."""
    return re.sub(r"[0-9a-f]{32}|\d+(-[0-9a-f]{8})?", "*", file)


def starts(web: RandomWeb) -> list[str]:
    """The random pages, and those beside them."""
    return [*web.start_urls, web.url(web.hosts[0], "/beside")]


def publish(web: RandomWeb) -> list[str]:
    """Add a page of each sort that larm handles in its own way; return the addresses of everything that is there."""
    here, there = web.host(web.hosts[0]), web.host(web.hosts[1])
    words, others = (" ".join(random.Random(seed).choices(_WORDS, k=400)) for seed in (5, 6))
    here.page(
        "/kept/no-copy", "No copy", "A lighthouse of which no copy is kept.", head='<meta name="robots" content="noarchive">'
    )
    here.page("/hidden", "Hidden", "A lighthouse that is not indexed.", head='<meta name="robots" content="noindex">')
    here.page("/same/1", "Lighthouse", words, [web.url(web.hosts[1], "/same/2")])  # the second comes after the first
    there.page("/same/2", "Lighthouse", words)
    here.page("/alike/1", "Harbour", f"{others} lighthouse", [web.url(web.hosts[1], "/alike/2")])
    there.page("/alike/2", "Harbour", f"{others} lightship")
    here.add("/notes.txt", Reply(200, {"Content-Type": "text/plain"}, b"A lighthouse in a plain text.\n"))
    here.add("/picture.png", Reply(200, {"Content-Type": "image/png"}, bytes(range(256)) * 8))
    here.add("/data.json", Reply(200, {"Content-Type": "application/json"}, b'{"lighthouse": 1}'))
    here.redirect("/old", "/older")
    here.redirect("/older", "/same/1", 302)
    there.status("/shut", 403)
    here.status("/lost", 404)
    links = ["/kept/no-copy", "/hidden", "/same/1", "/alike/1", "/notes.txt", "/picture.png", "/data.json", "/old", "/lost"]
    links += [web.url(web.hosts[1], "/shut"), "http://elsewhere.example/"]
    here.page("/beside", "Beside", "Pages of each sort.", [*links, "/#nowhere"])
    links += [web.url(web.hosts[1], path) for path in ("/same/2", "/alike/2")]
    return sorted(web.expected_urls()) + [
        web.url(web.hosts[0], link) if link.startswith("/") else link for link in ["/beside", *links]
    ]


def change(web: RandomWeb) -> None:
    """Between two crawls: texts change, a page goes, one comes, one answers in another way."""
    here = web.host(web.hosts[0])
    here.change("/same/1", text="It was a lighthouse, and has a text of its own now.")
    here.status("/notes.txt", 410)
    here.page("/new", "New", "A lighthouse that was built meanwhile.")
    here.change(
        "/beside", text="Pages of each sort, and a new one.", links=["/same/1", "/alike/1", "/notes.txt", "/old", "/new"]
    )


def questions(web: RandomWeb) -> list[list[str]]:
    """Fifteen searches: words, phrases, patterns, operators, facets."""
    first = web.url(web.hosts[0])
    return [
        ["lighthouse"],
        ["stone"],
        ["amber OR pine"],
        ['"stone river"'],
        ["har*"],
        ["copper -quarry"],
        [f"site:{web.hosts[1]}"],
        [f"site:{web.hosts[0]}/same"],
        ["intitle:harbour"],
        ["inurl:page"],
        ["filetype:txt"],
        [f"link:{first}"],
        [f"info:{first}"],
        ["--facets", "ember"],
        ["--alike", "lighthouse"],
    ]


def flip(directory: Path, place: Place) -> None:
    """Flip the bytes, as a disk does: the file looks as before."""
    path = directory / place.file
    times = path.stat()
    with path.open("r+b") as file:
        file.seek(place.offset)
        data = file.read(len(place.flip))
        file.seek(place.offset)
        file.write(bytes(one ^ other for one, other in zip(data, place.flip, strict=True)))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def content(directory: Path) -> dict[str, str]:
    """A digest of each file but the lock."""
    files = [path for path in directory.rglob("*") if path.is_file() and path.name != "lock"]
    return {path.relative_to(directory).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def examine(crawls: Crawls, name: str, copy: Path, *damaged: str) -> list[str]:
    """Check, repair and crawl this copy of a directory, in which these files are damaged. Return what is wrong."""
    checked = larm("check", "--state", "--dir", copy)
    if checked.status == 0:
        return [f"not found, but {line}" for line in _harmless(crawls, name, copy)]
    if checked.status != 3:
        return [f"check --state: status {checked.status}: {checked.text}"]
    silent = [file for file in damaged if Path(file).name not in checked.text and not file.endswith("-wal")]
    wrong = [f"check --state: does not name {file}: {checked.text}" for file in silent]
    return wrong + _repaired(crawls, name, copy)


def _harmless(crawls: Crawls, name: str, copy: Path) -> list[str]:
    wrong = differences(crawls.observe(name, copy), crawls.right(name, after=False)[0])
    return wrong + _after_run(crawls, name, copy, set())


def _repaired(crawls: Crawls, name: str, copy: Path) -> list[str]:
    before = len(crawls.web(name).requests)
    repaired = larm("repair", "--dir", copy)
    wrong = [] if repaired.status == 0 else [f"repair: status {repaired.status}: {repaired.text}"]
    wrong += _clean(copy)
    once = content(copy)
    again = larm("repair", "--dir", copy)
    wrong += [] if again.status == 0 else [f"repair, again: status {again.status}: {again.text}"]
    wrong += [f"repair, again: it changed {file}" for file, _ in once.items() ^ content(copy).items()]
    wrong += ["repair: it made requests"] if len(crawls.web(name).requests) > before else []
    log = copy / "logs" / "repair.log"
    named = repaired.text + (log.read_text(errors="replace") if log.exists() else "")
    pages = set(_ADDRESS.findall(named))
    pages |= {f"/{pair}/" for pair in ("same", "alike") for page in pages if f"/{pair}/" in page}  # the other one may lead then
    hosts = {"host state ", "its health ", "robots.txt ", "waiting "} if "records of" in repaired.text else set()
    said = repaired.text
    # counters and requests for robots.txt go on where an older checkpoint has them
    counters = {"stats: ", "warc/revisit"} if "of checkpoint" in said or "of generation" in said else set()
    # links of a version that a revisit has replaced are in links.log alone
    replaced = (
        {"why http://elsewhere.example/: linked from "} if name.startswith("revisited") and "links.log" in said else set()
    )
    runs = 2 if "revisits the others" in said else 1
    return wrong + _after_run(crawls, name, copy, pages | hosts | counters | replaced, runs)


def _clean(copy: Path) -> list[str]:
    checked = larm("check", "--state", "--dir", copy)
    return [] if checked.status == 0 else [f"after repair: check --state: status {checked.status}: {checked.err}"]


def _after_run(crawls: Crawls, name: str, copy: Path, named: set[str], runs: int = 1) -> list[str]:
    """After one more run everything is as without damage, but for what was said of the pages that repair has named.

    ``runs``: 2 where repair says that the next run fetches lost pages, and the one after that revisits the others.
    """
    right, right_requests = crawls.right(name, after=True)
    for _ in range(runs):
        reason, requests = crawls.run(name, copy)
    wrong = [] if reason == "finished" else [f"the next run: {reason}"]
    found = crawls.observe(name, copy)
    twice = [line for line, count in found["export jsonl"].items() if count > 1]
    wrong += [f"the next run: twice in export: {line}" for line in twice]
    # this run fetches the named pages, and is no revisit; in one, the archive has nothing for the 304 of /no-copy to refer to
    other = ("stats: ", "DIR: ", "last fetch ", "warc/revisit", "/kept/no-copy 304 ") if named else ()
    wrong += [f"the next run: {line}" for line in differences(found, right, but=[*other, *sorted(named)])]
    if not named:
        wrong += [f"the next run: requests: {key} {count}" for key, count in requests.items() ^ right_requests.items()]
    return wrong
