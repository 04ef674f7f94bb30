"""Channel: asks a peer a signed question; Breaker: backs off from peers that fail repeatedly. Thread-safe.

A peer has a key and an address. A question returns the answer, verified and decoded, or `NoAnswer` with half a sentence. Slow,
absent and false peers are normal.
"""

import threading
from collections import OrderedDict
from typing import Protocol, TypeVar

import msgspec

from larm.fetch.http_client import HttpAnswer, HttpClient, NoAnswer
from larm.kit.decoding import decoded
from larm.peers.group_secret import HEADER, GroupSecret
from larm.peers.identity import Identity
from larm.peers.signing import BadSignatureError, signed_request, verify_answer
from larm.seams import Clock

_FAILURES = 3
"""Failures in a row after which a peer is left alone. One may be the network's."""
_FIRST_PAUSE = 30.0
_LONGEST_PAUSE = 600.0
"""Seconds at most. Each further failure doubles the pause."""
_MOST_FAILING = 10_000
"""Number of names, since registrars may name others without end. The oldest failure is forgotten."""


class Breaker:
    """The failures of all peers that one machine asks, by name."""

    def __init__(self, clock: Clock) -> None:
        # constant after construction
        self._clock = clock
        self._lock = threading.Lock()
        # guarded by self._lock
        self._failed: OrderedDict[str, tuple[int, float]] = OrderedDict()
        """Failures in a row, and the end of the pause, by name."""

    def allows(self, name: str) -> bool:
        """Return True if the peer may be asked. After a pause one request may try; others wait for its result."""
        now = self._clock.monotonic()
        with self._lock:
            failed, until = self._failed.get(name, (0, 0.0))
            if now < until:
                return False
            if failed >= _FAILURES:
                self._failed[name] = failed, now + self._pause(failed)
            return True

    def succeeded(self, name: str) -> None:
        """Note an answer."""
        with self._lock:
            self._failed.pop(name, None)

    def failed(self, name: str) -> None:
        """Note a failure."""
        now = self._clock.monotonic()
        with self._lock:
            failed = self._failed.pop(name, (0, 0.0))[0] + 1
            self._failed[name] = failed, now + self._pause(failed) if failed >= _FAILURES else 0.0
            if len(self._failed) > _MOST_FAILING:
                self._failed.popitem(last=False)

    def failures(self, name: str) -> int:
        """Return the number of failures in a row."""
        with self._lock:
            return self._failed.get(name, (0, 0.0))[0]

    def _pause(self, failed: int) -> float:
        return float(min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(10, failed - _FAILURES)))


ROOT = "/peer/v1"
MOST = 1_000_000
"""Bytes of an answer, by default."""
_DOUBTED = 1 / 3
"""Share of the time for a peer that did not answer the last time, so that a search waits once for a peer that hangs."""
A = TypeVar("A", bound=msgspec.Struct)


class Contact(msgspec.Struct, frozen=True):
    """The key and address of a peer."""

    key: str
    url: str
    """Its address: ``http://192.0.2.7:7070``."""
    name: str = ""
    """Its name for people, as it chooses."""
    address: str = ""
    """IP address of the host in the URL, as a registrar has seen it; empty: the URL has it, or DNS is asked."""
    pin: str = ""
    """Hash of the only certificate key that is accepted (``sha256//...``); empty: any certificate of a trusted authority."""


class Refusal(msgspec.Struct, frozen=True):
    """The body of any response but 200."""

    title: str
    status: int


class Asker(Protocol):
    """The part of a `Channel` that others use. The simulation of a network has one without wires."""

    def ask(
        self, contact: Contact, path: str, question: msgspec.Struct, answers: type[A], *, seconds: float, most: int = MOST
    ) -> A | NoAnswer:
        """Return the answer of a peer."""


class Channel:
    """The questions of one identity."""

    def __init__(
        self,
        identity: Identity,
        http: HttpClient,
        clock: Clock,
        *,
        secret: GroupSecret | None = None,
        private: bool = False,
    ) -> None:
        """``secret``: all peers that are asked know it. ``private``: each question is signed with a key made for it."""
        # constant after construction
        self.identity = identity
        self._http = http
        self._secret = secret
        self._private = private
        self._clock = clock
        self._breaker = Breaker(clock)

    def ask(
        self,
        contact: Contact,
        path: str,
        question: msgspec.Struct,
        answers: type[A],
        *,
        seconds: float,
        most: int = MOST,
        as_whom: Identity | None = None,
        insist: bool = False,
    ) -> A | NoAnswer:
        """Ask a peer. ``path``: below ``/peer/v1``. ``as_whom``: another key for this question, such as one made for it.

        ``insist``: ask a peer during its pause too, with all of the time."""
        key = contact.key
        if not insist and not self._breaker.allows(key):
            return NoAnswer("it did not answer lately, so it is not asked for a while")
        if not insist and self._breaker.failures(key):
            seconds *= _DOUBTED
        whom = as_whom or (Identity.new() if self._private else self.identity)
        answer = self._ask(contact, path, msgspec.json.encode(question), answers, within=seconds, most=most, whom=whom)
        if isinstance(answer, NoAnswer) and not answer.refused:
            self._breaker.failed(key)
        else:
            self._breaker.succeeded(key)
        return answer

    def state_of(self, contact: Contact) -> str:
        """Return half a sentence on its last answers."""
        failed = self._breaker.failures(contact.key)
        return "answers" if not failed else f"did not answer {failed} times in a row" if failed > 1 else "did not answer"

    def _ask(
        self, contact: Contact, path: str, body: bytes, answers: type[A], *, within: float, most: int, whom: Identity
    ) -> A | NoAnswer:
        request = signed_request(whom, "POST", ROOT + path, body, recipient=contact.key, clock=self._clock)
        headers = {**request.headers, "content-type": "application/json"}
        if self._secret is not None:
            headers[HEADER] = self._secret.mark(request.headers["signature"])
        url, at, pin = contact.url + ROOT + path, contact.address, contact.pin
        came = self._http.ask("POST", url, headers, body, seconds=within, most=most, at=at, pin=pin)
        if isinstance(came, NoAnswer):
            return came
        try:
            verify_answer(came.status, came.headers, came.body, request=request, key=contact.key, clock=self._clock)
        except BadSignatureError as error:
            if came.status != 200:
                return NoAnswer(_refusal(came), refused=True)
            return NoAnswer(f"what answers there is not this peer: {error}")
        unknown = self._secret is not None and not self._secret.fits(came.headers.get(HEADER, ""), came.headers["signature"])
        if came.status != 200 or unknown:
            return NoAnswer(_refusal(came) if came.status != 200 else "it does not know this group's secret", refused=True)
        try:
            return decoded(came.body, answers)
        except msgspec.MsgspecError as error:
            return NoAnswer(f"its answer can't be read: {error}")


def _refusal(came: HttpAnswer) -> str:
    """Return the refusal, with a bounded part of the stranger's words. They are made harmless where they are shown."""
    try:
        said = decoded(came.body, Refusal).title
    except msgspec.MsgspecError:
        said = ""
    return f"it refused: {came.status}" + (f", {said[:200]}" if said else "")
