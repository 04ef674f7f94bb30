"""Exchanges and visits for tests."""

from __future__ import annotations

from larm.model.document import Document, Visit
from larm.model.exchange import Exchange
from larm.testing.fakes import url

BEGAN = 1_700_000_000.25


def exchange(
    address: str, body: bytes = b"<p>words", *, status: bytes = b"200 OK", began: float = BEGAN, **more: str
) -> Exchange:
    head = b"HTTP/1.1 %b\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n" % (status, len(body))
    request = b"GET / HTTP/1.1\r\nHost: a.org\r\n\r\n"
    return Exchange(address, request, head, body, "192.0.2.1", began, **more)


def visit(address: str, body: bytes = b"<p>words", *, archive: bool = True, **more: str) -> Visit:
    document = Document("text/html", archive=archive)
    sent = exchange(address, body, **more)
    return Visit(page=address, url=url(address), referrer="<start>", status=200, body=body, document=document, exchange=sent)
