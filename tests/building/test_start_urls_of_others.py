"""Start URLs that others name: how many links are followed from each, and where they must not lead."""

from __future__ import annotations

from pathlib import Path

import pytest

from larm.building.mission import mission_of
from larm.config import Config, CrawlSettings, Seed
from larm.model.url import URLNormalizer
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import run_crawl


def test_a_start_url_with_a_depth_of_its_own_begins_further_down() -> None:
    starts = ("http://a.example/", "http://b.example/", "http://c.example/")
    seeds = (Seed("http://a.example/", depth=0), Seed("http://b.example/", depth=3))
    mission = mission_of(Config(crawl=CrawlSettings(start=starts, seeds=seeds, max_depth=3)), URLNormalizer(), None)
    assert [message.depth for message in mission.starts] == [3, 0, 0]


@pytest.mark.parametrize(("depth", "most"), [(4, 3), (0, None)])
def test_a_depth_needs_the_depth_of_all(depth: int, most: int | None) -> None:
    with pytest.raises(ValueError, match="max_depth"):
        CrawlSettings(seeds=(Seed("http://a.example/", depth=depth),), max_depth=most)


@pytest.mark.parametrize("opens", [True, False])
def test_a_start_url_of_somebody_else_opens_no_private_address(tmp_path: Path, opens: bool) -> None:
    with SyntheticWeb() as web:
        web.host("127.0.0.1").page("/", "Router", "Change the password here.", [])
        run_crawl(tmp_path, web.url("127.0.0.1"), {"crawl.private_networks": [] if opens else ["no-starts"]})
        assert len(web.requests) == 2 * opens, "the page and robots.txt, or nothing"
