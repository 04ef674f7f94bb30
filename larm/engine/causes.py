"""Why a fetch brought no page, in words for a person: what happened, and what can be done about it. Pure.

Asked by `larm.engine.starts` on the threads that fetch.
"""

import errno
import os
from datetime import datetime

from larm.model.outcome import WHO_ASKS, Failed, FailReason, Fetched, Moved, NotModified, Outcome, Refused

_REFUSED = {
    204: "an answer without a page",
    205: "an answer without a page",
    304: "not modified, it says, though larm has no copy",
    400: f"Bad Request; {WHO_ASKS}",
    401: "it wants a login, or another than it was given (larm help sites)",
    403: "the site refuses larm",
    404: "no such page",
    407: "a proxy on the way wants a login",
    410: "the page is gone for good",
    429: "the site asks to be left alone",
    451: "withheld for legal reasons",
}
_NOBODY = os.strerror(errno.ECONNREFUSED)
_FAILED = {
    FailReason.BUSY: "no answer in time, as larm itself had too much to do: {}",
    FailReason.CROWDED: "{}",
    FailReason.UNRESOLVED: "no such host (DNS)",
    FailReason.CONNECT: "no way there: {}",
    FailReason.PROXY: "{}",
    FailReason.TIMEOUT: "no answer in time: {}; --timeout allows more",
    FailReason.TLS: "no safe connection: {}",
    FailReason.DROPPED: "the connection broke off: {}",
    FailReason.PROTOCOL: "no proper HTTP: {}",
    FailReason.CONTENT: "what came can't be unpacked: {}",
    FailReason.PRIVATE: "{}",
    FailReason.URL: "{}",
    FailReason.FILE: "{}",
}


def cause_of(outcome: Outcome, wall: float) -> str:
    """A sentence without its address and without a full stop; "" for an outcome that brought a page. ``wall``: the time now."""
    match outcome:
        case Fetched() | NotModified():
            return ""
        case Moved(status=status, location=location):
            return f"{status}: moved to {location}"
        case Refused(status=status, retry_after=after):
            again = (
                ""
                if after is None
                else f", and {'' if status == 429 else 'asks '}to come back at {_moment(wall + after, wall)}"
            )
            return cause_of_status(status) + again
        case Failed(reason=FailReason.CONNECT, detail=detail) if _NOBODY in detail:
            return f"nothing listens there ({_NOBODY})"
        case Failed(reason=reason, detail=detail):
            return _FAILED[reason].format(detail)


def cause_of_status(status: int) -> str:
    """The same for an answer of which nothing else is known."""
    return f"{status}: {_REFUSED.get(status) or _phrase(status)}"


def _phrase(status: int) -> str:
    if status // 100 == 3:
        return "a redirect that does not say where to"
    try:
        from http import HTTPStatus  # 2 ms, for a crawl whose start fails

        phrase = HTTPStatus(status).phrase
    except ValueError:
        return "the server failed" if status // 100 == 5 else "a status that nobody knows"
    return f"the server failed ({phrase})" if status // 100 == 5 else phrase


def _moment(when: float, wall: float) -> str:
    try:
        then = datetime.fromtimestamp(when)
    except (OverflowError, OSError, ValueError):
        return "some far day"
    return then.strftime("%H:%M" if then.date() == datetime.fromtimestamp(wall).date() else "%Y-%m-%d %H:%M")
