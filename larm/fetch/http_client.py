"""HttpClient: one request to another machine, with a deadline and a bounded answer. Any thread.

Peers, agents and etcd are asked by it. An answer is never trusted to be short or quick: the whole request has a deadline, the
answer a limit; redirects and proxies are not used. libcurl waits without Python's lock, so many threads can wait at a time.
A machine that does not answer is a value here, since that is normal.
"""

import threading
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

import pycurl

from larm.fetch.tls import ca_file
from larm.version import VERSION

_CONNECT_SHARE = 0.5
"""Of the time for a request that a connection may take: who can't be reached is known sooner than who is slow."""
_LARGEST_HEAD = 32_768
_BAD_CERTIFICATE = frozenset((pycurl.E_SSL_CACERT, pycurl.E_PEER_FAILED_VERIFICATION))
_MOST_IDLE = 32
"""Connections that are kept open for the next request."""


class HttpAnswer(NamedTuple):
    """What came."""

    status: int
    headers: Mapping[str, str]
    """By names in lower case; what came twice is joined by commas."""
    body: bytes


class NoAnswer(NamedTuple):
    """Nothing of use came."""

    reason: str
    """Half a sentence for people: ``it did not answer within 2 s``."""
    refused: bool = False
    """It is there, and does not want to."""
    late: bool = False
    """There was no more time."""
    unsent: bool = False
    """No byte of the request was sent: it certainly did nothing there."""


class HttpClient:
    """Connections to many machines."""

    def __init__(self, interface: str = "", ca: str = "", certificate: str = "", key: str = "") -> None:
        """``interface``: the local address of its connections; empty: the system chooses.

        ``ca``: a PEM file with the only trusted authorities; empty: those of the system.
        ``certificate``, ``key``: PEM files by which it says who it is; empty: it does not, or the key is in the certificate's.
        """
        # constant after construction
        self._interface = interface
        self._ca = ca or ca_file()
        self._certificate = certificate
        self._key = key or certificate
        self._lock = threading.Lock()
        # guarded by self._lock
        self._idle: list[tuple[str, pycurl.Curl]] = []

    def ask(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        *,
        seconds: float,
        most: int,
        at: str = "",
        pin: str = "",
    ) -> HttpAnswer | NoAnswer:
        """``seconds`` for all of it; ``most``: bytes of the answer's body. ``url``: http or https.

        ``at``: the IP address where the url's host is, whatever its name leads to; the certificate is still for the name.
        ``pin``: the hash of the one key that the server's certificate may have, whoever issued it (``sha256//...``).
        """
        origin = "/".join(url.split("/", 3)[:3]) + f" {at} {pin}"
        curl = self._take(origin)
        if self._interface:
            curl.setopt(pycurl.INTERFACE, f"host!{self._interface}")
        if self._ca is not None:
            curl.setopt(pycurl.CAINFO, self._ca)
        if self._certificate:
            curl.setopt(pycurl.SSLCERT, self._certificate)
            curl.setopt(pycurl.SSLKEY, self._key)
        if pin:
            curl.setopt(pycurl.PINNEDPUBLICKEY, pin)
            curl.setopt(pycurl.SSL_VERIFYPEER, 0)
            curl.setopt(pycurl.SSL_VERIFYHOST, 0)
        if at:
            curl.setopt(pycurl.CONNECT_TO, [connect_to(at)])
        exchange = Exchange(curl, method, url, headers, body, seconds=max(0.001, seconds), most=most)
        try:
            curl.perform()
        except pycurl.error as error:
            answer = exchange.outcome(error.args[0], str(error.args[1]))
        else:
            answer = exchange.outcome(pycurl.E_OK, "")
        self._give_back(origin, curl)
        return answer

    def close(self) -> None:
        """No connection stays open."""
        with self._lock:
            idle, self._idle = self._idle, []
        for _, curl in idle:
            curl.close()

    def _take(self, origin: str) -> pycurl.Curl:
        with self._lock:
            for at in range(len(self._idle) - 1, -1, -1):
                if self._idle[at][0] == origin:
                    return self._idle.pop(at)[1]
        return pycurl.Curl()

    def _give_back(self, origin: str, curl: pycurl.Curl) -> None:
        curl.reset()  # the connection stays
        with self._lock:
            self._idle.append((origin, curl))
            old = self._idle.pop(0)[1] if len(self._idle) > _MOST_IDLE else None
        if old is not None:
            old.close()


def connect_to(at: str) -> str:
    """Return libcurl's rule by which every connection goes to this host or IP address."""
    return f"::[{at}]:" if ":" in at else f"::{at}:"


def is_address(url: str) -> bool:
    """``http://host:port``, without a path, a user or anything else."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    plain = url == f"{parts.scheme}://{parts.netloc}" and "@" not in parts.netloc and url.isascii() and url.isprintable()
    return plain and parts.scheme in {"http", "https"} and bool(parts.hostname) and port != 0 and " " not in url


class Exchange:
    """One request that an easy handle carries, and its outcome. Used on the thread that drives the handle."""

    def __init__(
        self, curl: pycurl.Curl, method: str, url: str, headers: Mapping[str, str], body: bytes, *, seconds: float, most: int
    ) -> None:
        """Set all options of the handle; the caller performs it, then asks for the `outcome`."""
        # constant after construction
        self._curl = curl
        self._seconds = seconds
        self._most = most
        self._parts: list[bytes] = []
        self._head: list[bytes] = []
        self._room = {"body": most, "head": _LARGEST_HEAD}
        options = {
            pycurl.URL: url,
            pycurl.PROTOCOLS: pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS,
            pycurl.FOLLOWLOCATION: 0,
            pycurl.PROXY: "",
            pycurl.NOSIGNAL: 1,
            pycurl.TIMEOUT_MS: int(seconds * 1000) or 1,
            pycurl.CONNECTTIMEOUT_MS: int(seconds * 1000 * _CONNECT_SHARE) or 1,
            pycurl.USERAGENT: f"larm/{VERSION}",
            pycurl.HTTPHEADER: [f"{name}: {value}" for name, value in headers.items()] + ["Expect:"],
            pycurl.WRITEFUNCTION: lambda data: self._take("body", self._parts, data),
            pycurl.HEADERFUNCTION: lambda data: self._take("head", self._head, data),
        }
        for option, value in options.items():
            curl.setopt(option, value)
        if method == "POST":
            curl.setopt(pycurl.POST, 1)
            curl.setopt(pycurl.POSTFIELDS, body)

    def outcome(self, error: int, text: str) -> HttpAnswer | NoAnswer:
        """Return what came. ``error``, ``text``: libcurl's number and words; 0: it ended well."""
        if error == pycurl.E_OK:
            return HttpAnswer(int(self._curl.getinfo(pycurl.RESPONSE_CODE)), _headers(self._head), b"".join(self._parts))
        if self._room["body"] < 0 or self._room["head"] < 0:
            return NoAnswer(f"its answer is longer than {self._most:,} bytes")
        unsent = not self._curl.getinfo(pycurl.REQUEST_SIZE)  # of all attempts: libcurl sends again if a kept connection ends
        if error == pycurl.E_OPERATION_TIMEDOUT:
            return NoAnswer(f"it did not answer within {self._seconds:.3g} s", late=True, unsent=unsent)
        if error in _BAD_CERTIFICATE:
            return NoAnswer(f"its certificate is not to be trusted: {text}", unsent=unsent)
        return NoAnswer(text or "it could not be asked", unsent=unsent)

    def _take(self, kind: str, into: list[bytes], data: bytes) -> int | None:
        self._room[kind] -= len(data)
        if self._room[kind] < 0:
            return -1
        into.append(data)
        return None


def _headers(lines: list[bytes]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines:
        if line.startswith(b"HTTP/"):
            found.clear()  # of what came before, such as 100 Continue
            continue
        name, colon, value = line.decode("latin-1").partition(":")
        if colon:
            name, value = name.strip().lower(), value.strip()
            found[name] = f"{found[name]}, {value}" if name in found else value
    return found
