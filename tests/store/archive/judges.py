"""What other people's tools make of an archive: warcio, FastWARC, cdxj-indexer."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import NamedTuple

from cdxj_indexer.main import CDXJIndexer
from fastwarc.warc import ArchiveIterator
from warcio.archiveiterator import ArchiveIterator as WarcioIterator
from warcio.checker import Checker
from warcio.recompressor import Recompressor


class Seen(NamedTuple):
    """A record, as a tool tells of it."""

    kind: str
    url: str
    digest: str
    status: str
    body: bytes


def by_warcio(file: Path) -> list[Seen]:
    with file.open("rb") as stream:
        return [
            Seen(
                record.rec_type,
                record.rec_headers.get("WARC-Target-URI") or "",
                record.rec_headers.get("WARC-Payload-Digest") or "",
                (record.http_headers.get_statuscode() if record.http_headers and record.rec_type != "request" else ""),
                record.raw_stream.read(),
            )
            for record in WarcioIterator(stream)
        ]


def by_fastwarc(file: Path) -> list[Seen]:
    found = []
    for record in ArchiveIterator(str(file), parse_http=False):
        headers = record.headers.asdict()
        record.freeze()
        assert record.verify_block_digest(), headers
        record.parse_http()
        status = record.http_headers.status_code if record.http_headers and headers["WARC-Type"] != "request" else None
        told = Seen(
            headers["WARC-Type"],
            headers.get("WARC-Target-URI", ""),
            headers.get("WARC-Payload-Digest", ""),
            str(status or ""),
            record.reader.read(),
        )
        found.append(told)
    return found


class _Checked:
    verbose = False
    inputs: list[str]


def judge(file: Path) -> list[Seen]:
    """All of them find it whole, and see the same; the index beside it is the one that cdxj-indexer makes."""
    said = io.StringIO()
    asked = _Checked()
    asked.inputs = [str(file)]
    with contextlib.redirect_stdout(said):
        checker = Checker(asked)
        checker.process_all()
    assert checker.exit_value == 0, said.getvalue()
    with contextlib.redirect_stdout(io.StringIO()):
        Recompressor(str(file), f"{file}.again").recompress()
    Path(f"{file}.again").unlink()
    found = by_warcio(file)
    assert by_fastwarc(file) == found
    index = file.with_name(file.name.partition(".warc")[0] + ".cdxj")
    if index.exists():
        made = io.StringIO()
        CDXJIndexer(made, str(file), sort=True).process_all()
        assert index.read_text() == made.getvalue()
    return found
