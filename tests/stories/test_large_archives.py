"""A body of a gigabyte, on its way into an archive and out of one: neither is ever in memory as a whole."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator, response

from larm.testing.replies import Reply
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import rows
from tests.support.memory import crawl_of, watch

MB, GIGABYTE = 1_000_000, 1_000_000_000
LINE = b"a line of a long, long log\n" * 37_037  # a megabyte

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def name_of(url: str) -> str:
    return url.rpartition("/")[2]


def test_out(tmp_path: Path) -> None:
    """What the limits leave of it is in the archive, and is marked as cut."""
    with SyntheticWeb() as web:
        web.host("a.localhost").page("/", links=["/endless"])
        large = {"Content-Type": "text/plain", "Content-Length": str(GIGABYTE)}
        web.host("a.localhost").add("/endless", Reply(200, large, endless=LINE))
        settings = ["storage.chain=[log,index,warc]", "fetch.page_size=20MB"]
        seen = watch(crawl_of(str(tmp_path), [web.url("a.localhost")], settings), 2_000 * MB)
    assert (seen.status, seen.killed) == (0, False), seen.said
    assert seen.main < 400 * MB
    with next((tmp_path / "warc").glob("*.warc.gz")).open("rb") as file:
        kept = {
            name_of(record.headers["WARC-Target-URI"]): (record.headers.get("WARC-Truncated"), len(record.reader.read()))
            for record in ArchiveIterator(file, record_types=int(response), parse_http=False)
        }
    assert kept["endless"][0] == "length"
    assert 20 * MB <= kept["endless"][1] < 21 * MB


def test_in(tmp_path: Path) -> None:
    archive = tmp_path / "large.warc.gz"
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
    pieces = -(-GIGABYTE // len(LINE))
    with gzip.open(archive, "wb", compresslevel=1) as out:
        out.write(
            b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.org/large\r\nWARC-Date: 2026-11-22T10:00:00Z\r\n"
            b"WARC-Record-ID: <urn:uuid:f1b4a9e8-0d5c-4f0e-8d5e-0d7c3f0a2b11>\r\n"
            b"Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n" % (len(head) + pieces * len(LINE))
        )
        out.write(head)
        for _ in range(pieces):
            out.write(LINE)
        out.write(b"\r\n\r\n")
    seen = watch(crawl_of(str(tmp_path / "crawl"), [archive.as_uri()], []), 2_000 * MB)
    assert (seen.status, seen.killed) == (0, False), seen.said
    assert seen.main < 400 * MB
    [row] = rows(tmp_path / "crawl")
    assert (row.url, row.status, row.size) == ("http://a.org/large", 200, 20 * MB)
    for command in ("verify", "index"):
        seen = watch(["warc", command, str(archive)], 2_000 * MB)
        assert (seen.status, seen.killed) == (0, False), seen.said
        assert seen.main < 200 * MB
