"""Story: names that move between two runs, in a network namespace with real addresses. No private one is asked for anything."""

from __future__ import annotations

from pathlib import Path

from tests.stories.moving_names import INSIDE, crawl_among

ANYWHERE = ["http://evil.example/", "--unrestricted"]
ON_THE_WEB = {"evil.example": "8.8.8.8", "good.example": "8.8.4.4", "wiki.corp": "10.1.2.4"}


def test_a_start_host_that_moves_into_the_intranet(tmp_path: Path) -> None:
    """Met on the web; then at 10.1.2.3, in a crawl that goes on; then, in a revisit, at addresses of both kinds."""
    moved = ON_THE_WEB | {"evil.example": "10.1.2.3"}
    runs = crawl_among(
        tmp_path,
        (ON_THE_WEB, [*ANYWHERE, "--max-pages", "1"]),
        (moved, ANYWHERE),
        (ON_THE_WEB | {"evil.example": "10.1.2.3 8.8.8.8"}, ANYWHERE),
    )
    first, *others = runs
    assert ("8.8.8.8", "evil.example/") in first.asked
    assert not {ip for run in runs for ip in run.reached()} & set(INSIDE)
    assert any("8.8.4.4" in run.reached() for run in others), "what is on the web is still reached"
    robots = (tmp_path / "crawl/logs/thread0_errors.log").read_text()
    assert "evil.example is at 10.1.2.3, a private address, but is on the web, or was when this crawl began" in robots


def test_a_start_host_of_the_intranet_opens_its_own_address_and_stays_there(tmp_path: Path) -> None:
    start = ["http://intra.corp/", "--unrestricted"]
    names = {"intra.corp": "10.1.2.3", "good.example": "8.8.4.4", "wiki.corp": "10.1.2.4"}
    moved = names | {"intra.corp": "10.1.2.4"}
    runs = crawl_among(
        tmp_path,
        (names, start),
        (moved, start),
        (moved, [*start, "-s", "crawl.private_networks=[10.1.2.0/24]"]),
    )
    assert ("10.1.2.3", "intra.corp/page") in runs[0].asked
    assert runs[0].reached() == {"10.1.2.3", "8.8.4.4"}
    assert runs[1].reached() <= {"10.1.2.3", "8.8.4.4"}
    assert ("10.1.2.4", "intra.corp/page") in runs[2].asked
    assert runs[2].reached() == {"10.1.2.3", "10.1.2.4", "8.8.4.4"}
