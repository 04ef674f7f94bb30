"""What stands beside the text of a document, or in the middle of it: notes, text boxes, diagrams, comments, files attached."""

from __future__ import annotations

from itertools import count
from types import SimpleNamespace

import pytest

from larm.model.cuts import DOCUMENTS
from larm.parse.apart import limits
from larm.parse.apart.child import found_in
from larm.parse.apart.protocol import OPEN, PDF, SHEET, SLIDES, WORD, Found, Request
from tests.parse.office_files import docx, odt, pdf, pptx, unzipped, xlsx, zipped

_DIAGRAM = "<dgm:dataModel><dgm:pt><dgm:t><a:p><a:r><a:t>Step</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:dataModel>"
_CHART = (
    "<c:chart><c:title><a:p><a:r><a:t>Yield</a:t></a:r></a:p></c:title><c:cat><c:strCache><c:pt><c:v>Barley</c:v></c:pt>"
    "</c:strCache></c:cat><c:val><c:numCache><c:pt><c:v>17</c:v></c:pt></c:numCache></c:val></c:chart>"
)
_MIMETYPE = "application/vnd.oasis.opendocument.text"


def found(kind: str, body: bytes) -> Found:
    return found_in(Request(kind, body, 30.0, 1_000_000, 400_000_000))


def words(kind: str, body: bytes) -> list[str]:
    return found(kind, body).text.split()


@pytest.mark.parametrize(
    ("kind", "body", "folder"), [(WORD, docx(), "word"), (SLIDES, pptx(), "ppt"), (SHEET, xlsx(), "xl")], ids=lambda each: ""
)
@pytest.mark.parametrize(
    ("part", "text", "said"),
    [
        ("diagrams/data1.xml", _DIAGRAM, ["Step"]),
        ("charts/chart2.xml", _CHART, ["Yield", "Barley"]),
        ("drawings/drawing1.xml", "<xdr:sp><a:p><a:r><a:t>Bo</a:t></a:r><a:r><a:t>xed</a:t></a:r></a:p></xdr:sp>", ["Boxed"]),
        ("comments/modernComment_1_0.xml", "<p188:cm><a:p><a:r><a:t>Really?</a:t></a:r></a:p></p188:cm>", ["Really?"]),
        (
            "comments/comment1.xml",
            "<p:cmLst><p:cm><p:text>Why</p:text></p:cm><p:cm><p:text>not</p:text></p:cm></p:cmLst>",
            ["Why", "not"],
        ),
        ("threadedComments/threadedComment1.xml", "<x><threadedComment><text>Agreed</text></threadedComment></x>", ["Agreed"]),
    ],
)
def test_parts_with_words_of_their_own(kind: str, body: bytes, folder: str, part: str, text: str, said: list[str]) -> None:
    assert words(kind, zipped(unzipped(body) | {f"{folder}/{part}": text})) == words(kind, body) + said


def test_a_text_box_in_a_paragraph() -> None:
    """Its paragraphs stand within that one, which is whole without them."""
    parts = unzipped(docx())
    inner = "".join(f"<w:p><w:r><w:t>{each}</w:t></w:r></w:p>" for each in ("inner", "too"))
    box = f"<w:r><w:pict><w:txbxContent>{inner}</w:txbxContent></w:pict></w:r>"
    parts["word/document.xml"] = f"<w:document><w:p><w:r><w:t>out</w:t></w:r>{box}<w:r><w:t>er</w:t></w:r></w:p></w:document>"
    assert found(WORD, zipped(parts)).text.splitlines()[:3] == ["inner", "too", "outer"]


_CELL = "<table:table><table:table-row><table:table-cell>{}</table:table-cell></table:table-row></table:table>"


@pytest.mark.parametrize(
    "within",
    [
        "<text:note><text:note-citation>1</text:note-citation><text:note-body>{}</text:note-body></text:note>",
        "<office:annotation><dc:creator>me</dc:creator>{}</office:annotation>",
        "<draw:frame><draw:text-box>{}</draw:text-box></draw:frame>",
        f"<draw:frame><draw:text-box>{_CELL}</draw:text-box></draw:frame>",
    ],
    ids=["note", "comment", "box", "table"],
)
def test_what_stands_in_the_middle_of_a_paragraph(within: str) -> None:
    inner = within.format("<text:p>something else</text:p>")
    content = f"<office:text><text:p>out{inner}er</text:p><text:p>next</text:p></office:text>"
    lines = found(OPEN, zipped({"content.xml": content}, _MIMETYPE)).text.splitlines()
    assert [line.strip() for line in lines if line.strip()] == ["something else", "outer", "next"]


def test_headers_footers_and_objects_of_open_document() -> None:
    styles = (
        "<office:document-styles><office:styles><text:p>never</text:p></office:styles><office:master-styles><style:master-page>"
        "<style:header><text:p>Letter head</text:p></style:header><style:footer><text:p>Bank</text:p></style:footer>"
        "<draw:frame><text:p>Click to edit</text:p></draw:frame></style:master-page></office:master-styles>"
        "</office:document-styles>"
    )
    chart = "<office:chart><chart:title><text:p>Yield</text:p></chart:title></office:chart>"
    parts = unzipped(odt()) | {"styles.xml": styles, "Object 1/content.xml": chart}
    assert words(OPEN, zipped(parts, _MIMETYPE)) == [*words(OPEN, odt()), "Letter", "head", "Bank", "Yield"]


def noted(*annotations: str) -> bytes:
    text = pdf("T", ["Page"]).decode("latin-1").replace("/Annots[]", f"/Annots[{''.join(annotations)}]")
    return text[: text.rindex("startxref")].encode("latin-1")  # the places are wrong: made anew


@pytest.mark.parametrize("kind", ["Text", "Highlight", "Underline", "StrikeOut", "Stamp", "Caret", "Square", "Ink"])
def test_what_readers_have_noted_on_a_pdf(kind: str) -> None:
    note = f"<</Type/Annot/Subtype/{kind}/Rect[40 90 400 120]/Contents(I doubt it)>>"
    window = "<</Type/Annot/Subtype/Popup/Rect[40 90 400 120]/Contents(twice)>>"
    assert words(PDF, noted(note, window)) == ["Page", "I", "doubt", "it"]


def attaching(*files: tuple[str, bytes]) -> bytes:
    objects, names = "", ""
    for number, (name, data) in enumerate(files):
        file, stream = 90 + 2 * number, 91 + 2 * number
        objects += f"{file} 0 obj\n<</Type/Filespec/F({name})/UF({name})/EF<</F {stream} 0 R>>>>\nendobj\n"
        head = f"<</Type/EmbeddedFile/Length {len(data)}>>"
        objects += f"{stream} 0 obj\n{head}stream\n{data.decode('latin-1')}\nendstream\nendobj\n"
        names += f"({name}) {file} 0 R"
    text = pdf("T", ["Open in another program"]).decode("latin-1")
    text = text.replace("/Type/Catalog", f"/Type/Catalog/Names<</EmbeddedFiles<</Names[{names}]>>>>", 1)
    text = text.replace("xref\n", f"{objects}xref\n", 1)
    return text[: text.rindex("startxref")].encode("latin-1")


def test_what_is_attached_to_a_pdf() -> None:
    """Of a portfolio that is all there is; what is attached to what is attached is left."""
    letter = pdf("Inner", ["First letter", "second page"])
    read = found(PDF, attaching(("letter.pdf", letter), ("notes.txt", b"unread"), ("odd.pdf", b"%PDF-1.4 no more")))
    assert read.text.split() == [
        "Open",
        "in",
        "another",
        "program",
        "letter.pdf",
        "First",
        "letter",
        "second",
        "page",
        "notes.txt",
        "odd.pdf",
    ]
    assert read.title == "T"
    assert read.warnings == (
        "notes.txt: a file that is attached, and not read",
        "odd.pdf: a PDF that is attached, and can't be read",
    )


def test_links_of_a_pdf_to_the_file_beside_it() -> None:
    link = "<</Type/Annot/Subtype/Link/Rect[40 690 400 720]/A<</S/GoToR/F(part 2#b.pdf)/D[0/Fit]>>>>"
    assert found(PDF, noted(link)).links == (("part%202%23b.pdf", "Page"),)


def test_a_document_of_which_enough_is_read_says_so_once() -> None:
    """What is attached, or stands beside, may be thousands of files."""
    text = Request(PDF, attaching(*((f"{number}.txt", b"no") for number in range(30))), 30.0, 20, 400_000_000)
    assert len(found_in(text).warnings) == 1
    chart = "<office:chart><text:p>Yield</text:p></office:chart>"
    parts = unzipped(odt()) | {f"Object {number}/content.xml": chart for number in range(30)}
    assert len(found_in(Request(OPEN, zipped(parts, _MIMETYPE), 30.0, 1, 400_000_000)).warnings) == 1


def test_diagrams_take_no_more_time_than_all_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is too late gets nothing of the whole document."""
    looks = count()
    monkeypatch.setattr(limits, "_clock", SimpleNamespace(monotonic=lambda: float(next(looks))))
    drawing = f"<a:p><a:t>first</a:t>{40_000 * '<a:r/>'}<a:t>last</a:t></a:p>"
    read = found(WORD, zipped(unzipped(docx()) | {"word/drawings/drawing1.xml": drawing}))
    assert read.text.startswith(found_in(Request(WORD, docx(), 99.0, 1_000_000, 400_000_000)).text)
    assert "first" in read.text
    assert "last" not in read.text
    assert read.cuts == (DOCUMENTS,)
