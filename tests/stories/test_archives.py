"""A crawl of WARC files: the same pages, texts and links as of the web that they were made of, without a network."""

from __future__ import annotations

import gzip
import shutil
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from fastwarc.warc import response

from larm import cli, open_index
from larm.errors import StorageError, UsageError
from larm.ops.afterwards import explain_url
from larm.store.archive.records import Records, gzip_member
from larm.store.archive.scanning import scan
from larm.store.reader import StoreLog
from larm.testing.web import SyntheticWeb
from tests.shared_data import ROOT
from tests.store.archive.exchanges import exchange
from tests.stories.crawls import ALL_HOSTS, config_of, indexed, lines, rows, run_crawl, stored
from tests.support.random_web import random_web

CHAIN = {"storage.chain": ["log", "warc", "index", "graph"]}
SAMPLES = ROOT / "warc-samples" / "given"


def pages(directory: Path) -> dict[str, tuple[int, str, str, bytes]]:
    log = StoreLog(directory)
    return {row.url: (row.status, row.mime, row.title, log.body(row)) for row in log}


def links(directory: Path) -> Counter[str]:
    return Counter(line for line in lines(directory, "links") if not line.startswith("<start>"))


def found(directory: Path, words: str) -> set[tuple[str, str, str]]:
    return {(hit.url, hit.title, hit.snippet) for hit in open_index(directory).search(words, 50).hits}


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a crawl with an archive; its web is gone. Nobody changes it."""
    tmp_path = tmp_path_factory.mktemp("archives")
    with random_web(seed=33, hosts=6, pages=150) as web:
        run_crawl(tmp_path / "live", web.start_urls, ALL_HOSTS | CHAIN)
    return tmp_path / "live"


def test_what_is_in_it_is_what_the_live_crawl_has(live: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    run = run_crawl(again, (live / "warc").as_uri() + "/")
    assert run.reason == "finished"
    assert [note.partition(":")[0] for note in run.notes] == ["WARC files"]  # nobody is asked for robots.txt or a contact
    assert pages(again) == pages(live)
    assert links(again) == links(live)
    assert indexed(again) == indexed(live)
    for words in ("page", "host", "link"):
        assert found(again, words) == found(live, words)
    dates = {hit.url: hit.fetched for hit in open_index(live).search("page", 50).hits}
    assert {hit.url: hit.fetched for hit in open_index(again).search("page", 50).hits} == dates
    assert not run.counters.get("archive/damaged")


def test_it_goes_on_where_it_was_and_a_revisit_changes_nothing(live: Path, tmp_path: Path) -> None:
    again, start = tmp_path / "again", (live / "warc").as_uri() + "/"
    assert run_crawl(again, start, {"crawl.max_pages": 20}).reason == "closespider_pagecount"
    assert len(stored(again)) == 20
    run_crawl(again, start)
    assert pages(again) == pages(live)
    assert set(stored(again).values()) == {1}
    run = run_crawl(again, start)
    assert run.counters["revisit/unchanged"] == len(pages(live))
    assert pages(again) == pages(live)


def test_more_archives_may_come_and_the_last_capture_counts(web: SyntheticWeb, tmp_path: Path) -> None:
    site = web.host("a.localhost")
    site.page("/", "Old", "first words", links=["/1", "http://b.localhost/"])
    site.page("/1", "One", "stays")
    start = web.url("a.localhost")
    run_crawl(tmp_path / "live", start, CHAIN)
    shutil.copytree(tmp_path / "live" / "warc", tmp_path / "first")
    site.page("/", "New", "other words", links=["/2"])
    site.page("/2", "Two", "came later")
    run_crawl(tmp_path / "live", start, CHAIN)
    again = tmp_path / "again"
    run = run_crawl(again, (tmp_path / "first").as_uri() + "/")
    assert {title for _, _, title, _ in pages(again).values()} == {"Old", "One"}
    assert run.counters["scope/filtered"] >= 1  # that it leads out is recorded
    assert any("b.localhost" in line for line in lines(again, "links"))
    both = tmp_path / "both"
    run_crawl(both, (tmp_path / "live" / "warc").as_uri() + "/")
    assert {title for _, _, title, _ in pages(both).values()} == {"New", "One", "Two"}


def test_a_scope_says_which_addresses(live: Path, tmp_path: Path) -> None:
    wanted = {url for url in pages(live) if "//h01." in url}
    run_crawl(tmp_path / "again", (live / "warc").as_uri() + "/", {"crawl.restrict_to": r"http://h01\..*"})
    assert set(pages(tmp_path / "again")) == wanted != set()


def test_its_pages_can_be_looked_at(live: Path, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    run_crawl(tmp_path / "again", (live / "warc").as_uri() + "/")
    url, (_, _, _, body) = next(iter(pages(live).items()))
    assert cli.run(["cat", "--dir", str(tmp_path / "again"), url]) == 0
    assert capsysbinary.readouterr().out == body


def test_damage_is_counted_named_and_told(live: Path, tmp_path: Path) -> None:
    (whole,) = (live / "warc").glob("*.warc.gz")
    stored_ones = pages(live)
    records = scan(whole, lambda *_: None, int(response))
    offsets = [record.offset for record in records if record.get("warc-target-uri") in stored_ones]
    data = bytearray(whole.read_bytes())
    data[offsets[len(offsets) // 2] + 100] ^= 0xFF  # behind the header of gzip, which says things that nobody asks for
    file = tmp_path / whole.name
    file.write_bytes(data)
    again = tmp_path / "again"
    run = run_crawl(again, file.as_uri())
    assert run.counters["archive/damaged"] == 1
    assert len(lines(again, "archive")) == 1
    assert "records of the archives: 1 damaged; logs/archive.log names them" in run.notes
    assert len(pages(again)) == len(stored_ones) - 1


def test_nobody_waits_because_a_server_was_busy_then(tmp_path: Path) -> None:
    records = Records(gzip_member)
    answers = [exchange(f"http://a.org/{n}", b"busy", status=b"503 Busy\r\nRetry-After: 5000") for n in range(3)]
    answers += [exchange(f"http://a.org/{n}", b"<p>page %d" % n) for n in range(3, 200)]
    file = tmp_path / "a.warc.gz"
    file.write_bytes(b"".join(records.response(each).member for each in answers))
    run = run_crawl(tmp_path / "crawl", file.as_uri())
    assert run.reason == "finished"
    assert set(pages(tmp_path / "crawl")) == {f"http://a.org/{n}" for n in range(3, 200)}
    assert run.counters["downloader/response_status_count/503"] == 3


def test_one_that_was_compressed_as_a_whole(live: Path, tmp_path: Path) -> None:
    (file,) = (live / "warc").glob("*.warc.gz")
    whole = tmp_path / "whole.warc.gz"
    whole.write_bytes(gzip.compress(gzip.decompress(file.read_bytes())))
    run_crawl(tmp_path / "again", whole.as_uri())
    assert pages(tmp_path / "again") == pages(live)


@pytest.mark.parametrize("mixed", [False, True])
def test_a_wacz_file(live: Path, tmp_path: Path, *, mixed: bool) -> None:
    """That of larm, and one with several WARC files, of which one is not packed."""
    target = tmp_path / "a.WACZ"
    assert cli.run(["warc", "export", "--dir", str(live), "--output", str(tmp_path / "a.wacz")]) == 0
    (tmp_path / "a.wacz").rename(target)
    if mixed:
        (file,) = (live / "warc").glob("*.warc.gz")
        records = Records(gzip_member)
        other = records.response(exchange("http://other.org/", b"<p>another one")).member
        with zipfile.ZipFile(target, "w") as archive:
            archive.write(file, "archive/one.warc.gz")
            archive.writestr("archive/two.warc", gzip.decompress(other))
            archive.writestr("indexes/index.cdx.gz", gzip.compress(b"nothing"))
    run_crawl(tmp_path / "again", target.as_uri())
    found = pages(tmp_path / "again")
    assert (found.pop("http://other.org/", None) is not None) is mixed
    assert found == pages(live)


@pytest.mark.parametrize("command", ["index", "verify"])
def test_what_is_for_warc_files_says_what_to_do_with_wacz(
    live: Path, tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "a.wacz"
    assert cli.run(["warc", "export", "--dir", str(live), "--output", str(target)]) == 0
    capsys.readouterr()
    assert cli.run(["warc", command, str(target)]) == 3
    assert capsys.readouterr().err.startswith(f"larm: {target}: a WACZ file, which has an index of its own: unzip it, ")


def test_a_wacz_file_that_was_cut_off_is_told(live: Path, tmp_path: Path) -> None:
    target = tmp_path / "a.wacz"
    assert cli.run(["warc", "export", "--dir", str(live), "--output", str(target)]) == 0
    target.write_bytes(target.read_bytes()[:-100])
    run = run_crawl(tmp_path / "again", target.as_uri())
    assert "no WARC record in it" in str(run.ending.error)
    assert ["File is not a zip file" in line for line in lines(tmp_path / "again", "archive")] == [True]


def test_what_is_no_archive_is_refused(web: SyntheticWeb, tmp_path: Path) -> None:
    file = tmp_path / "a.warc"
    file.write_bytes(b"nothing")
    with pytest.raises(UsageError, match="WARC files are crawled by themselves"):
        run_crawl(tmp_path / "a", [file.as_uri(), "http://a.localhost/"])
    with pytest.raises(UsageError, match=r"none\.warc\.gz: No such file"):
        run_crawl(tmp_path / "a", (tmp_path / "none.warc.gz").as_uri())
    run = run_crawl(tmp_path / "b", file.as_uri())
    assert isinstance(run.ending.error, StorageError)
    assert "no WARC record in it" in str(run.ending.error)


@pytest.mark.parametrize("name", sorted(path.relative_to(SAMPLES).as_posix() for path in SAMPLES.rglob("*.warc*")))
def test_samples_of_other_tools(tmp_path: Path, name: str) -> None:
    file = tmp_path / Path(name).name.removesuffix(".bad")
    shutil.copy(SAMPLES / name, file)
    run = run_crawl(tmp_path / "crawl", file.as_uri())
    assert run.reason == "finished", run.ending
    assert "archive/captures" in run.last.totals or "archive/damaged" in run.counters
    broken = {"example-bad-non-chunked", "example-trunc", "example-wrong-chunks"}
    assert bool(run.counters.get("archive/damaged")) is (file.name.partition(".warc")[0] in broken)
    if "original" in name or name.startswith("warcio/example.") or "resource" in name:
        assert len(pages(tmp_path / "crawl")) == 1


@pytest.mark.skipif(not SAMPLES.exists(), reason=f"no {SAMPLES}")
@pytest.mark.parametrize("name", ["example.arc", "example.arc.gz", "example-space-in-url.arc"])
def test_arc_files(tmp_path: Path, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    run = run_crawl(tmp_path / "crawl", (SAMPLES / "warcio" / name).as_uri())
    assert run.reason == "finished", run.ending
    ((status, mime, title, body),) = pages(tmp_path / "crawl").values()
    assert (status, mime, title) == (200, "text/html", "Example Domain")
    assert b"illustrative examples" in body
    assert capfd.readouterr().err == ""
    [row] = rows(tmp_path / "crawl")
    assert explain_url(config_of("http://example.com/"), tmp_path / "crawl", row.url).note.key == "why_fetched"


@pytest.mark.skipif(not SAMPLES.exists(), reason=f"no {SAMPLES}")
def test_an_arc_file_that_was_cut(tmp_path: Path) -> None:
    whole = (SAMPLES / "warcio" / "example.arc").read_bytes()
    record = whole[whole.index(b"http://example.com/") :].rstrip(b"\n") + b"\n\n"
    second = record.replace(b"http://example.com/", b"http://example.org/", 1)
    (tmp_path / "two.arc").write_bytes(whole.rstrip(b"\n") + b"\n\n" + second[:700])
    run = run_crawl(tmp_path / "crawl", (tmp_path / "two.arc").as_uri())
    assert run.reason == "finished", run.ending
    assert "http://example.com/" in pages(tmp_path / "crawl")
    assert run.counters.get("archive/damaged") == 1


@pytest.mark.skipif(not SAMPLES.exists(), reason=f"no {SAMPLES}")
def test_a_revisit_in_another_file_has_its_original(tmp_path: Path) -> None:
    for name in ("20130729-heritrix-original", "20130729-heritrix-revisit-with-http-headers"):
        shutil.copy(SAMPLES / "warc-specifications" / f"{name}.warc.gz", tmp_path / f"{name}.warc.gz")
    run_crawl(tmp_path / "crawl", f"{tmp_path.as_uri()}/")
    ((status, mime, title, body),) = pages(tmp_path / "crawl").values()
    assert (status, mime) == (200, "text/html")
    assert title
    assert len(body) > 10_000
