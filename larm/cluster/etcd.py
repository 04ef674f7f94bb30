"""Etcd: transactions and leases of etcd, by its JSON gateway. Called on one thread at a time, which it blocks.

Each request has 2 s at an endpoint. Then the next endpoint is asked, if the request can't have changed anything at the last
one; an endpoint that answers is asked first from then on. No answer is a value, with a sentence for the operator.

A transaction that was answered with ``ok`` False can follow a lost success: libcurl sends a request again if a kept connection
ends. Callers read what they compared, and then know.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec

from larm.fetch.http_client import HttpAnswer, HttpClient, NoAnswer
from larm.kit.printable import printable

_SECONDS = 2.0
"""For one endpoint: the lease of 20 s is renewed every 5 s, and three endpoints must have their turn within it."""
_MOST = 16 << 20
"""Bytes of an answer; etcd's requests have at most 1.5 MB."""

_SHORT = 200
"""Characters of a foreign error page that are quoted."""
_NO_LEASE = "requested lease not found"
_FOREIGN = "its answer is not one of etcd's; correct cluster.etcd"
_REFUSED = re.compile("rpc not supported for learner|unhealthy cluster")
_NO_USERS = "authentication is not enabled"
_OLD_TOKEN = re.compile("revision in header is old|user name is empty")
_SENTENCES = (
    ("ould not connect|refused", "nothing listens there; start etcd, or correct cluster.etcd"),
    ("Empty reply|reset by peer", "it ended the connection; write https:// in cluster.etcd if it has a certificate"),
    ("TLS connect error", "it does not speak https; write http:// in cluster.etcd if it has no certificate"),
    ("its request is malformed", "it is the port of an agent; its etcd of --etcd run has the next one"),
    ("404 page not found", "it is not etcd's port for clients, which is 2379 by default; correct cluster.etcd"),
    ("has expired", "its certificate has expired; issue a new one for etcd"),
    ("subject name", "its certificate is not for this name; issue one with --host, or correct cluster.etcd"),
    ("is not to be trusted", "its certificate was not signed by the authority in cluster.ca"),
    ("alert", "it refuses cluster.certificate, which must be of etcd's authority and not expired"),
    ("CommonName of client", "it has users, and refuses certificates with a common name; issue this agent's again"),
    ("invalid user ID or password", "the name or the password is wrong"),
    ("user name is empty", "it has users; write https://NAME:PASSWORD@HOST:PORT in cluster.etcd"),
    ("permission denied", "the user may not use larm/; run 'etcdctl role grant-permission ROLE --prefix=true readwrite larm/'"),
    ("request timed out|no leader", "most of its members do not answer; start them"),
    ("space exceeded", "its quota of disk space is used up; compact and defragment it, then run 'etcdctl alarm disarm'"),
    ("rpc not supported for learner", "it is not a full member yet"),
)
"""Part of a message of etcd's or libcurl's, and what an operator reads in its place."""


class Pair(NamedTuple):
    """A key with its value, and the revisions that created it and last changed it."""

    key: str
    value: bytes
    created: int
    modified: int


class Get(NamedTuple):
    """Read a key, or all with a prefix."""

    key: str
    prefix: bool = False


class Put(NamedTuple):
    """Write a key; ``lease``: it vanishes with it."""

    key: str
    value: bytes
    lease: int = 0


class Delete(NamedTuple):
    """Delete a key, or all with a prefix."""

    key: str
    prefix: bool = False


class Same(NamedTuple):
    """Compare: nothing has changed the key since this revision; 0: it is absent."""

    key: str
    modified: int


Operation = Get | Put | Delete


class Found(NamedTuple):
    """The result of a transaction: ``pairs`` has one tuple for each `Get` of the branch taken, in order."""

    ok: bool
    revision: int
    pairs: tuple[tuple[Pair, ...], ...]


class NoEtcd(NamedTuple):
    """No result. ``known``: it certainly had no effect. ``lease_gone``: a put named a lease that does not exist any more."""

    reason: str
    known: bool
    lease_gone: bool = False


class Tls(NamedTuple):
    """PEM files: the authority of etcd's certificate, and our certificate and key; empty: we show none."""

    ca: str
    certificate: str = ""
    key: str = ""
    crl: str = ""
    """Certificates that a member of etcd which is started with these refuses."""


class Login(NamedTuple):
    """A user of etcd."""

    name: str
    password: str


class _Kv(msgspec.Struct, frozen=True):
    key: bytes
    create_revision: int
    mod_revision: int
    value: bytes = b""


class _Range(msgspec.Struct, frozen=True):
    kvs: tuple[_Kv, ...] = ()


class _Response(msgspec.Struct, frozen=True):
    response_range: _Range | None = None


class _Header(msgspec.Struct, frozen=True):
    revision: int = 0


class _Txn(msgspec.Struct, frozen=True):
    header: _Header = _Header()
    succeeded: bool = False
    responses: tuple[_Response, ...] = ()


class _Lease(msgspec.Struct, frozen=True):
    id: int = msgspec.field(name="ID", default=0)
    ttl: int = msgspec.field(name="TTL", default=0)


class _Kept(msgspec.Struct, frozen=True):
    result: _Lease = _Lease()


class _Token(msgspec.Struct, frozen=True):
    token: str = ""


class _Error(msgspec.Struct, frozen=True):
    error: str = ""
    message: str = ""


class _Refused(NamedTuple):
    """An answer that is an error of etcd's."""

    status: int
    text: str


_Answer = TypeVar("_Answer")


class Etcd:
    """Connections to the members of one etcd. ``endpoints``: URLs without a path."""

    def __init__(self, endpoints: Sequence[str], tls: Tls | None = None, login: Login | None = None) -> None:
        # constant after construction
        self._http = HttpClient(ca=tls.ca, certificate=tls.certificate, key=tls.key) if tls else HttpClient()
        self._login = login
        # only the calling thread
        self.endpoints = [endpoint.rstrip("/") for endpoint in endpoints]
        """The next one to ask comes first."""
        self._token: str | None = None
        """None: it has not logged in; empty: etcd has no users."""

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def txn(self, compares: Sequence[Same], then: Sequence[Operation], otherwise: Sequence[Operation] = ()) -> Found | NoEtcd:
        """Carry out ``then`` if all compares hold, else ``otherwise``, at one revision."""
        body = {
            "compare": [_compare(each) for each in compares],
            "success": [_operation(each) for each in then],
            "failure": [_operation(each) for each in otherwise],
        }
        reads = all(isinstance(each, Get) for each in (*then, *otherwise))
        answer = self.call("kv/txn", body, _Txn, again=reads)
        if isinstance(answer, NoEtcd):
            return answer
        ranges = [each.response_range for each in answer.responses if each.response_range is not None]
        pairs = tuple(tuple(map(_pair, each.kvs)) for each in ranges)
        return Found(answer.succeeded, answer.header.revision, pairs)

    def grant(self, seconds: int) -> int | NoEtcd:
        """Return the number of a new lease."""
        answer = self.call("lease/grant", {"TTL": seconds}, _Lease)
        return answer if isinstance(answer, NoEtcd) else answer.id

    def keep(self, lease: int) -> bool | NoEtcd:
        """Renew a lease. Return False if it does not exist any more."""
        answer = self.call("lease/keepalive", {"ID": str(lease)}, _Kept)
        return answer if isinstance(answer, NoEtcd) else answer.result.ttl > 0

    def revoke(self, lease: int) -> NoEtcd | None:
        """End a lease, and delete its keys. Return None if it is gone."""
        answer = self.call("lease/revoke", {"ID": str(lease)}, _Header)
        return answer if isinstance(answer, NoEtcd) and not answer.lease_gone else None

    def call(self, path: str, body: Mapping[str, Any], kind: type[_Answer], *, again: bool = True) -> _Answer | NoEtcd:
        """Post to ``/v3/PATH``. ``again``: another endpoint may be asked though the last one could have carried it out."""
        data = msgspec.json.encode(body)
        failed: dict[str, NoEtcd] = {}
        for endpoint in tuple(self.endpoints):
            answer = self._ask(endpoint, path, data)
            if isinstance(answer, bytes):
                try:
                    return msgspec.json.decode(answer, type=kind, strict=False)
                except msgspec.DecodeError:
                    answer = NoEtcd(_FOREIGN, known=False)
            failed[endpoint] = answer
            if answer.lease_gone:
                break
            self.endpoints.append(self.endpoints.pop(0))
            if not (answer.known or again):
                break
        reasons: dict[str, list[str]] = {}
        for endpoint, answer in sorted(failed.items()):  # the same text each time, though the order of endpoints changes
            reasons.setdefault(answer.reason, []).append(endpoint)
        text = "; ".join(f"etcd at {', '.join(where)}: {reason}" for reason, where in reasons.items())
        known = all(answer.known for answer in failed.values())
        return NoEtcd(text, known, any(answer.lease_gone for answer in failed.values()))

    def _ask(self, endpoint: str, path: str, data: bytes) -> bytes | NoEtcd:
        answer = self._post_as_user(endpoint, path, data)
        if isinstance(answer, _Refused) and self._login and (answer.status == 401 or _OLD_TOKEN.search(answer.text)):
            self._token = None
            answer = self._post_as_user(endpoint, path, data)
        if isinstance(answer, NoEtcd):
            self._token = None  # an etcd that went back in time keeps a token of its future waiting
        if not isinstance(answer, _Refused):
            return answer
        return NoEtcd(
            _sentence(answer.text), answer.status < 500 or bool(_REFUSED.search(answer.text)), _NO_LEASE in answer.text
        )

    def _post_as_user(self, endpoint: str, path: str, data: bytes) -> bytes | _Refused | NoEtcd:
        if self._login and self._token is None:
            token = self._authenticate(endpoint, self._login)
            if not isinstance(token, str):
                return token
            self._token = token
        return self._post(endpoint, path, data, self._token)

    def _authenticate(self, endpoint: str, login: Login) -> str | NoEtcd:
        data = msgspec.json.encode({"name": login.name, "password": login.password})
        answer = self._post(endpoint, "auth/authenticate", data, None)
        if isinstance(answer, bytes):
            return msgspec.json.decode(answer, type=_Token).token
        if isinstance(answer, NoEtcd):
            return answer._replace(known=True)
        return "" if _NO_USERS in answer.text else NoEtcd(_sentence(answer.text), known=True)

    def _post(self, endpoint: str, path: str, data: bytes, token: str | None) -> bytes | _Refused | NoEtcd:
        headers = {"content-type": "application/json"}
        if token:
            headers["authorization"] = token
        answer = self._http.ask("POST", f"{endpoint}/v3/{path}", headers, data, seconds=_SECONDS, most=_MOST)
        if isinstance(answer, NoAnswer):
            return NoEtcd(_sentence(answer.reason), answer.unsent)
        return answer.body if answer.status == 200 else _Refused(answer.status, _text(answer))


def _compare(compare: Same) -> dict[str, object]:
    return {"key": compare.key.encode(), "target": "MOD", "result": "EQUAL", "mod_revision": str(compare.modified)}


def _operation(operation: Operation) -> dict[str, object]:
    key = operation.key.encode()
    if isinstance(operation, Put):
        return {"request_put": {"key": key, "value": operation.value, "lease": str(operation.lease)}}
    request: dict[str, object] = {"key": key}
    if operation.prefix:
        request["range_end"] = key[:-1] + bytes([key[-1] + 1])  # no name ends with the byte 255
    if isinstance(operation, Delete):
        return {"request_delete_range": request}
    return {"request_range": request}


def _pair(kv: _Kv) -> Pair:
    return Pair(kv.key.decode(), kv.value, kv.create_revision, kv.mod_revision)


def _text(answer: HttpAnswer) -> str:
    try:
        error = msgspec.json.decode(answer.body, type=_Error)
    except msgspec.DecodeError:  # of a web server, or a proxy
        return printable(answer.body[:_SHORT].decode("utf-8", "replace").strip() or f"status {answer.status}")
    return error.error or error.message


def _sentence(text: str) -> str:
    return next((sentence for part, sentence in _SENTENCES if re.search(part, text)), text)
