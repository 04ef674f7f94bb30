"""``larm check``."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from larm.errors import ConfigError
from tests.cli.conftest import FakeWiring, Larm
from tests.stories.processes import larm_says


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


def test_the_file_is_named_as_in_other_commands(larm: Larm, tmp_path: Path) -> None:
    (tmp_path / "my.yaml").write_text("frontier: {delay: 0}")
    assert larm("check", "--config", "my.yaml").out == larm("check", "my.yaml").out == "OK\nfrontier.delay: 0.0\n"
    assert larm("check", "my.yaml", "--config", "my.yaml").status == 2


def test_a_mistake_is_one_line(larm: Larm, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("fetch: {thraeds: 8}")
    said = larm("check")
    assert (said.status, said.out) == (2, "")
    assert said.err == "larm: config.yaml: fetch.thraeds: no such key; did you mean fetch.threads?\n"


def test_parts_that_the_file_names_are_checked_too(larm: Larm, wiring: FakeWiring) -> None:
    wiring.failure = ConfigError("filters.order: my.module: no such module")
    assert larm("check") == (2, "", "larm: filters.order: my.module: no such module\n")


def test_a_key_that_is_there_twice_is_named_with_its_lines(larm: Larm, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("fetch:\n  threads: 1\nagent: {name: larm}\nfetch:\n  threads: 8\n")
    assert larm("check") == (2, "", "larm: config.yaml: line 4: the key fetch is there twice, first in line 1\n")


def test_a_pipe_and_a_device_are_not_read(larm: Larm, tmp_path: Path) -> None:
    """Nobody writes into the one, the other never ends."""
    os.mkfifo(tmp_path / "config.yaml")
    assert larm("check").err.startswith("larm: config.yaml: can't read the configuration: it is no file, but ")
    assert larm("search", "word").status == 2
    assert larm("check", "/dev/zero").err.startswith("larm: /dev/zero: can't read the configuration: it is no file, but ")


@pytest.mark.parametrize("setting", ["limits.memory=1", "fetch.transfers=100000000", "fetch.threads=1e26"])
def test_check_refuses_what_no_machine_has(tmp_path: Path, setting: str) -> None:
    said = larm_says("check", "--dir", str(tmp_path), "-s", setting)
    assert (said.status, said.err.count("\n")) == (2, 1)
    assert setting.partition("=")[0] in said.err


def test_check_refuses_a_scope_without_any_start_url(tmp_path: Path) -> None:
    start, other = "http://a.localhost/", "http://b.localhost/x"
    scope = ["-s", "crawl.restrict_to=http://b.localhost/.*"]
    said = larm_says("check", "--dir", str(tmp_path), "-s", f"crawl.start={start}", *scope)
    assert (said.status, said.err) == (
        2,
        f"larm: no start URL is in the scope: scope: {start} does not match http://b.localhost/.* as a whole;"
        " another -restrictto REGEX may\n",
    )
    assert larm_says("check", "--dir", str(tmp_path), "-s", f"crawl.start=[{start}, {other}]", *scope).status == 0


@pytest.mark.parametrize("command", ["check", "crawl"])
def test_all_mistakes_of_a_configuration_are_listed_at_once(command: str, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(
        "fetch: {thraeds: 8, timeout: never, transfers: 100000000}\n"
        "sites: {a.org/x: {}, b.org: {delay: x}, c.org: {delay: y, foo: 1}}\n"
        "limits: {memory: 1}\ncrawl: {restrict_to: '(', start: [1, http://a.localhost/]}\n"
    )
    said = larm_says(command, "--dir", str(tmp_path), "-s", "agent.nme=x", "-s", "monitor.tick=0", "-s", "nothing")
    assert said.status == 2
    wrong = ["fetch.thraeds", "sites.c.org.foo", "sites.a.org/x", "fetch.timeout", "fetch.transfers", "sites.b.org.delay"]
    wrong += ["sites.c.org.delay", "crawl.start[0]", "agent.nme", "nothing", "restrictto", "monitor.tick", "limits.memory"]
    assert [next((each for each in wrong if f"{each}: " in line), line) for line in said.err.splitlines()] == wrong


def test_mistakes_that_only_checks_find_are_listed_at_once(tmp_path: Path) -> None:
    settings = ["fetch.timeout=0", "limits.memory=1", "filters.order=[scope, no.module:X]", "storage.chain=[log, log]"]
    settings += ["crawl.start=http://a.localhost/", "crawl.restrict_to=http://b.localhost/.*"]
    said = larm_says("check", "--dir", str(tmp_path), *(part for each in settings for part in ("-s", each)))
    assert said.status == 2
    heads = ["fetch.timeout: ", "limits.memory: ", "filters.order: ", "storage.chain: ", "no start URL is in the scope: "]
    lines = said.err.splitlines()
    assert all(line.startswith(f"larm: {head}") for line, head in zip(lines, heads, strict=True)), lines
