"""A damaged WARC file loses the records that are damaged, and no other."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from larm.store.archive.indexing import check, index_lines
from larm.store.archive.salvage_records import lost_captures, salvage_archive

NAME = "larm-20261128180000000-00001.warc.gz"
PAGES = [f"http://a.localhost/{number}" for number in range(4)]


def record(url: str) -> bytes:
    body = "".join(f"line {number} of {url}\n" for number in range(30)).encode()
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    head = f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-11-28T18:00:00Z\r\n"
    head += "WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000001>\r\n"
    head += f"Content-Type: application/http;msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
    return gzip.compress(head.encode() + block + b"\r\n\r\n", mtime=0)


def captured(path: Path) -> list[str]:
    return [json.loads(line.split(" ", 2)[2])["url"] for line in index_lines(path, lambda _offset, _why: None)]


@pytest.mark.parametrize("position", range(0, 200, 9))
def test_flipped_bytes_of_a_record_cost_this_record_alone(tmp_path: Path, position: int) -> None:
    path, records = tmp_path / NAME, [record(url) for url in PAGES]
    path.write_bytes(b"".join(records))
    path.with_name(NAME.replace(".warc.gz", ".cdxj")).write_text("".join(index_lines(path, lambda _offset, _why: None)))
    place = {"file": "", "length": 0, "complete": {NAME: path.stat().st_size}}
    data = bytearray(path.read_bytes())
    for number in range(8):
        data[len(records[0]) + position + number] ^= 0xA5
    path.write_bytes(data)

    lost = lost_captures(tmp_path, place, [path])
    salvaged = salvage_archive(tmp_path, place, [path])

    assert lost == {PAGES[1]}
    assert captured(path) == [PAGES[0], *PAGES[2:]]
    assert check(path, lambda _offset, _why: None).damaged == 0
    assert salvaged["complete"] == {NAME: path.stat().st_size}
