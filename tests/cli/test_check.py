"""``larm check``."""

from __future__ import annotations

from pathlib import Path

from larm.errors import ConfigError
from tests.cli.conftest import FakeWiring, Larm


def test_a_valid_file_and_what_it_changes(larm: Larm, wiring: FakeWiring, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(
        "fetch: {threads: 8, timeout: 2min}\nagent: {name: larm}\nfilters: {order: [length]}\n"
    )
    assert larm("check") == (0, 'OK\nfilters.order: ["length"]\nfetch.threads: 8\nfetch.timeout: 120.0\n', "")


def test_no_file_means_the_defaults(larm: Larm) -> None:
    assert larm("check", "--dir", "d").out == "OK (no d/config.yaml: the defaults)\n"


def test_a_named_file_and_s(larm: Larm, tmp_path: Path) -> None:
    (tmp_path / "my.yaml").write_text("frontier: {delay: 0}")
    assert larm("check", "my.yaml", "-s", "frontier.per_host=2").out == "OK\nfrontier.delay: 0.0\nfrontier.per_host: 2\n"


def test_a_mistake_is_one_line(larm: Larm, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("fetch: {thraeds: 8}")
    said = larm("check")
    assert (said.status, said.out) == (2, "")
    assert said.err == "larm: config.yaml: fetch.thraeds: no such key; did you mean threads?\n"


def test_parts_that_the_file_names_are_checked_too(larm: Larm, wiring: FakeWiring) -> None:
    wiring.failure = ConfigError("filters.order: my.module: no such module")
    assert larm("check") == (2, "", "larm: filters.order: my.module: no such module\n")
