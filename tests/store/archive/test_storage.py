"""What the storage writes is what went over the wire, and what other people's tools read."""

from __future__ import annotations

import errno
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fastwarc.warc import ArchiveIterator
from hypothesis import given, settings
from hypothesis import strategies as st

from larm import config
from larm.errors import StorageError
from larm.kit.counters import Counters
from larm.kit.units import ByteSize
from larm.model.document import Document, Visit
from larm.store.archive.storage import WarcStorage
from larm.testing.clock import FakeClock
from larm.testing.fakes import url
from tests.store.archive.exchanges import exchange, visit
from tests.store.archive.judges import Seen, judge
from tests.support.faults import FaultyDisk, open_files

PAGE = "http://a.org/"


def storage_in(directory: Path, counters: Counters | None = None, **given: Any) -> WarcStorage:
    given.setdefault("size", ByteSize(1_000_000))
    (directory / "queues").mkdir(exist_ok=True)
    settings = config.WarcSettings(**given)
    about = [("software", "larm/test"), ("robots", "obey")]
    return WarcStorage(directory, directory / "queues", settings, FakeClock(), about, (counters or Counters()).add)


def written(directory: Path, visits: Sequence[Visit], **given: Any) -> list[Seen]:
    """What is in the archive after a run."""
    storage = storage_in(directory, **given)
    storage.open(None)
    storage.store(visits)
    storage.commit()
    storage.close()
    return archive(directory)


def kill(storage: WarcStorage) -> None:
    """Its files are as they are, with all that was written since the last commit."""
    assert storage._files is not None
    assert storage._book is not None
    for file in (storage._files._warc, storage._files._index):
        if file is not None:
            file.close()
    storage._book.close()


@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC])
def test_a_disk_that_fails_at_any_write_leaves_no_file_open(tmp_path: Path, error: int) -> None:
    kept = []  # or the end of their lives would close them

    def run(directory: Path) -> None:
        storage = storage_in(directory, size=ByteSize(1_000))
        kept.append(storage)
        try:
            storage.open(None)
            storage.store([visit(f"{PAGE}{n}", b"<p>words" * n) for n in range(4)])
            storage.commit()
        finally:
            storage.close()

    (tmp_path / "all" / "queues").mkdir(parents=True)
    with FaultyDisk(tmp_path / "all") as disk:
        run(tmp_path / "all")
    assert len(disk.sites) > 20
    for number in range(1, len(disk.sites) + 1):
        directory = tmp_path / str(number)
        (directory / "queues").mkdir(parents=True)
        with FaultyDisk(directory, number, error) as disk, suppress(StorageError):
            run(directory)
        assert open_files(directory) == [], disk.failed


def archive(directory: Path) -> list[Seen]:
    files = sorted((directory / "warc").glob("*.warc.gz"))
    assert not list((directory / "warc").glob("*.open"))
    return [record for file in files for record in judge(file)]


def kinds(records: Sequence[Seen]) -> list[str]:
    return [record.kind for record in records]


def headers_of(directory: Path, kind: str) -> list[dict[str, str]]:
    (file,) = (directory / "warc").glob("*.warc.*")
    records = [record.headers.asdict() for record in ArchiveIterator(str(file))]
    return [each for each in records if each["WARC-Type"] == kind]


def test_a_page_is_a_response_a_request_and_what_larm_knows_of_it(tmp_path: Path) -> None:
    info, response, request, metadata = written(tmp_path, [visit(PAGE, b"<p>words")])
    assert info.kind == "warcinfo"
    assert b"software: larm/test\r\nrobots: obey\r\n" in info.body
    assert (response.kind, response.url, response.status, response.body) == ("response", PAGE, "200", b"<p>words")
    assert (request.kind, request.url) == ("request", PAGE)
    assert metadata.body == b"via: <start>\r\nhopsFromSeed: \r\n"
    (fields,) = headers_of(tmp_path, "response")
    assert fields["WARC-Date"] == "2023-11-14T22:13:20.250000Z"
    assert fields["WARC-IP-Address"] == "192.0.2.1"
    assert fields["WARC-Protocol"] == "http/1.1"
    (asked,) = headers_of(tmp_path, "request")
    assert asked["WARC-Concurrent-To"] == fields["WARC-Record-ID"]
    assert asked["WARC-Date"] == fields["WARC-Date"]
    assert fields["WARC-Warcinfo-ID"] == headers_of(tmp_path, "warcinfo")[0]["WARC-Record-ID"]


def test_http2_tls_and_what_was_undone_are_said(tmp_path: Path) -> None:
    sent = msgspec.structs.replace(
        exchange(PAGE, tls="TLSv1.2", cipher="ECDHE-RSA-AES128-GCM-SHA256"),
        head=b"HTTP/2 404 \r\ncontent-type: text/html\r\nTransfer-Encoding : chunked\r\n\r\n",
        request=b"GET / HTTP/2\r\nHost: a.org\r\n\r\n",
    )
    written(tmp_path, [Visit(page=PAGE, url=url(PAGE), exchange=sent)])
    (file,) = (tmp_path / "warc").glob("*.warc.gz")
    records = {record.headers["WARC-Type"]: record for record in map(_kept, ArchiveIterator(str(file), parse_http=False))}
    fields = [(name, value) for name, value in records["response"].headers.items() if name.startswith("WARC-")]
    assert ("WARC-Protocol", "h2") in fields
    assert ("WARC-Protocol", "tls/1.2") in fields
    assert ("WARC-Cipher-Suite", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256") in fields
    block = records["response"].reader.read()
    assert block.startswith(b"HTTP/1.1 404 Not Found\r\ncontent-type: text/html\r\nX-Crawl-Transfer-Encoding : chunked\r\n\r\n")
    assert records["request"].reader.read().startswith(b"GET / HTTP/1.1\r\n")


def _kept(record: Any) -> Any:
    record.freeze()
    return record


def test_payloads_that_are_there_are_revisits_also_after_a_checkpoint(tmp_path: Path) -> None:
    storage = storage_in(tmp_path)
    storage.open(None)
    storage.store([visit(PAGE, b"same")])
    position = storage.commit()
    storage.close()
    storage = storage_in(tmp_path)
    storage.open(position)
    empty = [Visit(page=f"{PAGE}{n}", url=url(f"{PAGE}{n}"), exchange=exchange(f"{PAGE}{n}", b"")) for n in range(2)]
    same = Visit(page=f"{PAGE}b", url=url(f"{PAGE}b"), exchange=exchange(f"{PAGE}b", b"same"))
    unchanged = Visit(page=PAGE, url=url(PAGE), exchange=exchange(PAGE, b"", status=b"304 Not Modified"))
    strange = Visit(page=f"{PAGE}c", url=url(f"{PAGE}c"), exchange=exchange(f"{PAGE}c", b"", status=b"304 Not Modified"))
    storage.store([*empty, same, unchanged, strange])
    storage.commit()
    storage.close()
    records = archive(tmp_path)
    answers = [record.kind for record in records if record.kind in ("response", "revisit")]
    assert answers == ["response", "response", "response", "revisit", "revisit", "response"]
    digest = records[1].digest
    assert [record.digest for record in records if record.kind == "revisit"] == [digest, digest]
    assert [record.status for record in records if record.kind == "revisit"] == ["200", ""]
    (told,) = [record.body for record in records if record.kind == "metadata" and b"status: 304" in record.body]
    assert b"http-response-header: Content-Type: text/html; charset=utf-8\r\n" in told
    (_, second) = sorted((tmp_path / "warc").glob("*.warc.gz"))
    revisits = [r.headers.asdict() for r in ArchiveIterator(str(second)) if r.headers["WARC-Type"] == "revisit"]
    assert [each["WARC-Profile"].rpartition("/")[2] for each in revisits] == ["identical-payload-digest", "server-not-modified"]
    assert {each["WARC-Refers-To-Target-URI"] for each in revisits} == {PAGE}
    assert {each["WARC-Refers-To-Date"] for each in revisits} == {"2023-11-14T22:13:20.250000Z"}


def test_bodies_that_were_cut_are_marked_and_no_original_of_others(tmp_path: Path) -> None:
    records = written(tmp_path, [visit(PAGE, b"half", truncated="length"), visit(f"{PAGE}b", b"half")])
    assert kinds(records).count("revisit") == 0
    assert [each.get("WARC-Truncated") for each in headers_of(tmp_path, "response")] == ["length", None]


def test_a_page_that_asks_not_to_be_kept_is_counted(tmp_path: Path) -> None:
    counters = Counters()
    storage = storage_in(tmp_path, counters)
    storage.open(None)
    storage.store([visit(PAGE, archive=False)])
    storage.commit()
    storage.close()
    assert counters.snapshot() == {"warc/noarchive": 1}
    assert list((tmp_path / "warc").iterdir()) == []


def test_a_file_of_a_folder_is_a_resource(tmp_path: Path) -> None:
    address = url("http://a.org/")
    there = msgspec.structs.replace(address, access="file:///home/a.txt", host="file:")
    (_, record) = written(tmp_path, [Visit(page="", url=there, body=b"text", document=Document("text/plain"))])
    assert (record.kind, record.url, record.body) == ("resource", "file:///home/a.txt", b"text")


def test_files_begin_anew_at_their_size(tmp_path: Path) -> None:
    visits = [visit(f"{PAGE}{n}", b"%d" % n * 300) for n in range(30)]
    records = written(tmp_path, visits, size=ByteSize(10_000))
    files = list((tmp_path / "warc").glob("*.warc.gz"))
    assert len(files) > 2
    assert all(file.stat().st_size <= 12_000 for file in files)  # that of an answer more
    assert kinds(records).count("warcinfo") == len(files)
    assert [record.url for record in records if record.kind == "response"] == [each.page for each in visits]


def test_names_tell_when_and_the_how_manieth(tmp_path: Path) -> None:
    written(tmp_path, [visit(PAGE)])
    names = sorted(path.name for path in (tmp_path / "warc").iterdir())
    assert [re.sub(r"\d{17}", "T", name) for name in names] == ["larm-T-00001.cdxj", "larm-T-00001.warc.gz"]


def test_a_file_that_was_cut_is_refused_by_name(tmp_path: Path) -> None:
    storage = storage_in(tmp_path)
    storage.open(None)
    storage.store([visit(PAGE)])
    position = storage.commit()
    storage.close()
    (file,) = (tmp_path / "warc").glob("*.warc.gz")
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(StorageError, match=rf"{re.escape(file.name)}: .* it was cut or replaced"):
        storage_in(tmp_path).open(position)


def test_complete_files_may_be_moved_away(tmp_path: Path) -> None:
    storage = storage_in(tmp_path, size=ByteSize(1))
    storage.open(None)
    storage.store([visit(PAGE), visit(f"{PAGE}b", b"b")])
    position = storage.commit()
    first, second = sorted((tmp_path / "warc").glob("*.warc.gz*"))
    assert (first.suffix, second.suffix) == (".gz", ".open")
    first.unlink()
    kill(storage)
    again = storage_in(tmp_path)
    again.open(position)
    again.commit()
    again.close()
    assert [record.url for record in archive(tmp_path) if record.kind == "response"] == [f"{PAGE}b"]


@pytest.mark.parametrize("position", [{}, {"place": {}}, {"place": {"length": -1}, "payloads": 0}, {"place": 3, "payloads": 0}])
def test_a_damaged_position_is_refused(tmp_path: Path, position: Mapping[str, Any]) -> None:
    with pytest.raises(StorageError, match="larm repair"):
        storage_in(tmp_path).open(position)


STEPS = st.lists(st.sampled_from(["store", "commit", "kill", "end"]), min_size=1, max_size=12)


@given(STEPS, st.integers(500, 20_000))
@settings(max_examples=40)
def test_in_any_order_of_kills_nothing_is_missing_and_nothing_twice(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str], size: int
) -> None:
    directory = tmp_path_factory.mktemp("warc")
    storage, position, number = storage_in(directory, size=ByteSize(size)), None, 0
    storage.open(None)
    noted: list[str] = []
    since: list[str] = []
    for step in [*steps, "commit", "end"]:
        if step == "store":
            batch = [visit(f"{PAGE}{n}", b"%d" % (n % 7) * 200) for n in range(number, number + 3)]
            number += 3
            storage.store(batch)
            since += [each.page for each in batch]
        elif step == "commit":
            position = storage.commit()
            noted, since = noted + since, []
        else:
            if step == "kill":
                kill(storage)
            else:
                storage.close()  # after a commit it completes the file, which the next start finds so
            storage = storage_in(directory, size=ByteSize(size))
            storage.open(position)
            number, since = len(noted), []
    storage.close()
    records = archive(directory)
    assert [record.url for record in records if record.kind in ("response", "revisit")] == noted
    assert len({record.digest for record in records if record.kind == "response"}) == len(set(range(min(7, len(noted)))))
