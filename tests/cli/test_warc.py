"""larm warc: archives of crawls, judged by other people's tools."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import zipfile
from pathlib import Path

import pytest
from cdxj_indexer.main import CDXJIndexer
from wacz.validate import Validation

from larm import cli
from larm.store.reader import StoreLog
from larm.testing.replies import Reply
from larm.testing.web import SyntheticWeb
from tests.shared_data import ROOT
from tests.store.archive.judges import judge
from tests.stories.crawls import run_crawl

SAMPLES = ROOT / "warc-samples" / "given"
CDXJIndexer.DEFAULT_RECORDS = ["response", "revisit", "resource", "metadata"]  # wacz has changed it for all
pytestmark = pytest.mark.filterwarnings(  # the judges leave files to the collector
    "ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning"
)


@pytest.fixture
def crawled(tmp_path: Path) -> Path:
    """A crawl without an archive."""
    with SyntheticWeb() as web:
        site = web.host("a.localhost")
        site.page("/", "Home", "words", links=["/1", "/2"])
        site.page("/1", "One", "one")
        site.page("/2", "Two", "two")
        run_crawl(tmp_path / "crawl", web.url("a.localhost"))
    return tmp_path / "crawl"


def test_an_archive_of_page_files(crawled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["warc", "export", "--dir", str(crawled), "--output", str(tmp_path / "out")]) == 0
    assert "3 pages" in capsys.readouterr().err
    (file,) = (tmp_path / "out").glob("*.warc.gz")
    records = judge(file)
    log = StoreLog(crawled)
    assert {r.url: r.body for r in records if r.kind == "resource"} == {row.url: log.body(row) for row in log}
    told = [r.body for r in records if r.kind == "metadata"]
    assert any(b"title: Home\r\n" in body and b"via: <start>\r\n" in body and b"status: 200\r\n" in body for body in told)
    again = run_crawl(tmp_path / "again", file.as_uri())
    assert again.counters["item_scraped_count"] == 3
    assert cli.run(["warc", "export", "--dir", str(crawled), "--output", str(tmp_path / "out")]) == 2
    assert "expected a folder that is empty" in capsys.readouterr().err


def test_an_archive_of_page_files_keeps_what_headers_ask_for_and_empty_pages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A page that an HTTP header keeps out of the index is kept out of that of the archive's crawl, too."""
    with SyntheticWeb() as web:
        site = web.host("a.localhost")
        site.page("/", "Home", "words", links=["/hidden", "/empty", "/uncopied", "/quiet", "/past"])
        for name, asks in {
            "hidden": {"X-Robots-Tag": "noindex"},
            "uncopied": {"X-Robots-Tag": "noarchive"},
            "empty": {},
            "quiet": {"X-Robots-Tag": "nofollow, max-snippet: 0, unavailable_after: 2099-01-02"},
            "past": {"X-Robots-Tag": "unavailable_after: 2001-01-02"},
        }.items():
            body = b"" if name == "empty" else f"<title>{name}</title><p>words".encode()
            site.add(f"/{name}", Reply(200, {"Content-Type": "text/html"} | asks, body))
        run_crawl(tmp_path / "crawl", web.url("a.localhost"))
    assert cli.run(["warc", "export", "--dir", str(tmp_path / "crawl"), "--output", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().err
    assert "1 page left out: no copy was kept" in said
    assert "5 pages" in said
    (file,) = (tmp_path / "out").glob("*.warc.gz")
    found = {record.url: record.body for record in judge(file) if record.kind == "resource"}
    assert found[f"{web.url('a.localhost')}empty"] == b""
    run_crawl(tmp_path / "again", file.as_uri())
    assert cli.run(["search", "--dir", str(tmp_path / "again"), "words", "--json"]) == 0
    hits = json.loads(capsys.readouterr().out)["hits"]
    assert {hit["title"]: bool(hit["snippet"]) for hit in hits} == {"Home": True, "quiet": False}
    assert cli.run(["search", "--dir", str(tmp_path / "again"), "robot:nofollow", "--json"]) == 0
    assert [hit["title"] for hit in json.loads(capsys.readouterr().out)["hits"]] == ["quiet"]


def valid(file: Path) -> None:
    with contextlib.redirect_stdout(io.StringIO()) as said:
        judged = Validation(str(file))
        checks = (judged.frictionless_validate, judged.check_file_paths, judged.check_file_hashes, judged.check_compression)
        assert judged.check_required_contents() == 0
        assert [check.__name__ for check in checks if not check()] == [], said.getvalue()
        assert judged.check_data_package_hash_and_sig()


@pytest.mark.parametrize("kept", [True, False])
def test_a_wacz_file(crawled: Path, tmp_path: Path, kept: bool) -> None:
    if kept:
        with SyntheticWeb() as web:
            web.host("a.localhost").page("/", "Home", "words", links=["/1"])
            web.host("a.localhost").page("/1", "One", "one")
            run_crawl(crawled, web.url("a.localhost"), {"storage.chain": ["log", "warc"]}, fresh=True)
    target = tmp_path / "site.wacz"
    assert cli.run(["warc", "export", "--dir", str(crawled), "--output", str(target)]) == 0
    valid(target)
    with zipfile.ZipFile(target) as archive:
        assert {entry.compress_type for entry in archive.infolist()} == {zipfile.ZIP_STORED}
        head, *pages = [json.loads(line) for line in archive.read("pages/pages.jsonl").splitlines()]
        assert head["format"] == "json-pages-1.0"
        assert {page["title"] for page in pages} == ({"Home", "One"} if kept else {"Home", "One", "Two"})
        (name,) = [entry for entry in archive.namelist() if entry.startswith("archive/")]
        made = io.StringIO()
        with archive.open(name) as file:
            CDXJIndexer(made, file, sort=True, filename=name.partition("/")[2]).process_all()
        assert archive.read("indexes/index.cdxj").decode() == made.getvalue()
        package = archive.read("datapackage.json")
        said = json.loads(archive.read("datapackage-digest.json"))
        assert said["hash"] == f"sha256:{hashlib.sha256(package).hexdigest()}"
    assert not list(tmp_path.glob(".larm-*"))
    assert not list(tmp_path.glob("*.part"))


def test_a_crawl_without_pages_has_nothing_to_export(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "crawl").mkdir()
    assert cli.run(["warc", "export", "--dir", str(tmp_path / "crawl"), "--output", str(tmp_path / "a.wacz")]) == 2
    assert " URL' makes one; --dir names another" in capsys.readouterr().err


INDEXED = ["warcio/example.warc.gz", "warcio/example.warc", "warcio/post-test.warc.gz", "warcio/example-resource.warc.gz"]
INDEXED += ["warcio/example-iana.org-chunked.warc", "warcio/example-wget-bad-target-uri.warc.gz"]
INDEXED += ["warcio/example.arc.gz", "warcio/example.arc", "warcio/example-space-in-url.arc"]
INDEXED += [
    f"warc-specifications/{name}.warc.gz" for name in ("20130729-heritrix-original", "20141124-heritrix-server-not-modified")
]


@pytest.mark.skipif(not SAMPLES.exists(), reason=f"no {SAMPLES}")
@pytest.mark.parametrize("name", INDEXED)
def test_indexes_are_those_of_cdxj_indexer(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    made = io.StringIO()
    CDXJIndexer(made, str(SAMPLES / name), sort=True).process_all()
    assert cli.run(["warc", "index", str(SAMPLES / name)]) == 0
    assert capsys.readouterr().out == made.getvalue()


def test_an_index_in_a_file_and_a_check(crawled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli.run(["warc", "export", "--dir", str(crawled), "--output", str(tmp_path / "out")])
    (file,) = (tmp_path / "out").glob("*.warc.gz")
    (index,) = (tmp_path / "out").glob("*.cdxj")
    assert cli.run(["warc", "index", str(file), "--output", str(tmp_path / "a.cdxj")]) == 0
    assert (tmp_path / "a.cdxj").read_text() == index.read_text()
    capsys.readouterr()
    assert cli.run(["warc", "verify", str(file)]) == 0
    assert capsys.readouterr().out == (f"{file}: 7 records (3 metadata, 3 resource, 1 warcinfo), 10 digests right, 0 damaged\n")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)
    assert cli.run(["warc", "verify", str(file)]) == 1
    said = capsys.readouterr()
    assert "1 damaged" in said.out
    assert f"{file}: byte " in said.err


@pytest.mark.skipif(not SAMPLES.exists(), reason=f"no {SAMPLES}")
def test_an_arc_file_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = SAMPLES / "warcio" / "example.arc.gz"
    assert cli.run(["warc", "verify", str(whole)]) == 0
    assert capsys.readouterr().out == f"{whole}: 2 records (1 response, 1 warcinfo), 0 digests right, 0 damaged\n"
    cut = tmp_path / "cut.arc"
    cut.write_bytes((SAMPLES / "warcio" / "example.arc").read_bytes()[:1_000])
    assert cli.run(["warc", "verify", str(cut)]) == 1
    said = capsys.readouterr()
    assert "1 damaged" in said.out
    assert f"{cut}: byte 151: it ends too early" in said.err
