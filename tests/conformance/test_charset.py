"""Encodings: html5lib's suite and the decoders must hold to the letter; real pages and short texts give a score."""

from __future__ import annotations

import codecs
import json
import lzma
import re
import tarfile
from collections import Counter
from collections.abc import Iterator

import pytest
import webencodings

from larm.parse.charset import encoding_of, text_of
from larm.parse.decoders import decoder
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
            encoding = encoding_of(data)
            # one page of the suite declares euc-jp and is UTF-8: a browser shows it as nobody can read it
            if (name := encoding.declared or encoding.name) != expected:
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


@pytest.mark.parametrize("corpus", ["charset-chardet", "charset-uchardet"])
def test_declarations_and_what_the_bytes_say(corpus: str) -> None:
    """Pages that declare what they are in are believed, all of them; of those that declare something else, nearly none."""
    overridden: list[str] = []
    found = count = 0
    for name, label, body in _corpus(corpus):
        bare, codec = _DECLARATION.sub(b"", body), _codec(label)
        if not codec or bare.isascii() or bare.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
            continue
        own = (label, label.rpartition("-")[0])
        overridden += [name for each in own if encoding_of(bare, f"text/html; charset={each}").declared]
        for wrong in ("iso-8859-1", "windows-1251", "shift_jis") if codec == "utf-8" else ("utf-8",):
            browsers = decoder(_BROWSERS.get(label.rpartition("-")[0].lower(), _BROWSERS.get(label.lower(), codec)))
            count += 1
            found += text_of(bare, f"text/html; charset={wrong}")[0] in (bare.decode(codec, "replace"), browsers(bare))
    print(f"{corpus}, declared as something else: {found} of {count} ({found / count:.1%})")
    assert overridden == []
    assert found / count >= 0.93


_WRITTEN_IN = {  # languages, and encodings that their pages used to have
    "windows-1252": "da de es fi fr is it nb nl pt sv",
    "windows-1250": "cs hr hu pl ro sk sl",
    "iso-8859-2": "cs hu pl",
    "windows-1251": "be bg ru sr uk",
    "koi8-r": "ru",
    "iso-8859-5": "ru",
    "ibm866": "ru",
    "windows-1253": "el",
    "iso-8859-7": "el",
    "windows-1254": "tr",
    "windows-1255": "he",
    "windows-1256": "ar fa",
    "windows-1257": "et lt lv",
    "windows-1258": "vi",
    "windows-874": "th",
    "shift_jis": "ja",
    "euc-jp": "ja",
    "euc-kr": "ko",
    "gb18030": "zh",
    "big5": "zh",
}
_PYTHON = {"shift_jis": "cp932", "euc-kr": "cp949", "ibm866": "cp866", "windows-874": "cp874"}


@pytest.mark.parametrize(("sentences", "bar"), [(1, 0.975), (4, 0.985)])
def test_sentences(sentences: int, bar: float) -> None:
    """langid-lingua's sentences in a page of ASCII menus, in the encodings that their languages had before UTF-8."""
    texts: dict[str, list[str]] = {}
    with lzma.open(shared("langid-lingua", "given", "texts.jsonl.xz"), "rt", encoding="utf-8") as lines:
        for case in map(json.loads, lines):
            if case["kind"].startswith("sent"):
                texts.setdefault(case["lang"], []).append(case["text"])
    right = count = 0
    missed: Counter[str] = Counter()
    menu = "<li><a href='/some/where'>Some words</a></li>" * 50
    for encoding, languages in _WRITTEN_IN.items():
        for language in languages.split():
            for start in range(0, 20 * sentences, sentences):
                text = " ".join(texts[language][start : start + sentences])
                body = f"<title>x</title><ul>{menu}</ul><p>{text}</p>".encode(_PYTHON.get(encoding, encoding), "ignore")
                if not body.isascii():
                    count += 1
                    right += (good := text_of(body)[0] == decoder(encoding)(body))
                    missed[f"{language} in {encoding}"] += not good
    most = ", ".join(f"{what} ({times})" for what, times in missed.most_common(5) if times)
    print(
        f"langid-lingua, {sentences} sentences without a charset: {right} of {count} ({right / count:.1%}); most often {most}"
    )
    assert right / count >= bar


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
