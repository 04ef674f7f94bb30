"""Story 9: a directory and its crawl, and the exit statuses of all that can be wrong."""

from __future__ import annotations

import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from larm import cli
from larm.cli.running import with_fewer_requests
from larm.config import Config, FetchSettings
from larm.errors import UsageError
from larm.ops.observers import build_crawl
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import SILENCE, asked, check_stored, config_of, once, run_crawl, watch
from tests.stories.processes import Process, Said, crawl_arguments, larm_says

TEXT = "Lorem ipsum dolor sit amet. " * 1000
PATHS = [f"/{number}" for number in range(40)]
KEYS = ["a.localhost/", *(f"a.localhost{path}" for path in PATHS)]


@pytest.fixture
def start(web: SyntheticWeb) -> str:
    return fill(web)


def fill(web: SyntheticWeb) -> str:
    """41 pages, 1 MB in all."""
    site = web.host("a.localhost")
    site.page("/", links=PATHS)
    for path in PATHS:
        site.page(path, text=f"{path} {TEXT}")
    return web.url("a.localhost")


# -- in use


def test_one_crawl_at_a_time(tmp_path: Path, web: SyntheticWeb) -> None:
    """The second one is told who has the directory, and touches nothing."""
    web.host("a.localhost").add("/", SILENCE)
    arguments = crawl_arguments(tmp_path, [web.url("a.localhost")])
    begun = threading.Event()
    watch(web).when(lambda request: request.path == "/", begun.set)
    with Process(*arguments) as first:
        assert begun.wait(30)
        for option in ("-q", "--fresh"):
            said = larm_says(*arguments, option)
            assert said.status == 2
            assert said.last == f"larm: {tmp_path} is in use by process {first.number}; end it, or use another directory"
        with pytest.raises(UsageError, match="is in use by process"):
            build_crawl(config_of(web.url("a.localhost")), tmp_path)
        assert larm_says("stats", "--dir", str(tmp_path)).status in {0, 2}, "one that only reads may look"
        first.signal(signal.SIGTERM)
        assert first.end().status == 130
    web.host("a.localhost").page("/")
    assert larm_says(*arguments).status == 0
    check_stored(tmp_path, web, pages=["a.localhost/"])


# -- not to be written to


@pytest.mark.parametrize(("place", "status"), [("file", 2), ("file/below", 3), ("/proc/none", 3), ("/dev/null/x", 3)])
def test_a_directory_that_can_not_be(tmp_path: Path, start: str, place: str, status: int) -> None:
    (tmp_path / "file").write_text("not a directory")
    said = larm_says(*crawl_arguments(tmp_path / place, [start]))
    assert said.status == status
    assert len(said.err.splitlines()) == 1
    assert str(tmp_path / place) in said.err


@pytest.mark.parametrize(
    "name", ["cachingqueue", "logs", "index", "logs/store.log", "logs/pagefile_1.pfl.zst", "cachingqueue/cache.db"]
)
def test_something_else_in_the_way(tmp_path: Path, web: SyntheticWeb, start: str, name: str) -> None:
    """A file where a directory should be, or the other way round: one line that names it, exit status 3."""
    way = tmp_path / name
    way.parent.mkdir(exist_ok=True)
    way.mkdir() if way.suffix else way.write_text("mine")
    said = larm_says(*crawl_arguments(tmp_path, [start]), "-q")
    assert said.status == 3
    assert len(said.err.splitlines()) == 1
    assert str(tmp_path / name.partition("/")[0]) in said.err
    way.rmdir() if way.suffix else way.unlink()
    assert run_crawl(tmp_path, start).reason == "finished"
    check_stored(tmp_path, web)


@pytest.mark.parametrize("size", [20_000, 180_000, 400_000, 1_000_000])
def test_no_file_may_grow(tmp_path: Path, web: SyntheticWeb, start: str, size: int) -> None:
    """A limit for all files, for a full disk: exit status 3 and one clear line. With room the same command does the rest."""
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))"
    settings = {"monitor.tick": "20ms", "frontier.per_host": 4, "storage.log.compress": False}
    arguments = crawl_arguments(tmp_path, [start], settings)
    said = larm_says(*arguments, "-q", before=limit)
    check_one_line(said, tmp_path, "the disk is full; make room and run the same command again" if size > 200_000 else "disk")
    assert larm_says(*arguments, "-q").status == 0
    check_stored(tmp_path, web, pages=KEYS)


@pytest.mark.parametrize("kilobytes", [100, 250, 400, 800])
def test_a_full_disk(tmp_path: Path, web: SyntheticWeb, start: str, kilobytes: int) -> None:
    """A small disk of its own, which needs a root who may mount one; made larger, the same command does the rest."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "larm-test", str(disk)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no disk could be mounted")
    try:
        settings = {"monitor.tick": "20ms", "frontier.per_host": 4, "limits.disk": 0, "storage.log.compress": False}
        arguments = crawl_arguments(disk, [start], settings)
        said = larm_says(*arguments, "-q")
        check_one_line(said, disk, "the disk is full; make room and run the same command again")
        subprocess.run(["mount", "-o", "remount,size=50m", str(disk)], check=True)
        assert larm_says(*arguments, "-q").status == 0
        check_stored(disk, web, pages=KEYS)
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def check_one_line(said: Said, directory: Path, words: str) -> None:
    """Exit status 3, and one line with the place and what to do."""
    assert said.status == 3, said.err
    assert len(said.err.splitlines()) == 1
    assert words in said.err
    assert str(directory) in said.err


# -- over again


def test_fresh_starts_over(tmp_path: Path, web: SyntheticWeb, start: str) -> None:
    """All that larm wrote is written anew; what else lies there is left alone."""
    for name in ("config.yaml", "logs/my.txt", "notes.log"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("# mine\n")
    run_crawl(tmp_path, start)
    web.host("a.localhost").page("/", links=PATHS[:3])
    web.log.clear()
    assert larm_says(*crawl_arguments(tmp_path, [start], None, "--fresh")).status == 0
    assert asked(web) == once("a.localhost/", *(f"a.localhost{path}" for path in PATHS[:3]))
    check_stored(tmp_path, web)
    for name in ("config.yaml", "logs/my.txt", "notes.log"):
        assert (tmp_path / name).read_text() == "# mine\n"


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[bool, Path], SyntheticWeb]]:
    """Puts what a crawl of the 41 pages has left, a whole one or half of one, into another place; its web."""
    settings = {"frontier.delay": "1ms", "monitor.tick": "1ms"}  # several checkpoints
    part, rest = (tmp_path_factory.mktemp("crawled") / name for name in ("part", "rest"))
    with SyntheticWeb() as web:
        start = fill(web)
        # processes of their own: once they have ended, nobody merges parts of the index any more
        assert larm_says(*crawl_arguments(part, [start], {**settings, "crawl.max_pages": 20})).status == 0
        shutil.copytree(part, rest)
        assert larm_says(*crawl_arguments(rest, [start], settings)).status == 0

        def put(whole: bool, place: Path) -> SyntheticWeb:
            shutil.copytree(rest if whole else part, place, dirs_exist_ok=True)
            return web

        yield put


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("name", ["cache.db", "visited.db", "pages.db"])
def test_a_file_of_the_state_was_removed(
    tmp_path: Path, crawled: Callable[[bool, Path], SyntheticWeb], name: str, whole: bool
) -> None:
    """It is named, and nothing of what the crawl has is touched."""
    web = crawled(whole, tmp_path)
    start = web.url("a.localhost")
    places = (path for folder in ("logs", "index") for path in (tmp_path / folder).rglob("*"))
    files = {path: path.read_bytes() for path in places if path.is_file()}
    shutil.copytree(tmp_path / "cachingqueue", tmp_path / "safe")
    for file in (tmp_path / "cachingqueue").glob(f"{name}*"):
        file.unlink()
    said = larm_says(*crawl_arguments(tmp_path, [start]))
    assert said.status == 3
    assert f"{tmp_path}/cachingqueue/{name}: " in said.last
    assert "larm repair" in said.last
    kept = ("store.log", "links.log", ".zst", ".store", ".idx")
    assert all(path.read_bytes() == data for path, data in files.items() if path.name.endswith(kept))
    shutil.rmtree(tmp_path / "cachingqueue")
    shutil.move(tmp_path / "safe", tmp_path / "cachingqueue")
    assert run_crawl(tmp_path, start).reason == "finished"
    check_stored(tmp_path, web, pages=KEYS)


def test_new_start_urls_join_a_crawl(tmp_path: Path, web: SyntheticWeb, start: str) -> None:
    run_crawl(tmp_path, start, {"crawl.max_pages": 10})
    web.host("b.localhost").page("/", links=[start, "/b"])
    web.host("b.localhost").page("/b")
    assert run_crawl(tmp_path, [start, web.url("b.localhost")]).reason == "finished"
    assert web.fetched() == once(*KEYS, "b.localhost/", "b.localhost/b")
    check_stored(tmp_path, web)


# -- exit statuses


def test_no_start_url_could_be_fetched(tmp_path: Path, web: SyntheticWeb) -> None:
    web.host("a.localhost").status("/", 404)
    said = larm_says(*crawl_arguments(tmp_path, [web.url("a.localhost")]))
    assert said.status == 4
    assert said.err.splitlines()[-2:] == [
        f"larm: {web.url('a.localhost')}: 404: no such page",
        "larm: no start URL could be fetched",
    ]
    why = larm_says("why", "--dir", str(tmp_path), web.url("a.localhost"))
    assert why.status == 0
    assert b" ms: 404: " in why.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "no start URL"),
        (["-start", "http://["], "-start http://[: not a URL"),
        (["-start", "ftp://x.example/"], "larm fetches only http and https"),
        (["-start", "@nowhere"], "-start @nowhere: can't read the file of start URLs"),
        (["-start", "http://a.localhost/", "-restrictto", "("], "wrong expression"),
        (["-start", "http://a.localhost/", "-s", "crawl.restrict_to=["], "-s crawl.restrict_to=[: not YAML"),
        (["-start", "http://a.localhost/", "-s", "crawl.restrict_to='['"], "wrong expression"),
        (["-start", "http://a.localhost/", "-s", "fetch.timeuot=3"], "fetch.timeuot: no such key; did you mean fetch.timeout?"),
        (["-start", "http://a.localhost/", "-s", "fetch.threads=0"], "fetch.threads"),
        (["-start", "http://a.localhost/", "-s", "fetch.timeout=soon"], "expected a duration such as 2s"),
        (["-start", "http://a.localhost/", "--config", "absent.yaml"], "absent.yaml"),
        (["-start", "http://a.localhost/", "-hostresolver", "absent"], "absent"),
        (["-start", "http://a.localhost/", "-strat", "x"], "No such option -strat. Did you mean -start?"),
        (["-start", "http://a.localhost/", "--max-pages", "many"], "'many' is not a valid integer"),
        (["-start", "http://a.localhost/", "--max-pages", "0"], "crawl.max_pages"),
        (["-start", "http://a.localhost/", "-q", "-v"], "-q and -v exclude each other"),
    ],
)
def test_usage_and_configuration(tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    """Exit status 2, one line, nothing begun."""
    assert cli.run(["crawl", "--dir", str(tmp_path / "new"), *arguments]) == 2
    out, err = capsys.readouterr()
    assert words in err
    assert (out, len(err.splitlines())) == ("", 1)
    assert not (tmp_path / "new").exists()


def test_a_bad_config_file_names_its_key(tmp_path: Path, start: str) -> None:
    (tmp_path / "config.yaml").write_text("frontier:\n  dealy: 2s\n")
    said = larm_says("crawl", "--dir", str(tmp_path), "-start", start)
    assert (said.status, said.err) == (
        2,
        f"larm: {tmp_path}/config.yaml: frontier.dealy: no such key; did you mean frontier.delay?\n",
    )
    assert [path.name for path in tmp_path.iterdir()] == ["config.yaml"]


def test_a_bad_rule_of_the_host_resolver_names_its_line(tmp_path: Path, start: str) -> None:
    rules = tmp_path / "rules"
    rules.write_text("# fine\nstartsWith(www.)=\nbeginsWith(x)=\n")
    said = larm_says("crawl", "--dir", str(tmp_path / "new"), "-start", start, "-hostresolver", str(rules))
    assert said.status == 2
    assert said.last.startswith(f"larm: {rules}:3: unknown rule 'beginsWith'")


def test_malformed_lines_of_a_start_file_are_skipped(tmp_path: Path, web: SyntheticWeb, start: str) -> None:
    urls = tmp_path / "urls"
    urls.write_text(f"# my sites\n{start}\n\nhttp://[::1\nmailto:me@example.org\n{start}1\n")
    said = larm_says(*crawl_arguments(tmp_path, [f"@{urls}"], {"crawl.max_depth": 0}))
    assert said.status == 0
    assert f"larm: {urls}:4: skipped: not a URL" in said.err
    assert f"larm: {urls}:5: skipped: scheme mailto" in said.err
    assert "2 start URLs accepted, 2 rejected" in said.err
    assert web.fetched() == once("a.localhost/", "a.localhost/1")


def test_too_few_open_files_are_blamed_on_their_limit(tmp_path: Path, start: str) -> None:
    """The limit is raised as far as the system lets us; a note says that it is low, and too low a one that nothing begins."""

    def limit(soft: int, hard: int) -> str:
        return f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))"

    arguments = crawl_arguments(tmp_path / "crawl", [start], {"fetch.transfers": 4})
    said = larm_says(*arguments, before=limit(20, 5_000))
    assert (said.status, "may be open" in said.err) == (0, False), said.err
    many = crawl_arguments(tmp_path / "crawl", [start], {"fetch.transfers": 40})
    said = larm_says(*many, before=limit(20, 200))
    assert "only 200 files and connections may be open, and a crawl may need 380: allow more ('ulimit -n')" in said.err
    assert "so this run makes 50 requests at a time at most, not 80" in said.err
    assert said.status == 0, said.err
    for few in (32, 64):
        said = larm_says(*arguments, before=limit(few, few))
        assert said.status == 2, said.err
        assert said.last == f"larm: only {few} files may be open, and a crawl needs 100 at least: allow more ('ulimit -n 1024')"
    assert larm_says(*arguments).status == 0


def test_where_few_files_may_be_open_fewer_requests_are_made_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 256 of both, a crawl of 600 slow hosts ended as its index could open no file."""
    monkeypatch.setattr("resource.getrlimit", lambda what: (256, 256))
    fetch = with_fewer_requests(Config()).fetch
    assert fetch.threads * fetch.transfers == 64
    few = Config(fetch=FetchSettings(transfers=4))
    assert with_fewer_requests(few) == few
