"""``larm starts``: what a crawl begins with, and taking one back."""

from __future__ import annotations

from pathlib import Path

import pytest

from larm import cli
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import asked, run_crawl


def test_a_mistyped_start_is_taken_back(web: SyntheticWeb, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("right", "wrong"):
        web.host(f"{name}.localhost").page("/", links=[f"/{number}" for number in range(20)])
        for number in range(20):
            web.host(f"{name}.localhost").page(f"/{number}")
    right, wrong = web.url("right.localhost"), web.url("wrong.localhost")
    run_crawl(tmp_path, [right, wrong], {"crawl.max_pages": 4})
    directory = ["--dir", str(tmp_path)]
    assert cli.run(["starts", *directory]) == 0
    assert capsys.readouterr().out == f"{right}  on {right[7:-1]}\n{wrong}  on {wrong[7:-1]}\n"
    assert cli.run(["starts", "--remove", wrong, *directory]) == 0
    assert f"1 start URL left; not asked any more: {wrong[7:-1]}" in capsys.readouterr().err
    web.log.clear()
    assert run_crawl(tmp_path, right).reason == "finished"
    assert {key.partition(".")[0] for key in asked(web)} == {"right"}
    assert cli.run(["starts", *directory]) == 0
    assert capsys.readouterr().out == f"{right}  on {right[7:-1]}\n"


def test_what_can_not_be_taken_back(web: SyntheticWeb, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    web.host("a.localhost").page("/")
    start = web.url("a.localhost")
    assert cli.run(["starts", "--dir", str(tmp_path)]) == 2
    run_crawl(tmp_path, start)
    for url, said in ((start, "no start URL would be left"), ("http://b.localhost/", "is no start URL of")):
        assert cli.run(["starts", "--remove", url, "--dir", str(tmp_path)]) == 2
        assert said in capsys.readouterr().err
