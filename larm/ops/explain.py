"""The details of what larm knows of one URL, for ``larm why``: what its parts say of it (`larm.engine.verdicts`), and the logs.

Reads the last checkpoint of a crawl's directory and its logs; a crawl may be running meanwhile. Changes nothing.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from larm.config import Config
from larm.crawldir.state import LOGS
from larm.engine.verdicts import Row, live_rows, place_in, queues_of
from larm.errors import UsageError
from larm.frontier.host import Host
from larm.frontier.hosts import HostBook
from larm.kit.disk.files import is_there
from larm.kit.logs.log_file import blocks, with_parts
from larm.model.file_url import FILES
from larm.model.url import Url
from larm.ops.verdict import Waits
from larm.store.pages.page_row import Answer, PageRow
from larm.store.reader import StoreLog

_DAY = 86_400
NOT_READ = "robots.txt was not read yet"
_TROUBLE = re.compile(r"robots\.txt of (\S+): not yet \((.*?)\)|host (\S+) given up: (?:robots\.txt: )?(.*)")


def explain(
    url: Url,
    refusals: Sequence[tuple[str, str | None]],
    book: HostBook,
    settings: Config,
    directory: Path,
    *,
    page: PageRow | None = None,
) -> list[Row]:
    """The details, in the order in which a URL meets them."""
    rows = [*live_rows(url, refusals, book, settings), *_folder_page(url), *_page(url, directory)]
    return [*rows, *_fetch_lines(url, directory, page.last.asked if page else 0)]


def _folder_page(url: Url) -> list[Row]:
    """That it is one page with its folder (LARM-30)."""
    named, kept = (not each.partition("?")[0].endswith("/") for each in (url.access, url.normalised))
    if not named or kept:
        return []
    return [("one page", f"with {url.normalised}; -s urls.folder_pages=false with --fresh takes them for two")]


def waits_of(url: Url, book: HostBook, troubles: Mapping[str, str]) -> Waits:
    """How it waits, if it does. ``troubles``: what `robots_troubles` says."""
    with book.lock:
        host = book.find_locked(url.host)
    if host is None:
        return Waits()
    waits = waits_at(host, url, troubles)
    places = [place_in(state, url) for state in queues_of(host).values()]
    again = [each.not_before for each in host.delayed if each.message.url.normalised == url.normalised]
    return msgspec.structs.replace(waits, place=max(places, default=0), until=book.wall(max([host.next_start, *again])))


def waits_at(host: Host, url: Url, troubles: Mapping[str, str]) -> Waits:
    """The same but for its place and its time, as they take long to find: is anything in its way?"""
    origin = host.robots.get(url.access.partition(":")[0])
    unknown = url.host != FILES and origin is not None and origin.rules is None
    trouble = troubles.get(url.host, "")
    return Waits(
        tries=max((each.message.tries for each in host.delayed if each.message.url.normalised == url.normalised), default=0),
        robots=(f"robots.txt could not be read ({trouble})" if trouble else NOT_READ) if unknown else "",
        given_up=(trouble or "it did not answer") if host.dormant else "",
    )


def robots_troubles(directory: Path) -> dict[str, str]:
    """By host what the log of robots.txt said last of those that had none for some time."""
    path = directory / LOGS / "robots.log"
    if not is_there(path):
        return {}
    with path.open(encoding="utf-8", errors="replace") as lines:
        found = filter(None, map(_TROUBLE.search, lines))
        return {each[1] or each[3]: each[2] or each[4] for each in found}


def _page(url: Url, directory: Path) -> list[Row]:
    try:
        log = StoreLog(directory)
    except UsageError:  # the log storage is not in the chain, or has stored nothing yet
        return [("page", "no store.log to look it up in")]
    found = next(filter(None, map(log.find, dict.fromkeys((url.access, url.normalised)))), None)
    if found is None:
        return [("page", "not stored")]
    return [
        ("page", f"{found.status} {found.mime}, {found.size} bytes, {found.title!r}"),
        ("first link", f"on {found.from_page}"),
    ]


def _fetch_lines(url: Url, directory: Path, asked: int) -> list[Row]:
    """The line of the last fetch in a thread's log. These have no dates: of several threads' the one nearest to ``asked``,
    wall time; where that is not known (0), the latest time of day."""
    ending = f": {url.access}\n".encode()
    found: list[bytes] = []
    for log in with_parts(directory / LOGS, "thread*[0-9].log"):
        last = b""
        for lines in blocks(log):
            if (at := lines.rfind(ending)) >= 0:
                last = lines[lines.rfind(b"\n", 0, at) + 1 : at + len(ending)]
        found += [last] * bool(last)
    if not found:
        return []
    last = min(found, key=lambda line: _apart(line, asked)) if asked else max(found)
    day = f"{datetime.fromtimestamp(asked):%Y-%m-%d} " if asked else ""
    return [("last fetch", day + last.decode("utf-8", "replace").strip())]


def _apart(line: bytes, asked: int) -> int:
    """Seconds between the time of day that a line begins with and that of ``asked``, over midnight where that is shorter."""
    then = datetime.fromtimestamp(asked)
    try:
        hours, minutes, seconds = (int(part) for part in line[:8].split(b":"))
    except ValueError:
        return _DAY
    apart = abs(hours * 3600 + minutes * 60 + seconds - (then.hour * 3600 + then.minute * 60 + then.second))
    return min(apart, _DAY - apart)


def end_of(answer: Answer, answer_at: Callable[[str], Answer | None]) -> tuple[Answer | None, str]:
    """What was answered where the redirects end, None: nothing is known; and its address, empty: ``answer`` is no redirect.

    An answer that moved on ends nowhere: a circle. ``answer_at``: that of an address, in access form.
    """
    address, passed = "", set[str]()
    found: Answer | None = answer
    while found is not None and found.moved and not found.why and found.moved not in passed:
        address = found.moved
        passed.add(address)
        found = answer_at(address)
    return found, address
