"""What the answer to a request for robots.txt means (RFC 9309 2.3.1). Pure; asked when its lease is given back."""

import random as _random
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from larm.config import Frontier, Robots
from larm.frontier.politeness import TABLE, policy
from larm.frontier.robots.rules import ALLOW_ALL, RobotsRules
from larm.model.message import URLMessage
from larm.model.outcome import Failed, FailReason, Fetched, Moved, NotModified, Outcome, Refused


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
    robots: Robots
    frontier: Frontier
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
        """2xx: the rules. 3xx: followed `Frontier.redirects` times, then as if there were none. 4xx: there are none, all is
        allowed, but for 429. Anything else is tried again by the table of `policy` (a name without an address is not), and
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
