"""Small documents of all kinds, made by hand: what a test needs to know of each stands here."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence

_TYPES = "<Types xmlns='http://schemas.openxmlformats.org/package/2006/content-types'/>"
_R = "xmlns:r='http://schemas.openxmlformats.org/officeDocument/2006/relationships'"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_CORE = (
    "<cp:coreProperties xmlns:dc='http://purl.org/dc/elements/1.1/' xmlns:cp='x' xmlns:dcterms='y'>{}"
    "<dc:language>de-DE</dc:language><dcterms:modified>1970-01-02T00:00:00Z</dcterms:modified></cp:coreProperties>"
)


def zipped(parts: Mapping[str, str], mimetype: str = "") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        if mimetype:
            file.writestr(zipfile.ZipInfo("mimetype"), mimetype)
        for name, text in parts.items():
            file.writestr(name, text)
    return buffer.getvalue()


def unzipped(body: bytes) -> dict[str, str]:
    """Its parts but the mimetype."""
    with zipfile.ZipFile(io.BytesIO(body)) as file:
        return {name: file.read(name).decode() for name in file.namelist() if name != "mimetype"}


def relations(*targets: str) -> str:
    """Ids r1, r2 ...; an address is external."""
    rows = (
        f"<Relationship Id='r{number}' Type='{_OFFICE}/x' Target='{target}'"
        + (" TargetMode='External'/>" if "://" in target else "/>")
        for number, target in enumerate(targets, 1)
    )
    return f"<Relationships>{''.join(rows)}</Relationships>"


def main(part: str) -> str:
    return f"<Relationships><Relationship Id='r' Type='{_OFFICE}/officeDocument' Target='{part}'/></Relationships>"


def pdf(
    title: str, pages: Sequence[str], link: str = "", large: str = "", author: str = "", outline: Sequence[str] = ()
) -> bytes:
    """``outline``: a chapter and its sections."""
    objects = ["<</Type/Catalog/Pages 2 0 R>>", ""]
    kids = []
    for number, text in enumerate(pages):
        head = f"/F 30 Tf 50 750 Td ({large}) Tj 0 -50 Td " if large else "/F 12 Tf 50 700 Td "
        stream = f"BT {head}/F 12 Tf ({text}) Tj ET"
        note = f"<</Type/Annot/Subtype/Link/Rect[40 690 400 720]/A<</S/URI/URI({link})>>>>" if link and not number else ""
        objects.append(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]"
            "/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"
            f"/Contents {len(objects) + 2} 0 R/Annots[{note}]>>"
        )
        kids.append(f"{len(objects)} 0 R")
        objects.append(f"<</Length {len(stream)}>>stream\n{stream}\nendstream")
    objects[1] = f"<</Type/Pages/Count {len(kids)}/Kids[{' '.join(kids)}]>>"
    if outline:
        root = len(objects) + 1
        objects[0] = f"<</Type/Catalog/Pages 2 0 R/Outlines {root} 0 R>>"
        objects.append(f"<</First {root + 1} 0 R/Last {root + 1} 0 R>>")
        for number, name in enumerate(outline, root + 1):
            first = f"/First {number + 1} 0 R/Last {number + 1} 0 R" if number <= root + 1 < root + len(outline) else ""
            after = f"/Next {number + 1} 0 R" if root + 1 < number < root + len(outline) else ""
            objects.append(f"<</Title({name})/Parent {root} 0 R{first}{after}>>")
    objects.append(f"<</Title({title})/Author({author})/ModDate(D:19700102000000Z)>>")
    out, places = "%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    start = len(out)
    out += f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer<</Size {size}/Root 1 0 R/Info {size - 1} 0 R>>\n"
    return f"{out}startxref\n{start}\n%%EOF\n".encode("latin-1")


def docx() -> bytes:
    def run(text: str) -> str:
        return f"<w:r><w:t xml:space='preserve'>{text}</w:t></w:r>"

    def mark(kind: str) -> str:
        return f"<w:r><w:fldChar w:fldCharType='{kind}'/></w:r>"

    body = (
        f"<w:p><w:pPr><w:pStyle w:val='berschrift1'/></w:pPr>{run('Überschrift')}</w:p>"
        f"<w:p>{run('Some words and ')}<w:hyperlink r:id='r1'>{run('a ')}{run('link')}</w:hyperlink>{run(', and ')}"
        f'{mark("begin")}<w:r><w:instrText> HYPERLINK "http://a.localhost/field" </w:instrText></w:r>{mark("separate")}'
        f"{run('a field')}{mark('end')}{run('.')}<w:r><w:delText>deleted</w:delText></w:r></w:p>"
        f"<w:tbl><w:tr><w:tc><w:p>{run('cell 1')}</w:p></w:tc><w:tc><w:p>{run('cell 2')}</w:p></w:tc></w:tr></w:tbl>"
        f"<mc:AlternateContent><mc:Choice/><mc:Fallback><w:p>{run('twice')}</w:p></mc:Fallback></mc:AlternateContent>"
    )
    return zipped(
        {
            "[Content_Types].xml": _TYPES,
            "_rels/.rels": main("word/document.xml"),
            "word/document.xml": f"<?xml version='1.0' encoding='UTF-8'?><w:document {_R}><w:body>{body}</w:body></w:document>",
            "word/_rels/document.xml.rels": relations("http://a.localhost/linked"),
            "word/styles.xml": "<w:styles><w:style w:styleId='berschrift1'><w:name w:val='heading 1'/></w:style></w:styles>",
            "word/footnotes.xml": f"<w:footnotes><w:p>{run('A note')}</w:p></w:footnotes>",
            "word/footer1.xml": f"<w:ftr><w:p>{run('A footer')}</w:p></w:ftr>",
            "docProps/core.xml": _CORE.format("<dc:title>Of crawlers</dc:title><dc:creator>Dora Dox</dc:creator>"),
        }
    )


def xlsx() -> bytes:
    cells = (
        "<row><c t='s'><v>0</v></c><c><v>12.5</v></c><c t='inlineStr'><is><t>in line</t></is></c>"
        "<c s='1'><v>45293</v></c><c/></row>"
        "<hyperlinks><hyperlink ref='A1' r:id='r1' display='the shop'/></hyperlinks>"
    )
    return zipped(
        {
            "[Content_Types].xml": _TYPES,
            "_rels/.rels": main("xl/workbook.xml"),
            "xl/workbook.xml": f"<workbook {_R}><sheet name='Prices' r:id='r1'/><sheet name='Second' r:id='r2'/></workbook>",
            "xl/_rels/workbook.xml.rels": relations("worksheets/sheet1.xml", "/xl/worksheets/sheet2.xml"),
            "xl/sharedStrings.xml": "<sst><si><r><t>Ap</t></r><r><t>ples</t></r><rPh><t>reading</t></rPh></si>"
            "<si><t>Pears</t></si></sst>",
            "xl/worksheets/sheet1.xml": f"<worksheet {_R}>{cells}</worksheet>",
            "xl/worksheets/_rels/sheet1.xml.rels": relations("http://a.localhost/shop", "../comments1.xml"),
            "xl/comments1.xml": "<comments><comment><text><r><t>A remark</t></r></text></comment></comments>",
            "xl/styles.xml": "<styleSheet><cellXfs><xf numFmtId='0'/><xf numFmtId='14'/></cellXfs></styleSheet>",
            "docProps/core.xml": _CORE.format("<dc:creator>Xenia Lister</dc:creator>"),
            "xl/worksheets/sheet2.xml": "<worksheet><row><c t='s'><v>1</v></c><c t='s'><v>99</v></c></row></worksheet>",
        }
    )


def pptx() -> bytes:
    def shape(text: str, kind: str = "") -> str:
        place = f"<p:nvPr><p:ph type='{kind}'/></p:nvPr>" if kind else ""
        return f"<p:sp>{place}<p:txBody><a:p>{text}</a:p></p:txBody></p:sp>"

    def run(text: str, link: str = "") -> str:
        return f"<a:r>{f'<a:rPr><a:hlinkClick r:id={link!r}/></a:rPr>' if link else ''}<a:t>{text}</a:t></a:r>"

    return zipped(
        {
            "[Content_Types].xml": _TYPES,
            "_rels/.rels": main("ppt/presentation.xml"),
            "ppt/presentation.xml": f"<p:presentation {_R}><p:sldIdLst><p:sldId id='1' r:id='r2'/>"
            "<p:sldId id='2' r:id='r1'/></p:sldIdLst></p:presentation>",
            "ppt/_rels/presentation.xml.rels": relations("slides/slide1.xml", "slides/slide2.xml"),
            "ppt/slides/slide1.xml": f"<p:sld>{shape(run('The end'), 'title')}</p:sld>",
            "ppt/slides/slide2.xml": (
                f"<p:sld {_R}>{shape(run('Welcome'), 'ctrTitle')}{shape(run('see ') + run('here', 'r1'))}</p:sld>"
            ),
            "ppt/slides/_rels/slide2.xml.rels": relations("http://a.localhost/here", "../notesSlides/notesSlide1.xml"),
            "docProps/core.xml": _CORE.format("<dc:creator>Petra Slider</dc:creator>"),
            "ppt/notesSlides/notesSlide1.xml": f"<p:notes>{shape(run('Said aloud'))}</p:notes>",
        }
    )


def odt() -> bytes:
    content = (
        "<office:document-content><office:automatic-styles>x<text:p>styles</text:p></office:automatic-styles><office:text>"
        "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes><text:h>A heading</text:h>"
        "<text:p>Some<text:s/><text:span>words</text:span>, "
        "<text:a xlink:href='http://a.localhost/linked'>a link</text:a></text:p>"
        "</office:text></office:document-content>"
    )
    meta = (
        "<office:meta><dc:title>Of crawlers</dc:title><dc:date>1970-01-02T00:00:00</dc:date><dc:creator>Odo Tee</dc:creator>"
        "<meta:initial-creator>Inga Tee</meta:initial-creator></office:meta>"
    )
    return zipped({"content.xml": content, "meta.xml": meta}, "application/vnd.oasis.opendocument.text")


def ods() -> bytes:
    content = (
        "<office:spreadsheet><table:table table:name='Prices'><table:table-row><table:table-cell><text:p>Apples</text:p>"
        "</table:table-cell><table:table-cell office:value='12.5'><text:p>12.5</text:p></table:table-cell></table:table-row>"
        "</table:table></office:spreadsheet>"
    )
    return zipped({"content.xml": content}, "application/vnd.oasis.opendocument.spreadsheet")


def epub() -> bytes:
    """Its parts stand in another order than they are read in."""

    def chapter(text: str) -> str:
        return (
            f"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><head><title/></head><body>{text}</body></html>"
        )

    items = {"a": "b%20c.xhtml", "b": "../one.xhtml", "c": "style.css", "d": "locked.xhtml", "e": "lost.xhtml"}
    manifest = "".join(
        f"<opf:item id='{name}' href='{href}' media-type='{'text/css' if 'css' in href else 'application/xhtml+xml'}'/>"
        for name, href in items.items()
    )
    parts = {
        "META-INF/container.xml": "<container><rootfiles><rootfile full-path='OEBPS/book.opf'/></rootfiles></container>",
        "META-INF/encryption.xml": "<encryption><enc:CipherReference URI='OEBPS/locked.xhtml'/></encryption>",
        "OEBPS/book.opf": "<opf:package><metadata><dc:title>Of crawlers</dc:title><dc:language>de</dc:language>"
        "<dc:subject>Web</dc:subject><dc:subject>Search</dc:subject><dc:date>1970-01-02</dc:date></metadata>"
        f"<manifest>{manifest}</manifest>"
        f"<spine>{''.join(f'<itemref idref={name!r}/>' for name in 'bade')}</spine></opf:package>",
        "OEBPS/b c.xhtml": chapter("<h1>Second</h1><p>More <a href='http://a.localhost/x'>there</a>"),
        "OEBPS/style.css": "p { color: red }",
        "OEBPS/locked.xhtml": "\x01\x02",
        "one.xhtml": chapter("<script/><h1>First</h1><p>Some <b>words</b> and <a href='OEBPS/b%20c.xhtml'>a link</a>"),
        "unlisted.html": chapter("never"),
    }
    return zipped(parts, "application/epub+zip")
