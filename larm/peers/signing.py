"""Signed HTTP: RFC 9421 with Content-Digest (RFC 9530), by http-message-signatures. Pure, but for being told the time.

A request is signed over its method, path, query and digest, and over the key of who is to have it: nobody can hand it on to
somebody else. An answer is signed over the signature of the request, so it belongs to this one and to no other. What was not
made within the last 60 s is refused; that nothing is heard twice is `larm.peers.nonces`'s affair.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from http_message_signatures import HTTPMessageSigner, HTTPMessageVerifier, HTTPSignatureKeyResolver
from http_message_signatures.algorithms import ED25519
from http_message_signatures.exceptions import HTTPMessageSignaturesException, InvalidSignature

from larm.peers.identity import Identity, public_key
from larm.seams import Clock

PERIOD = 60.0
"""Seconds for which a request is good, on either side of our own clock."""
RECIPIENT = "larm-recipient"
_LABEL = "larm"
_ASKS = "larm-peer"
_ANSWERS = "larm-answer"
"""Tags: a signature of one kind is none of the other."""
_REQUEST = ("@method", "@path", "@query", "content-digest", RECIPIENT)
_ANSWER = ("@status", "content-digest", '"@method";req', '"@path";req', f'"signature";req;key="{_LABEL}"')
_OURS = ("signature", "signature-input", "content-digest", RECIPIENT)
"""Headers that are there once, or it is no message of ours."""
_LONGEST_NONCE = 64
_ORIGIN = "http://peer.invalid"
"""The library wants a whole address; the host is not signed, as proxies and names change it, and the recipient's key is."""


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


class _Message:
    """A request, in the library's words."""

    def __init__(self, request: Request) -> None:
        self.method = request.method
        self.url = _ORIGIN + request.target
        self.headers = dict(request.headers)


class _Answer:
    """An answer likewise."""

    def __init__(self, status: int, headers: Mapping[str, str], request: Request) -> None:
        self.status_code = status
        self.headers = dict(headers)
        self.request = _Message(request)


class _Keys(HTTPSignatureKeyResolver):
    """Who signs is named by his public key itself."""

    def __init__(self, own: Identity | None = None) -> None:
        self._own = own

    def resolve_public_key(self, key_id: str) -> Any:
        return public_key(key_id)

    def resolve_private_key(self, key_id: str) -> Any:  # noqa: ARG002 - there is one
        return self._own.private if self._own is not None else None


class _Verifier(HTTPMessageVerifier):
    def __init__(self, now: float) -> None:
        super().__init__(signature_algorithm=ED25519, key_resolver=_Keys())
        self._now = now

    def validate_created_and_expires(self, sig_input: Any, max_age: object = None) -> None:  # noqa: ARG002
        """By the clock that we are given."""
        created = sig_input.params.get("created")
        if type(created) is not int or abs(self._now - created) > PERIOD:
            raise InvalidSignature(f"it was not signed within the last {PERIOD:.0f} s by our clock")


def signed_request(identity: Identity, method: str, target: str, body: bytes, *, recipient: str, clock: Clock) -> Request:
    """A request with the headers that sign it."""
    message = _Message(Request(method, target, {RECIPIENT: recipient}, body))
    _sign(message, identity, _ASKS, _REQUEST, body, clock=clock, nonce=secrets.token_urlsafe(16))
    return Request(method, target, _lower(message.headers), body)


def verify_request(request: Request, recipient: str, clock: Clock) -> Signed:
    """Who asks. Raises BadSignatureError."""
    if request.headers.get(RECIPIENT) != recipient:
        raise BadSignatureError("it is meant for somebody else")
    return _verified(_Message(request), _ASKS, _REQUEST, request.body, clock)


def signed_answer(identity: Identity, status: int, body: bytes, request: Request, clock: Clock) -> dict[str, str]:
    """The headers that sign the answer to a request."""
    message = _Answer(status, {}, request)
    _sign(message, identity, _ANSWERS, _ANSWER, body, clock=clock)
    return _lower(message.headers)


def verify_answer(status: int, headers: Mapping[str, str], body: bytes, *, request: Request, key: str, clock: Clock) -> None:
    """Raises BadSignatureError where it is not this peer's answer to this request."""
    if _verified(_Answer(status, headers, request), _ANSWERS, _ANSWER, body, clock).key != key:
        raise BadSignatureError("somebody else has signed the answer")


def headers_of(pairs: Iterable[tuple[str, str]]) -> dict[str, str] | None:
    """Of a request as it came; None where one of ours came twice."""
    found: dict[str, str] = {}
    for name, value in pairs:
        lower = name.lower()
        if lower in found and lower in _OURS:
            return None
        found[lower] = value
    return found


def _sign(
    message: Any, identity: Identity, tag: str, covered: tuple[str, ...], body: bytes, *, clock: Clock, nonce: str | None = None
) -> None:
    signer = HTTPMessageSigner(signature_algorithm=ED25519, key_resolver=_Keys(identity))
    created = datetime.fromtimestamp(int(clock.wall()), UTC)
    signer.content_digest_class.add(message.headers, body)
    signer.sign(
        message,
        key_id=identity.key,
        created=created,
        nonce=nonce,
        label=_LABEL,
        tag=tag,
        covered_component_ids=covered,
        body=body,
        use_existing_digest=True,
    )


def _verified(message: Any, tag: str, covered: tuple[str, ...], body: bytes, clock: Clock) -> Signed:
    try:
        found = _Verifier(clock.wall()).verify(
            message,
            max_age=timedelta(seconds=PERIOD),
            expect_tag=tag,
            expect_label=_LABEL,
            require_components=covered,
            body=body,
        )
    except (HTTPMessageSignaturesException, InvalidSignature) as error:
        raise BadSignatureError(str(error) or "its signature is wrong") from error
    (one,) = found
    nonce = one.nonce or ""
    if tag == _ASKS and not 8 <= len(nonce) <= _LONGEST_NONCE:
        raise BadSignatureError("it has no nonce")
    return Signed(str(one.parameters["keyid"]), nonce, int(one.parameters["created"]))


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
