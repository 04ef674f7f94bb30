"""Encodings: html5lib's suite and the decoders must hold to the letter; real pages and short texts give a score."""

from __future__ import annotations

import codecs
import re
import tarfile
from collections.abc import Iterator

import pytest
import webencodings

from larm.processing.charset import encoding_of, text_of
from larm.processing.decoders import decoder
from tests.shared_data import shared

_DECLARATION = re.compile(rb"encoding=[\"'][^\"']*[\"']|charset\s*=\s*[\"']?[\w-]+", re.IGNORECASE)


def test_html5lib_encoding_suite() -> None:
    """Each page's encoding, as a browser without any other sign finds it."""
    failures = []
    count = 0
    for file in sorted(shared("html5lib-tests", "given", "encoding").glob("*.dat")):
        for case in re.split(rb"(?:^|\n)#data\n", file.read_bytes())[1:]:
            data, _, rest = case.partition(b"\n#encoding\n")
            label = rest.split(b"\n")[0].decode().strip()
            expected = webencodings.lookup(label).name
            count += 1
            if (name := encoding_of(data).name) != expected:
                failures.append((file.name, expected, name, data[:200]))
    print(f"html5lib encoding: {count - len(failures)} of {count}")
    assert count >= 82
    assert failures == []


_BROWSERS = {  # labels of the corpora, and what browsers decode them as: a superset
    "gb2312": "gb18030",
    "shift_jis": "shift_jis",
    "cp932": "shift_jis",
    "euc-jp": "euc-jp",
    "euc-kr": "euc-kr",
    "tis-620": "windows-874",
    "windows-1252": "windows-1252",
    "iso-8859-1": "windows-1252",
    "iso-8859-9": "windows-1254",
    "iso-8859-11": "windows-874",
    "big5": "big5",
}


def _corpus(name: str) -> Iterator[tuple[str, str, bytes]]:
    """(file, the name of its encoding, content)."""
    with tarfile.open(shared(name, "given", "files.tar.xz")) as tar:
        for member in tar:
            file = tar.extractfile(member)
            if file is not None:
                folder, _, rest = member.name.rpartition("/")
                yield member.name, folder if name == "charset-chardet" else _of_file(rest), file.read()


def _of_file(name: str) -> str:
    """``windows-1251.txt``, ``utf-16.be``."""
    stem, _, kind = name.rpartition(".")
    return f"{stem}-{kind}" if kind in ("be", "le") else stem


def _is_right(body: bytes, label: str) -> bool | None:
    """Whether larm reads what is there, by Python's codec or by that of browsers; None where neither knows the encoding."""
    codec = _codec(label)
    if not codec:
        return None
    text = text_of(body)[0].lstrip("\ufeff")
    name = label if label.lower() in _BROWSERS else label.rpartition("-")[0]
    browsers = _BROWSERS.get(name.lower())
    return text == body.decode(codec, "replace").lstrip("\ufeff") or (browsers is not None and text == decoder(browsers)(body))


@pytest.mark.parametrize(
    ("corpus", "declared", "bar"),
    [("charset-chardet", True, 0.99), ("charset-chardet", False, 0.97), ("charset-uchardet", True, 0.92)],
)
def test_detection(corpus: str, declared: bool, bar: float) -> None:
    """Real pages without HTTP headers, with and without their own declarations; and short texts, which have none."""
    wrong = []
    count = 0
    for name, label, body in _corpus(corpus):
        right = _is_right(body if declared else _DECLARATION.sub(b"", body), label)
        if right is not None:
            count += 1
            if not right:
                wrong.append(name)
    kind = "as they are" if declared else "without declarations"
    print(f"{corpus}, {kind}: {count - len(wrong)} of {count} ({1 - len(wrong) / count:.1%}), not {', '.join(wrong)}")
    assert 1 - len(wrong) / count >= bar


@pytest.mark.parametrize(("file", "encoding"), [("euc_kr", "euc-kr"), ("shift_jis", "shift_jis"), ("jis0212", "euc-jp")])
def test_decoders(file: str, encoding: str) -> None:
    """Every two bytes, or three, and what browsers make of them."""
    given = shared("charset-decoders", "given", f"{file}_in.txt").read_bytes()
    expected = shared("charset-decoders", "given", f"{file}_in_ref.txt").read_bytes().decode()
    lines = list(zip(given.split(b"\n"), expected.split("\n"), strict=True))
    right = sum(decoder(encoding)(line) == text for line, text in lines)
    print(f"charset-decoders, {file}: {right} of {len(lines)} lines")
    assert right == len(lines) > 5_000
    assert decoder(encoding)(given) == expected


def _codec(label: str) -> str:
    """``windows-1251-russian``: the encoding, and perhaps a language."""
    for name in (label, label.rpartition("-")[0]):
        try:
            return codecs.lookup(name).name
        except LookupError:
            continue
    return ""
