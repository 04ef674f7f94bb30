"""classify: how a transfer ended -> Outcome. The one table that says what each libcurl error and each status means.

With what it reads of the header lines of an answer. Pure; called on the fetcher threads, once for each transfer.
"""

import re
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache

import msgspec
import pycurl

from larm.model.outcome import WHO_ASKS, Failed, FailReason, Fetched, Moved, NotModified, Outcome, Refused, Timing
from larm.model.restriction import UNKNOWN, marked

_FURTHEST = 1e9  # seconds; a Retry-After beyond it (30 years) is as good as infinite, and infinity breaks arithmetic

_FEW, _LONG = 50, 200  # lines, and bytes of one, of an ordinary answer

_SEPARATORS = {"x-robots-tag": "\n"}
_PLAIN_LINE = re.compile(rb"[\x20-\x7e]*\r\n")
_CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f]")


def is_success(lines: Sequence[bytes]) -> bool:
    """Whether the latest status line is a 2xx, or 300: the body that follows will be wanted."""
    if lines and _status(lines[0])[:1] != b"1":
        return _status(lines[0]).startswith((b"2", b"300"))
    return any(_status(line).startswith((b"2", b"300")) for line in reversed(lines) if line.startswith(b"HTTP/"))


def parse_headers(lines: Sequence[bytes]) -> tuple[dict[str, str], bool]:
    """The fields of the last answer in ``lines``, and whether its header block came to an end.

    1xx answers before it and trailers after its body are left out. Names in lower case, values of a repeated field joined by
    ", ", of X-Robots-Tag by a line end (a name in it holds for one header). Decoded as UTF-8, or as Latin-1 where they are not;
    control characters, C1 included, become spaces. libcurl gives up at 300 KB of them.
    """
    if 1 < len(lines) < _FEW and lines[-1] == b"\r\n" and lines[0].startswith(b"HTTP/"):
        found = dict(filter(None, map(_plain_field, lines[1:-1])))
        if len(found) == len(lines) - 2:  # nothing odd, nothing twice
            return found, True
    text = _decode(b"".join(lines)).replace("\r\n", "\n")
    text = text[text.rfind("\nHTTP/") + 1 :]
    block, blank, _ = text.partition("\n\n")
    if _CONTROL.search(block):
        block = _CONTROL.sub(" ", block)
    fields: dict[str, list[str]] = {}
    for line in block.split("\n")[1:]:
        name, colon, value = line.partition(":")
        if not colon:
            continue
        fields.setdefault(name.strip().lower(), []).append(value.strip())
    return {name: _SEPARATORS.get(name, ", ").join(values) for name, values in fields.items()}, bool(blank)


def parse_retry_after(value: str, wall: float) -> float | None:
    """Seconds from ``wall`` (seconds since 1970) on; None where ``value`` is neither a number nor an HTTP date.

    At least 0, as a date may have passed, and at most 30 years (RFC 9110 10.2.3).
    """
    value = value.strip()
    if value.isascii() and value.isdigit():
        return min(float(value), _FURTHEST)
    import email.utils  # 2 ms of the start, for what is seldom seen

    try:
        date = email.utils.parsedate_to_datetime(value).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
    return min(max(date - wall, 0.0), _FURTHEST)


@lru_cache(4_096)
def _plain_field(line: bytes) -> tuple[str, str] | None:
    """(name, value) of an ordinary line; None for any other. Most lines of a server are those of its answer before."""
    name, colon, value = line.partition(b":")
    if not colon or len(line) > _LONG or line.startswith(b"HTTP/") or not _PLAIN_LINE.fullmatch(line):
        return None
    return name.strip().lower().decode("ascii"), value.strip().decode("ascii")


def _status(status_line: bytes) -> bytes:
    return status_line.partition(b" ")[2]


def _decode(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")  # what browsers make of a Location with raw bytes in it
    except UnicodeDecodeError:
        return raw.decode("latin-1")


_DETAIL = 300  # characters of a message; a host name alone can have 253

# What libcurl reports, by what it means to us. An error in no row is PROTOCOL: we speak nothing but HTTP.
_REASONS = {
    FailReason.URL: (pycurl.E_URL_MALFORMAT, pycurl.E_BAD_FUNCTION_ARGUMENT),
    FailReason.UNRESOLVED: (pycurl.E_COULDNT_RESOLVE_HOST,),
    FailReason.CONNECT: (pycurl.E_COULDNT_CONNECT, pycurl.E_INTERFACE_FAILED),
    FailReason.TIMEOUT: (pycurl.E_OPERATION_TIMEDOUT,),
    FailReason.DROPPED: (pycurl.E_PARTIAL_FILE, pycurl.E_GOT_NOTHING, pycurl.E_SEND_ERROR, pycurl.E_RECV_ERROR),
    FailReason.CONTENT: (
        pycurl.E_BAD_CONTENT_ENCODING,
        pycurl.E_WRITE_ERROR,  # a transfer encoding that can't be undone; where we stopped the transfer, it is no error
    ),
    FailReason.TLS: (
        pycurl.E_SSL_CONNECT_ERROR,
        pycurl.E_PEER_FAILED_VERIFICATION,
        pycurl.E_SSL_CERTPROBLEM,
        pycurl.E_SSL_CIPHER,
        pycurl.E_SSL_CACERT_BADFILE,
        pycurl.E_SSL_CRL_BADFILE,
        pycurl.E_SSL_ISSUER_ERROR,
        pycurl.E_SSL_INVALIDCERTSTATUS,
        pycurl.E_USE_SSL_FAILED,
    ),
}
_REASON_OF = {error: reason for reason, errors in _REASONS.items() for error in errors}
_SILENT = {100: "a header of more than 100 KB"}  # CURLE_TOO_LARGE, which pycurl does not name
"""libcurl has no words for it in the answer."""
_WHO_ASKS = ("alert certificate required", "alert handshake failure", "alert bad certificate")
"""What servers of TLS say that want a certificate, the second one also for other reasons."""
_NOT_HTTP = ("response headers", "hunk", "HTTP/")  # E_RECV_ERROR is also endless headers and chunks that are none
_TAIL = 100  # bytes of a page, in which its end tag is
_BROKE_OFF = (pycurl.E_PARTIAL_FILE, pycurl.E_RECV_ERROR)
"""In the middle of a body: it is shorter than it should be; the connection was reset, or TLS ended without saying so."""


class Ending(msgspec.Struct, frozen=True, gc=False):
    """What is known of a transfer when libcurl is done with it."""

    status: int
    """0: there was no answer."""
    lines: Sequence[bytes]
    """All header lines, those of 1xx answers and trailers among them."""
    body: bytes
    """The body as it was sent, as much of it as is wanted; nothing unless the status may be that of a page."""
    timing: Timing
    limit: int = sys.maxsize
    """Bytes of the decoded body that are wanted."""
    stopped: bool = False
    """We stopped the transfer, because the body passes its limit."""
    error: int = pycurl.E_OK
    message: str = ""
    """libcurl's words for ``error``."""
    unopened: tuple[FailReason, str] | None = None
    """Why we opened no socket for it."""
    last: bool = False
    """No try follows: of a page that breaks off, as one does with a Content-Length that is too large, what came counts."""
    restricted: int = UNKNOWN
    """What the request says of who could have had the page: bits of `larm.model.restriction`."""


def classify(ending: Ending, wall: float) -> Outcome:
    """The outcome; ``wall`` (seconds since 1970) is for a Retry-After that names a date.

    Any complete answer but a 2xx is taken by its status, whatever became of its body: nobody reads that.
    """
    headers, complete = parse_headers(ending.lines)
    status = ending.status if complete else 0
    success = _has_page(status, headers)
    if status < 200 or (success and ending.error and not ending.stopped and not _is_all_there_is(ending)):
        return _failed(ending, complete)
    if success and status not in (204, 205):
        return _fetched(status, headers, ending)
    if status == 304:
        return NotModified(headers, ending.timing, restricted=ending.restricted | marked(headers))
    if 300 <= status < 400 and headers.get("location"):
        return Moved(status, headers["location"], ending.timing)
    retry_after = headers.get("retry-after")
    return Refused(status, headers, ending.timing, parse_retry_after(retry_after, wall) if retry_after else None)


def _has_page(status: int, headers: Mapping[str, str]) -> bool:
    """Whether the body is a page: also one that lets readers choose (300), where it leads nowhere by itself, as browsers do."""
    return 200 <= status < 300 or (status == 300 and not headers.get("location"))


def _is_all_there_is(ending: Ending) -> bool:
    """Whether what came of a page that broke off is all that will come; browsers show that. What is no HTTP is no page."""
    broke_off = ending.error in _BROKE_OFF and _reason(ending) is FailReason.DROPPED
    return broke_off and bool(ending.body) and (ending.last or _is_whole(ending))


def _is_whole(ending: Ending) -> bool:
    """The last tag of a page came, so only its length is wrong, or TLS ends without a word: another try would end so, too."""
    return ending.body[-_TAIL:].rstrip().lower().endswith(b"</html>")


def _fetched(status: int, headers: dict[str, str], ending: Ending) -> Fetched | Failed:
    raw = body = ending.body
    truncated, flaw = ending.stopped, ""
    if "content-encoding" in headers:
        from larm.fetch.decoding import CantDecode, decode  # 3 ms, where it is needed

        try:
            body, truncated, flaw = decode(headers["content-encoding"], raw, ending.limit, cut=ending.stopped)
        except CantDecode as error:
            return Failed(FailReason.CONTENT, one_line(str(error)), ending.timing)
    unpacked = body == raw  # what is packed has an end that tells
    if ending.error and not ending.stopped and unpacked and not _is_whole(ending):
        truncated, flaw = True, one_line(ending.message)
    restricted = ending.restricted | marked(headers)
    return Fetched(status, headers, body, ending.timing, truncated, flaw, restricted=restricted)


def _failed(ending: Ending, complete: bool) -> Failed:
    if not ending.error:
        if complete:
            return Failed(FailReason.PROTOCOL, f"status {ending.status} is no final answer", ending.timing)
        return Failed(FailReason.DROPPED, "the answer broke off in its headers", ending.timing)
    if ending.unopened and ending.error == pycurl.E_COULDNT_CONNECT:
        return Failed(ending.unopened[0], one_line(ending.unopened[1]), ending.timing)
    reason, remedy = _reason(ending), trust(ending.error)
    if any(word in ending.message for word in _WHO_ASKS):
        reason, remedy = FailReason.TLS, f"; {WHO_ASKS}"
    said = one_line(ending.message) or _SILENT.get(ending.error, f"libcurl error {ending.error}")
    return Failed(reason, said + remedy, ending.timing)


def _reason(ending: Ending) -> FailReason:
    if ending.error == pycurl.E_RECV_ERROR and any(word in ending.message for word in _NOT_HTTP):
        return FailReason.PROTOCOL
    return _REASON_OF.get(ending.error, FailReason.PROTOCOL)


def trust(error: int) -> str:
    """What a person can do about a certificate that is not good; of other failures of TLS nothing."""
    return "; fetch.insecure_hosts trusts it all the same" if error == pycurl.E_PEER_FAILED_VERIFICATION else ""


def one_line(message: str) -> str:
    """``message`` fit for a log: no control characters, not endless."""
    return " ".join("".join(char if char.isprintable() else " " for char in message).split())[:_DETAIL]
