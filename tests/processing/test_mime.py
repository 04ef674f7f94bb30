from __future__ import annotations

import pytest

from larm.processing.mime import is_binary, mime_of


@pytest.mark.parametrize(
    ("content_type", "body", "mime"),
    [
        ("text/html; charset=utf-8", b"", "text/html"),
        ("TEXT/HTML", b"", "text/html"),
        ("text/plain", b"<!DOCTYPE html><html>", "text/plain"),  # as browsers: a server's word counts
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
        ("", b"<?xml version='1.0'?><rss>", "text/xml"),
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
