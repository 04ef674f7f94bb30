"""Request and RequestLog: what reached the synthetic web, and questions that a test asks about it.

Written on the server's thread, read on the test's. A request's ``status`` and ``ended`` are set before its last bytes are sent:
who has the answer in hand finds them there.
"""

import functools
import itertools
import math
from collections import Counter
from dataclasses import dataclass, field

_NEVER = math.inf


@dataclass(eq=False)
class Request:
    """One request that a synthetic host received."""

    host: str
    """Lower case, without port."""
    path: str
    """Request target: path and query, as sent."""
    method: str
    connection: int
    """Number of the TCP connection, from 1."""
    started: float
    """Seconds of a monotonic clock, when its last byte came in."""
    head: bytes = field(repr=False)
    """Request line and headers as sent."""
    ended: float = _NEVER
    """When its answer was handed to the system, or the client hung up; infinite until then."""
    status: int = 0
    """Of the answer; 0 until there is one."""

    @functools.cached_property
    def headers(self) -> dict[str, str]:
        """Names in lower case; the last of equal ones."""
        lines = self.head.decode("latin-1").split("\r\n")[1:]
        return {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}

    @property
    def key(self) -> str:
        """Host and path, as `fetched` counts them."""
        return self.host + self.path


class RequestLog:
    """All requests in the order in which they came in."""

    def __init__(self) -> None:
        # appended to by the server's thread alone; readers take a copy, which the GIL makes whole
        self._requests: list[Request] = []
        self._of: dict[str, list[Request]] = {}

    def append(self, request: Request) -> None:
        """Record it. Only the server's thread."""
        self._requests.append(request)
        self._of.setdefault(request.host, []).append(request)

    def clear(self) -> None:
        """Forget everything, such as the first of two crawls."""
        self._requests.clear()
        self._of.clear()

    def __len__(self) -> int:
        return len(self._requests)

    def requests(self, host: str | None = None) -> list[Request]:
        """A copy, in order."""
        return list(self._requests if host is None else self._of.get(host, ()))

    def fetched(self, host: str | None = None) -> Counter[str]:
        """How often each page (``a.localhost/x?y``) was answered 200; robots.txt does not count."""
        return Counter(each.key for each in self.requests(host) if each.status == 200 and each.path != "/robots.txt")

    def overlaps(self, host: str) -> int:
        """Requests to ``host``, robots.txt included, that began before all earlier ones to it had been answered.

        Answers without any delay never overlap, as one thread gives them: set a `delay` where this matters.
        """
        count, busy_until = 0, -_NEVER
        for request in self.requests(host):
            count += request.started < busy_until
            busy_until = max(busy_until, request.ended)
        return count

    def closest(self, host: str) -> float:
        """Smallest gap in seconds between the starts of two requests to ``host``, robots.txt included; infinite below two."""
        starts = sorted(request.started for request in self.requests(host))
        return min((later - earlier for earlier, later in itertools.pairwise(starts)), default=_NEVER)

    def alternation(self) -> float:
        """How well hosts take turns: part of the requests that follow one to another host, 0 (hosts one by one) to 1."""
        hosts = [request.host for request in self.requests()]
        turns = [earlier != later for earlier, later in itertools.pairwise(hosts)]
        return sum(turns) / len(turns) if turns else 0.0
