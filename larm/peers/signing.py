"""Signed HTTP: RFC 9421 with Content-Digest (RFC 9530), in the one form that peers use. Pure; a clock is handed in.

A request is signed over its method, path, query, digest and the key of its recipient, so no recipient can hand it on. An answer
is signed over the signature of the request, so it belongs to no other request. Messages older than 60 s are refused;
`larm.peers.door` refuses replays.

Each side writes one form and accepts no other, so nothing that a stranger sends is parsed but a line that fits a pattern. Tests
compare it with a library for all of RFC 9421.
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
"""Seconds for which a request is valid, on either side of the own clock."""
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
"""The tags differ, so no signature of a request is valid for an answer."""
_SIGNATURE = re.compile(r"larm=:([A-Za-z0-9+/]{86}==):")
_OURS = ("signature", "signature-input", "content-digest", RECIPIENT)
"""Headers that a message has exactly once."""


class BadSignatureError(Exception):
    """A signature is missing or wrong; half a sentence has the reason."""


class Request(NamedTuple):
    """The signed parts of a request."""

    method: str
    target: str
    """Path and query, as sent."""
    headers: Mapping[str, str]
    """Headers by names in lower case."""
    body: bytes


class Signed(NamedTuple):
    """The contents of a valid signature."""

    key: str
    nonce: str
    created: int
    """Time of the signature, in seconds since 1970."""


def signed_request(identity: Identity, method: str, target: str, body: bytes, *, recipient: str, clock: Clock) -> Request:
    """Return a request with the headers that sign it."""
    digest = _digest(body)
    parameters = (
        f'{_REQUEST};created={int(clock.wall())};keyid="{identity.key}";alg="ed25519"'
        f';nonce="{secrets.token_urlsafe(16)}";tag="larm-peer"'
    )
    signature = _signed(identity, _request_base(method, target, digest, recipient, parameters))
    headers = {"content-digest": digest, RECIPIENT: recipient, "signature-input": f"larm={parameters}", "signature": signature}
    return Request(method, target, headers, body)


def verify_request(request: Request, recipient: str, clock: Clock) -> Signed:
    """Return the verified sender of a request. Raises BadSignatureError."""
    headers = request.headers
    if headers.get(RECIPIENT) != recipient:
        raise BadSignatureError("it is for another recipient")
    given = _REQUEST_INPUT.fullmatch(headers.get("signature-input", ""))
    if given is None:
        raise BadSignatureError("it is not signed as peers sign")
    created, key, nonce = int(given[1]), given[2], given[3]
    digest = _checked_digest(headers, request.body, created, clock)
    parameters = headers["signature-input"].removeprefix("larm=")
    _verify(key, _request_base(request.method, request.target, digest, recipient, parameters), headers)
    return Signed(key, nonce, created)


def signed_answer(identity: Identity, status: int, body: bytes, request: Request, clock: Clock) -> dict[str, str]:
    """Return the headers that sign the answer to a request."""
    digest = _digest(body)
    parameters = f'{_ANSWER};created={int(clock.wall())};keyid="{identity.key}";alg="ed25519";tag="larm-answer"'
    signature = _signed(identity, _answer_base(status, digest, request, parameters))
    return {"content-digest": digest, "signature-input": f"larm={parameters}", "signature": signature}


def verify_answer(status: int, headers: Mapping[str, str], body: bytes, *, request: Request, key: str, clock: Clock) -> None:
    """Verify that it is this peer's answer to this request. Raises BadSignatureError."""
    given = _ANSWER_INPUT.fullmatch(headers.get("signature-input", ""))
    if given is None:
        raise BadSignatureError("it is not signed as peers sign")
    if given[2] != key:
        raise BadSignatureError("another key has signed the answer")
    digest = _checked_digest(headers, body, int(given[1]), clock)
    _verify(key, _answer_base(status, digest, request, headers["signature-input"].removeprefix("larm=")), headers)


def headers_of(pairs: Iterable[tuple[str, str]]) -> dict[str, str] | None:
    """Return the headers of a request by names in lower case; None if a header of the signature came twice."""
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
    """Return the digest of the body, which the headers must have too."""
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
