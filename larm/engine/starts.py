"""StartWatch: what became of the start URLs, so that one sentence can be said for each that brought no page.

A start URL may be dropped by a filter, wait for a robots.txt that can't be had, be refused, or redirect, where the same may
happen again. Told of all that by the handler thread (`dropped`) and by the threads that fetch (`ended`, `robots`); asked by the
main thread at the end. Of this run only: what it has heard nothing of, it says nothing of.
"""

import threading
from collections import Counter
from collections.abc import Callable, Sequence

from larm.engine.causes import cause_of
from larm.engine.landed import Landed
from larm.engine.landing import CIRCLE, TOO_MANY
from larm.model.credentials import without_credentials
from larm.model.message import URLMessage
from larm.model.outcome import Fetched, Moved, NotModified, Outcome, Refused
from larm.model.url import Url
from larm.seams import Clock

_SAID = {"scope": "out of scope: {}", "robots": "forbidden by {}", "forgotten": "forgotten {}"}
_COOKIE = "as sites do that want a cookie; keep_cookies keeps them (larm help sites)"


class _Start:
    """One of them, under the lock of the watch."""

    def __init__(self, url: Url) -> None:
        self.chain = [url]
        """Itself, and where it was redirected to."""
        self.cause = ""
        """Why there is no page, as far as is known; empty: nothing went wrong so far."""


class StartWatch:
    """Of the start URLs of a run. Cheap once all of them have been fetched."""

    def __init__(self, urls: Sequence[Url], clock: Clock, note: Callable[[str], object] = lambda _: None) -> None:
        """``note`` is called at once with the sentence of a start URL that redirects out of scope."""
        # constant after construction
        self._clock = clock
        self._note = note
        self._urls = [url.access for url in urls]
        self._lock = threading.Lock()
        # guarded by self._lock; the first may be looked at without, as a start only ever leaves it
        self._open = {url.access: _Start(url) for url in urls}
        self._of = {url.access: url.access for url in urls}
        """Start URL by the address that it leads to."""
        self._waiting = Counter(start.chain[-1].host for start in self._open.values())
        """Starts by the host that they lead to."""
        self._hosts: dict[tuple[str, str], str] = {}
        """Why there is no robots.txt of a host, for a scheme."""

    # -- the threads that fetch

    def ended(self, landed: Landed, *, retry: bool) -> None:
        """A page has landed; ``retry``: it is tried again."""
        self._told(landed.lease.message, lambda start: self._ended_locked(start, landed, retry=retry))

    def robots(self, host: str, scheme: str, outcome: Outcome | None) -> None:
        """A robots.txt could not be had, or not yet; None: it was."""
        if not self._open:
            return
        with self._lock:
            if outcome is None:
                self._hosts.pop((host, scheme), None)
            elif self._waiting[host]:
                what = "its robots.txt can't be read, so nothing else may be: " if isinstance(outcome, Refused) else ""
                self._hosts[host, scheme] = what + cause_of(outcome, self._clock.wall())

    def waits_for(self, host: str) -> bool:
        """Whether a start URL has not been fetched yet, and this host is where it leads."""
        with self._lock:
            return self._waiting[host] > 0

    # -- the handler thread

    def dropped(self, message: URLMessage, name: str, reason: str) -> None:
        """A filter, by its name, has dropped a message, for this reason."""
        self._told(message, lambda start: self._dropped_locked(start, message.url, name, reason))

    # -- the main thread

    def causes(self) -> list[str]:
        """A line for each start URL of which it is known why there is no page, in their order."""
        with self._lock:
            return [self._line_locked(self._open[url]) for url in self._urls if url in self._open and self._why_locked(url)]

    def _told(self, message: URLMessage, change: Callable[[_Start], object]) -> None:
        """Change the start URL that a message belongs to, if it does."""
        if not self._open or message.depth:
            return
        with self._lock:
            start = self._open.get(self._of.get(message.url.access, ""))
            if start is not None:
                change(start)

    # -- under the lock

    def _ended_locked(self, start: _Start, landed: Landed, *, retry: bool) -> None:
        message = landed.lease.message
        match landed.outcome:
            case Fetched() | NotModified() if "larm/set_aside" not in landed.counts:
                self._done_locked(message.url)
            case Fetched() | NotModified():
                start.cause = "set aside, as the process ended while it was read, more than once"
            case Moved() as moved:
                self._moved_locked(start, moved, landed)
            case outcome:
                tried = f", {message.tries + 1} times" if message.tries else ""
                later = "; the next run tries it again" if retry else ""
                start.cause = cause_of(outcome, self._clock.wall()) + tried + later

    def _dropped_locked(self, start: _Start, url: Url, name: str, reason: str) -> None:
        if name == "owner":  # of a crawl by several agents
            self._done_locked(url)
        elif name != "visited":
            start.cause = _SAID.get(name, f"dropped by the filter {name}: {{}}").format(reason)
            if name == "scope" and len(start.chain) > 1:
                self._note(self._line_locked(start))
        elif any(each.fingerprint == url.fingerprint for each in start.chain[:-1]):
            start.cause = f"it redirects in a circle, {_COOKIE}"
        else:
            self._done_locked(url)  # another way led there before

    def _done_locked(self, url: Url) -> None:
        start = self._open.pop(self._of[url.access])
        self._waiting[start.chain[-1].host] -= 1

    def _moved_locked(self, start: _Start, outcome: Moved, landed: Landed) -> None:
        lost = landed.counts.keys() & {CIRCLE, TOO_MANY}  # then the message is for other spellings
        onward = [*([] if lost else landed.messages), *filter(None, [landed.again])]
        if onward:
            self._waiting[start.chain[-1].host] -= 1
            self._waiting[onward[0].url.host] += 1
            start.chain.append(onward[0].url)
            self._of[onward[0].url.access] = start.chain[0].access
            start.cause = ""
        elif CIRCLE in landed.counts:
            circle = "it redirects in a circle" if len(start.chain) > 1 else f"{outcome.status}: it redirects to itself"
            start.cause = f"{circle}, {_COOKIE}"
        elif TOO_MANY in landed.counts:
            start.cause = f"{outcome.status}: redirected more than {landed.lease.message.redirects} times in a row, {_COOKIE}"
        else:
            start.cause = f"{outcome.status}: it redirects to {without_credentials(outcome.location)}, which is no address"

    def _why_locked(self, access: str) -> str:
        start = self._open[access]
        last = start.chain[-1]
        return start.cause or self._hosts.get((last.host, last.access.partition(":")[0]), "")

    def _line_locked(self, start: _Start) -> str:
        first, last = start.chain[0].access, start.chain[-1].access
        onward = f"it redirects to {last}: " if last != first else ""
        return f"{first}: {onward}{self._why_locked(first)}"
