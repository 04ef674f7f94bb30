"""Host budgeting: the more URLs a domain has had, the later come the next ones; links from elsewhere help (YIOOP-37 to 45).

Each domain has three numbers: URLs filed (SEEN), the same weighted by how far down their pages the links were (WSEEN), and what
links from other domains have won for it (WIN). ``WSEEN - WIN`` on a logarithmic scale is the tier, the band of the frontier.
The bands take turns, so a domain of a million pages gets as much as all domains of a thousand pages, and no more.
"""

import math
import re
from collections.abc import Callable, Sequence

import msgspec
import xxhash

from larm.frontier.banded_queue import BANDS
from larm.kit.disk.number_table import NumberTable
from larm.model.message import START, Standing, URLMessage

ROWS = 1 << 17
"""Domains that are told apart, about: 3 MB."""
SITEMAP_PENALTY, OTHER_PENALTY = 4, 1
"""Tiers by which URLs of sitemaps (not those in them), and those that are no HTML, come later (YIOOP-44)."""

_SEEN, _WSEEN, _WIN = range(3)
_NO_HTML = re.compile(
    r"\.(?:avif|bmp|css|csv|docx?|eps|epub|gif|gz|ico|jpe?g|js|json|mp[34]|odt|pdf|png|pptx?|ps|rss|svg|txt|webp|xlsx?|xml|zip)$",
    re.IGNORECASE,
)
_SITEMAP = re.compile(r"/[^/]*sitemap[^/]*(?:\.xml|\.txt)?(?:\.gz)?$", re.IGNORECASE)


def seen_weight(index: int) -> float:
    """YIOOP-42: what a URL adds to WSEEN, given its place among the links of its page.

    The source prints ``min(1, ...)`` before it, which is 1 for all places; its own next sentence needs this.
    """
    return 1 + _log5(1 + index)


def win(tier: int, weight: int) -> float:
    """YIOOP-43: what a link adds to WIN of another domain, given tier and weight of its page."""
    return 1 / (1.1 + tier + _log5(1 + weight))


def tier_of(wseen: float, won: float, *, sitemap: bool = False, html: bool = True) -> int:
    """YIOOP-44."""
    used = max(1.0, wseen - won)
    tier = int(math.log10(used) + 1e-12)  # log10(1000) is a little less than 3 on some machines
    return tier + SITEMAP_PENALTY * sitemap + OTHER_PENALTY * (not html)


class HostBudgetOrder:
    """Implements `larm.seams.CrawlOrder`."""

    fair = True
    generation = 0  # a URL stays in the tier in which it was filed

    def __init__(self, table: NumberTable, site: Callable[[str], str]) -> None:
        """``site``: the domain of a host name, by one of the rules of YIOOP-40."""
        # constant after construction
        self._site = site
        # guarded by the lock of the host records
        self._table = table

    def found(self, page: URLMessage, links: Sequence[URLMessage]) -> Sequence[URLMessage]:
        """Each link with its place, and with weight and tier of its page."""
        own = page.standing or Standing()
        return [
            msgspec.structs.replace(link, standing=Standing(index, own.index, own.tier)) for index, link in enumerate(links)
        ]

    def file(self, messages: Sequence[URLMessage]) -> list[tuple[int, URLMessage]]:
        """Count them for their domain, one by one."""
        return [self._file(message) for message in messages]

    def file_again(self, _: URLMessage, band: int) -> int:
        """Where it is."""
        return band

    def close(self) -> None:
        """Keep the numbers for the next run."""
        self._table.close()

    def _file(self, message: URLMessage) -> tuple[int, URLMessage]:
        standing = message.standing or Standing()
        domain = self._site(message.url.hostname)
        key = xxhash.xxh3_64_intdigest(domain.encode()) >> 1
        self._table.add(key, 1, _SEEN)
        wseen = self._table.add(key, seen_weight(standing.index), _WSEEN)
        won = self._table.get(key, _WIN)
        if message.referrer != START and self._site(_host(message.referrer)) != domain:
            won = self._table.add(key, win(standing.tier, standing.weight), _WIN)
        path = message.url.path_query.partition("?")[0]
        tier = tier_of(wseen, won, sitemap=bool(_SITEMAP.search(path)), html=not _NO_HTML.search(path))
        tier = min(tier, BANDS - 1)
        return tier, msgspec.structs.replace(message, standing=Standing(standing.index, 0, tier))


def _host(address: str) -> str:
    """Host name of an access form."""
    authority = address.partition("://")[2].partition("/")[0]
    return authority[1 : authority.find("]")] if authority.startswith("[") else authority.partition(":")[0]


def _log5(number: float) -> float:
    return math.log(number) / math.log(5)
