from __future__ import annotations

import io
import zipfile

import pytest

from larm.parse.mime import _OFFICE, is_binary, mime_of


@pytest.mark.parametrize(
    ("content_type", "body", "mime"),
    [
        ("text/html; charset=utf-8", b"", "text/html"),
        ("TEXT/HTML", b"", "text/html"),
        ("text/plain", b"<p>so to speak</p>", "text/plain"),  # as browsers: a server's word counts
        ("text/plain", b"<htmlish>", "text/plain"),
        ("text/plain", b"say <html>", "text/plain"),
        ("application/xml", b"<html>", "application/xml"),
        ("", b" \n<!doctype html>", "text/html"),
        ("", b"<html>", "text/html"),
        ("", b"<html", "text/plain"),
        ("", b"<pine>", "text/plain"),
        ("", b"\xef\xbb\xbf<p>x", "text/html"),
        ("application/octet-stream", b"<h1>x", "text/html"),
        ("application/octet-stream", b"\x7fELF\0", "application/octet-stream"),
        ("nonsense", b"%PDF-1.4", "application/pdf"),
        ("text/html, image/png", b"", "image/png"),
        ("image/png, nonsense", b"", "image/png"),
        ("", b"<?xml version='1.0'?><!DOCTYPE html PUBLIC 'x'>", "text/html"),
        ("", b"<?xml version='1.0'?><rss>", "application/rss+xml"),
        ("", b"<?xml version='1.0'?><other>", "text/xml"),
        ("", b"\x89PNG\r\n\x1a\n", "image/png"),
        ("", b"words", "text/plain"),
        ("", b"", "text/plain"),
        ("", b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
    ],
)
def test_type_of_an_answer(content_type: str, body: bytes, mime: str) -> None:
    assert mime_of(content_type, body) == mime


def test_binary() -> None:
    assert is_binary(b"\x1f\x8b\x08\0")
    assert not is_binary("ä\n\t".encode())
    assert not is_binary("x".encode("utf-16"))


def zipped(*names: str, packing: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", packing) as file:
        for name in names:
            file.writestr(name, "application/vnd.oasis.opendocument.text" if name == "mimetype" else "x")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content_type", "body", "mime"),
    [
        ("text/html", b"<!-- x --><rss version='2.0'>", "application/rss+xml"),
        ("text/html", b"<?xml version='1.0'?><!DOCTYPE rss [<!ENTITY x 'y'>]><rss>", "application/rss+xml"),
        ("text/plain", b"\xef\xbb\xbf <feed xmlns='x'>", "application/atom+xml"),
        ("text/html", b"<rdf:RDF>", "application/rdf+xml"),
        ("text/plain", b"<?xml version='1.0'?><sm:urlset>", "application/xml"),
        ("text/html", b"<?xml version='1.0'?><html>", "text/html"),
        ("text/html", b"<!-- rss --><html>", "text/html"),
        ("text/plain", b"<?xml version='1.0'?><note>", "text/plain"),
        ("", b"<urlset>", "application/xml"),
        ("text/html", b"%PDF-1.4", "application/pdf"),
        ("text/plain", b"<!DOCTYPE html><html>", "text/html"),
        ("text/plain; charset=utf-8", b"\xef\xbb\xbf\n<HTML lang=de>", "text/html"),
        ("image/jpeg", b"<!doctype html>not found", "text/html"),
        ("application/pdf", b"<html><body>please log in", "text/html"),
        ("application/json", b" <html>", "text/html"),
        ("text/html", b"\x89PNG\r\n\x1a\n\0\0", "image/png"),
        ("text/html; charset=utf-8", b"\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"),
        ("text/plain", b"PK\x03\x04\0\0", "application/zip"),
        ("text/html", "<p>x".encode("utf-16-le"), "text/html"),
        ("text/html", b"\0\0<p>", "text/html"),
        ("", b"junk\n%PDF-1.4", "application/pdf"),
        ("binary/octet-stream", b"%PDF-1.4", "application/pdf"),
        ("application/xml", b"\x1f\x8b\x08", "application/gzip"),
        ("application/zip", zipped("a.txt"), "application/zip"),
        ("", zipped("[Content_Types].xml", "word/document.xml"), _OFFICE[0][1]),
        ("application/zip", zipped("xl/workbook.xml", "[Content_Types].xml"), _OFFICE[1][1]),
        ("", zipped("mimetype", "content.xml"), "application/vnd.oasis.opendocument.text"),
        ("", zipped("mimetype", packing=zipfile.ZIP_DEFLATED), "application/vnd.oasis.opendocument.text"),
        ("application/zip", b"PK\x03\x04" + bytes(4) + b"\x08" + bytes(17) + b"\x08\0\0\0mimetype\xff", "application/zip"),
        ("application/msword", zipped("[Content_Types].xml", "word/document.xml"), _OFFICE[0][1]),
        ("application/vnd.ms-excel", zipped("[Content_Types].xml", "xl/workbook.xml"), _OFFICE[1][1]),
        (_OFFICE[0][1], zipped("[Content_Types].xml", "xl/workbook.xml"), _OFFICE[1][1]),
        ("application/epub+zip", zipped("a.txt"), "application/epub+zip"),
        ("text/html", b"\r\n%PDF-1.4", "application/pdf"),
        ("application/msword", b"%PDF-1.4", "application/pdf"),
    ],
)
def test_what_is_not_believed(content_type: str, body: bytes, mime: str) -> None:
    assert mime_of(content_type, body) == mime


@pytest.mark.parametrize(
    "exactly", ["application/vnd.openxmlformats-officedocument.wordprocessingml.template", "application/x-pdf"]
)
def test_a_type_that_says_more_is_believed(exactly: str) -> None:
    body = b"%PDF-1.4" if "pdf" in exactly else zipped("[Content_Types].xml", "word/document.xml")
    assert mime_of(exactly, body) == exactly
