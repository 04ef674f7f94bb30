"""Our one form of signed HTTP, held against a library that knows all of RFC 9421, both ways; and whatever a stranger sends."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from http_message_signatures import HTTPMessageSigner, HTTPMessageVerifier, HTTPSignatureKeyResolver
from http_message_signatures.algorithms import ED25519
from http_message_signatures.exceptions import InvalidSignature
from hypothesis import given
from hypothesis import strategies as st

from larm.peers.identity import Identity, public_key
from larm.peers.signing import (
    BadSignatureError,
    Request,
    signed_answer,
    signed_request,
    verify_answer,
    verify_request,
)
from larm.testing.clock import FakeClock

NOW = 1_700_000_000
WE, PEER = Identity.new(), Identity.new()
REQUEST = ("@method", "@path", "@query", "content-digest", "larm-recipient")
ANSWER = ("@status", "content-digest", '"@method";req', '"@path";req', '"signature";req;key="larm"')


class Keys(HTTPSignatureKeyResolver):
    def __init__(self, identity: Identity | None = None) -> None:
        self._identity = identity

    def resolve_public_key(self, key_id: str) -> Any:
        return public_key(key_id)

    def resolve_private_key(self, key_id: str) -> Any:
        assert self._identity is not None
        return self._identity.private


class Verifier(HTTPMessageVerifier):
    def validate_created_and_expires(self, sig_input: Any, max_age: object = None) -> None:
        """The test's clock stands still."""


def message(request: Request) -> Any:
    return SimpleNamespace(method=request.method, url="http://peer.invalid" + request.target, headers=dict(request.headers))


def answer(status: int, headers: dict[str, str], request: Request) -> Any:
    return SimpleNamespace(status_code=status, headers=dict(headers), request=message(request))


def asked(target: str = "/peer/v1/a%20b?x=1&y=", body: bytes = b"{}") -> Request:
    return signed_request(WE, "POST", target, body, recipient=PEER.key, clock=FakeClock(NOW))


def by_library(identity: Identity, given: Any, body: bytes, covered: tuple[str, ...], **other: Any) -> dict[str, str]:
    signer = HTTPMessageSigner(signature_algorithm=ED25519, key_resolver=Keys(identity))
    signer.content_digest_class.add(given.headers, body)
    signer.sign(
        given,
        key_id=identity.key,
        created=datetime.fromtimestamp(NOW, UTC),
        label="larm",
        covered_component_ids=covered,
        body=body,
        use_existing_digest=True,
        **other,
    )
    return {name.lower(): value for name, value in given.headers.items()}


@pytest.mark.parametrize("target", ["/peer/v1/a%20b?x=1&y=", "/peer/v1/you/search", "/"])
def test_what_we_sign_is_rfc_9421(target: str) -> None:
    verifier = Verifier(signature_algorithm=ED25519, key_resolver=Keys())
    request = asked(target)
    (found,) = verifier.verify(message(request), expect_tag="larm-peer", require_components=REQUEST, body=b"{}")
    assert found.parameters["keyid"] == WE.key
    headers = signed_answer(PEER, 200, b"[1]", request, FakeClock(NOW))
    verifier.verify(answer(200, headers, request), expect_tag="larm-answer", require_components=ANSWER, body=b"[1]")
    with pytest.raises(InvalidSignature):
        verifier.verify(answer(404, headers, request), expect_tag="larm-answer", require_components=ANSWER, body=b"[1]")


def test_what_another_program_signs_is_understood() -> None:
    bare = Request("POST", "/peer/v1/a?b=c", {"larm-recipient": PEER.key}, b"{}")
    headers = by_library(WE, message(bare), b"{}", REQUEST, nonce="abcdefghij", tag="larm-peer")
    request = bare._replace(headers=headers)
    signed = verify_request(request, PEER.key, FakeClock(NOW))
    assert (signed.key, signed.nonce, signed.created) == (WE.key, "abcdefghij", NOW)
    headers = by_library(PEER, answer(200, {}, request), b"[1]", ANSWER, tag="larm-answer")
    verify_answer(200, headers, b"[1]", request=request, key=PEER.key, clock=FakeClock(NOW))
    for left_out in REQUEST:
        if left_out == "content-digest":  # the library adds it by itself
            continue
        fewer = tuple(each for each in REQUEST if each != left_out)
        short = by_library(WE, message(bare), b"{}", fewer, nonce="abcdefghij", tag="larm-peer")
        with pytest.raises(BadSignatureError):
            verify_request(bare._replace(headers=short), PEER.key, FakeClock(NOW))


def test_nothing_that_is_signed_can_be_changed() -> None:
    request = asked()
    clock = FakeClock(NOW)
    assert verify_request(request, PEER.key, clock).key == WE.key
    input_ = request.headers["signature-input"]
    for changed in (
        request._replace(method="PUT"),
        request._replace(target="/peer/v1/a%20c?x=1&y="),
        request._replace(target="/peer/v1/a%20b?x=1&y=2"),
        request._replace(target="/peer/v1/a%20b?x=1&y=\n"),
        request._replace(body=b"{} "),
        request._replace(headers={**request.headers, "larm-recipient": WE.key}),
        request._replace(headers={**request.headers, "signature-input": input_.replace(str(NOW), str(NOW + 1))}),
        request._replace(headers={**request.headers, "signature-input": input_.replace(WE.key, PEER.key)}),
        request._replace(headers={**request.headers, "signature-input": input_ + " "}),
        request._replace(headers={**request.headers, "signature-input": input_ + ";expires=9"}),
    ):
        with pytest.raises(BadSignatureError):
            verify_request(changed, PEER.key, clock)


@given(
    name=st.sampled_from(["signature", "signature-input", "content-digest", "larm-recipient"]),
    at=st.integers(0, 300),
    length=st.integers(0, 5),
    put=st.text(st.characters(max_codepoint=255), max_size=5),
)
def test_whatever_headers_are_sent_is_refused_in_good_order(name: str, at: int, length: int, put: str) -> None:
    request, clock = asked(), FakeClock(NOW)
    headers = signed_answer(PEER, 200, b"[1]", request, clock)
    for kind in (request.headers, headers):
        value = kind.get(name, "")
        changed = {**kind, name: value[:at] + put + value[at + length :]}
        if not value or changed[name] == value:
            continue
        verify: Callable[[], object] = partial(verify_answer, 200, changed, b"[1]", request=request, key=PEER.key, clock=clock)
        if kind is request.headers:
            verify = partial(verify_request, request._replace(headers=changed), PEER.key, clock)
        with pytest.raises(BadSignatureError):
            verify()
