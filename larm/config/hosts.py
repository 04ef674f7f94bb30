"""Sections of config.yaml: who may be asked, and when: robots.txt, politeness, what belongs to one site."""

from typing import Annotated, Literal

import msgspec

from larm.config.file_names import FileName, WithSecret
from larm.config.pages import PageRules
from larm.config.section import Count, Factor, Positive, Section
from larm.kit.units import ByteSize, Seconds
from larm.model.domain import DomainRule


class RobotsSettings(Section, frozen=True):
    """robots.txt (RFC 9309)."""

    obey: bool = True
    size: ByteSize = ByteSize(512_000)  # at least 500 KiB (RFC 9309 2.5)
    timeout: Seconds = Seconds(30)  # LARM-58
    ttl: Seconds = Seconds(86_400)  # RFC 9309 2.4
    sitemaps: bool = True  # pages that no link leads to are found by them alone


class FrontierSettings(Section, frozen=True):
    """Queues, politeness and health of hosts."""

    # which URL is next; all end with the same pages. "opic-domains": half of a page's cash leaves its domain (YIOOP-49)
    order: Literal["breadth-first", "opic", "opic-domains", "host-budget", "pagerank"] = "breadth-first"
    domains: DomainRule = DomainRule.PUBLIC_SUFFIX  # what host budgets and opic-domains take for one domain (YIOOP-40)
    delay: Seconds = Seconds(1)  # between two requests to a host
    per_host: Positive = 1  # requests at a time to a host (LARM-66)
    per_address: Count = 4  # hosts of one IP address are together asked as often as so many hosts: a machine with a thousand
    # blogs bears no more than a few large ones, and one with two or three hosts does not get slower; 0: as often as all
    per_minute: Count = 0  # requests to a host, robots.txt and redirects among them, and ``per_address`` times as many to the
    # hosts of one IP address (LARM-105); 0: as many as the delay allows, which is the limit that most owners mean
    per_hour: Count = 0  # the same of an hour
    bytes_per_hour: ByteSize = ByteSize(0)  # and of what is received, as it came: who pays for traffic means this. Of an
    # hour: of a second it would say again what the delay says, of a run it would leave pages away that are wanted
    delay_factor: Factor = 1.0  # a slow answer means a busy host: wait as long again
    health: Positive = 5  # time-outs until a host is given up (LARM-63)
    error_delay: Annotated[float, msgspec.Meta(ge=1, le=1_000_000)] = 20.0  # times its delay, of a host that answers nearly all
    # with errors: 20 s at the default (YIOOP-7);
    # it goes by the delay, as who says a shorter one knows the host. 1: never
    retries: Count = 2  # further tries of a URL that failed for now
    retry_wait: Seconds = Seconds(5)  # before the first retry, doubling
    backoff: Seconds = Seconds(60)  # a host that answers 429 or 503 is left alone this long, doubling; 0: not at all
    longest_wait: Seconds = Seconds(3_600)  # a run ends where all that is left must wait for longer: a server that is busy
    # says minutes; who says more than an hour means another day, and a crawl that sleeps till then helps nobody
    redirects: Count = 5  # in a row, of pages (LARM-17) and of robots.txt (RFC 9309 2.3.1.2)
    message_block: Positive = 5_000  # messages in a block of the incoming queue (LARM-70)
    host_block: Positive = 100  # messages in a block of a host's queue (LARM-70)
    hosts_in_memory: Positive = 10_000  # records of hosts used last, 3 KB each; the others are on disk
    messages_in_memory: Positive = 200_000  # waiting at all hosts together; the others are on disk: 450 bytes each


class Site(Section, frozen=True):
    """What belongs to one site. In ``auth``, ``headers`` and ``proxy``, ``${NAME}`` stands for a variable of the environment,
    ``${file:PATH}`` for the first line of a file that only its owner can read."""

    delay: Seconds | None = None  # None: `Frontier.delay`; what robots.txt asks for holds all the same
    per_host: Positive | None = None  # None: `Frontier.per_host`
    user_agent: Annotated[str, msgspec.Meta(pattern=r"^[\x20-\x7e]*\Z")] = ""  # empty: as everywhere
    headers: dict[str, WithSecret] = {}  # further ones
    auth: WithSecret = ""  # name:password, by basic authentication
    cookies: FileName = ""  # a file of them, in Netscape's form, as browsers export it
    certificate: tuple[FileName, ...] = ()  # for servers that want one: PEM files, certificate and key, or one with both
    keep_cookies: bool | None = None  # send those again that responses set, in this run; None: where links have sessions
    proxy: WithSecret = ""  # http, https, socks5 or socks5h://host:port
    pages: tuple[PageRules, ...] = ()  # what to take of its pages: the first whose ``when`` is there
