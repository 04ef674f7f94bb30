"""Story 10: what a crawl leaves to be read: the logs of LARM-82 to LARM-98, and the commands that read them."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from larm import cli
from larm.building.named_parts import check
from larm.engine.figures.thread_log import COLUMNS
from larm.errors import ConfigError
from larm.graph.reader import open_graph
from larm.ops.left_out import left_out
from larm.store.body_frames import read_frame
from larm.testing import replies
from larm.testing.replies import Reply
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import config_of, lines, run_crawl

TIME = r"\d\d:\d\d:\d\d:\d\d\d"
PICTURE = bytes(range(256)) * 10
HOME = (
    '<a href="/Dir/index.html">About\tus</a><a href="/moved">moved</a><a href="/picture">picture</a><a href="/private/x">x</a>'
    '<a href="/gone">gone</a><a href="http://b.localhost:{port}/">b</a><img src="/logo.png" alt="our logo">'
    f'<a href="/Dir/#part">again</a><a href="http://[x">bad</a><a href="/{"long" * 600}">long</a><a href="/?C=N;O=D">sorted</a>'
)


@pytest.fixture
def crawled(tmp_path: Path, web: SyntheticWeb) -> Path:
    """The directory of a finished crawl."""
    site = web.host("www.a.localhost")
    site.page(
        "/",
        title="Home\tof\nall",
        text="The ferry leaves at noon.",
        body=HOME,
    )
    site.page("/Dir/index.html", title="About", text="The captain of the ferry.", links=["/", "/empty"])
    site.redirect("/moved", "/target")
    site.page("/target", title="Target")
    site.add("/picture", Reply(200, {"Content-Type": "image/png"}, PICTURE))
    site.add("/empty", replies.html(""))
    site.robots("# ours\nUser-agent: *\nDisallow: /private/\n")
    (tmp_path / "hosts.properties").write_text("startsWith(www.)=\n")
    settings = {"urls.host_resolver": "hosts.properties", "monitor.tick": "20ms"}
    (tmp_path / "config.yaml").write_text("urls:\n  host_resolver: hosts.properties\n")
    assert run_crawl(tmp_path, web.url("www.a.localhost"), settings).reason == "finished"
    return tmp_path


def larm(capsysbinary: pytest.CaptureFixture[bytes], *arguments: str | Path) -> tuple[int, bytes, str]:
    status = cli.run([str(argument) for argument in arguments])
    out, err = capsysbinary.readouterr()
    return status, out, err.decode()


def test_store_log(crawled: Path, web: SyntheticWeb) -> None:
    """Eight columns, and where bytes were stored three more: file, frame, place (LARM-92, LARM-93; ten without frames)."""
    here, home = web.url("www.a.localhost", ""), web.url("www.a.localhost")
    names = web.url("a.localhost", "")
    found = {row[1]: row for row in (line.split("\t") for line in lines(crawled, "store"))}
    sizes = {url: int(row[6]) for url, row in found.items()}
    assert found.pop(home)[:8] == ["<start>", home, f"{names}/", "0", "200", "text/html", str(sizes[home]), "Home of all"]
    about, target = f"{here}/Dir/index.html", f"{here}/target"
    assert found.pop(about)[:8] == [home, about, f"{names}/Dir/", "0", "200", "text/html", str(sizes[about]), "About"]
    assert found.pop(target)[:8] == [
        f"{here}/moved",
        target,
        f"{names}/target",
        "2",
        "200",
        "text/html",
        str(sizes[target]),
        "Target",
    ]
    picture = found.pop(f"{here}/picture")
    assert picture[:8] == [home, f"{here}/picture", f"{names}/picture", "0", "200", "image/png", str(len(PICTURE)), ""]
    number, frame, place = map(int, picture[8:])
    file = crawled / "logs" / f"pagefile_{number}.pfl.zst"
    with file.open("rb") as opened:  # a checkpoint may have ended the frame of the pages before
        bodies, _ = read_frame(opened, frame, file)
    assert bodies[place : place + len(PICTURE)] == PICTURE
    assert (number, frame > 0 or place >= sizes[home]) == (1, True), "the page came before"
    empty = found.pop(f"{here}/empty")
    assert empty == [about, f"{here}/empty", f"{names}/empty", "0", "200", "text/html", "0", ""]
    assert not found


def test_links_log(crawled: Path, web: SyntheticWeb) -> None:
    """from-page, to-page, normalised, type, anchor (LARM-89 to LARM-91)."""
    here, home = web.url("www.a.localhost", ""), web.url("www.a.localhost")
    names = web.url("a.localhost", "")
    found = lines(crawled, "links")
    assert all(line.count("\t") == 4 for line in found)
    assert found[0] == f"<start>\t{home}\t{names}/\t0\t"
    for line in (
        f"{home}\t{here}/Dir/index.html\t{names}/Dir/\t0\tAbout us",
        f"{home}\t{here}/Dir/\t{names}/Dir/\t0\tagain",
        f"{home}\t{here}/logo.png\t{names}/logo.png\t0\tour logo",
        f"{here}/moved\t{here}/target\t{names}/target\t2\t",
        f"{here}/Dir/index.html\t{home}\t{names}/\t0\t/",
    ):
        assert found.count(line) == 1, line


def test_logs_of_filters(crawled: Path, web: SyntheticWeb) -> None:
    """One line for each URL that was dropped, in its original form (LARM-46, LARM-97)."""
    here = web.url("www.a.localhost", "")
    assert lines(crawled, "URLLengthFilter") == [f"{here}/{'long' * 600}"]
    assert lines(crawled, "URLScopeFilter") == [web.url("b.localhost")]
    assert lines(crawled, "KnownPathsFilter") == [f"{here}/?C=N;O=D"]
    assert set(lines(crawled, "URLVisitedFilter")) == {f"{here}/", f"{here}/Dir/"}
    (robots,) = lines(crawled, "RobotExclusionFilter")
    assert re.fullmatch(rf"\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{{3}} {here}/private/x", robots)


def test_logs_of_threads(crawled: Path, web: SyntheticWeb) -> None:
    """``HH:mm:ss:mmm: <elapsed> ms: text``, from thread 0 on (LARM-96); bad links are warned of (LARM-103)."""
    done = lines(crawled, "thread0") + lines(crawled, "thread1")
    assert all(re.match(rf"{TIME}: \d+ ms: ", line) for line in done)
    said = [line.split(" ms: ", 1)[1] for line in done]
    here = web.url("www.a.localhost", "")
    assert f"301 -> /target: {here}/moved" in said
    assert f"404: {here}/gone" in said
    assert f"200 2560 image/png: {here}/picture" in said
    assert len(said) == 7
    errors = lines(crawled, "thread0_errors") + lines(crawled, "thread1_errors")
    assert all(re.match(rf"{TIME}: \d+ ms: ", line) for line in errors)
    assert sum(f"404: {here}/gone" in line for line in errors) == 1
    assert sum("http://[x" in line for line in errors) == 1
    assert len(errors) == 2


def test_thread_monitor_log(crawled: Path) -> None:
    """Columns in the first line; the figures of the last one are those of the crawl (LARM-82)."""
    header, *ticks = (line.split(";") for line in lines(crawled, "ThreadMonitor"))
    assert header[2:] == list(COLUMNS)
    assert ticks
    assert all(len(tick) == len(header) and re.fullmatch(TIME, tick[0]) for tick in ticks)
    last = dict(zip(COLUMNS, ticks[-1][2:], strict=True))
    assert (last["urlsQueued"], last["urlsWaiting"], last["isWorkingOnMessage"]) == ("0", "0", "false")
    assert [last[f"urls{name}Filtered"] for name in ("Scope", "Visited", "RE")] == ["1", "2", "1"]
    assert last["urlLengthFiltered"] == "1"
    assert last["overallTasksRun"] == "7"
    assert int(last["overallBytesRead"]) > len(PICTURE)
    assert [int(tick[1]) for tick in ticks] == sorted(int(tick[1]) for tick in ticks)


def test_cat_gives_the_bytes(crawled: Path, web: SyntheticWeb, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    for address in (web.url("www.a.localhost", "/picture"), web.url("a.localhost", "/picture")):
        assert larm(capsysbinary, "cat", "--dir", crawled, address) == (0, PICTURE, "")
    status, out, err = larm(capsysbinary, "cat", "--dir", crawled, web.url("www.a.localhost", "/gone"))
    assert (status, out) == (1, b"")
    assert "not stored" in err


@pytest.mark.parametrize(
    ("path", "rows"),
    [
        (
            "/private/x",
            ["filter robots .*line 3 of http://www.a.localhost:\\d+/robots.txt: Disallow: /private/", "page +not stored"],
        ),
        (
            "/Dir/index.html",
            [
                "filter visited +has passed already; a URL passes once",
                "page +200 text/html, \\d+ bytes, 'About'",
                "first link +on http://www.a",
            ],
        ),
        ("/gone", ["page +not stored", "last fetch .* ms: 404: "]),
        ("/?C=N;O=D", ["filter known_paths .*filters.known_paths"]),
        ("/never/heard/of", ["filter length +passes", "filter visited +passes", "filter robots +passes", "page +not stored"]),
        ("/" + "x" * 2600, ["filter length .* characters, filters.length.max is 2048"]),
    ],
)
def test_why(crawled: Path, web: SyntheticWeb, capsysbinary: pytest.CaptureFixture[bytes], path: str, rows: list[str]) -> None:
    status, out, err = larm(capsysbinary, "why", "--dir", crawled, web.url("www.a.localhost", path))
    assert (status, err) == (0, "")
    for row in rows:
        assert re.search(f"^{row}", out.decode(), re.MULTILINE), out.decode()


def test_why_out_of_scope(crawled: Path, web: SyntheticWeb, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    _, out, _ = larm(capsysbinary, "why", "--dir", crawled, web.url("b.localhost"))
    assert re.search(r"^filter scope +b\.localhost:\d+ is not the host of a start URL", out.decode(), re.MULTILINE)
    assert re.search(r"^host state +never seen by this crawl", out.decode(), re.MULTILINE)


def test_stats(crawled: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    status, out, _ = larm(capsysbinary, "stats", "--dir", crawled, "--json")
    report = json.loads(out)
    assert (status, report["state"], report["finish_reason"]) == (0, "finished", "finished")
    stats = report["stats"]
    expected = {
        "item_scraped_count": 5,
        "downloader/response_status_count/200": 5,
        "downloader/response_status_count/301": 1,
        "downloader/response_status_count/404": 1,
        "downloader/request_count": 8,
        "robotstxt/request_count": 1,
        "robotstxt/forbidden": 1,
        "offsite/filtered": 1,
        "dupefilter/filtered": 2,
        "urllength/request_ignored_count": 1,
        "filter/known_paths": 1,
        "finish_reason": "finished",
        "larm/urls_left": 0,
    }
    assert {name: stats.get(name) for name in expected} == expected


def test_search(crawled: Path, web: SyntheticWeb, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    status, out, _ = larm(capsysbinary, "search", "--dir", crawled, "--json", "ferry")
    found = json.loads(out)
    assert (status, found["total"]) == (0, 2)
    assert {hit["title"] for hit in found["hits"]} == {"Home of all", "About"}
    status, out, _ = larm(capsysbinary, "search", "--dir", crawled, "--json", "ferry", "captain")
    hit = json.loads(out)["hits"][0]
    assert (hit["url"], hit["snippet"]) == (web.url("www.a.localhost", "/Dir/index.html"), hit["snippet"])
    assert "The captain of the ferry." in hit["snippet"]
    assert json.loads(larm(capsysbinary, "search", "--dir", crawled, "--json", "picture")[1])["total"] == 1, "by its address"
    status, out, err = larm(capsysbinary, "search", "--dir", crawled, "submarine")
    assert (status, out) == (1, b"")
    assert "nothing found" in err


def test_logs_of_links_can_be_switched_off(tmp_path: Path, web: SyntheticWeb) -> None:
    """The graph knows the links all the same, and what was visited before is counted. Switched on again, they go on."""
    site = web.host("a.localhost")
    site.page("/", links=["/1", "/2"])
    site.page("/1", links=["/", "/2"])
    site.page("/2", links=["/", "/1"])
    off = {"storage.log.links": False, "filters.visited.log": False}
    run = run_crawl(tmp_path, web.url("a.localhost"), off)
    assert run.reason == "finished"
    assert lines(tmp_path, "links") == []
    assert not (tmp_path / "logs" / "URLVisitedFilter.log").exists()
    graph = open_graph(tmp_path / "graph")
    assert graph is not None
    assert graph.links == 6
    assert run.counters["visited/filtered"] > 0
    site.page("/1", links=["/", "/3"])
    site.page("/3")
    assert run_crawl(tmp_path, web.url("a.localhost")).reason == "finished"
    assert [line.split("\t")[1].rpartition("/")[2] for line in lines(tmp_path, "links")][-2:] == ["", "3"]


def test_a_cluster_needs_the_log_of_links(tmp_path: Path) -> None:
    settings = {"storage.log.links": False, "cluster.name": "us", "cluster.etcd": ["run"]}
    with pytest.raises(ConfigError, match=r"storage\.log\.links: a cluster needs links\.log"):
        check(config_of("http://a.localhost/", settings), tmp_path)


def test_logs_that_are_long_begin_anew(tmp_path: Path, web: SyntheticWeb, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """What went is counted and told, what is kept is read, and --fresh has none of it."""
    site = web.host("www.a.localhost")
    site.page("/", links=[f"/{n}" for n in range(300)])
    for n in range(300):
        site.page(f"/{n}", text=f"page {n}", links=[f"/{n - 1}", "/"])
    settings = {"monitor.log_size": 6_000, "monitor.tick": "20ms", "fetch.threads": 1}
    run_crawl(tmp_path, web.url("www.a.localhost"), {**settings, "crawl.max_pages": 150})  # has a checkpoint at its end
    run = run_crawl(tmp_path, web.url("www.a.localhost"), settings)
    logs = {path.name: path for path in (tmp_path / "logs").iterdir()}
    parts = [name for name in logs if re.fullmatch(r"thread0\.log\.\d+", name)]
    assert len(parts) == 1
    assert run.counters["logs/bytes_gone"] > 0
    assert "logs" in [each.key for each in left_out(tmp_path, config_of("http://x/", settings), run.last)]
    kept = logs[parts[0]].read_text().splitlines()
    old = kept[len(kept) // 2].partition(": http")[2]
    said = larm(capsysbinary, "why", f"http{old}", "--dir", tmp_path)[1].decode()
    assert "last fetch" in said
    assert run_crawl(tmp_path, web.url("www.a.localhost"), settings).reason == "finished"
    run_crawl(tmp_path, web.url("www.a.localhost"), {"crawl.max_pages": 1}, fresh=True)
    assert not list((tmp_path / "logs").glob("*.log.*"))


def test_work_of_fetchers_is_theirs_when_another_thread_reads_the_page(tmp_path: Path, web: SyntheticWeb) -> None:
    """Their logs, their tasks and ``bytesPerThread`` have it (LARM-78, LARM-96)."""
    site = web.host("a.localhost")
    paths = [f"/{number}.txt.gz" for number in range(6)]
    site.page("/", links=paths)
    for path in paths:
        site.add(path, Reply(200, {"Content-Type": "application/gzip"}, gzip.compress(b"Some words. " * 100)))
    run = run_crawl(tmp_path, web.url("a.localhost"))
    assert run.last.threads[2].name == "larm-document-0"
    assert [bool(thread.tasks) for thread in run.last.threads[2:]] == [False] * (len(run.last.threads) - 2)
    assert sum(thread.tasks for thread in run.last.threads) == 1 + len(paths)
    assert sum(len(lines(tmp_path, f"thread{number}")) for number in (0, 1)) == 1 + len(paths)
    assert lines(tmp_path, "thread2") == []
    last = dict(zip(COLUMNS, lines(tmp_path, "ThreadMonitor")[-1].split(";")[2:], strict=True))
    by_thread = [int(each) for each in last["bytesPerThread"].split(",")]
    assert by_thread == [thread.received for thread in run.last.threads]
    assert sum(by_thread[:2]) > 0 == sum(by_thread[2:])
