"""Door: admission and authentication of all questions to a peer, below ``/peer/v1/``. Thread-safe; knows no web server.

The checks, in this order: rate of the address, signature for this peer, key on the lists, nonce, rate of the key, form of the
question. Then the handler answers, and the answer is signed together with the request. Nonces are kept as long as a request is
valid.
"""

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Container, Iterable
from typing import Any, NamedTuple

import msgspec

from larm.errors import LarmError
from larm.kit.decoding import decoded
from larm.peers.channel import ROOT, Refusal
from larm.peers.group_secret import HEADER, GroupSecret
from larm.peers.identity import Identity
from larm.peers.rates import Rates, payer
from larm.peers.signing import PERIOD, BadSignatureError, Request, Signed, headers_of, signed_answer, verify_request
from larm.seams import Clock

_MOST = 50_000
"""Number of nonces: six megabytes. `larm.peers.rates` admits 6,500 of one address while they are kept."""


class Nonces:
    """The requests that one server has seen, so that it answers none twice.

    If there is no room, only senders with more than their share are refused."""

    def __init__(self, clock: Clock, most: int = _MOST) -> None:
        # constant after construction
        self._clock = clock
        self._most = most
        self._began = int(clock.wall())
        """Start of this server. An earlier process may have seen requests that were signed before."""
        self._lock = threading.Lock()
        # guarded by self._lock
        self._seen: OrderedDict[tuple[str, str], tuple[float, str]] = OrderedDict()
        """End of validity and payer of each request, in the order of arrival."""
        self._of: Counter[str] = Counter()

    def is_new(self, signed: Signed, payer: str) -> bool:
        """Return False for a request that was or may have been seen before, or for which there is no room: fail closed.

        ``payer``: its sender, by address."""
        now = self._clock.wall()
        name = signed.key, signed.nonce
        with self._lock:
            while self._seen and next(iter(self._seen.values()))[0] < now:
                self._forget_locked()
            share = self._most // (len(self._of) + (payer not in self._of))
            full = len(self._seen) >= self._most and self._of[payer] >= share
            if signed.created < self._began or name in self._seen or full:
                return False
            self._seen[name] = (
                now + 2 * PERIOD + 1,
                payer,
            )  # created up to a minute from now, it is valid for a minute after that
            self._of[payer] += 1
        return True

    def _forget_locked(self) -> None:
        _, (_, payer) = self._seen.popitem(last=False)
        self._of[payer] -= 1
        if not self._of[payer]:
            del self._of[payer]


_PER_ADDRESS = (50.0, 500.0)
"""Requests of one address, a second and at once: enough for an office behind one address."""
_PER_KEY = (20.0, 100.0)

_MOST_COUNTED = 10_000
"""Number of addresses whose requests are counted."""


class Call(NamedTuple):
    """The sender of a question."""

    key: str
    address: str
    """IP address of the request, from the socket."""


class Question(NamedTuple):
    """A kind of question that is answered."""

    path: str
    """Path below ``/peer/v1``."""
    asks: type[msgspec.Struct]
    answers: type[msgspec.Struct]
    handler: Callable[[Call, Any], msgspec.Struct]
    """Answers it, on any thread. Raises `RefusedError`."""
    cost: float = 1.0
    """Its cost against the rates, in requests."""


class Incoming(NamedTuple):
    """A request as it arrived."""

    method: str
    target: str
    """Path and query, as sent."""
    headers: Iterable[tuple[str, str]]
    body: bytes
    address: str


class Reply(NamedTuple):
    """The response."""

    status: int
    headers: dict[str, str]
    body: bytes


class RefusedError(Exception):
    """A question was understood but is not answered; half a sentence has the reason."""

    def __init__(self, sentence: str, status: int = 403) -> None:
        super().__init__(sentence)
        self.status = status


class Door:
    """The admission of one peer. ``allowed``: the only keys that may ask; None: all keys that are not ``denied`` now.

    ``secret``: the secret that every sender must know.
    """

    def __init__(
        self,
        identity: Identity,
        questions: Iterable[Question],
        clock: Clock,
        *,
        allowed: Collection[str] | None = None,
        denied: Container[str] = (),
        secret: GroupSecret | None = None,
    ) -> None:
        # constant after construction
        self._identity = identity
        self._questions = {ROOT + each.path: each for each in questions}
        self._clock = clock
        self._allowed = None if allowed is None else frozenset(allowed)
        self._denied = denied
        self._secret = secret
        self._nonces = Nonces(clock)
        self._addresses = Rates(clock, *_PER_ADDRESS)
        self._keys = Rates(clock, *_PER_KEY)
        self._lock = threading.Lock()
        # guarded by self._lock
        self._asked: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()

    def asked(self, most: int = 100) -> list[tuple[str, int, int]]:
        """Return (address, questions since the start, refusals), the address with the most questions first."""
        with self._lock:
            return [(address, count, self._refused[address]) for address, count in self._asked.most_common(most)]

    def answer(self, incoming: Incoming) -> Reply:
        """Answer a request. Never raises, whatever it contains."""
        reply = self._answer(incoming)
        with self._lock:
            if incoming.address in self._asked or len(self._asked) < _MOST_COUNTED:
                self._asked[incoming.address] += 1
                self._refused[incoming.address] += reply.status != 200
        return reply

    def _answer(self, incoming: Incoming) -> Reply:
        if not self._addresses.allows(payer(incoming.address)):
            return _refused(429, "too many requests come from this address")
        path = incoming.target.partition("?")[0]
        question = self._questions.get(path)
        if question is None or incoming.method != "POST":
            return _refused(404, "there is no such question")
        headers = headers_of(incoming.headers)
        if headers is None:
            return _refused(401, "a header of the signature came twice")
        request = Request(incoming.method, incoming.target, headers, incoming.body)
        try:
            signed = verify_request(request, self._identity.key, self._clock)
        except BadSignatureError as error:
            return _refused(401, str(error)[:200])
        status, answer = self._checked(question, Call(signed.key, incoming.address), request, signed)
        body = msgspec.json.encode(answer)
        signs = signed_answer(self._identity, status, body, request, self._clock)
        if self._secret is not None and status == 200:
            signs[HEADER] = self._secret.mark(signs["signature"])
        return Reply(status, _JSON | signs, body)

    def _checked(self, question: Question, call: Call, request: Request, signed: Signed) -> tuple[int, msgspec.Struct]:
        try:
            self._admit(call, signed, request, question.cost)
            return 200, question.handler(call, decoded(request.body, question.asks))
        except msgspec.MsgspecError as error:
            return _status(400, f"the question can't be understood: {error}")
        except RefusedError as error:
            return _status(error.status, str(error))
        except LarmError:
            return _status(503, "it can't be answered now")  # the error would name paths of this machine

    def _admit(self, call: Call, signed: Signed, request: Request, cost: float) -> None:
        """Check the lists, the nonce and the rates. A refused sender fills no memory, and a replay costs its author nothing."""
        if signed.key in self._denied or (self._allowed is not None and signed.key not in self._allowed):
            raise RefusedError("this peer is not answered here")
        if self._secret is not None and not self._secret.fits(request.headers.get(HEADER, ""), request.headers["signature"]):
            raise RefusedError("this group is private, and who asks does not know its secret")
        if not self._nonces.is_new(signed, payer(call.address)):
            raise RefusedError("it was heard before, or before this server started", 401)
        # one is paid by now; keys are free, so who has many of them at one address must not ask dear questions without end
        if not (self._keys.allows(signed.key, cost) and self._addresses.allows(payer(call.address), cost - 1)):
            raise RefusedError("too many requests come from this peer, or its address", 429)


_JSON = {"content-type": "application/json"}


def _status(status: int, title: str) -> tuple[int, Refusal]:
    return status, Refusal(title, status)


def _refused(status: int, title: str) -> Reply:
    """Return an unsigned refusal, since its recipient is not known."""
    return Reply(status, dict(_JSON), msgspec.json.encode(Refusal(title, status)))
