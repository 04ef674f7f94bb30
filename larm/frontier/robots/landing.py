"""RobotsPolicy: what the response to a request for robots.txt means. `RobotsLander`: what follows (RFC 9309 2.3.1, LARM-58).

The policy is pure. The lander runs on the fetcher threads, inside a step of the gate. Rules go to the handler thread, sitemaps
into the river. Everything else means another request: elsewhere, later, or, for a given-up host, at its next trial request.
"""

import random as _random
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

import msgspec

from larm.config import FrontierSettings, RobotsSettings
from larm.frontier.host import Host
from larm.frontier.politeness import NOTHING, TABLE, Decision, policy
from larm.frontier.queues import HostQueues
from larm.frontier.robots.desk import Arrival, RobotsDesk, scheme_of
from larm.frontier.robots.rules import ALLOW_ALL, RobotsRules
from larm.kit.counters import Counters
from larm.model.lease import Lease
from larm.model.message import BY_ROBOTS, ORDINARY, SITEMAP, URLMessage
from larm.model.outcome import Failed, FailReason, Fetched, Moved, NotModified, Outcome, Refused
from larm.model.url import BadUrl, Url


class Redirect(msgspec.Struct, frozen=True):
    """robots.txt is elsewhere, perhaps on another host; its rules are for the host that was asked first (RFC 9309 2.3.1.2)."""

    location: str
    """As the server wrote it."""


class NotYet(msgspec.Struct, frozen=True):
    """The rules are unknown: nothing of the host may be fetched, robots.txt is to be asked for again (RFC 9309 2.3.1.4)."""

    wait: float
    """Seconds."""


class GiveUp(msgspec.Struct, frozen=True):
    """The rules can't be had, so the host must not be visited, until its next try (LARM-65). Never taken as consent."""

    why: str
    """One line for a person."""


RobotsAnswer = RobotsRules | Redirect | NotYet | GiveUp


class RobotsPolicy(NamedTuple):
    """How we take what a server says of its robots.txt."""

    token: str
    """Our product token."""
    robots: RobotsSettings
    frontier: FrontierSettings
    random: Callable[[], float] = _random.random

    def answer(
        self,
        outcome: Outcome,
        asked: URLMessage,
        *,
        blocks: int = 0,
        known: RobotsRules | None = None,
        at_once: bool = False,
    ) -> RobotsAnswer:
        """2xx: the rules. 3xx: followed `FrontierSettings.redirects` times, then as if there were none. 4xx: there are none,
        all is allowed, but for 429. Anything else is tried again by `policy` (but a name without an address), and
        then the host is given up; rules ``known`` from an earlier visit stay in force instead (2.4), and also after 304.
        ``at_once``: somebody waits for the first answer of this host, so one at which nothing listens is given up without
        another try.
        """
        match outcome:
            case Fetched(body=body, truncated=truncated):
                return self._beginning(body) if truncated else RobotsRules.parse(body, self.token)
            case NotModified():
                return known or ALLOW_ALL  # without a copy nothing was asked that 304 answers
            case Moved(location=location):
                return Redirect(location) if asked.redirects < self.frontier.redirects else ALLOW_ALL
            case Refused(status=status) if status < 500 and status != 429:
                return ALLOW_ALL
        decision = policy(outcome, asked.tries, self.frontier, blocks=blocks, random=self.random)
        reason = outcome.reason if isinstance(outcome, Failed) else None
        unreachable = at_once and reason is not None and TABLE[reason].unreachable
        hopeless = reason is FailReason.UNRESOLVED or unreachable  # later as now
        if decision.retry and not hopeless:
            return NotYet(decision.host_wait or decision.wait)  # no other page could come first
        what = outcome.status if isinstance(outcome, Refused) else outcome.detail
        return known or GiveUp(f"robots.txt: {what} (try {asked.tries + 1})")

    def _beginning(self, body: bytes) -> RobotsRules:
        """The rules of a file that is longer than what is read of it."""
        return msgspec.structs.replace(RobotsRules.parse(_whole_lines(body), self.token), cut=int(self.robots.size))


def _whole_lines(body: bytes) -> bytes:
    """``body``, cut off somewhere, without its last line: half a rule may say more than the whole one."""
    end = max(body.rfind(b"\n"), body.rfind(b"\r"))
    return body[: end + 1] if end >= 0 else body


TRUNCATED = "robotstxt/truncated"
"""Counts files that are longer than ``robots.size``."""
UNWANTED = "robotstxt/sitemaps_unwanted"
"""Counts files with sitemaps in a run that wants none."""


class RobotsWatch(Protocol):
    """Who waits for the start URLs: `larm.engine.starts`."""

    def robots(self, host: str, scheme: str, outcome: Outcome | None) -> None:
        """What came instead of rules; None: they came."""

    def waits_for(self, host: str) -> bool:
        """Whether somebody waits for the first answer of a host."""


class RobotsLander:
    """Shared by the fetcher threads; its state is in the host records."""

    def __init__(
        self,
        *,
        queues: HostQueues,
        desk: RobotsDesk,
        arrived: Callable[[Arrival], None],
        declare: Callable[[Sequence[URLMessage]], None] | None,
        join: Callable[[str, str], Url],
        policy: RobotsPolicy,
        counters: Counters,
        log: Callable[[str], None],
        watch: RobotsWatch | None = None,
    ) -> None:
        """``declare`` takes the sitemaps that a robots.txt names; None: they are not wanted."""
        # constant after construction
        self._declare = declare
        self._queues = queues
        self._desk = desk
        self._arrived = arrived
        self._join = join
        self._policy = policy
        self._counters = counters
        self._log = log
        self._watch = watch

    def land(self, lease: Lease, outcome: Outcome) -> None:
        """Release the host, and see to what the answer asks for."""
        message = lease.message
        answers: list[RobotsAnswer] = []
        silent = False

        def decide(_lease: Lease, _outcome: Outcome, host: Host) -> Decision:
            nonlocal silent
            answer, silent = self._answer(lease, outcome, host)
            answers.append(answer)
            if isinstance(answer, RobotsRules):
                host.arriving[scheme_of(_asked_for(message))] = message
            return _decision(answer)

        self._queues.release([(lease, outcome)], decide)
        answer = answers[0]
        self._count(outcome)
        if isinstance(outcome, Fetched) and outcome.truncated:
            self._counters.add(TRUNCATED, 1)
            self._log(f"robots.txt of {lease.host}: longer than robots.size; what it says behind that is not known")
        if self._watch is not None:
            failed = isinstance(answer, NotYet | GiveUp)
            self._watch.robots(lease.host, scheme_of(_asked_for(message)), outcome if failed else None)
        match answer:
            case RobotsRules():
                rules = msgspec.structs.replace(answer, sitemaps=())  # there may be thousands, and the record must stay small
                self._arrived(Arrival(lease.host, scheme_of(_asked_for(message)), rules, silent))
                if answer.sitemaps and self._declare is None:
                    self._counters.add(UNWANTED, 1)
                elif answer.sitemaps and self._declare is not None and isinstance(outcome, Fetched):
                    self._declare(list(self._sitemaps(message, answer)))
            case Redirect(location):
                self._desk.load_again(self._elsewhere(message, location))
            case NotYet():
                self._log(f"robots.txt of {lease.host}: not yet ({_said(outcome)}), again in {answer.wait:.0f} s")
                self._desk.load_again(_again(message, message.url.access, message.redirects, message.tries + 1))
            case GiveUp(why):
                self._log(f"host {lease.host} given up: {why}")
                self._desk.load_again(_again(message, _asked_for(message), 0, 0))

    def allows(self, message: URLMessage) -> bool:
        """What the rules that we have say of one more URL of a known host; what they forbid is noted."""
        if self._desk.explain(message) is None:
            return True
        self._desk.note([message])
        return False

    def _answer(self, lease: Lease, outcome: Outcome, host: Host) -> tuple[RobotsAnswer, bool]:
        """Also whether nothing answers at this scheme, where another one has rules."""
        message = lease.message
        origin = host.robots.get(scheme_of(_asked_for(message)))
        answer = self._policy.answer(
            outcome,
            message,
            blocks=host.backoffs,
            known=origin.rules if origin else None,
            at_once=self._watch is not None and self._watch.waits_for(lease.host),
        )
        if isinstance(answer, Redirect):
            try:
                self._join(message.url.access, answer.location)
            except BadUrl:
                return ALLOW_ALL, False  # there is no robots.txt that could be had
        if not isinstance(outcome, Failed) or not isinstance(answer, RobotsRules | GiveUp):
            return answer, False
        if isinstance(answer, RobotsRules):
            return answer, origin is not None and origin.silent
        others = [each.rules for each in host.robots.values() if each is not origin and each.rules is not None]
        return (others[0], True) if others else (answer, False)

    def _elsewhere(self, message: URLMessage, location: str) -> URLMessage:
        target = self._join(message.url.access, location)
        return _again(message, target.access, message.redirects + 1, 0)

    def _sitemaps(self, message: URLMessage, rules: RobotsRules) -> Iterator[URLMessage]:
        """As if a start page had linked to them; the scope lets them pass.

        A host that only a sitemap of another host led to may have no page in scope: its own sitemaps are ordinary links.
        """
        page, kind = message.url.access, ORDINARY if message.link_type == SITEMAP else SITEMAP | BY_ROBOTS
        for text in rules.sitemaps:
            try:
                yield URLMessage(self._join(page, text), page, kind, depth=1)
            except BadUrl as error:
                self._log(f"{page}: malformed sitemap {text[:200]!r}: {error}")

    def _count(self, outcome: Outcome) -> None:
        counts = {
            "robotstxt/request_count": 1,
            "downloader/request_count": 1,
            "downloader/response_bytes": outcome.timing.received,
        }
        match outcome:
            case Fetched(status=status) | Moved(status=status) | Refused(status=status):
                counts[f"robotstxt/response_status_count/{status}"] = 1
            case Failed(reason=reason):
                counts[f"robotstxt/exception_count/{reason.value}"] = 1
        self._counters.update(counts)


def _asked_for(message: URLMessage) -> str:
    """The robots.txt that the task began with; redirects change the URL, but not whom the rules are for."""
    return message.referrer


def _again(message: URLMessage, address: str, redirects: int, tries: int) -> URLMessage:
    url = Url(address, address, message.url.host, 0)
    return URLMessage(url, message.referrer, message.link_type, 0, redirects, tries)


def _decision(answer: RobotsAnswer) -> Decision:
    match answer:
        case NotYet(wait):
            return msgspec.structs.replace(NOTHING, host_wait=wait)
        case GiveUp():
            return msgspec.structs.replace(NOTHING, unreachable=True)
        case _:
            return NOTHING


def _said(outcome: Outcome) -> str:
    match outcome:
        case Failed(reason=reason):
            return reason.value
        case NotModified():
            return "304"
        case _:
            return str(outcome.status)
