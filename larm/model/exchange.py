"""Exchange: one request and its answer as they went over the wire, for storages that keep them (`larm.seams.Storage`).

Made by ``larm.fetch`` (on a fetcher thread) where some storage asks for it, carried by the Outcome, then by the Visit.
"""

import msgspec


class Exchange(msgspec.Struct, frozen=True, gc=False):
    """An answer, and what it was the answer to. HTTP/2 has no such lines: libcurl's form of them, those of HTTP/1, is kept."""

    url: str
    """What was asked for."""
    request: bytes
    """Request line and header lines as they were sent, with the empty line."""
    head: bytes
    """Status line and header lines as they were received, with the empty line: of the last answer, neither 1xx nor trailers."""
    body: bytes
    """As it was transferred: content encodings kept, transfer encodings undone. The beginning of it, where `truncated`."""
    address: str
    """IP address of the server."""
    began: float
    """Seconds since 1970: when the request was begun."""
    truncated: str = ""
    """Why the body is not the whole one, by the names of WARC (1.1, 5.13): length, time, disconnect; empty: it is."""
    tls: str = ""
    """Version as OpenSSL writes it, such as ``TLSv1.3``; empty: none, or not known. So is `cipher`."""
    cipher: str = ""
    """OpenSSL's name of it."""

    @property
    def cost(self) -> int:
        """Bytes that it holds."""
        return 300 + len(self.request) + len(self.head) + len(self.body)
