"""Transfer: one libcurl easy handle with its buffers, used for one request after another.

Made and driven by `larm.fetch.curl_fetcher`, on its fetcher thread; libcurl calls the callbacks on the same thread. An
exception in a callback would only be printed, so they have none to raise.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec
import pycurl

from larm.config import FetchSettings
from larm.fetch.air import STEP
from larm.fetch.classify import Ending, classify, is_success, one_line
from larm.fetch.ip_address import is_public
from larm.fetch.large import is_document
from larm.fetch.look_ups import CONNECT, DNS_TTL
from larm.fetch.proxies import proxy_fault, set_proxy
from larm.fetch.recorder import Connections, Recorder
from larm.fetch.terms import NOTHING, FetchTerms
from larm.fetch.tls import ca_file, names_in, set_certificate
from larm.model.lease import Lease
from larm.model.message import Known
from larm.model.outcome import Failed, FailReason, Moved, Outcome, Timing
from larm.model.restriction import CREDENTIALS, PRIVATE_ADDRESS
from larm.model.url import Url

if TYPE_CHECKING:
    from larm.fetch.cookies import CookieJar

_ACCEPTED = "gzip, deflate, br, zstd"  # what `larm.fetch.decoding` undoes
_OTHER_BODY = 64_000  # bytes read of a body nobody wants; reading it keeps the connection, which is worth that much
_IP_VERSIONS = {"any": pycurl.IPRESOLVE_WHATEVER, "4": pycurl.IPRESOLVE_V4, "6": pycurl.IPRESOLVE_V6}
_PIECE = 65_536  # bytes handed over at a time, at most: most pages in one piece. 16 KB, libcurl's own, costs 3 us more a page
_PORTS = {"http": 80, "https": 443}
_NO_TE = b"TE:"  # without a value: this header is left out
_QUICK_EXIT = 322  # CURLOPT_QUICK_EXIT, which pycurl does not name: don't wait for a look-up that has timed out


class Transfer:
    """`begin`, then `end` or `cut`, then `begin` again. Not thread-safe."""

    def __init__(self, terms: FetchTerms, connections: Connections | None = None) -> None:
        """``connections``: of the thread, where exchanges are to be kept; None: they are not."""
        # constant after construction
        self._terms = terms
        settings = terms.settings
        self._settings, self._robots, self._addresses, self._air = settings, terms.robots, terms.addresses, terms.air
        self._crowd = terms.crowd
        self._insecure = frozenset(host.lower() for host in settings.insecure_hosts)
        self.handle: Any = _easy_handle(settings, terms.user_agent)
        self._recorder = None if connections is None else Recorder(self.handle, connections)
        self._lines: list[bytes] = []
        self.handle.setopt(pycurl.HEADERFUNCTION, self._lines.append)  # a C function: 10 calls a page cost nothing
        self.handle.setopt(pycurl.WRITEFUNCTION, self._write)
        self.handle.setopt(pycurl.OPENSOCKETFUNCTION, self._open_socket)
        # only the fetcher thread
        self._lease: Lease | None = None
        self._for_robots: bool | None = None  # what the time-outs are set for
        self._conditional = self._with_cookies = False
        self._tidying: bool | None = None
        self._granted = STEP  # bytes of a body that it may hold
        self.paused = False
        """It waits for room, see `resume`."""
        self.held_up = 0.0
        """What its fetcher had on its clock of time lost when it began."""
        self._access = NOTHING
        self._jar: CookieJar | None = None
        self._trusting = False  # it knows the certificates
        self._verifying: bool | None = None
        self._clear()

    @property
    def lease(self) -> Lease:
        """Of the request under way."""
        assert self._lease is not None  # noqa: S101
        return self._lease

    def begin(self, lease: Lease, wall: float = 0.0, addresses: Sequence[str] = (), *, tidying: bool = True) -> Failed | None:
        """Get the handle ready for ``lease``; Failed if libcurl does not take the URL. ``wall``: seconds since 1970.

        ``addresses``: where its host is; none: libcurl knows, or finds out.
        ``tidying``: at its end, libcurl forgets the addresses of hosts that are too old. It walks through all of them for that.
        """
        url = lease.message.url.access
        if not url.startswith(("http://", "https://")):
            return Failed(FailReason.URL, one_line(f"neither http nor https: {url}"), Timing())
        try:
            self.handle.setopt(pycurl.URL, url)
        except (pycurl.error, ValueError) as error:  # endless, NUL, not ASCII
            return Failed(FailReason.URL, one_line(f"libcurl does not take this URL: {error}"), Timing())
        if url.startswith("https:"):
            self._set_trust(lease.message.url)
        if addresses:
            self.handle.setopt(pycurl.RESOLVE, [_entry(lease.message.url, addresses)])
        self._lease = lease
        if lease.robots is not self._for_robots:
            self._set_bounds(lease.robots)
        if tidying is not self._tidying:
            self._set_tidying(tidying)
        known = lease.message.known
        if self._terms.sites and (refused := self._set_access(lease.message.url)):
            return refused
        self._jar = self._access.cookies or self._terms.cookies.of(lease.message.url.host)
        if known or self._conditional or self._access is not NOTHING or self._jar is not None:
            self._set_conditions(known)
        if self._recorder is not None:
            self._recorder.begin(wall)
        return None

    def end(self, error: int, message: str, wall: float) -> Outcome:
        """What has become of the request, libcurl being done with it."""
        handle = self.handle
        body = bytes(self._body)  # of a single piece the piece itself
        if error in (pycurl.E_COULDNT_CONNECT, pycurl.E_PEER_FAILED_VERIFICATION):
            message = self._said_better(error, message)
        ending = Ending(
            status=handle.getinfo(pycurl.RESPONSE_CODE),
            lines=self._lines,
            body=body if self._wanted else b"",
            limit=max(self._page_size, self._limit),
            # libcurl leaves out what stopped the transfer
            timing=Timing(handle.getinfo(pycurl.TOTAL_TIME), max(handle.getinfo(pycurl.SIZE_DOWNLOAD_T), self._size)),
            stopped=self._stopped,
            error=error,
            message=message,
            unopened=self._unopened,
            last=self._is_last(),
            restricted=self._restricted(),
        )
        fault = proxy_fault(handle, self._access.proxy, error, message) if self._access.proxy and not self._unopened else ""
        outcome = Failed(FailReason.PROXY, one_line(fault), ending.timing) if fault else classify(ending, wall)
        if self._jar is not None and (self._access.keeps_cookies or self._access.cookies is None):
            self._jar.take(self.lease.message.url.access, self._lines)
            if isinstance(outcome, Moved):
                outcome = msgspec.structs.replace(outcome, keeps_cookies=True)
        if self._recorder is not None:
            url = self.lease.message.url.access
            without = self._access.secret_headers if self._access is not NOTHING else frozenset()
            exchange = self._recorder.exchange(url, self._lines, body, error, stopped=self._stopped, without=without)
            outcome = msgspec.structs.replace(outcome, exchange=exchange)
        self._clear()
        return outcome

    def cut(self) -> Lease:
        """Forget the request; its lease."""
        lease = self.lease
        self._clear()
        return lease

    def resume(self) -> bool:
        """Go on after a pause, if there is room now."""
        if not self._air.more(self):
            return False
        self._granted += STEP
        self.paused = False
        self.handle.pause(pycurl.PAUSE_CONT)
        return True

    def is_resolving(self) -> bool:
        """Whether the request under way waits for DNS, which can't be cut off."""
        looked_up, sent = self.handle.getinfo(pycurl.NAMELOOKUP_TIME), self.handle.getinfo(pycurl.PRETRANSFER_TIME)
        return not looked_up and not sent  # on a connection of the pool nothing is looked up

    def close(self) -> None:
        """Must not be within a multi handle any more."""
        self.handle.close()

    def _said_better(self, error: int, message: str) -> str:
        """What libcurl knows and does not say."""
        if error == pycurl.E_COULDNT_CONNECT:
            number = self.handle.getinfo(pycurl.OS_ERRNO)
            return f"{message} ({os.strerror(number)})" if number else message
        names = names_in(self.handle.getinfo(pycurl.INFO_CERTINFO)) if "subject name" in message else ""
        return f"the certificate is for {names}" if names else message

    def _clear(self) -> None:
        self._lease = None
        self._lines.clear()
        self._body: bytes | bytearray = b""
        self._size = self._free = 0  # the latter: up to so many bytes there is nothing to be asked
        self._limit = -1  # not known before the status is
        self._wanted = self._kept = False  # by the crawl; by the crawl, or for the exchange
        self._stopped = False
        self.paused = self.was_paused = False
        if self._granted > STEP:
            self._granted = STEP
            self._air.leave(self)
        self._unopened: tuple[FailReason, str] | None = None

    def _set_trust(self, url: Url) -> None:
        """Connections that were checked and others are kept apart by libcurl."""
        if not self._trusting:
            if certificates := ca_file():
                self.handle.setopt(pycurl.CAINFO, certificates)
            self._trusting = True
        authority = url.origin.partition("://")[2]
        verify = self._verifies(url.hostname, authority, f"{authority}:443")
        if verify is not self._verifying:
            self.handle.setopt(pycurl.SSL_VERIFYPEER, int(verify))
            self.handle.setopt(pycurl.SSL_VERIFYHOST, 2 if verify else 0)
            self._verifying = verify

    def _verifies(self, *names: str) -> bool:
        return self._insecure.isdisjoint((*names, "all"))

    def _set_bounds(self, robots: bool) -> None:
        settings = self._settings
        timeout = self._robots.timeout if robots else settings.timeout
        self._page_size = self._robots.size if robots else settings.page_size
        self.handle.setopt(pycurl.TIMEOUT_MS, _milliseconds(timeout))
        self.handle.setopt(pycurl.CONNECTTIMEOUT_MS, _milliseconds(min(timeout, CONNECT)))
        self.handle.setopt(pycurl.OPT_CERTINFO, int(robots))  # for the first word with a host: it is a third of a millisecond
        self._for_robots = robots

    def _set_tidying(self, tidying: bool) -> None:
        """libcurl walks through all addresses it remembers whenever a transfer ends that says how long they hold (LARM-126)."""
        self.handle.setopt(pycurl.DNS_CACHE_TIMEOUT, int(DNS_TTL) if tidying else -1)
        self._tidying = tidying

    def _set_conditions(self, known: Known | None) -> None:
        """Ask whether the page has changed, if it is known (LARM-121)."""
        conditions = (("If-None-Match", known.etag), ("If-Modified-Since", known.last_modified)) if known else ()
        fields = [_field(name, one_line(value)) for name, value in conditions if value]
        cookies = self._jar.header(self.lease.message.url.access) if self._jar is not None else b""
        fields += [*self._access.headers, *([cookies] if cookies else ())]
        self.handle.setopt(pycurl.HTTPHEADER, [_NO_TE, *fields])
        self._conditional, self._with_cookies = bool(fields), bool(cookies)

    def _set_access(self, url: Url) -> Failed | None:
        """What differs for the site of this address; Failed if its proxy must not be asked for it."""
        access = self._terms.sites.of_url(url) or NOTHING
        if access.proxy and (refusal := self._addresses.refusal_behind(url.hostname)):
            return Failed(FailReason.PRIVATE, refusal, Timing())
        if access is self._access:
            return None
        handle, self._access = self.handle, access
        handle.setopt(pycurl.USERAGENT, access.user_agent or self._terms.user_agent)
        set_certificate(handle, access.certificate, access.key)
        set_proxy(handle, access.proxy, verify=self._verifies(urlsplit(access.proxy).hostname or ""))
        if access.auth:
            handle.setopt(pycurl.HTTPAUTH, pycurl.HTTPAUTH_BASIC)
            handle.setopt(pycurl.USERPWD, access.auth)
        else:
            handle.unsetopt(pycurl.USERPWD)
        self._conditional = True  # the headers of the site before go
        return None

    def _write(self, chunk: bytes) -> int | None:
        """libcurl's write callback: the bytes as they were sent, see `larm.fetch.decoding`. 0 stops the transfer."""
        size = len(chunk)
        if self._size + size <= self._free:  # of many small pieces nearly each
            self._size += size
            self._body += chunk
            return None
        if self._limit < 0:
            self._wanted = is_success(self._lines)
            self._kept = self._wanted or self._recorder is not None
            self._limit = self._page_size if self._kept else _OTHER_BODY
        if self._kept and self._size + size > self._granted:
            if not self._air.more(self):
                self.paused = self.was_paused = True
                return int(pycurl.WRITEFUNC_PAUSE)  # the same bytes come again
            self._granted += STEP
        room = self._limit - self._size
        if size > room and self._may_be_longer(self._body or chunk):
            self._limit = self._settings.document_size
            room = self._limit - self._size
        self._size += size
        if self._kept:
            self._keep(chunk if size <= room else chunk[:room])
        if size <= room:
            return None
        self._stopped = True
        return 0

    def _is_last(self) -> bool:
        """No try follows, and no copy of the page would be replaced."""
        message, retries = self.lease.message, self._terms.retries
        return retries is not None and message.tries >= retries and message.known is None and not self._for_robots

    def _restricted(self) -> int:
        """Return why strangers could not have had this response, as far as the request says (`larm.model.restriction`)."""
        access = self._access
        secret = self._with_cookies or (access is not NOTHING and access.opens)
        public = not access.proxy and is_public(self.handle.getinfo(pycurl.PRIMARY_IP))
        return (CREDENTIALS if secret else 0) | (0 if public else PRIVATE_ADDRESS)

    def _may_be_longer(self, start: bytes | bytearray) -> bool:
        """It is a document, of which more is wanted."""
        wanted = self._wanted and not self._for_robots and self._limit < self._settings.document_size
        return wanted and is_document(self._lines, start)

    def _keep(self, piece: bytes) -> None:
        """One buffer, whatever the pieces: an object for each would cost 95 bytes where a server sends chunks of one byte."""
        if not self._body:
            self._body = piece  # nearly always all there is
        elif isinstance(self._body, bytearray):
            self._body += piece
        else:
            self._body = bytearray(self._body)
            self._body += piece
        if isinstance(self._body, bytearray):
            self._free = min(self._limit, self._granted)

    def _open_socket(self, _purpose: int, address: Any) -> _Descriptor | int:
        """libcurl's open-socket callback: the only way to a connection, so the address rule can't be bypassed."""
        if self._access.proxy:  # the user has named it; who is behind it was asked before
            return self._opened(address)
        ip = str(address.addr[0])
        hostname = urlsplit(self.lease.message.url.access).hostname or ""
        if refusal := self._addresses.refusal(hostname, ip):
            self._unopened = FailReason.PRIVATE, refusal
            return int(pycurl.SOCKET_BAD)
        if not self._crowd.admit(self.lease.number, ip):
            self._unopened = FailReason.CROWDED, f"other hosts of {ip} are being asked"
            return int(pycurl.SOCKET_BAD)
        return self._opened(address)

    def _opened(self, address: Any) -> _Descriptor | int:
        if self._unopened is not None and self._unopened[0] is FailReason.CROWDED:
            self._unopened = None  # that was another address of the host
        try:
            return _Descriptor(socket.socket(address.family, address.socktype, address.protocol))
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):  # our fault, so the host must not be taken for unreachable
                self._unopened = FailReason.DROPPED, "too many open files: raise 'ulimit -n' or lower fetch.transfers"
            return int(pycurl.SOCKET_BAD)


class _Descriptor:
    """A socket on its way to pycurl, which duplicates the descriptor and drops this at once: so it closes itself."""

    def __init__(self, opened: socket.socket) -> None:
        self._descriptor = opened.detach()

    def fileno(self) -> int:
        return self._descriptor

    def __del__(self) -> None:
        os.close(self._descriptor)


def _easy_handle(settings: FetchSettings, user_agent: str) -> Any:
    """An easy handle with all that never changes. Never set, and so off in libcurl: redirects, cookies, netrc, HTTP/0.9."""
    handle = pycurl.Curl()
    handle.setopt(pycurl.NOSIGNAL, 1)  # signals and threads don't mix
    handle.setopt(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
    handle.setopt(pycurl.PROXY, "")  # not the environment's either: behind a proxy the address rule sees nothing
    handle.setopt(pycurl.NOPROXY, "")  # nor its exceptions
    handle.setopt(pycurl.USERAGENT, user_agent)
    handle.setopt(pycurl.ENCODING, _ACCEPTED)
    handle.setopt(pycurl.TRANSFER_ENCODING, 1)  # take what some servers send without being asked ...
    handle.setopt(pycurl.HTTPHEADER, [_NO_TE])  # ... and don't ask
    handle.setopt(pycurl.HTTP_CONTENT_DECODING, 0)  # `larm.fetch.decoding` undoes them
    handle.setopt(pycurl.PATH_AS_IS, 1)  # the URL is normalised, and what was checked is what is sent
    handle.setopt(pycurl.IPRESOLVE, _IP_VERSIONS[settings.ip])
    handle.setopt(pycurl.TCP_KEEPALIVE, 1)
    handle.setopt(pycurl.BUFFERSIZE, _PIECE)
    handle.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_2TLS)
    # no PIPEWAIT: where HTTP/2 is allowed, all transfers to a host would wait for the first answer, and hang with it
    with contextlib.suppress(pycurl.error):  # libcurl before 7.87
        handle.setopt(_QUICK_EXIT, 1)
    return handle


def _entry(url: Url, addresses: Sequence[str]) -> str:
    """For libcurl's table of hosts; "+": until it is too old."""
    scheme, _, authority = url.origin.partition("://")
    host, _, port = authority.partition(":")
    listed = ",".join(f"[{each.partition('%')[0]}]" if ":" in each else each for each in addresses)
    return f"+{host}:{port or _PORTS[scheme]}:{listed}"


def _field(name: str, value: str) -> bytes:
    """A header line, in the encoding in which it came most likely; if not, the page comes whole, that's all."""
    line = f"{name}: {value}"
    try:
        return line.encode("latin-1")
    except UnicodeEncodeError:
        return line.encode()


def _milliseconds(seconds: float) -> int:
    """At least 1, for 0 would mean none; libcurl takes a C int."""
    return max(1, min(int(seconds * 1000), 2**31 - 1))
