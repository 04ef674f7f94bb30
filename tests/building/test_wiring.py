"""From a configuration to running parts: what is refused, what is said, what is left when it fails."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from larm.building.named_parts import about_crawl
from larm.building.readers import Processors, normalizer_of
from larm.building.wiring import check
from larm.config import Config, load
from larm.crawldir.state import resolver_of
from larm.engine.crawl import Crawl
from larm.errors import ConfigError, StorageError, UsageError
from larm.kit.counters import Counters
from larm.kit.disk.block_store import BlockStore
from larm.kit.processes.helper_process import HelperProcess
from larm.kit.threads.workers import Workers
from larm.model.message import URLMessage
from larm.model.outcome import Fetched, Timing
from larm.ops.afterwards import explain_url
from larm.ops.observers import build_crawl
from larm.testing.clock import FakeClock

OWN = """
from larm.filters.chain import MessageFilter


class Coloured(MessageFilter):
    def __init__(self, colour="red"):
        self.colour = colour

    def judge(self, message):
        return None


class Length(Coloured):
    name = "length"


class NoFilter:
    name = "x"

    def sift(self, batch, drop):
        return list(batch)


class Store:
    name = "mine"
    def open(self, position): pass
    def store(self, visits): pass
    def commit(self): return {}
    def close(self): pass


class Pages(Store):
    name = "pages"


class Reader:
    def process(self, message, fetched, mime): pass


class Scored(Reader):
    score = 3


class Broken(Coloured):
    def __init__(self):
        raise RuntimeError("out of order")


class Alarm:
    def __init__(self):  # it must not be called, no more than subprocess.Popen
        raise AssertionError("it was called")

    def close(self):
        pass
"""


@pytest.fixture
def own_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module of the user's own."""
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "own_parts_of_a_test.py").write_text(OWN)
    (folder / "own_broken_of_a_test.py").write_text("import no_such_module_at_all")
    monkeypatch.syspath_prepend(str(folder))


PART = "own_parts_of_a_test"


def config(**keys: object) -> Config:
    """Dotted keys with ``__`` for the dots."""
    return load(None, (), {name.replace("__", "."): value for name, value in keys.items()})


def refusal(directory: Path, **keys: object) -> str:
    with pytest.raises(ConfigError) as caught:
        check(config(**keys), directory)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# -- check


def test_the_defaults_are_valid_and_checking_leaves_no_trace(tmp_path: Path) -> None:
    check(Config(), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_scope(tmp_path: Path) -> None:
    assert refusal(tmp_path, crawl__restrict_to="http://[").startswith("restrictto: wrong expression 'http://['")


def test_host_resolver_is_relative_to_the_directory(tmp_path: Path) -> None:
    (tmp_path / "rules").write_text("startsWith(www.)=\n")
    settings = config(urls__host_resolver="rules")
    check(settings, tmp_path)
    assert resolver_of(settings, tmp_path).resolve("www.cnn.com") == "cnn.com"
    assert resolver_of(Config(), tmp_path).resolve("www.cnn.com") == "www.cnn.com"


def test_host_resolver_that_is_missing_or_malformed(tmp_path: Path) -> None:
    assert "can't read the host resolver's rules" in refusal(tmp_path, urls__host_resolver="nothing")
    (tmp_path / "rules").write_text("a.org=b.org\n")
    assert f"{tmp_path / 'rules'}:1: 'a.org' is no rule" in refusal(tmp_path, urls__host_resolver="rules")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    assert "can't read the host resolver's rules" in refusal(tmp_path, urls__host_resolver="binary")


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (
            {"filters__order": ["lenght"]},
            "filters.order: 'lenght': expected one of length, known_paths, files, scope, visited, traps, robots, or",
        ),
        (
            {"storage__chain": ["logs"]},
            "storage.chain: 'logs': expected one of log, index, graph, warc, or package.module:Class",
        ),
        ({"search__own": {"fresh": 1}}, "search.own: 'fresh': expected package.module:Class"),
        ({"search__own": {f"{PART}:Reader": 1}}, f"search.own: {PART}:Reader has no score; see larm.seams.Scorer"),
        ({"search__own": {f"{PART}:Scored": 1}}, f"search.own: {PART}:Scored has no score; see larm.seams.Scorer"),
        ({"processing__by_mime": {"a/b": "reader"}}, "processing.by_mime.a/b: 'reader': expected package.module:Class"),
        (
            {"filters__order": ["no_such:Thing"]},
            "filters.order: can't make no_such:Thing: ModuleNotFoundError: No module named",
        ),
        ({"filters__order": [":Thing"]}, "filters.order: can't make :Thing: ValueError"),
        ({"filters__order": [f"{PART}:Missing"]}, f"filters.order: can't make {PART}:Missing: AttributeError"),
        ({"filters__order": [f"{PART}:"]}, f"filters.order: can't make {PART}:: AttributeError"),
        ({"filters__order": [f"{PART}:Broken"]}, f"filters.order: can't make {PART}:Broken: RuntimeError: out of order"),
        ({"filters__order": ["own_broken_of_a_test:X"]}, "filters.order: can't make own_broken_of_a_test:X: ModuleNotFound"),
        (
            {"filters__order": [f"{PART}:Coloured"], "own": {f"{PART}:Coloured": {"size": 3}}},
            f"filters.order: can't make {PART}:Coloured: TypeError",
        ),
        (
            {"filters__order": [f"{PART}:NoFilter"]},
            f"filters.order: {PART}:NoFilter has no log_name, explain; see larm.seams.Filter",
        ),
        ({"storage__chain": [f"{PART}:Coloured"]}, f"storage.chain: {PART}:Coloured has no open, store, commit, close; see"),
        ({"processing__by_mime": {"a/b": f"{PART}:Store"}}, f"processing.by_mime.a/b: {PART}:Store has no process; see"),
        ({"filters__order": ["os:getcwd"]}, "filters.order: os:getcwd is no class; see larm.seams.Filter"),
        ({"storage__chain": [f"{PART}:Alarm"]}, f"storage.chain: {PART}:Alarm has no name, open, store, commit; see"),
        ({"search__own": {f"{PART}:Alarm": 1}}, f"search.own: {PART}:Alarm has no score; see"),
        ({"processing__by_mime": {"a/b": f"{PART}:Alarm"}}, f"processing.by_mime.a/b: {PART}:Alarm has no process; see"),
        ({"filters__order": ["length", "visited", "length"]}, "filters.order: 'length' is there twice"),
        ({"storage__chain": ["log", "log"]}, "storage.chain: 'log' is there twice"),
        ({"storage__chain": [f"{PART}:Pages"]}, "storage.chain: 'pages' is there twice, or is the name of another part"),
        ({"monitor__tick": 0}, "monitor.tick: expected more than 0 s"),
        ({"robots__ttl": 0}, "robots.ttl: expected more than 0 s"),
        ({"fetch__timeout": 0}, "fetch.timeout: expected more than 0 s"),
        ({"processing__documents": {"timeout": 0}}, "processing.documents.timeout: expected more than 0 s"),
        ({"processing__documents": {"memory": "50MB"}}, "processing.documents.memory: expected at least 100MB"),
    ],
)
@pytest.mark.usefixtures("own_parts")
def test_what_config_yaml_names_must_be_there_and_fit(tmp_path: Path, keys: dict[str, object], said: str) -> None:
    assert refusal(tmp_path, **keys).startswith(said)


@pytest.mark.usefixtures("own_parts")
def test_parts_of_a_users_own(tmp_path: Path) -> None:
    """LARM-47; with arguments for their constructors."""
    check(
        config(
            filters__order=["length", f"{PART}:Coloured", "visited"],
            own={f"{PART}:Coloured": {"colour": "blue"}},
            storage__chain=["log", f"{PART}:Store"],
            processing__by_mime={"application/x-own": f"{PART}:Reader"},
        ),
        tmp_path,
    )


@pytest.mark.usefixtures("own_parts")
def test_a_filter_may_take_the_place_of_a_built_in_one(tmp_path: Path) -> None:
    """Then its counters and its log are its own; beside the other one they would be mixed."""
    check(config(filters__order=[f"{PART}:Length", "visited"]), tmp_path)
    assert "is there twice" in refusal(tmp_path, filters__order=[f"{PART}:Length", "length"])


# -- build


class Builder:
    """Builds crawls that never run, and closes them."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.open: list[Crawl] = []

    def __call__(self, *, fresh: bool = False, **keys: object) -> Crawl:
        made = build_crawl(config(crawl__start=["http://a.localhost:1/"], **keys), self.directory, fresh=fresh)
        self.open.append(made)
        return made

    def close(self) -> None:
        while self.open:
            self.open.pop()._close(well=False)


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Builder]:
    builder = Builder(tmp_path / "crawl")
    yield builder
    builder.close()


def test_a_second_writer_is_refused_and_the_first_goes_on(build: Builder) -> None:
    build()
    with pytest.raises(UsageError, match="crawl"):
        build()
    build.close()
    build()


def test_a_wrong_configuration_touches_nothing(build: Builder) -> None:
    with pytest.raises(ConfigError):
        build(filters__order=["nonsense"])
    assert not build.directory.exists()


def test_what_fails_half_way_is_closed_again(build: Builder) -> None:
    """Also the lock: the next try is not refused."""
    (build.directory / "cachingqueue").mkdir(parents=True)
    (build.directory / "cachingqueue" / "visited.db").write_bytes(b"no database, but long enough to look like one" * 100)
    for _ in range(2):
        with pytest.raises(StorageError, match=r"visited\.db"):
            build()
    build(fresh=True)


def test_fresh_removes_what_larm_wrote_and_nothing_else(build: Builder) -> None:
    build()
    build.close()
    logs = build.directory / "logs"
    for file in ("store.log", "pagefile_1.pfl.zst", "notes.txt"):
        (logs / file).write_text("x")
    for file in ("config.yaml", "stats.json", "thesis.txt"):
        (build.directory / file).write_text("")
    build(fresh=True)
    assert (logs / "notes.txt").exists()
    assert (build.directory / "thesis.txt").exists()
    assert (build.directory / "config.yaml").exists()
    assert not (logs / "store.log").exists() or not (logs / "store.log").read_text()
    assert not (logs / "pagefile_1.pfl.zst").exists()
    assert not (build.directory / "stats.json").exists()


# -- notes


def test_notes_of_a_new_crawl(build: Builder) -> None:
    assert build().notes == [
        "scope: the hosts of the start URLs (a.localhost:1); --below, --domain or -restrictto REGEX set another, '.*' none",
        "no contact: set agent.contact to a URL or mail address, so that owners of sites can reach you",
    ]


def test_notes_are_left_out_where_all_is_said(build: Builder) -> None:
    assert build(crawl__restrict_to=".*", agent__contact="mailto:me@example.org").notes == []


def test_many_start_hosts_are_not_all_named(build: Builder) -> None:
    settings = config(crawl__start=[f"http://h{number}.localhost/" for number in range(7)])
    made = build_crawl(settings, build.directory)
    build.open.append(made)
    assert "h0.localhost, h1.localhost, h2.localhost, h3.localhost, h4.localhost and 2 more" in made.notes[0]


@pytest.mark.parametrize("keys", [{"robots__obey": False}, {"filters__order": ["length", "scope", "visited"]}])
def test_it_is_said_that_robots_txt_is_not_obeyed(build: Builder, keys: dict[str, object]) -> None:
    assert build(**keys).notes[-1] == "robots.txt is not obeyed"


@pytest.mark.parametrize(("finished", "said"), [(False, "is continued"), (True, "is finished and is now revisited")])
def test_it_is_said_what_becomes_of_an_earlier_crawl(build: Builder, finished: bool, said: str) -> None:
    made = build()
    save(made, finished=finished)
    build.close()
    assert build().notes[0] == f"the crawl of this directory, 0 pages so far, {said}; --fresh starts over"
    build.close()
    assert "of this directory" not in build(fresh=True).notes[0]


def save(made: Crawl, *, finished: bool) -> None:
    """The checkpoint of a run in which nothing was fetched."""
    workers = Workers(lambda name, error: None)
    for line in made._lines:
        workers.start(line.name, line.run)
    made._checkpointer.save(finished=finished)
    for line in made._lines:
        line.close()
    assert workers.join(20) == []


def test_a_state_that_can_not_be_read_is_named(build: Builder) -> None:
    save(build(), finished=False)
    build.close()
    store = BlockStore(build.directory / "cachingqueue")
    store.put("crawl", b"garbage")
    store.close()
    with pytest.raises(StorageError, match=r"cachingqueue/cache.db: the crawl's state is damaged .*larm repair"):
        build()
    build(fresh=True)


# -- larm why


def test_explain_asks_for_a_url_and_a_crawl(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no crawl in"):
        explain_url(Config(), tmp_path, "http://a/")
    with pytest.raises(UsageError, match="http://\\[: not a URL"):
        explain_url(Config(), tmp_path, "http://[")
    assert list(tmp_path.iterdir()) == []


def test_explain_refuses_a_crawl_that_never_saved(build: Builder) -> None:
    build()
    build.close()
    with pytest.raises(UsageError, match="before it saved"):
        explain_url(Config(), build.directory, "http://a.localhost:1/")


def test_helpers_end_where_there_is_no_crawl(tmp_path: Path) -> None:
    closed: list[bool] = []

    class Ahead(HelperProcess):
        def close(self) -> None:
            closed.append(True)

    with pytest.raises(ConfigError):
        build_crawl(load(None, ["filters.order=[nothing]"]), tmp_path, ahead=Ahead("no.module", 0))
    assert closed == [True]


def test_who_comes_to_read_after_the_end_starts_nothing(tmp_path: Path) -> None:
    settings = load(None, ["processing.documents.processes=1"])
    process = Processors(settings, normalizer_of(settings, tmp_path, ()), Counters(), FakeClock(), text=True)
    process.close()
    url = normalizer_of(settings, tmp_path, ()).parse("http://a.test/")
    found = process.process(URLMessage(url), Fetched(200, {"content-type": "text/html"}, b"<title>x</title>", Timing()))
    assert found.title == "x"
    assert process._documents is not None
    assert process._documents._closed


def test_a_directory_whose_path_is_no_text_is_refused_before_it_is_made(tmp_path: Path) -> None:
    """One of an old system, in Latin-1: the crawl ran, had no index, and failed when it told how it ended."""
    directory = tmp_path / os.fsdecode(b"caf\xe9")
    with pytest.raises(UsageError, match=r"expected a path in UTF-8; --dir names another directory"):
        build_crawl(load(None, ["crawl.start=[http://a.localhost/]"]), directory)
    assert not directory.exists()


def test_about_crawl_with_files_and_peers_of_this_machine_names_none_of_them(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("""
crawl: {max_pages: 7}
files: {places: {papers: /home/anna/papers}}
serve: {certificate: [anna.pem, anna.key]}
peers: {secret: anna.words, registrars: ["KEY@http://192.0.2.1:7070"]}
network: {publish: /home/anna/seeds.txt}
cluster: {certificate: [anna.pem, anna.key]}
""")
    fields = dict(about_crawl(load(path)))
    assert fields["larm-settings"] == '{"crawl":{"max_pages":7}}'
