"""Sections of config.yaml: one crawl by several agents."""

from typing import Annotated, Literal

import msgspec

from larm.config.file_names import FileName
from larm.config.section import Positive, Section
from larm.kit.units import Seconds


class ClusterSettings(Section, frozen=True):
    """One crawl by several agents. Those from ``agents`` on must be the same for all."""

    name: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_-]{0,40}\Z")] = ""  # empty: this crawl is alone
    listen: Annotated[str, msgspec.Meta(pattern=r"^(tcp|tls)/.+:[0-9]+\Z")] = "tcp/127.0.0.1:7441"
    join: tuple[str, ...] = ()  # addresses of agents that are there; none: this is the first
    ca: FileName = ""  # PEM file with the certificate of the cluster's own authority; empty: agents have no certificates
    certificate: tuple[FileName, ...] = ()  # of this agent: PEM files, certificate and key, or one with both
    members: tuple[str, ...] = ()  # names in certificates that are heard; none: all that cluster.ca has signed
    serve: Annotated[str, msgspec.Meta(pattern=r"^(https?://[^/]+/?)?\Z")] = ""  # this agent's larm serve, where others search
    insecure: bool = False  # listen to other machines without TLS
    weight: Annotated[float, msgspec.Meta(gt=0, lt=1000)] = 1.0  # an agent of weight 2 gets twice as many hosts
    recover: Annotated[int, msgspec.Meta(ge=0, le=1000)] = 0  # agents asked for a copy before a page is fetched (UBI-21)
    agents: Positive = (
        1  # that must be there before the crawl begins: whoever comes later takes hosts that have to be handed over
    )
    by: Literal["site", "host"] = "site"  # what goes to one agent: all hosts of a registered domain, or each by itself
    placement: Literal["ring", "intervals"] = "ring"  # "intervals": LARM's; half of all hosts move where an agent goes
    lease: Seconds = Seconds(3)  # without a word, until nothing is sent to an agent: long enough for a busy machine
    adopt_after: Seconds = Seconds(60)  # without a word, until its hosts go to others; half of that, and it stops by itself
    minority: Literal["fence", "continue"] = "continue"  # of two agents that lose each other: both stop, or both go on

    def __post_init__(self) -> None:
        if self.lease < 0.5 or self.adopt_after < 3 * self.lease:
            raise ValueError("adopt_after: expected three times cluster.lease or more, and that half a second or more")
        if self.placement == "intervals" and self.weight != 1:
            raise ValueError("weight: expected 1 with cluster.placement: intervals, which has equal parts only")
