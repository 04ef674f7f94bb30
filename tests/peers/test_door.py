"""A signed question through the door and back: pure, both ends in one process."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from larm.errors import StorageError
from larm.peers.door import Call, Door, Incoming, Nonces, Question, RefusedError, Reply
from larm.peers.identity import Identity
from larm.peers.rates import payer
from larm.peers.signing import BadSignatureError, Request, Signed, signed_request, verify_answer
from larm.testing.clock import FakeClock

TARGET = "/peer/v1/echo"
WE, PEER = Identity.new(), Identity.new()


class Echo(msgspec.Struct):
    text: str


def echo(call: Call, asked: Echo) -> Echo:
    if asked.text == "no":
        raise RefusedError("not today", 409)
    if asked.text == "broken":
        raise StorageError("/home/somebody/secret: broken")
    return Echo(f"{asked.text} from {call.address}")


ECHO = Question("/echo", Echo, Echo, echo)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(1_700_000_000.0)


def asked(clock: FakeClock, text: str = "hello", **other: Any) -> Request:
    body = msgspec.json.encode(Echo(text))
    return signed_request(
        **{"identity": WE, "method": "POST", "target": TARGET, "body": body, "recipient": PEER.key} | other, clock=clock
    )


def put(door: Door, request: Request, **other: Any) -> Reply:
    return door.answer(
        Incoming(request.method, request.target, request.headers.items(), request.body, "192.0.2.7")._replace(**other)
    )


def test_an_answer_is_signed_together_with_its_question(clock: FakeClock) -> None:
    door = Door(PEER, [ECHO], clock)
    first, second = asked(clock), asked(clock)
    reply = put(door, first)
    assert reply.status == 200
    assert msgspec.json.decode(reply.body, type=Echo).text == "hello from 192.0.2.7"
    verify_answer(200, reply.headers, reply.body, request=first, key=PEER.key, clock=clock)
    for wrong in (
        lambda: verify_answer(200, reply.headers, reply.body, request=second, key=PEER.key, clock=clock),
        lambda: verify_answer(200, reply.headers, reply.body + b" ", request=first, key=PEER.key, clock=clock),
        lambda: verify_answer(201, reply.headers, reply.body, request=first, key=PEER.key, clock=clock),
        lambda: verify_answer(200, reply.headers, reply.body, request=first, key=WE.key, clock=clock),
        lambda: verify_answer(200, {}, reply.body, request=first, key=PEER.key, clock=clock),
        lambda: verify_answer(200, first.headers, first.body, request=first, key=WE.key, clock=clock),  # a request is no answer
    ):
        with pytest.raises(BadSignatureError):
            wrong()


def test_what_is_not_signed_for_us_now_and_once_is_refused(clock: FakeClock) -> None:
    door = Door(PEER, [ECHO], clock)
    request = asked(clock)
    without = {name: value for name, value in request.headers.items() if not name.startswith("signature")}
    twice = [*request.headers.items(), ("Signature", request.headers["signature"])]
    other = asked(clock, recipient=WE.key)
    assert put(door, other).status == 401
    for changed in (
        {"body": b'{"text":"other"}'},
        {"target": TARGET + "?a=1"},
        {"target": TARGET + "?%zz"},
        {"headers": without.items()},
        {"headers": twice},
        {"headers": {**other.headers, "larm-recipient": PEER.key}.items()},
        {"headers": {**request.headers, "signature-input": "larm=("}.items()},
    ):
        assert put(door, request, **changed).status == 401, changed
    assert put(door, request, method="GET").status == 404
    assert put(door, request, target="/peer/v1/other").status == 404
    assert put(door, request).status == 200
    heard = put(door, request)
    assert heard.status == 401
    assert b"heard before" in heard.body
    late = asked(clock)
    clock.advance(61)
    assert put(door, late).status == 401
    early = asked(FakeClock(clock.wall() + 62))
    assert put(door, early).status == 401


def test_a_request_from_a_fast_clock_is_not_heard_twice(clock: FakeClock) -> None:
    door = Door(PEER, [ECHO], clock)
    early = asked(FakeClock(clock.wall() + 59))
    assert put(door, early).status == 200
    clock.advance(100)
    assert put(door, early).status == 401


def test_refusals_and_failures_are_signed_and_name_no_paths(clock: FakeClock) -> None:
    door = Door(PEER, [ECHO], clock)
    for text, status, says in (("no", 409, b"not today"), ("broken", 503, b"now")):
        request = asked(clock, text)
        reply = put(door, request)
        assert (reply.status, says in reply.body, b"secret" in reply.body) == (status, True, False)
        verify_answer(status, reply.headers, reply.body, request=request, key=PEER.key, clock=clock)
    request = asked(clock, body=b"[1]")
    assert put(door, request).status == 400


def test_who_asks_too_often_has_to_wait(clock: FakeClock) -> None:
    door = Door(PEER, [ECHO], clock)
    statuses = [put(door, asked(clock)).status for _ in range(101)]
    assert statuses == [200] * 100 + [429]
    assert put(door, asked(clock, identity=Identity.new())).status == 200, "others are answered"
    clock.advance(1)
    assert put(door, asked(clock)).status == 200
    flood = [put(door, asked(clock)._replace(headers={})).status for _ in range(600)]
    assert flood[-1] == 429, "who does not sign costs even less"
    assert put(door, asked(clock, identity=Identity.new()), address="192.0.2.8").status == 200


def test_one_address_pays_for_dear_questions_whatever_keys_it_has(clock: FakeClock) -> None:
    dear = ECHO._replace(cost=50.0)
    door = Door(PEER, [dear], clock)
    statuses = [put(door, asked(clock, identity=Identity.new())).status for _ in range(12)]
    assert statuses == [200] * 10 + [429] * 2
    assert put(door, asked(clock, identity=Identity.new()), address="192.0.2.8").status == 200


def test_what_is_nested_without_end_is_a_bad_question(clock: FakeClock) -> None:
    reply = put(Door(PEER, [ECHO], clock), asked(clock, body=b'{"text":"a","more":' + b"[" * 20_000 + b"]" * 20_000 + b"}"))
    assert (reply.status, b"can't be understood" in reply.body) == (400, True)


def test_what_the_server_before_may_have_heard_is_not_heard_again(clock: FakeClock) -> None:
    request = asked(clock)
    assert put(Door(PEER, [ECHO], clock), request).status == 200
    clock.advance(1)
    assert put(Door(PEER, [ECHO], clock), request).status == 401, "it was started anew"
    assert put(Door(PEER, [ECHO], clock), asked(clock)).status == 200


def test_who_repeats_what_another_has_said_spends_nothing_of_his(clock: FakeClock) -> None:
    door = Door(PEER, [ECHO], clock)
    request = asked(clock)
    assert put(door, request).status == 200
    assert {put(door, request, address="192.0.2.8").status for _ in range(200)} == {401}
    assert put(door, asked(clock)).status == 200


def test_a_network_of_ipv6_addresses_is_one(clock: FakeClock) -> None:
    door = Door(PEER, [ECHO], clock)
    unsigned = asked(clock)._replace(headers={})
    statuses = [put(door, unsigned, address=f"2001:db8::{n:x}").status for n in range(501)]
    assert (statuses[0], statuses[-1]) == (401, 429)
    assert put(door, unsigned, address="2001:db8:0:1::1").status == 401
    assert (payer("::ffff:192.0.2.1"), payer("192.0.2.1"), payer("peer")) == ("192.0.2.1", "192.0.2.1", "peer")


def test_lists_say_who_may_ask(clock: FakeClock) -> None:
    other = Identity.new()
    assert put(Door(PEER, [ECHO], clock, denied=[WE.key]), asked(clock)).status == 403
    door = Door(PEER, [ECHO], clock, allowed=[other.key])
    assert put(door, asked(clock)).status == 403
    assert put(door, asked(clock, identity=other)).status == 200


def test_there_is_an_end_of_what_is_remembered(clock: FakeClock) -> None:
    nonces = Nonces(clock, most=4)
    heard = [nonces.is_new(Signed("k", str(n), 1_700_000_000), "a") for n in (1, 2, 2, 3, 4, 5)]
    assert heard == [True, True, False, True, True, False]
    others = [nonces.is_new(Signed("k", str(n), 1_700_000_000), "b") for n in (1, 6, 7, 8)]
    assert others == [False, True, True, False], "who has filled it has others wait for nothing; nothing is heard twice"
    assert not nonces.is_new(Signed("k", "9", 1_700_000_000), "a")
    clock.advance(122)
    assert nonces.is_new(Signed("k", "5", 1_700_000_122), "a")
    assert nonces._of == {"a": 1}


def test_who_fills_the_memory_for_nonces_keeps_nobody_else_out(clock: FakeClock) -> None:
    door = Door(PEER, [ECHO], clock)
    door._nonces = Nonces(clock, most=100)
    flood = [put(door, asked(clock, identity=Identity.new())).status for _ in range(101)]
    assert (set(flood[:100]), flood[100]) == ({200}, 401)
    assert put(door, asked(clock), address="192.0.2.8").status == 200
