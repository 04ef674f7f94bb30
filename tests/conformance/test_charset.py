"""Encodings: the html5lib suite must hold to the letter; chardet's corpus of real pages gives a score."""

from __future__ import annotations

import codecs
import re
import tarfile

import pytest
import webencodings

from larm.processing.charset import encoding_of, text_of
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


@pytest.mark.parametrize(("declared", "bar"), [(True, 145), (False, 27)])
def test_chardet_corpus(declared: bool, bar: int) -> None:
    """Pages without HTTP headers, with and without their own declarations; half of them declare nothing.

    What is missing is a detector for the legacy encodings, which are guessed to be windows-1252.
    """
    right = count = 0
    with tarfile.open(shared("charset-chardet", "given", "files.tar.xz")) as tar:
        for member in tar:
            file = tar.extractfile(member)
            true = _codec(member.name.partition("/")[0])
            if file is None or not true:
                continue
            body = file.read() if declared else _DECLARATION.sub(b"", file.read())
            count += 1
            right += text_of(body)[0].lstrip("\ufeff") == body.decode(true, "replace").lstrip("\ufeff")
    print(f"chardet, {'as they are' if declared else 'without declarations'}: {right} of {count}")
    assert right >= bar


def _codec(folder: str) -> str:
    """``windows-1251-russian``: the encoding, and perhaps a language."""
    for name in (folder, folder.rpartition("-")[0]):
        try:
            return codecs.lookup(name).name
        except LookupError:
            continue
    return ""
