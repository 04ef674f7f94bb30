"""PDF and office files, as a crawl reads them: made here, read in a process apart."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.config import DocumentsSettings, ProcessingSettings
from larm.model.cuts import DOCUMENTS, EFFORT, PROCESSES, TEXT
from larm.model.document import Document
from larm.model.link_memo import LinkMemo
from larm.parse import xml_tokens
from larm.parse.apart.child import found_in
from larm.parse.apart.limits import Budget
from larm.parse.apart.office import read_office
from larm.parse.apart.protocol import EPUB, KINDS, OPEN, PDF, SHEET, SLIDES, WORD, Found, Request
from larm.parse.apart.reader import DocumentReader
from larm.parse.apart.titles import better_title
from larm.parse.by_mime import ByMime, processors
from larm.testing.fakes import message, page
from tests.parse.office_files import docx, epub, ods, odt, pdf, pptx, unzipped, xlsx, zipped
from tests.parse.pages import PAGE, normalizer


def request(kind: str, body: bytes = b"", *, text: int = 20_000_000, memory: int = 400_000_000, effort: int = 1) -> Request:
    return Request(kind, body, 30.0, text, memory, effort)


MIMES = {kind: mime for mime, kind in reversed(KINDS.items())}


@pytest.fixture(scope="module")
def reader() -> Iterator[DocumentReader]:
    reader = DocumentReader(DocumentsSettings(processes=1))
    yield reader
    reader.close()


@pytest.fixture
def by_mime(reader: DocumentReader) -> ByMime:
    return processors(LinkMemo(normalizer), ProcessingSettings(), documents=reader)


def read(by_mime: ByMime, body: bytes, content_type: str = "", **headers: str) -> Document:
    return by_mime.process(message(PAGE), page(body, content_type=content_type, **headers))


def links(document: Document) -> list[tuple[str, str]]:
    return [(link.url.access.removeprefix("http://a.localhost"), link.anchor) for link in document.links]


def test_rich_text_whatever_it_is_sent_as(by_mime: ByMime) -> None:
    body = rb'{\rtf1{\info{\title Tea}}Leaves {\field{\*\fldinst HYPERLINK "/x"}{\fldrslt here}}}'
    for sent_as in ("text/rtf", "application/msword"):
        found = read(by_mime, body, sent_as)
        assert (found.mime, found.title, found.text, links(found)) == (
            "application/rtf",
            "Tea",
            "Leaves here",
            [("/x", "here")],
        )


def test_pdf(by_mime: ByMime) -> None:
    found = read(by_mime, pdf("Of crawlers", ["First page", "Second"], link="http://a.localhost/x"))
    assert (found.mime, found.title, found.text) == ("application/pdf", "Of crawlers", "First page Second")
    assert (found.modified, found.index, found.warnings) == (86_400, True, ())
    assert ("/x", "First page") in links(found)


def test_pdf_outline_is_read_in_the_order_of_the_document_even_in_a_circle(by_mime: ByMime) -> None:
    body = pdf("T", ["Page"], outline=["Burrows", "Termites", "Tunnels"])
    assert read(by_mime, body).headings == ("Burrows", "Termites", "Tunnels")
    last = body.rindex(b"<</Title(Tunnels)")
    first = int(body[body.rindex(b"/First ", 0, last) + 7 :].split()[0])
    circle = body[:last] + body[last:].replace(b"<</Title(Tunnels)", b"<</Title(Tunnels)/Next %d 0 R" % first, 1)
    assert set(read(by_mime, circle).headings) == {"Burrows", "Termites", "Tunnels"}


def test_pdf_without_a_title_of_its_own(by_mime: ByMime) -> None:
    assert read(by_mime, pdf("Microsoft Word - thesis.doc", ["Words"])).title == "thesis.doc"
    assert read(by_mime, pdf("untitled", ["Words"])).title == ""
    for title in ("", "untitled", "thesis.doc"):
        assert read(by_mime, pdf(title, ["Words"], large="A great heading")).title == "A great heading"


def entitled(document: bytes, title: str, mimetype: str = "") -> bytes:
    return zipped({name: part.replace("Of crawlers", title) for name, part in unzipped(document).items()}, mimetype)


MADE_UP = (
    "Microsoft Word - final_v3b.doc|Untitled-1|C:\\\\Users\\\\me\\\\x|/home/me/report|report_2020"
    "|PowerPoint-Präsentation|Presentación de PowerPoint|paper.dvi|Scan 12|(anonymous)|PII: S0140|"
    "TeX output 2001.01.01:1200|Presentazione di PowerPoint|"
)
SAYING = (
    "Of crawlers|Presenting PowerPoint 2019|TeX output formats|RFC 9309|Titles|Documents of 1990|Slide rules|e.g. this|Node.js"
)


@pytest.mark.parametrize("title", MADE_UP.split("|"))
def test_title_that_a_program_wrote_gives_way_to_the_heading(by_mime: ByMime, title: str) -> None:
    """In all kinds of documents."""
    read_title = {
        "pdf": read(by_mime, pdf(title, ["Words"], large="A great heading")).title,
        "docx": read(by_mime, entitled(docx(), title)).title,
        "odt": read(by_mime, entitled(odt(), title, "application/vnd.oasis.opendocument.text")).title,
        "rtf": better_title(title, "A great heading"),
    }
    assert read_title == {"pdf": "A great heading", "docx": "Überschrift", "odt": "A heading", "rtf": "A great heading"}


@pytest.mark.parametrize("title", SAYING.split("|"))
def test_title_that_says_something_stays(title: str) -> None:
    assert better_title(title, "A great heading") == title


def test_large_letters_of_one_size_are_a_heading(by_mime: ByMime) -> None:
    assert read(by_mime, pdf("a.doc", [], large="A great heading")).title == "a.doc"
    whole = pdf("a.doc", ["Zeppelins of the North Sea"]).replace(b"/F 12 Tf", b"/F 28 Tf")
    assert read(by_mime, whole).title == "Zeppelins of the North Sea"


def test_what_is_no_pdf_is_found_by_its_address(by_mime: ByMime) -> None:
    found = read(by_mime, b"%PDF-1.4 and nothing else", "application/pdf")
    assert (found.text, found.index) == ("", True)
    assert found.warnings == (f"{PAGE}: application/pdf: it is no PDF, or damaged",)


def test_docx(by_mime: ByMime) -> None:
    found = read(by_mime, docx())
    assert found.mime == MIMES["word"]
    assert (found.title, found.modified, found.language) == ("Of crawlers", 86_400, "de")
    assert found.text == "Überschrift Some words and a link, and a field. cell 1 cell 2 A footer A note"
    assert found.headings == ("Überschrift",)
    assert links(found) == [("/linked", "a link"), ("/field", "a field")]
    assert found.warnings == ()


def test_links_of_formulas(by_mime: ByMime) -> None:
    """Excel has calculated the first one; who writes tables by a program leaves that to it."""
    cells = (
        "<c t='str'><f>HYPERLINK(&quot;http://a.localhost/one&quot;,A1)</f><v>Apples</v></c>"
        "<c><f>IF(A1, hyperlink( &quot;http://a.localhost/two&quot; , &quot;Pears&quot;))</f></c><c><f>SUM(A1:A3)</f></c>"
    )
    parts = unzipped(xlsx()) | {"xl/worksheets/sheet2.xml": f"<worksheet><row>{cells}</row></worksheet>"}
    found = read(by_mime, zipped(parts))
    assert found.text.endswith("Second Apples Pears")
    assert links(found) == [("/shop", "the shop"), ("/one", "Apples"), ("/two", "Pears")]


def test_xlsx(by_mime: ByMime) -> None:
    found = read(by_mime, xlsx())
    assert found.mime == MIMES["sheet"]
    assert (found.title, found.text) == ("", "Prices Apples 12.5 in line 2024-01-02 A remark Second Pears")
    assert found.headings == ("Prices", "Second")
    assert links(found) == [("/shop", "the shop")]


def test_pptx(by_mime: ByMime) -> None:
    found = read(by_mime, pptx())
    assert found.mime == MIMES["slides"]
    assert (found.title, found.text) == ("Welcome", "Welcome see here Said aloud The end")
    assert found.headings == ("Welcome", "The end")
    assert links(found) == [("/here", "here")]


def test_odt(by_mime: ByMime) -> None:
    found = read(by_mime, odt())
    assert found.mime == "application/vnd.oasis.opendocument.text"
    assert (found.title, found.modified) == ("Of crawlers", 86_400)
    assert found.text == "A heading Some words, a link"
    assert (found.headings, links(found)) == (("A heading",), [("/linked", "a link")])


@pytest.mark.parametrize(
    ("address", "leads_to"),
    [
        ("../beside", "/docs/beside"),
        ("../../above", "/above"),
        ("../sub/below", "/docs/sub/below"),
        ("beside", "/docs/beside"),  # wrong, but what else may be meant?
        ("/root", "/root"),
    ],
)
def test_links_of_open_document_are_as_seen_from_within_the_file(by_mime: ByMime, address: str, leads_to: str) -> None:
    content = f"<office:text><text:p><text:a xlink:href='{address}'>x</text:a></text:p></office:text>"
    body = zipped({"content.xml": content}, MIMES[OPEN])
    found = by_mime.process(message("http://a.localhost/docs/letter.odt"), page(body))
    assert links(found) == [(leads_to, "x")]


def test_ods(by_mime: ByMime) -> None:
    found = read(by_mime, ods())
    assert found.text == "Prices Apples 12.5"


def test_epub(by_mime: ByMime) -> None:
    found = read(by_mime, epub(), "application/zip")
    assert found.mime == MIMES[EPUB]
    assert (found.title, found.modified, found.language, found.description) == ("Of crawlers", 86_400, "de", "Web Search")
    assert found.text == "First Some words and a link Second More there"
    assert (found.headings, links(found)) == (("First", "Second"), [("/x", "there")])
    said = [warning.rpartition(": ")[2] for warning in found.warnings]
    assert said == ["OEBPS/lost.xhtml is missing", "OEBPS/locked.xhtml is encrypted"]


def test_a_book_that_does_not_say_what_is_in_it(by_mime: ByMime) -> None:
    body = zipped({"2.html": "<title>B</title>two", "1.XHTML": "<p>one", "x.css": "p"}, MIMES[EPUB])
    found = read(by_mime, body)
    assert (found.title, found.text) == ("B", "one two")


def test_a_page_of_a_book_whose_markup_is_much_work_is_read_with_more_effort() -> None:
    """As pages of the web are: that it is cut is no secret, and a run that allows more asks for it again."""
    body = zipped({"a.html": f"<p {' '.join(f'a{n}=1' for n in range(8_000))}>first", "b.html": "<p>last"}, MIMES[EPUB])
    found, more = (read_office(body, EPUB, Budget(request(EPUB, effort=effort))) for effort in (1, 10))
    assert (found.cuts, more.cuts) == ((EFFORT,), ())
    assert found.warnings[0].startswith("a.html: ")
    assert (found.text.split(), more.text.split()) == (["last"], ["first", "last"])


def test_a_book_whose_pages_are_a_bomb(by_mime: ByMime) -> None:
    """40 pages of 5 MB, in a few KB; and one page whose markup would take minutes."""
    with io.BytesIO() as buffer:
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("a.html", "<p>first")
            file.writestr("b.html", "<b><i x>" * 100_000)
            for number in range(40):
                file.writestr(f"c{number}.html", "<p>bomb" * 700_000)
        body = buffer.getvalue()
    found = read(by_mime, body, MIMES[EPUB])
    assert found.text.startswith("first")
    assert DOCUMENTS in found.cuts or TEXT in found.cuts
    assert found.warnings


@pytest.mark.parametrize(
    ("body", "kind", "warning"),
    [
        (b"PK\x03\x04 and nothing else", "word", "no zip file, or damaged: File is not a zip file"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512), "word", "it needs a password, or is of the format before 2007"),
        (zipped({"x": "y"}), "word", "there is no text in it"),
        (zipped({"x": "y"}), "sheet", "there is no workbook in it"),
        (zipped({"x": "y"}), "slides", "there are no slides in it"),
        (zipped({"x": "y"}), "open", "there is no content in it"),
        (zipped({"x": "y"}), "epub", "there are no pages in it"),
        (
            zipped({"x.html": "y", "META-INF/encryption.xml": "<CipherReference URI='x.html'/>"}),
            "epub",
            "it is encrypted",
        ),
        (
            zipped({"content.xml": "<a/>", "META-INF/manifest.xml": "<manifest:encryption-data/>"}),
            "open",
            "it needs a password",
        ),
    ],
)
def test_what_can_not_be_read_is_said(by_mime: ByMime, body: bytes, kind: str, warning: str) -> None:
    found = read(by_mime, body, MIMES[kind])
    assert found.warnings == (f"{PAGE}: {MIMES[kind]}: {warning}",)
    assert (found.text, found.index) == ("", True)


def test_a_bomb_is_cut(by_mime: ByMime) -> None:
    """300 MB of text in 300 KB."""
    with io.BytesIO() as buffer:
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file, file.open("content.xml", "w") as part:
            part.write(b"<office:text><text:p>")
            for _ in range(300):
                part.write(b"bomb " * 200_000)
        body = buffer.getvalue()
    found = read(by_mime, body, MIMES["open"])
    assert len(found.raw_text) <= 20_000_000
    assert any("is longer than 60000000 bytes" in warning or "too" in warning for warning in found.warnings)


@settings(max_examples=100)
@given(data=st.data(), kind=st.sampled_from([WORD, SHEET, SLIDES, OPEN, EPUB]))
def test_any_bytes_are_read_or_refused(data: st.DataObject, kind: str) -> None:
    """In this process: what the readers raise would otherwise be hidden by the one that they run in."""
    parts = {WORD: docx(), SHEET: xlsx(), SLIDES: pptx(), OPEN: odt(), EPUB: epub()}[kind]
    with zipfile.ZipFile(io.BytesIO(parts)) as file:
        texts = {name: file.read(name).decode() for name in file.namelist()}
    name = data.draw(st.sampled_from(sorted(texts)))
    begin = data.draw(st.integers(0, len(texts[name])))
    end = data.draw(st.integers(begin, len(texts[name])))
    texts[name] = texts[name][:begin] + data.draw(st.sampled_from(["", "<", "</", "<w:p>", "'", "&#0;"])) + texts[name][end:]
    found = read_office(zipped(texts), kind, Budget(request(kind)))
    assert isinstance(found, Found)
    body = bytearray(parts)
    body[data.draw(st.integers(0, len(body) - 1))] ^= data.draw(st.integers(1, 255))
    assert isinstance(read_office(bytes(body), kind, Budget(request(kind))), Found)


@pytest.mark.parametrize("bits", [1, 2, 0x80])
def test_a_table_of_contents_that_points_nowhere(bits: int) -> None:
    """The end of the file says where it begins; all places of parts are counted from there."""
    whole = odt()
    for place in range(len(whole) - 22, len(whole)):
        body = bytearray(whole)
        body[place] ^= bits
        assert isinstance(read_office(bytes(body), OPEN, Budget(request(OPEN))), Found)


def test_entities_are_not_expanded(by_mime: ByMime) -> None:
    lol = "".join(f"<!ENTITY l{n + 1} '{f'&l{n};' * 10}'>" for n in range(9))
    body = zipped({"content.xml": f"<!DOCTYPE x [<!ENTITY l0 'lol'>{lol}]><text:p>&l9;</text:p>"})
    assert read(by_mime, body, MIMES["open"]).text == "&l9;"


def test_headers_count(by_mime: ByMime) -> None:
    assert not read(by_mime, docx(), x_robots_tag="noindex").index


def test_without_processes_they_are_stored_and_not_read() -> None:
    none = ProcessingSettings(documents=DocumentsSettings(processes=0))
    process = processors(LinkMemo(normalizer), none, documents=DocumentReader(none.documents))
    assert read(process, docx()) == Document(MIMES["word"], cuts=(PROCESSES,))


def with_font(body: bytes, character: str) -> bytes:
    """A PDF whose font says of its letter A that it is another character, in hexadecimal UTF-16."""
    rows = f"1 begincodespacerange <00> <FF> endcodespacerange 1 beginbfchar <41> <{character}> endbfchar"
    table = f"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def {rows} endcmap"
    text = body.decode("latin-1").replace("/BaseFont/Helvetica", "/BaseFont/Helvetica/ToUnicode 99 0 R")
    before, _, rest = text.partition("xref\n")
    stream = f"99 0 obj\n<</Length {len(table)}>>stream\n{table}\nendstream\nendobj\n"
    return f"{before}{stream}xref\n{rest[: rest.rindex('startxref')]}".encode("latin-1")  # the places are wrong: made anew


@pytest.mark.parametrize(
    ("character", "title"),
    [("0058", "X great heading"), ("D83DDE00", "\U0001f600 great heading"), ("D800", "\ufffd great heading")],
)
def test_a_pdf_with_half_characters_in_its_heading(by_mime: ByMime, character: str, title: str) -> None:
    """A title that could not be sent took all words of the document with it."""
    found = read(by_mime, with_font(pdf("", ["First page", "Second"], large="A great heading"), character))
    assert (found.title, found.warnings) == (title, ())
    assert found.text == f"{title} First page {title} Second"


def test_notes_on_a_pdf_are_read(by_mime: ByMime) -> None:
    note = "<</Type/Annot/Subtype/FreeText/Rect[40 90 400 120]/Contents(Written by hand)>>"
    text = pdf("T", ["Page"]).decode("latin-1").replace("/Annots[]", f"/Annots[{note}]")
    body = text[: text.rindex("startxref")].encode("latin-1")  # the places are wrong: made anew
    assert read(by_mime, body).text == "Page Written by hand"


@pytest.mark.parametrize(
    ("broken", "text", "warnings"),
    [
        ("_largest", "Big First page Big Second", ["page 1: ValueError: chr() arg not in range"]),
        (
            "_addresses",
            "Big First page Big Second",
            ["page 1: ValueError: chr() arg not in range", "page 2: ValueError: chr() arg not in range"],
        ),
        ("seconds_of_pdf", "Big First page Big Second", ["ValueError: chr() arg not in range"]),
    ],
)
def test_what_was_read_before_something_went_wrong(
    monkeypatch: pytest.MonkeyPatch, broken: str, text: str, warnings: list[str]
) -> None:
    """In this process: the readers are broken on purpose."""

    def fails(*_: object) -> None:
        raise ValueError("chr() arg not in range")

    monkeypatch.setattr(f"larm.parse.apart.pdf.{broken}", fails)
    found = found_in(request(PDF, pdf("", ["First page", "Second"], large="Big")))
    assert (" ".join(found.text.split()), list(found.warnings), found.failed) == (text, warnings, False)


def test_what_was_read_of_an_office_file_before_something_went_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ZeroDivisionError("of no use")

    monkeypatch.setattr("larm.parse.apart.package.Package.properties", fails)
    found = found_in(request(WORD, docx()))
    assert "Some words and a link" in found.text
    assert (found.warnings, found.failed, len(found.links)) == (("ZeroDivisionError: of no use",), False, 2)


def test_more_text_than_is_read_is_counted() -> None:
    budget = Budget(request(PDF, text=2_000))
    budget.text("x" * 2_003)
    found = budget.found()
    assert (len(found.text), found.cuts) == (2_000, (TEXT,))
    assert found.warnings == ("only the first 2000 characters are read, of 2003",)


@pytest.mark.parametrize(("rows", "cuts"), [(1_000, ()), (2_000, (DOCUMENTS,))])
def test_a_table_of_many_cells(monkeypatch: pytest.MonkeyPatch, rows: int, cuts: tuple[str, ...]) -> None:
    """A hundred times as many tags as of other XML: what ends the reading of a document is its time."""
    monkeypatch.setattr(xml_tokens, "MAX_TOKENS", 100)
    cells = "<row><c><v>1</v></c></row>" * rows
    with zipfile.ZipFile(io.BytesIO(xlsx())) as file:
        parts = {name: file.read(name).decode() for name in file.namelist()}
    found = found_in(request(SHEET, zipped({**parts, "xl/worksheets/sheet1.xml": f"<worksheet>{cells}</worksheet>"})))
    assert found.cuts == cuts
    assert (found.text.count("1\n") >= rows) == (not cuts)


def test_parts_that_are_longer_than_what_is_read_of_them_are_read_with_more_memory() -> None:
    body = zipped({"content.xml": "<text:p>" + "word " * 10_000 + "</text:p><text:p>last</text:p>"})
    found = found_in(request(OPEN, body, memory=200_000))
    assert (found.cuts, "last" in found.text) == ((DOCUMENTS,), False)
    found = found_in(request(OPEN, body, memory=400_000))
    assert (found.cuts, "last" in found.text) == ((), True)
