"""YAML as people write it, and files that are none."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from larm.kit.yaml_text import LARGEST, parse_yaml, read_text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("fetch:\n  threads: 1\n  timeout: 2\n  threads: 3\n", "line 4: the key threads is there twice, first in line 2"),
        ("fetch: {threads: 1}\nagent: {}\nfetch: {timeout: 1}", "line 3: the key fetch is there twice, first in line 1"),
        ("a: [{b: 1, 'b': 2}]", "line 1: the key b is there twice"),
        ("a: [", "not YAML: line 1, column 5: expected the node content, but found"),
        ("fetch:\n\tthreads: 1", "not YAML: line 2, column 1: there is a tab, and YAML is indented by spaces alone"),
        ("a:\n  b: 1\n c: 2", "not YAML: line 3, column 2: while parsing a block mapping that begins in line 1: expected"),
        ("a: 1\nb: \x01", "not YAML: line 2: it has the control character U+0001"),
        ("a: 2024-13-45", "not YAML: month must be in 1..12"),
        ("!!python/object/apply:os.system ['true']", "not YAML: line 1, column 1: could not determine a constructor"),
        ("[" * 5000, "not YAML: "),
    ],
)
def test_what_is_refused(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]+$") as refused:
        parse_yaml(text)
    assert str(refused.value).startswith(words)
    assert "<unicode string>" not in str(refused.value)


def test_the_same_key_in_another_section_is_another_one() -> None:
    assert parse_yaml("a: {x: 1}\nb: {x: 2}") == {"a": {"x": 1}, "b": {"x": 2}}
    assert parse_yaml("base: &base {x: 1, y: 2}\nmine: {<<: *base, x: 3}")["mine"] == {"x": 3, "y": 2}


def test_files_that_are_none(tmp_path: Path) -> None:
    """None of them is waited for."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), Path("/dev/null"), tmp_path):
        with pytest.raises(ValueError, match="it is no file, but a directory, a pipe or a device"):
            read_text(path)
    (tmp_path / "large").write_bytes(b"#" * (LARGEST + 1))
    with pytest.raises(ValueError, match="it is larger than 1,000,000 bytes"):
        read_text(tmp_path / "large")
    (tmp_path / "binary").write_bytes(b"\xff")
    with pytest.raises(ValueError, match="utf-8"):
        read_text(tmp_path / "binary")
    with pytest.raises(OSError, match="nothing"):
        read_text(tmp_path / "nothing")


@pytest.mark.parametrize("text", ["a: " + "[" * 5_000, "[" * 5_000 + "]" * 5_000, "{a: [" * 3_000])
def test_deeply_nested_yaml_is_refused_at_once(text: str) -> None:
    start = time.process_time()
    with pytest.raises(ValueError, match="nested too deeply"):
        parse_yaml(text)
    assert time.process_time() - start < 0.5
    assert parse_yaml("a: " + "[" * 50 + "]" * 50) is not None
