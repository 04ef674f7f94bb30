"""Records of WARC 1.1 (ISO 28500:2017), as bytes: a compressed member each. Made on the thread of a storage or an export.

FastWARC writes them: it takes half the time that warcio takes. The field's usage is followed where the standard is silent:
HTTP/2 in the form of HTTP/1.1 with ``WARC-Protocol: h2``; transfer codings are undone, and their header has another name then.
"""

import hashlib
import io
import re
import uuid
import zlib
from base64 import b32encode
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Final, NamedTuple

from fastwarc.warc import WarcRecord, WarcRecordType

from larm.model.exchange import Exchange

NOT_MODIFIED: Final = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
SAME_PAYLOAD: Final = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
FIELDS_TYPE: Final = "application/warc-fields"
_HTTP2 = re.compile(rb"HTTP/2(?:\.0)?\b")
_TRANSFER = re.compile(rb"^transfer-encoding(?=\s*:)", re.IGNORECASE | re.MULTILINE)
_BREAKS = re.compile(r"[\r\n]+")
_OPENSSL = re.compile(r"(?:(ECDHE|DHE)-(RSA|ECDSA)-)?(AES128|AES256|CHACHA20)-(GCM-SHA\d+|POLY1305)")

Fields = Iterable[tuple[str, str]]


class Made(NamedTuple):
    """A record."""

    id: str
    """``<urn:uuid:...>``."""
    member: bytes
    digest: str = ""
    """Of the payload."""


class Original(NamedTuple):
    """An earlier capture with the same payload."""

    url: str
    date: str
    digest: str


class Records:
    """Makes them. ``compress``: bytes -> a member; ``info``: the id of the warcinfo record that they belong to."""

    def __init__(self, compress: Callable[[bytes], bytes]) -> None:
        # constant after construction
        self._compress = compress
        # only the calling thread
        self.info = ""

    def warcinfo(self, file: str, wall: float, fields: Fields) -> Made:
        """About a file and who wrote it; the records that follow belong to it."""
        self.info = ""
        made = self._made("warcinfo", date_of(wall), FIELDS_TYPE, fields_block(fields), [("WARC-Filename", file)])
        self.info = made.id
        return made

    def response(self, exchange: Exchange, digest: str = "") -> Made:
        """An answer as it came; ``digest``: of its body, if it is known already."""
        fields = [*self._wire(exchange), *([("WARC-Truncated", exchange.truncated)] if exchange.truncated else [])]
        block = answer_head(exchange.head) + exchange.body
        digest = digest or payload_digest(exchange.body)
        return self._made("response", date_of(exchange.began), _http("response"), block, fields, digest)

    def revisit(self, exchange: Exchange, original: Original, profile: str) -> Made:
        """An answer whose payload is that of an earlier one: no more than its header.

        Of "not modified" not even that: readers would show it in place of the original's, and no page.
        """
        fields = [
            *self._wire(exchange),
            ("WARC-Profile", profile),
            ("WARC-Refers-To-Target-URI", original.url),
            ("WARC-Refers-To-Date", original.date),
        ]
        head = answer_head(exchange.head) if profile == SAME_PAYLOAD else b""
        return self._made("revisit", date_of(exchange.began), _http("response"), head, fields, original.digest)

    def request(self, exchange: Exchange, answer: str) -> Made:
        """What was asked; ``answer``: the id of the response."""
        fields = [*self._wire(exchange), ("WARC-Concurrent-To", answer)]
        block = _HTTP2.sub(b"HTTP/1.1", exchange.request, count=1)
        return self._made("request", date_of(exchange.began), _http("request"), block, fields)

    def about(self, url: str, date: str, answer: str, about: Fields) -> Made:
        """What larm knows of a page, as metadata of the record ``answer``."""
        fields = [("WARC-Target-URI", url), ("WARC-Concurrent-To", answer)]
        return self._made("metadata", date, FIELDS_TYPE, fields_block(about), fields)

    def resource(self, url: str, date: str, mime: str, body: bytes, robots: str = "") -> Made:
        """A page of which only the bytes are known, and perhaps what it asks of crawlers."""
        kind = mime or "application/octet-stream"
        fields = [("WARC-Target-URI", url), *([("X-Robots-Tag", robots)] if robots else [])]
        return self._made("resource", date, kind, body, fields, payload_digest(body))

    def _wire(self, exchange: Exchange) -> list[tuple[str, str]]:
        fields = [("WARC-Target-URI", exchange.url)]
        if exchange.address:
            fields.append(("WARC-IP-Address", exchange.address))
        http2 = _HTTP2.match(exchange.head)
        http = ("h2" if exchange.tls else "h2c") if http2 else exchange.head[:8].decode("latin-1").lower()
        fields.append(("WARC-Protocol", http))
        if exchange.tls:
            fields.append(("WARC-Protocol", f"tls/{exchange.tls.removeprefix('TLSv')}"))
        if cipher := iana_cipher(exchange.cipher):
            fields.append(("WARC-Cipher-Suite", cipher))
        return fields

    def _made(  # noqa: PLR0917
        self, kind: str, date: str, mime: str, block: bytes, fields: Sequence[tuple[str, str]], digest: str = ""
    ) -> Made:
        record = WarcRecord()
        name = f"uuid:{uuid.uuid4()}"
        record.init_headers(getattr(WarcRecordType, kind), name.encode())
        headers = record.headers
        headers["WARC-Date"] = date
        for key, value in fields:
            headers.append(key, value)
        if self.info:
            headers.append("WARC-Warcinfo-ID", self.info)
        headers["Content-Type"] = mime
        if digest:
            headers.append("WARC-Payload-Digest", digest)
        record.set_bytes_content(block)
        plain = io.BytesIO()
        record.write(plain, checksum_data=True)
        return Made(f"<urn:{name}>", self._compress(plain.getvalue()), digest)


def date_of(wall: float) -> str:
    """Seconds since 1970 -> WARC-Date, with microseconds."""
    return datetime.fromtimestamp(wall, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def payload_digest(payload: bytes) -> str:
    """SHA-1 in base 32, as all archives have it; it tells payloads apart, and protects nothing."""
    return digest_text(hashlib.sha1(payload, usedforsecurity=False).digest())


def digest_text(sha1: bytes) -> str:
    """As it stands in a record."""
    return f"sha1:{b32encode(sha1).decode()}"


def fields_block(fields: Fields) -> bytes:
    """``name: value`` on a line each, as in application/warc-fields."""
    return "".join([f"{name}: {_BREAKS.sub(' ', value)}\r\n" for name, value in fields]).encode("utf-8", "replace")


def answer_head(head: bytes) -> bytes:
    """The header of an answer as a WARC reader expects it beside a body without transfer coding."""
    if found := _HTTP2.match(head):
        line, end, rest = head.partition(b"\r\n")
        status = line[found.end() :].strip()[:3]
        head = b"HTTP/1.1 " + status + b" " + _phrase(status) + end + rest
    return _TRANSFER.sub(b"X-Crawl-Transfer-Encoding", head)


def iana_cipher(openssl: str) -> str:
    """The registered name of a cipher suite, which those of TLS 1.3 have in OpenSSL too; empty where it is not known."""
    if openssl.startswith("TLS_"):
        return openssl
    found = _OPENSSL.fullmatch(openssl)
    if found is None:
        return ""
    exchange = f"{found[1]}_{found[2]}" if found[1] else "RSA"
    cipher = {"AES128": "AES_128", "AES256": "AES_256", "CHACHA20": "CHACHA20"}[found[3]]
    mode = found[4].replace("-", "_")
    return f"TLS_{exchange}_WITH_{cipher}_{mode}" + ("_SHA256" if mode == "POLY1305" else "")


def _phrase(status: bytes) -> bytes:
    try:
        return HTTPStatus(int(status)).phrase.encode()
    except ValueError:
        return b""


def _http(what: str) -> str:
    return f"application/http; msgtype={what}"


_GZIP_LEVEL: Final = 3  # of HTML a tenth larger than at 6, in half the time; without the GIL, as FastWARC's own is not
SUFFIX: Final = ".warc.gz"
"""Of WARC files: all tools read gzip, few read zstd."""


def gzip_member(data: bytes) -> bytes:
    """Complete in itself."""
    stream = zlib.compressobj(_GZIP_LEVEL, zlib.DEFLATED, 31)
    return stream.compress(data) + stream.flush()
