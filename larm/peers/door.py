"""Door: who may ask a peer what. Everything that comes below ``/peer/v1/`` passes here, and nothing else of a peer is reached.

In this order: how often somebody asks from one address, whether the request is signed for us, whether its key is allowed,
whether it is new, how often this key asks, whether the question can be read. Then its handler answers, and the answer is signed
together with the request. Nonces are kept for as long as a request is good. Knows nothing of the web server; thread-safe.
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
"""Six megabytes. `larm.peers.rates` lets 6,500 of one address through in the time for which they are kept."""


class Nonces:
    """Requests that one server has heard, so that it hears none twice.

    Where there is no room, who has more than his share waits, and nobody else does."""

    def __init__(self, clock: Clock, most: int = _MOST) -> None:
        # constant after construction
        self._clock = clock
        self._most = most
        self._began = int(clock.wall())
        """What was signed before may have been heard by the server that was here before."""
        self._lock = threading.Lock()
        # guarded by self._lock
        self._seen: OrderedDict[tuple[str, str], tuple[float, str]] = OrderedDict()
        """Until when, and who pays, in the order in which they came."""
        self._of: Counter[str] = Counter()

    def is_new(self, signed: Signed, payer: str) -> bool:
        """False for what was heard before, or may have been, and where there is no room to remember it: fail closed.

        ``payer``: who sends it, by his address."""
        now = self._clock.wall()
        name = signed.key, signed.nonce
        with self._lock:
            while self._seen and next(iter(self._seen.values()))[0] < now:
                self._forget_locked()
            share = self._most // (len(self._of) + (payer not in self._of))
            full = len(self._seen) >= self._most and self._of[payer] >= share
            if signed.created < self._began or name in self._seen or full:
                return False
            self._seen[name] = now + 2 * PERIOD + 1, payer  # made up to a minute from now, it is good for a minute after that
            self._of[payer] += 1
        return True

    def _forget_locked(self) -> None:
        _, (_, payer) = self._seen.popitem(last=False)
        self._of[payer] -= 1
        if not self._of[payer]:
            del self._of[payer]


_PER_ADDRESS = (50.0, 500.0)
"""A second, and at once: an office behind one address."""
_PER_KEY = (20.0, 100.0)

_MOST_COUNTED = 10_000
"""Addresses."""


class Call(NamedTuple):
    """Who asks."""

    key: str
    address: str
    """Where the request came from: an IP address, as the socket has it."""


class Question(NamedTuple):
    """One that is answered."""

    path: str
    """Below ``/peer/v1``."""
    asks: type[msgspec.Struct]
    answers: type[msgspec.Struct]
    handler: Callable[[Call, Any], msgspec.Struct]
    """Raises `RefusedError`. On any thread."""
    cost: float = 1.0
    """In requests, of what a peer may ask."""


class Incoming(NamedTuple):
    """A request as it came."""

    method: str
    target: str
    """Path and query, as they were sent."""
    headers: Iterable[tuple[str, str]]
    body: bytes
    address: str


class Reply(NamedTuple):
    """What goes back."""

    status: int
    headers: dict[str, str]
    body: bytes


class RefusedError(Exception):
    """A question was understood, and is not answered; half a sentence says why."""

    def __init__(self, sentence: str, status: int = 403) -> None:
        super().__init__(sentence)
        self.status = status


class Door:
    """Of one peer. ``allowed``: the only keys that may ask; None: all but the ``denied`` now. ``secret``: who asks knows it."""

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
        """Addresses, how often each asked since the start, and how often it was refused; who asked most first."""
        with self._lock:
            return [(address, count, self._refused[address]) for address, count in self._asked.most_common(most)]

    def answer(self, incoming: Incoming) -> Reply:
        """Never raises for what somebody sends."""
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
            return _status(503, "it can't be answered now")  # the sentence would name paths of this machine

    def _admit(self, call: Call, signed: Signed, request: Request, cost: float) -> None:
        """Who is not answered fills no memory, and who sends again what somebody else has sent spends nothing of his."""
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
    """Not signed: nobody knows for whom."""
    return Reply(status, dict(_JSON), msgspec.json.encode(Refusal(title, status)))
