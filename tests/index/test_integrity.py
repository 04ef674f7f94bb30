"""A damaged file of an index is found before it is used."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from larm.errors import StorageError
from larm.index.integrity import check_files
from larm.index.page import Page
from larm.index.writer import IndexWriter
from larm.model.url import Url


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """Two segments, one of them with a deletion."""
    writer = IndexWriter(tmp_path / "index", 15_000_000, 1)
    writer.open(None)
    for name in ("a", "b", "c"):
        writer.add(Page(Url(f"http://{name}/", f"http://{name}/", name, 1), "text/html", name, f"text of {name}"))
        if name != "a":
            writer.commit()
    writer.delete("http://a/")
    writer.commit()
    writer.close()
    return tmp_path / "index"


def test_a_good_one_passes_and_what_does_not_belong_to_it_is_left_alone(index: Path) -> None:
    (index / f"{'0' * 32}.store").touch()  # of a commit that never came
    check_files(index)


def test_each_byte_counts(index: Path) -> None:
    files = [path for path in index.iterdir() if len(path.stem) >= 32]
    assert {path.suffix for path in files} == {".store", ".pos", ".idx", ".term", ".fast", ".fieldnorm", ".del"}
    for file in files:
        data = file.read_bytes()
        for position in (0, len(data) - 120, len(data) - 9, len(data) - 7, len(data) - 1):
            file.write_bytes(data[:position] + bytes([data[position] ^ 4]) + data[position + 1 :])
            with pytest.raises(StorageError, match=rf"{file.name}: the file is damaged"):
                check_files(index)
        for length in (0, 5, len(data) - 1):
            file.write_bytes(data[:length])
            with pytest.raises(StorageError, match=rf"{file.name}: the file is damaged"):
                check_files(index)
        file.unlink()
        with pytest.raises(StorageError, match=rf"meta.json: it speaks of {file.name}, which is not there"):
            check_files(index)
        file.write_bytes(data)
    check_files(index)


def test_the_list_of_files(index: Path) -> None:
    os.truncate(index / "meta.json", 50)
    with pytest.raises(StorageError, match=r"meta.json: the file is damaged"):
        check_files(index)
    (index / "meta.json").write_bytes(b'{"segments": [{"segment_id": "\xff"}]}')
    with pytest.raises(StorageError, match=r"meta.json: the file is damaged"):
        check_files(index)
    (index / "meta.json").unlink()
    with pytest.raises(StorageError, match=r"meta.json: No such file"):
        check_files(index)
