"""How much agents have fetched twice, told from samples of their pages."""

from __future__ import annotations

from pathlib import Path

from larm.cluster.card import SAMPLE
from larm.cluster.page_sample import PageSample, overlap


def sample_of(path: Path, urls: list[str]) -> PageSample:
    path.write_text("".join(f"from\t{url}\t200\n" for url in urls))
    sample = PageSample(path)
    while sample.behind:
        sample.read_on()
    return sample


def test_overlap_is_exact_for_few_pages(tmp_path: Path) -> None:
    one = sample_of(tmp_path / "one", [f"http://a/{n}" for n in range(60)])
    two = sample_of(tmp_path / "two", [f"http://a/{n}" for n in range(50, 110)])
    assert overlap([one.smallest, two.smallest]) == 10 / 110


def test_overlap_of_many_pages_is_an_estimate(tmp_path: Path) -> None:
    one = sample_of(tmp_path / "one", [f"http://a/{n}" for n in range(20_000)])
    two = sample_of(tmp_path / "two", [f"http://a/{n}" for n in range(16_000, 36_000)])
    apart = sample_of(tmp_path / "three", [f"http://b/{n}" for n in range(20_000)])
    assert len(one.smallest) == SAMPLE
    assert 0.04 < overlap([one.smallest, two.smallest]) < 0.25  # 4,000 of 36,000
    assert overlap([one.smallest, apart.smallest]) == 0.0


def test_nothing_is_no_overlap() -> None:
    assert overlap([]) == overlap([(), ()]) == 0.0


def test_a_log_that_grows_is_read_on_and_half_a_line_waits(tmp_path: Path) -> None:
    log = tmp_path / "store.log"
    sample = PageSample(log)
    sample.read_on()
    log.write_text("from\thttp://a/1\t200\nfrom\thttp://a/")
    sample.read_on()
    assert len(sample.smallest) == 1
    with log.open("a") as more:
        more.write("2\t200\n")
    sample.read_on()
    assert len(sample.smallest) == 2
