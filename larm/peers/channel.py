"""Channel: asks a peer a signed question; Breaker: backs off from peers that fail repeatedly. Thread-safe.

A peer has a key and an address. What comes back is what it answered, checked and decoded, or `NoAnswer` with half a sentence:
that somebody is slow, gone, or lies about who he is, is what one has to expect of strangers.
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
"""In a row: one may be the network's, or ours."""
_FIRST_PAUSE = 30.0
_LONGEST_PAUSE = 600.0
"""Seconds; each time it fails again the pause is twice as long."""
_MOST_FAILING = 10_000
"""Names: registrars may name others without end. Who failed longest ago is forgotten, and tried again."""


class Breaker:
    """Failures of all peers that one machine asks, by name."""

    def __init__(self, clock: Clock) -> None:
        # constant after construction
        self._clock = clock
        self._lock = threading.Lock()
        # guarded by self._lock
        self._failed: OrderedDict[str, tuple[int, float]] = OrderedDict()
        """How often in a row, and until when nobody asks."""

    def allows(self, name: str) -> bool:
        """It may be asked. After a pause one request may try; others wait for what becomes of it."""
        now = self._clock.monotonic()
        with self._lock:
            failed, until = self._failed.get(name, (0, 0.0))
            if now < until:
                return False
            if failed >= _FAILURES:
                self._failed[name] = failed, now + self._pause(failed)
            return True

    def succeeded(self, name: str) -> None:
        """It has answered."""
        with self._lock:
            self._failed.pop(name, None)

    def failed(self, name: str) -> None:
        """It has not."""
        now = self._clock.monotonic()
        with self._lock:
            failed = self._failed.pop(name, (0, 0.0))[0] + 1
            self._failed[name] = failed, now + self._pause(failed) if failed >= _FAILURES else 0.0
            if len(self._failed) > _MOST_FAILING:
                self._failed.popitem(last=False)

    def failures(self, name: str) -> int:
        """In a row, until now."""
        with self._lock:
            return self._failed.get(name, (0, 0.0))[0]

    def _pause(self, failed: int) -> float:
        return float(min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(10, failed - _FAILURES)))


ROOT = "/peer/v1"
MOST = 1_000_000
"""Bytes of an answer, if nobody says otherwise."""
_DOUBTED = 1 / 3
"""Of the time that others have, for who did not answer the last time: a search waits once for who hangs."""
A = TypeVar("A", bound=msgspec.Struct)


class Contact(msgspec.Struct, frozen=True):
    """How to ask a peer."""

    key: str
    url: str
    """``http://192.0.2.7:7070``."""
    name: str = ""
    """For people; what it calls itself, which is anything."""
    address: str = ""
    """The IP address of the host that the url names, as a registrar has seen it; empty: the url has it, or DNS is asked."""
    pin: str = ""
    """Hash of the only certificate key that is accepted (``sha256//...``); empty: any certificate of a trusted authority."""


class Refusal(msgspec.Struct, frozen=True):
    """The body of any answer but 200."""

    title: str
    status: int


class Asker(Protocol):
    """What parts of a peer need of a `Channel`; the simulation of a network has one without wires."""

    def ask(
        self, contact: Contact, path: str, question: msgspec.Struct, answers: type[A], *, seconds: float, most: int = MOST
    ) -> A | NoAnswer:
        """Return the answer of a peer."""


class Channel:
    """Questions of one identity."""

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
        """``path``: below ``/peer/v1``. ``as_whom``: another key for this question, such as one that nobody knows.

        ``insist``: also who is left alone for a while, as he failed again and again, is asked, and has all of the time."""
        key = contact.key
        if not insist and not self._breaker.allows(key):
            return NoAnswer("it did not answer lately, and is left alone for a while")
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
        """What its last answers say of it."""
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
    """A stranger's words are cut, and made harmless where they are shown."""
    try:
        said = decoded(came.body, Refusal).title
    except msgspec.MsgspecError:
        said = ""
    return f"it refused: {came.status}" + (f", {said[:200]}" if said else "")
