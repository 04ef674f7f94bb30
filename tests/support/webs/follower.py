"""A crawler without any rule: each address once, breadth first. What it finds is what there is to be found."""

from collections import deque
from dataclasses import dataclass

from tests.support.webs.named import NamedWeb, Page, host_of, resolved


@dataclass(frozen=True)
class Followed:
    """What came of it."""

    pages: dict[str, int]
    """Addresses that were answered 200, each with its place among the requests, from 1."""
    requests: int
    ended: bool
    """There was nothing more to ask for."""


def follow(web: NamedWeb, most: int) -> Followed:
    """Ask the web without network, at most so many times."""
    hosts, pages = frozenset(web.hosts), {}
    waiting = deque(dict.fromkeys(web.starts))
    seen, requests = set(waiting), 0
    while waiting and requests < most:
        address = waiting.popleft()
        requests += 1
        answer = web.answer(address)
        if isinstance(answer, Page) and answer.status == 200:
            pages[address] = requests
        for link in answer.targets:
            target = resolved(address, link)
            if target not in seen and host_of(target) in hosts:
                seen.add(target)
                waiting.append(target)
    return Followed(pages, requests, not waiting)
