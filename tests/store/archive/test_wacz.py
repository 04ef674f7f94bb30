"""WACZ files that are damaged: whatever Python's zipfile makes of them, it is said, and the disk is not blamed."""

import gzip
import zipfile
from pathlib import Path

import pytest

from larm.store.archive.wacz import unpack_wacz

RECORD = b"WARC/1.0\r\n" + bytes(range(256)) * 8


def made(path: Path, packed: int) -> bytearray:
    with zipfile.ZipFile(path, "w", packed) as archive:
        archive.writestr("archive/a.warc.gz", gzip.compress(RECORD))
    return bytearray(path.read_bytes())


@pytest.mark.parametrize("packed", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_what_is_packed_in_it_is_damaged(tmp_path: Path, packed: int) -> None:
    file = tmp_path / "a.wacz"
    data = made(file, packed)
    data[55:155] = b"\xff" * 100
    file.write_bytes(data)
    assert unpack_wacz(file, tmp_path / "a.warc")


def test_its_places_are_before_its_beginning(tmp_path: Path) -> None:
    file = tmp_path / "a.wacz"
    data = made(file, zipfile.ZIP_STORED)
    data[-6:-2] = (int.from_bytes(data[-6:-2], "little") + 1_000).to_bytes(4, "little")  # where its list of files begins
    file.write_bytes(data)
    assert unpack_wacz(file, tmp_path / "a.warc")


def test_it_ends_within_a_file(tmp_path: Path) -> None:
    """Of which its list says that it is longer: zipfile has no words for that."""
    file = tmp_path / "a.wacz"
    data = made(file, zipfile.ZIP_STORED)
    entry = data.index(b"PK\1\2")
    data[entry + 20 : entry + 28] = (100_000).to_bytes(4, "little") * 2
    file.write_bytes(data)
    assert unpack_wacz(file, tmp_path / "a.warc") == "it breaks off"
