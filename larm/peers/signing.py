"""Signed HTTP: RFC 9421 with Content-Digest (RFC 9530), in the one form that peers use. Pure, but for being told the time.

A request is signed over its method, path, query and digest, and over the key of who is to have it: nobody can hand it on to
somebody else. An answer is signed over the signature of the request, so it belongs to this one and to no other. What was not
made within the last 60 s is refused; that nothing is heard twice is `larm.peers.door`'s affair.

Each side writes what is signed in one way, and takes it in no other: there is nothing to parse of what a stranger sends but a
line that fits a pattern. Tests hold it against a library that knows all of RFC 9421.
"""

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from cryptography.exceptions import InvalidSignature

from larm.peers.identity import Identity, public_key
from larm.seams import Clock

PERIOD = 60.0
"""Seconds for which a request is good, on either side of our own clock."""
RECIPIENT = "larm-recipient"
_REQUEST = f'("@method" "@path" "@query" "content-digest" "{RECIPIENT}")'
_ANSWER = '("@status" "content-digest" "@method";req "@path";req "signature";req;key="larm")'
_REQUEST_INPUT = re.compile(
    "larm="
    + re.escape(_REQUEST)
    + r';created=([0-9]{1,12});keyid="([A-Za-z0-9_-]{43})";alg="ed25519";nonce="([A-Za-z0-9_-]{8,64})";tag="larm-peer"'
)
_ANSWER_INPUT = re.compile(
    "larm=" + re.escape(_ANSWER) + r';created=([0-9]{1,12});keyid="([A-Za-z0-9_-]{43})";alg="ed25519";tag="larm-answer"'
)
"""The tags differ: a signature of one kind is none of the other."""
_SIGNATURE = re.compile(r"larm=:([A-Za-z0-9+/]{86}==):")
_OURS = ("signature", "signature-input", "content-digest", RECIPIENT)
"""Headers that are there once, or it is no message of ours."""


class BadSignatureError(Exception):
    """Half a sentence says why."""


class Request(NamedTuple):
    """What is signed of a request."""

    method: str
    target: str
    """Path and query, as they are sent."""
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes


class Signed(NamedTuple):
    """What a good signature says."""

    key: str
    nonce: str
    created: int
    """Seconds since 1970."""


def signed_request(identity: Identity, method: str, target: str, body: bytes, *, recipient: str, clock: Clock) -> Request:
    """A request with the headers that sign it."""
    digest = _digest(body)
    parameters = (
        f'{_REQUEST};created={int(clock.wall())};keyid="{identity.key}";alg="ed25519"'
        f';nonce="{secrets.token_urlsafe(16)}";tag="larm-peer"'
    )
    signature = _signed(identity, _request_base(method, target, digest, recipient, parameters))
    headers = {"content-digest": digest, RECIPIENT: recipient, "signature-input": f"larm={parameters}", "signature": signature}
    return Request(method, target, headers, body)


def verify_request(request: Request, recipient: str, clock: Clock) -> Signed:
    """Who asks. Raises BadSignatureError."""
    headers = request.headers
    if headers.get(RECIPIENT) != recipient:
        raise BadSignatureError("it is meant for somebody else")
    given = _REQUEST_INPUT.fullmatch(headers.get("signature-input", ""))
    if given is None:
        raise BadSignatureError("it is not signed as peers sign")
    created, key, nonce = int(given[1]), given[2], given[3]
    digest = _checked_digest(headers, request.body, created, clock)
    parameters = headers["signature-input"].removeprefix("larm=")
    _verify(key, _request_base(request.method, request.target, digest, recipient, parameters), headers)
    return Signed(key, nonce, created)


def signed_answer(identity: Identity, status: int, body: bytes, request: Request, clock: Clock) -> dict[str, str]:
    """The headers that sign the answer to a request."""
    digest = _digest(body)
    parameters = f'{_ANSWER};created={int(clock.wall())};keyid="{identity.key}";alg="ed25519";tag="larm-answer"'
    signature = _signed(identity, _answer_base(status, digest, request, parameters))
    return {"content-digest": digest, "signature-input": f"larm={parameters}", "signature": signature}


def verify_answer(status: int, headers: Mapping[str, str], body: bytes, *, request: Request, key: str, clock: Clock) -> None:
    """Raises BadSignatureError where it is not this peer's answer to this request."""
    given = _ANSWER_INPUT.fullmatch(headers.get("signature-input", ""))
    if given is None:
        raise BadSignatureError("it is not signed as peers sign")
    if given[2] != key:
        raise BadSignatureError("somebody else has signed the answer")
    digest = _checked_digest(headers, body, int(given[1]), clock)
    _verify(key, _answer_base(status, digest, request, headers["signature-input"].removeprefix("larm=")), headers)


def headers_of(pairs: Iterable[tuple[str, str]]) -> dict[str, str] | None:
    """Of a request as it came; None where one of ours came twice."""
    found: dict[str, str] = {}
    for name, value in pairs:
        lower = name.lower()
        if lower in found and lower in _OURS:
            return None
        found[lower] = value
    return found


def _request_base(method: str, target: str, digest: str, recipient: str, parameters: str) -> str:
    path, _, query = target.partition("?")
    return (
        f'"@method": {method}\n"@path": {path}\n"@query": ?{query}\n"content-digest": {digest}\n'
        f'"{RECIPIENT}": {recipient}\n"@signature-params": {parameters}'
    )


def _answer_base(status: int, digest: str, request: Request, parameters: str) -> str:
    signature = request.headers.get("signature", "").removeprefix("larm=")
    return (
        f'"@status": {status}\n"content-digest": {digest}\n"@method";req: {request.method}\n'
        f'"@path";req: {request.target.partition("?")[0]}\n"signature";req;key="larm": {signature}\n'
        f'"@signature-params": {parameters}'
    )


def _digest(body: bytes) -> str:
    return f"sha-256=:{base64.b64encode(hashlib.sha256(body).digest()).decode('ascii')}:"


def _checked_digest(headers: Mapping[str, str], body: bytes, created: int, clock: Clock) -> str:
    """That of the body, which the headers say as well."""
    if abs(clock.wall() - created) > PERIOD:
        raise BadSignatureError(f"it was not signed within the last {PERIOD:.0f} s by our clock")
    digest = _digest(body)
    if not hmac.compare_digest(headers.get("content-digest", "").encode("utf-8", "replace"), digest.encode("ascii")):
        raise BadSignatureError("its digest is not that of its body")
    return digest


def _signed(identity: Identity, base: str) -> str:
    return f"larm=:{base64.b64encode(identity.private.sign(base.encode('utf-8'))).decode('ascii')}:"


def _verify(key: str, base: str, headers: Mapping[str, str]) -> None:
    public, given = public_key(key), _SIGNATURE.fullmatch(headers.get("signature", ""))
    if public is None or given is None:
        raise BadSignatureError("its key or signature is none")
    try:
        public.verify(base64.b64decode(given[1]), base.encode("utf-8", "replace"))
    except InvalidSignature:
        raise BadSignatureError("its signature is wrong") from None
