"""What is damaged in a WARC file costs the record that it is in, and is named; all others are read."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from fastwarc.warc import response
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from larm.kit.squash import zstd
from larm.store.archive.records import Records, gzip_member
from larm.store.archive.scanning import Record, is_by_record, read_at, scan, unpack
from tests.store.archive.exchanges import exchange

PAGES = 6


def members(compress: Callable[[bytes], bytes]) -> list[bytes]:
    records = Records(compress)
    return [records.response(exchange(f"http://a.org/{n}", b"body %d " % n * 100)).member for n in range(PAGES)]


PLAIN, GZIP, ZSTD = members(lambda data: data), members(gzip_member), members(zstd.compress)
ALL = [f"http://a.org/{n}" for n in range(PAGES)]


def read(tmp_path: Path, data: bytes) -> tuple[list[str], list[tuple[int, str]]]:
    """Addresses of the records, and what is damaged; each record can also be read by itself."""
    path = tmp_path / "a.warc"
    path.write_bytes(data)
    lost: list[tuple[int, str]] = []
    found: list[Record] = list(scan(path, lambda offset, why: lost.append((offset, why))))
    with path.open("rb") as file:
        assert [read_at(file, record.offset, 10**9) for record in found] == found
    return [record.get("warc-target-uri") for record in found], lost


@pytest.mark.parametrize("form", [PLAIN, GZIP, ZSTD])
def test_whole_files(tmp_path: Path, form: list[bytes]) -> None:
    assert read(tmp_path, b"".join(form)) == (ALL, [])


def flipped(member: bytes, at: int) -> bytes:
    return member[:at] + bytes([member[at] ^ 0xFF]) + member[at + 1 :]


def without_digest(member: bytes, *, length: int = 0) -> bytes:
    head, _, body = member.partition(b"\r\n\r\n")
    lines = [line for line in head.split(b"\r\n") if b"-Digest" not in line]
    size = next(int(line.split()[1]) for line in lines if line.startswith(b"Content-Length"))
    lines = [b"Content-Length: %d" % (size + length) if line.startswith(b"Content-Length") else line for line in lines]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


BAD = {
    "its magic": (GZIP, flipped(GZIP[2], 0)),
    "its gzip header": (GZIP, flipped(GZIP[2], 2)),
    "its middle": (GZIP, flipped(GZIP[2], len(GZIP[2]) // 2)),
    "its check sum": (GZIP, flipped(GZIP[2], len(GZIP[2]) - 6)),
    "its middle is gone": (GZIP, GZIP[2][:100] + GZIP[2][200:]),
    "its end is gone": (GZIP, GZIP[2][:-30]),
    "a byte of the body": (PLAIN, PLAIN[2].replace(b"body 2", b"body X", 1)),
    "it is too short": (PLAIN, without_digest(PLAIN[2], length=-50)),
    "it is too long": (PLAIN, without_digest(PLAIN[2], length=1500)),
    "it says no length": (PLAIN, PLAIN[2].replace(b"Content-Length", b"Content-Depth", 1)),
    "no length, in gzip": (GZIP, gzip_member(PLAIN[2].replace(b"Content-Length", b"Content-Depth", 1))),
    "it is something else": (PLAIN, b"HTTP/1.1 200 OK\r\n\r\nsomething else\r\n\r\n"),
    "something else in gzip": (GZIP, gzip_member(b"HTTP/1.1 200 OK\r\n\r\nsomething else\r\n\r\n")),
}


@pytest.mark.parametrize("what", BAD)
def test_damage_costs_one_record(tmp_path: Path, what: str) -> None:
    form, bad = BAD[what]
    urls, lost = read(tmp_path, b"".join([*form[:2], bad, *form[3:]]))
    assert urls == [url for url in ALL if url != "http://a.org/2"]
    assert len(lost) == 1
    assert len(b"".join(form[:1])) <= lost[0][0] < len(b"".join(form[:2])) + len(bad)


@pytest.mark.parametrize("what", BAD)
def test_damage_behind_records_of_no_interest_costs_one_record(tmp_path: Path, what: str) -> None:
    """One of another kind is as good a sign of where the damage begins, and the file is not walked through for each again."""
    form, bad = BAD[what]
    records = Records(gzip_member if form is GZIP else bytes)
    others = [records.request(exchange(url, b""), "<urn:uuid:0>").member for url in ALL]
    path = tmp_path / "a.warc"
    path.write_bytes(b"".join([*others, *form[:2], *others, bad, *others, *form[3:]]))
    lost: list[int] = []
    found = [record.get("warc-target-uri") for record in scan(path, lambda offset, _: lost.append(offset), int(response))]
    assert found == [url for url in ALL if url != "http://a.org/2"]
    (at,) = lost
    assert len(b"".join([*others, *form[:2], *others[:-1]])) < at < len(b"".join([*others, *form[:2], *others, bad]))


@pytest.mark.parametrize("kinds", [None, int(response)])
@pytest.mark.parametrize("short", [1, 2, 3, 10])
@pytest.mark.parametrize("place", [2, len(PLAIN) - 1])
def test_record_that_is_a_few_bytes_short_is_read_as_warcio_reads_it(
    tmp_path: Path, short: int, place: int, kinds: int | None
) -> None:
    """Without its last bytes; nothing behind it is lost."""
    members = [without_digest(each) for each in PLAIN]
    members[place] = without_digest(PLAIN[place], length=-short)
    path = tmp_path / "a.warc"
    path.write_bytes(b"".join(members))
    with path.open("rb") as file:
        theirs = [each.content_stream().read() for each in ArchiveIterator(file, no_record_parse=True)]
    ours = [each.block for each in scan(path, lambda *_: None, *([] if kinds is None else [kinds]))]
    assert ours == theirs
    assert len(ours) == PAGES


def test_a_gzip_header_with_all_that_it_may_have(tmp_path: Path) -> None:
    odd = GZIP[2][:3] + bytes([0x1C]) + GZIP[2][4:10] + b"\x02\x00ab" + b"name\0" + b"comment\0" + GZIP[2][10:]
    assert read(tmp_path, b"".join([*GZIP[:2], odd, *GZIP[3:]])) == (ALL, [])


@given(st.integers(0, len(b"".join(GZIP)) - 1))
@settings(max_examples=60)
def test_a_file_that_was_cut_has_all_that_is_before_the_cut(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    urls, lost = read(tmp_path_factory.getbasetemp(), b"".join(GZIP)[:cut])
    whole = sum(len(b"".join(GZIP[: n + 1])) <= cut for n in range(PAGES))
    assert urls in (ALL[:whole], ALL[: whole + 1])  # all of it may be there but for the end of its compression
    assert len(lost) <= 1


@given(st.data())
@settings(max_examples=100)
def test_any_damage_costs_few_and_nothing_crashes(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    form = data.draw(st.sampled_from([PLAIN, GZIP, ZSTD]))
    whole = bytearray(b"".join(form))
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] ^= data.draw(st.integers(1, 255))
    urls, _ = read(tmp_path_factory.getbasetemp(), bytes(whole))
    assert len(set(urls) & set(ALL)) >= PAGES - 2 if at > len(form[0]) else True


def test_a_file_that_was_compressed_as_a_whole(tmp_path: Path) -> None:
    packed, plain = tmp_path / "a.warc.gz", tmp_path / "a.warc"
    packed.write_bytes(gzip.compress(b"".join(PLAIN)))
    assert not is_by_record(packed)
    assert unpack(packed, plain) == ""
    assert plain.read_bytes() == b"".join(PLAIN)
    packed.write_bytes(packed.read_bytes()[:-200])
    assert "end-of-stream" in unpack(packed, plain)
    for form in (PLAIN, GZIP, ZSTD, GZIP[:1], [b""]):
        packed.write_bytes(b"".join(form))
        assert is_by_record(packed)


def test_of_a_long_record_only_the_beginning_is_kept(tmp_path: Path) -> None:
    """All of it is read, or nobody would know that it is whole."""
    long = bytes(range(256)) * 12_000
    made = Records(gzip_member)
    records = [made.response(exchange(f"http://a.org/{n}", body)).member for n, body in enumerate((long, b"short"))]
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"".join(records))
    damage: list[str] = []
    first, second = scan(path, lambda _offset, why: damage.append(why), most=1_000_000)
    assert (len(first.block), first.size > len(long), second.block.endswith(b"short")) == (1_000_000, True, True)
    assert damage == []
    with path.open("rb") as file:
        assert len(read_at(file, first.offset, 2_000_000).block) == 2_000_000
    broken = gzip_member(gzip.decompress(records[0]).replace(long[-256:], bytes(256), 1))
    path.write_bytes(broken + records[1])
    assert [each.size for each in scan(path, lambda _offset, why: damage.append(why), most=1_000_000)] == [second.size]
    assert damage == ["it has another digest than it says"]
