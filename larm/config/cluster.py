"""Sections of config.yaml: one crawl by several agents."""

import re
from typing import Annotated, Literal

import msgspec

from larm.config.file_names import FileName
from larm.config.section import Section
from larm.kit.units import Seconds


class ClusterSettings(Section, frozen=True):
    """One crawl by several agents. Those from ``agents`` on must be the same for all."""

    name: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_-]{0,40}\Z")] = ""  # empty: this crawl is alone
    etcd: tuple[str, ...] = ()  # where it answers, http(s)://HOST:PORT; run: beside this agent
    listen: Annotated[str, msgspec.Meta(pattern=r"^[^/]+:[0-9]+\Z")] = "127.0.0.1:7441"
    ca: FileName = ""  # PEM file with the certificate of the cluster's own authority; empty: agents have no certificates
    certificate: tuple[FileName, ...] = ()  # of this agent: PEM files, certificate and key, or one with both
    members: tuple[str, ...] = ()  # names in certificates that are heard; none: all that cluster.ca has signed
    serve: Annotated[str, msgspec.Meta(pattern=r"^(https?://[^/]+/?)?\Z")] = ""  # this agent's larm serve, where others search
    insecure: bool = False  # listen to other machines without TLS
    weight: Annotated[float, msgspec.Meta(gt=0, lt=1000)] = 1.0  # an agent of weight 2 gets twice as many hosts
    recover: Annotated[int, msgspec.Meta(ge=0, le=1000)] = 1  # agents asked for a copy before a page is fetched (UBI-21)
    agents: Annotated[int, msgspec.Meta(ge=1, le=120)] = 1  # that must be there before the crawl begins; later ones take hosts
    by: Literal["site", "host"] = "site"  # what goes to one agent: all hosts of a registered domain, or each by itself
    placement: Literal["ring", "intervals"] = "ring"  # "intervals": LARM's; half of all hosts move where an agent goes
    lease: Seconds = Seconds(20)  # without a word to etcd, until an agent stops by itself and its hosts may go to others

    def __post_init__(self) -> None:
        if self.lease < 1:
            raise ValueError("lease: expected a second or more")
        if self.placement == "intervals" and self.weight != 1:
            raise ValueError("weight: expected 1 with cluster.placement: intervals, which has equal parts only")
        if wrong := [url for url in self.etcd if not re.fullmatch(r"run|https?://[^/]+:[0-9]+/?", url)]:
            raise ValueError(f"etcd: {wrong[0].rpartition('@')[2]}: expected http://HOST:PORT, https://HOST:PORT or run")
        if self.etcd and not self.name:
            raise ValueError("name: expected that of the cluster, as cluster.etcd is set (--cluster NAME)")
        if self.name and not self.etcd:
            raise ValueError("etcd: expected the addresses of etcd, or run: a cluster needs it ('larm help machines')")
