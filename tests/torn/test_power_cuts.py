"""Power cuts: what was not synced is lost or torn, and the same command, given again, comes to the right end.

A few cuts of each kind always, many by ``tox -e crash``; ``LARM_SEED`` chooses others.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import pytest

from larm import cli
from larm.engine.suspects import CRASHED, ENOUGH, Suspects
from larm.graph.reader import open_graph
from larm.index.anchors import ANCHORS, mark_of, opened
from larm.kit.processes.crash_trace import CrashTrace
from larm.kit.processes.flight_recorder import FlightRecorder
from larm.ops.observers import build_crawl
from larm.web.starting import Starting
from tests.store.archive.judges import judge
from tests.stories.crawls import ALL_HOSTS, config_of, run_crawl, stored, watch
from tests.stories.leftovers import leftovers
from tests.stories.processes import Process, crawl_arguments
from tests.support.random_web import RandomWeb, random_web
from tests.torn.bases import SETTINGS
from tests.torn.power_cut import Cut, Recorder, Recording, compiled, contents

SEED = int(os.environ.get("LARM_SEED", "1"))
NAME = "crawl"
"""The crawl's directory, in the folder that is recorded."""


class Crawl:
    """A crawl from nothing: recorded once, cut as often as wanted. The other kinds say what is different."""

    settings: ClassVar[dict[str, object]] = ALL_HOSTS | SETTINGS | {"monitor.log_size": 3_000}  # logs begin anew

    def __init__(self, place: Path, library: Path, web: RandomWeb) -> None:
        self._place = place
        self._library = library
        self._folders = 0
        self.web = web
        add_twins(web)
        self.starts = [*web.start_urls, web.url(web.hosts[0], "/twins")]
        base = self._folder()
        self.prepare(base / NAME)
        self.recording = self._record(base)
        self.complete(base / NAME)
        self.right = self.left(base / NAME)

    def prepare(self, directory: Path) -> None:
        """Make what is there before the command."""

    def command(self, directory: Path, environment: Mapping[str, str]) -> None:
        """Run the command that is cut, in a process of its own."""
        run(environment, *crawl_arguments(directory, self.starts, self.settings))

    def again(self, directory: Path) -> None:
        """Run the same command after the cut; in this process, which is quicker."""
        self.crawl(directory)

    def complete(self, directory: Path) -> None:
        """Run what comes after the command, also where it was not cut."""

    def crawl(self, directory: Path, settings: dict[str, object] | None = None) -> None:
        """Crawl to the end, in this process."""
        watch(self.web)
        ended = run_crawl(directory, self.starts, settings or self.settings)
        if ended.ending.error is not None:
            raise ended.ending.error
        assert ended.reason == "finished"
        assert set(self.web.fetched().values()) <= {1}, "no page is requested twice"

    def left(self, directory: Path) -> dict[str, object]:
        """Return what must be the same whenever the command was cut."""
        found = leftovers(directory)
        twins = [row for row in found.indexed if row[-1] == "alias" or row[2] == "Twin"]  # any of them may lead
        others = [row for row in found.indexed if row not in twins]
        graph = open_graph(directory / "graph")
        assert graph is not None
        assert graph.generation == mark_of(directory / ANCHORS)
        return found._asdict() | {
            "indexed": others,
            "twins": sorted(row[0] for row in twins),
            "leading twins": sum(row[-1] != "alias" for row in twins),
            "texts of links": opened(directory / ANCHORS).searcher().num_docs,
            "set aside": set_aside(directory),
        }

    def check(self, cut: Cut, recording: Recording, folder: Path) -> None:
        """Give the command again in what a cut has left: then all is right."""
        directory = folder / NAME
        try:
            self.again(directory)
            self.complete(directory)
            found = self.left(directory)
            for name, right in self.right.items():
                assert found[name] == right, f"{name}: not as without a cut"
            assert cli.run(["check", "--state", "--dir", str(directory)]) == 0
        except BaseException as error:
            error.add_note(f"{type(self).__name__}, seed {SEED}: {cut}, before {recording.records[cut.at]._replace(data=b'')}")
            raise
        shutil.rmtree(folder)

    def check_cuts(self, count: int) -> None:
        """Cut the command ``count`` times, each time from its beginning."""
        for cut, folder in self._cut(self.recording, self.recording.choose(count, SEED)):
            self.check(cut, self.recording, folder)

    def check_cuts_in_a_row(self, count: int, length: int) -> None:
        """Cut the command, cut the same command after that, and so on."""
        for number in range(count):
            recording = self.recording
            for step in range(length):
                ((cut, folder),) = self._cut(recording, recording.choose(1, SEED * 10_000 + number * 100 + step))
                if step < length - 1:
                    recording = self._record(folder)
            self.check(cut, recording, folder)

    def _cut(self, recording: Recording, cuts: list[Cut]) -> Iterator[tuple[Cut, Path]]:
        for cut, folder in recording.replayed(cuts, self._folder()):
            keep_sealed_times(folder / NAME)
            yield cut, folder

    def _record(self, folder: Path) -> Recording:
        watch(self.web)
        recorder = Recorder(self._library, folder)
        self.command(folder / NAME, recorder.environment)
        recording = recorder.done()
        replayed, there = recording.end(), contents(folder)
        missed = [name for name in replayed.keys() | there.keys() if replayed.get(name) != there.get(name)]
        assert not missed, "changes of these files are not in the journal"
        return recording

    def _folder(self) -> Path:
        self._folders += 1
        made = self._place / str(self._folders)
        made.mkdir()
        return made


class CrawlAfterCrash(Crawl):
    """A crawl goes on; the process before it crashed while it read some pages."""

    def prepare(self, directory: Path) -> None:
        crawl = build_crawl(config_of(self.starts, self.settings), directory)
        watch(self.web).at(len(self.web.expected()) // 2, crawl.stop)
        assert crawl.run().reason == "shutdown"
        (directory / "cachingqueue" / "crash").write_text("Fatal Python error: Segmentation fault")
        recorder = FlightRecorder(directory / "cachingqueue" / "inflight", 4)
        for slot, url in enumerate(sorted(self.web.expected_urls() - stored(directory).keys())[:3]):
            recorder.begin(slot, url)

    def check_cuts(self, count: int) -> None:
        self._check_start()
        super().check_cuts(count)

    def _check_start(self) -> None:
        """Cut the start before any page is read: the crash was noted once or not at all."""
        records = self.recording.records
        begin = next(number for number, each in enumerate(records) if each.kind == "A")
        reads = [number for number, each in enumerate(records) if number > begin and each.inode == records[begin].inode]
        end = min([begin + 20, *(number for number in reads if records[number].kind == "W")])
        for _, folder in self._cut(self.recording, [Cut(at, seed) for at in range(begin, end) for seed in range(2)]):
            queues = folder / NAME / "cachingqueue"
            if blamed(folder / NAME):
                assert not CrashTrace.crashed(queues / "crash"), "the next death would count as a crash, too"
            Suspects(queues, 4).close()
            assert set(blamed(folder / NAME).values()) <= {CRASHED}


class Revisit(Crawl):
    """A finished crawl is given again, and a part of its pages has changed."""

    def prepare(self, directory: Path) -> None:
        self.crawl(directory, Crawl.settings)
        site = self.web.host(self.web.hosts[0])
        site.change("/twin/0", text="words of its own")
        site.remove("/twin/1")
        site.page("/twins", links=["/twin/0", "/twin/1", "/twin/2", "/twin/3", "/new/1", "/new/2"])
        for number in (1, 2):
            site.page(f"/new/{number}", text=f"new page {number}")


class Thinned(Revisit):
    """Old versions of pages are removed, and the crawl is revisited."""

    settings: ClassVar[dict[str, object]] = Crawl.settings | {"storage.log.keep.versions": 1}

    def prepare(self, directory: Path) -> None:
        super().prepare(directory)
        self.crawl(directory, Crawl.settings)
        assert max(stored(directory).values()) == 2


class Archived(Crawl):
    """A crawl that writes WARC files."""

    settings: ClassVar[dict[str, object]] = Crawl.settings | {
        "storage.chain": ["log", "warc", "index", "graph"],
        "storage.warc.size": "20kB",
    }

    def left(self, directory: Path) -> dict[str, object]:
        assert not list((directory / "warc").glob("*.open"))
        records = [each for file in sorted((directory / "warc").glob("*.warc.gz")) for each in judge(file)]
        pages = Counter(
            (each.url, each.status) for each in records if each.kind == "response" and not each.url.endswith("/robots.txt")
        )
        return super().left(directory) | {"records": pages}


class Reindexed(Crawl):
    """The index of a finished crawl is made again, and the crawl is revisited."""

    def prepare(self, directory: Path) -> None:
        self.crawl(directory)

    def command(self, directory: Path, environment: Mapping[str, str]) -> None:
        run(environment, *self.arguments(directory))

    def again(self, directory: Path) -> None:
        assert cli.run(self.arguments(directory)) == 0

    def complete(self, directory: Path) -> None:
        self.crawl(directory)

    def arguments(self, directory: Path) -> list[str]:
        return ["reindex", "--dir", str(directory)]


class Forgotten(Reindexed):
    """Pages are taken out, and the crawl is revisited."""

    def arguments(self, directory: Path) -> list[str]:
        return ["forget", "--yes", "--dir", str(directory), "h01.localhost", "*/twin/1"]


class Served(Crawl):
    """A crawl that ``larm serve`` starts."""

    environment: ClassVar[dict[str, str]] = {
        f"LARM_{key.upper().replace('.', '_')}": str(value) for key, value in SETTINGS.items() if key.count(".") == 1
    } | {"LARM_FETCH_IP": "'4'"}

    def command(self, directory: Path, environment: Mapping[str, str]) -> None:
        fields = {"start": " ".join(self.starts), "restrict_to": ALL_HOSTS["crawl.restrict_to"], "delay": "0"}
        code = (
            "import sys; from pathlib import Path; from larm.web.starting import Starting;"
            f"started = Starting(Path({str(directory.parent)!r})); started.new({NAME!r}, {fields!r});"
            "sys.exit(started._children[0].wait())"
        )
        run({**environment, **self.environment}, before=code)

    def again(self, directory: Path) -> None:
        watch(self.web)
        if not (directory / "config.yaml").exists():  # it was not said that the crawl has begun
            self.command(directory, {})
            return
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self.environment.items():
                patch.setenv(name, value)
            starting = Starting(directory.parent)
            starting.run(directory)
        (child,) = starting._children
        assert child.wait() == 0, (directory / "crawl.out").read_text()


def run(environment: Mapping[str, str], *arguments: str, before: str = "") -> None:
    with Process(*arguments, environment=environment, before=before) as process:
        said = process.end()
    assert said.status == 0, said.err


def add_twins(web: RandomWeb) -> None:
    """Add pages with the same text."""
    site = web.host(web.hosts[0])
    paths = [f"/twin/{number}" for number in range(4)]
    site.page("/twins", links=paths)
    for path in paths:
        site.page(path, "Twin", "all of these pages have the same words")


def set_aside(directory: Path) -> list[str]:
    """Return pages that are not read any more, as they are blamed for the end of earlier processes."""
    return [url for url, points in blamed(directory).items() if points >= ENOUGH]


def blamed(directory: Path) -> dict[str, int]:
    """Return the points of each page in ``suspects.json``."""
    path = directory / "cachingqueue" / "suspects.json"
    return {url: each["points"] for url, each in json.loads(path.read_text()).items()} if path.exists() else {}


def keep_sealed_times(directory: Path) -> None:
    """Give files the time of change that the seal has, where the size is the same: the seal must not rely on their data."""
    try:
        _, noted = json.loads((directory / "cachingqueue" / "sealed.json").read_bytes())
    except (OSError, ValueError):
        return
    for name, (size, time, _) in noted.items():
        path = directory / name
        if path.exists() and path.stat().st_size == size:
            os.utime(path, ns=(time, time))


QUICK = [CrawlAfterCrash, Revisit, Archived, Reindexed, Forgotten, Served]
KINDS = [Crawl, Thinned, *QUICK]


@contextmanager
def recorded(kind: type[Crawl], place: Path, library: Path, pages: int) -> Iterator[Crawl]:
    with random_web(4, hosts=4, pages=pages, delay=0.001) as web:
        yield kind(place, library, web)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("library"))


@pytest.mark.parametrize("kind", QUICK)
def test_command_after_some_power_cuts_ends_right(tmp_path: Path, library: Path, kind: type[Crawl]) -> None:
    with recorded(kind, tmp_path, library, 10) as command:
        command.check_cuts(2)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("kind", KINDS)
def test_command_after_many_power_cuts_ends_right(tmp_path: Path, library: Path, kind: type[Crawl]) -> None:
    with recorded(kind, tmp_path, library, 40) as command:
        command.check_cuts(30)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", [Crawl, CrawlAfterCrash, Revisit])
def test_crawl_after_power_cuts_in_a_row_ends_right(tmp_path: Path, library: Path, kind: type[Crawl]) -> None:
    with recorded(kind, tmp_path, library, 40) as command:
        command.check_cuts_in_a_row(count=4, length=3)
