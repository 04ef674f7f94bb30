"""The loop of every day: going on, another site by mistake, defaults of one's own, an output that is full."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

from larm import cli
from larm.cli.options import effective
from larm.config import Config, load
from larm.errors import ConfigError
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import asked

QUICK = ("-s", "frontier.delay=0", "-s", "fetch.ip='4'")


def crawl(directory: Path, *arguments: str) -> int:
    return cli.run(["crawl", *arguments, "--dir", str(directory), *QUICK])


@pytest.fixture
def start(web: SyntheticWeb) -> str:
    web.host("www.one.localhost").page("/", links=["/docs/a"])
    web.host("www.one.localhost").page("/docs/a", "Lighthouse", links=["/other"])
    web.host("www.one.localhost").page("/other")
    web.host("two.localhost").page("/")
    return web.url("www.one.localhost")


def test_crawl_without_start_urls_goes_on(start: str, web: SyntheticWeb, tmp_path: Path) -> None:
    assert crawl(tmp_path, start, "-restrictto", ".*/(docs/.*)?", "--max-pages", "1") == 0
    assert crawl(tmp_path) == 0
    assert set(asked(web)) == {"www.one.localhost/", "www.one.localhost/docs/a"}, "with the scope that it had"
    assert crawl(tmp_path / "nothing") == 2


def test_another_site_is_added_only_when_asked_to(
    start: str, web: SyntheticWeb, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert crawl(tmp_path, start) == 0
    capsys.readouterr()
    other = web.url("two.localhost")
    assert crawl(tmp_path, other) == 2
    assert "has a crawl of one.localhost; two.localhost is not part of it: --add adds it" in capsys.readouterr().err
    assert "two.localhost/" not in asked(web)
    assert crawl(tmp_path, web.url("www.one.localhost", "/other")) == 0, "the same site"
    assert crawl(tmp_path, other, "--add") == 0
    assert asked(web)["two.localhost/"] == 1


def test_after_a_slip_in_the_host_the_right_one_takes_its_place(
    start: str, web: SyntheticWeb, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing was fetched, so nothing is lost."""
    assert crawl(tmp_path, "http://no-such-host.invalid/") != 0
    assert "the same command tries again" in capsys.readouterr().err
    assert crawl(tmp_path, start) == 0
    assert "nothing was ever fetched of http://no-such-host.invalid/: the crawl in" in capsys.readouterr().err
    assert cli.run(["starts", "--dir", str(tmp_path)]) == 0
    assert "invalid" not in capsys.readouterr().out
    assert crawl(tmp_path, web.url("two.localhost")) == 2, "now it has pages"


def test_a_search_that_finds_nothing_fails_as_grep_does(start: str, tmp_path: Path) -> None:
    assert crawl(tmp_path, start) == 0
    assert cli.run(["search", "lighthouse", "--dir", str(tmp_path)]) == 0
    for arguments in (["nosuchword"], ["nosuchword", "--json"], ["lighthouse", "--page", "9"]):
        assert cli.run(["search", *arguments, "--dir", str(tmp_path)]) == 1


def test_an_output_that_is_full_leaves_no_file_behind(start: str, tmp_path: Path) -> None:
    assert crawl(tmp_path, start) == 0
    before = sorted(path.name for path in (tmp_path / "logs").iterdir())
    command = [sys.executable, "-m", "larm", "search", "lighthouse", "--dir", str(tmp_path)]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr.endswith("larm: stdout: no space left on the device; not all of the output was written\n")
    closed = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *command], stderr=subprocess.PIPE, text=True, check=False)
    assert closed.returncode == 3
    assert closed.stderr.endswith("larm: stdout: it is closed; not all of the output was written\n")
    assert sorted(path.name for path in (tmp_path / "logs").iterdir()) == before


def test_init_writes_what_check_finds_valid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "new"
    assert cli.run(["init", "--dir", str(folder)]) == 0
    file = folder / "config.yaml"
    assert load(file) == Config()
    assert "# only URLs such as" in file.read_text()
    mine = tmp_path / "mine.yaml"
    mine.write_text("{agent: {contact: me@a.org}, filters: {order: [scope]}}")
    assert load(file, defaults=mine) == load(mine), "it holds no default against the user's own file"
    with_all = re.sub(r"(?m)^( *)# (?=(- .*|[a-z0-9_]+:.*)$)", r"\1", file.read_text())
    assert re.sub(r" +", " ", with_all) == re.sub(r" +", " ", resources.files("larm").joinpath("config.yaml").read_text())
    assert cli.run(["init", "--dir", str(folder)]) == 2
    assert "is there already" in capsys.readouterr().err


def test_defaults_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Environment over the directory's file over the user's file."""
    home = tmp_path / "home" / "larm"
    home.mkdir(parents=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home.parent))
    (home / "config.yaml").write_text("{agent: {contact: me@a.org}, frontier: {delay: 3s, per_host: 2}}")
    (tmp_path / "config.yaml").write_text("frontier: {delay: 4s}")
    found = effective(tmp_path, None, ())
    assert (found.agent.contact, found.frontier.delay, found.frontier.per_host) == ("me@a.org", 4.0, 2)
    monkeypatch.setenv("LARM_CONTACT", "you@a.org")
    monkeypatch.setenv("LARM_FRONTIER_DELAY", "5s")
    monkeypatch.setenv("LARM_TESTDATA", "/somewhere")
    found = effective(tmp_path, None, ["frontier.per_host=7"])
    assert (found.agent.contact, found.frontier.delay, found.frontier.per_host) == ("you@a.org", 5.0, 7)
    monkeypatch.setenv("LARM_FRONTIER_DELYA", "5s")
    with pytest.raises(ConfigError, match="LARM_FRONTIER_DELYA"):
        effective(tmp_path, None, ())
    monkeypatch.delenv("LARM_FRONTIER_DELYA")
    for name, meant in (("LARM_FECTH__DELAY", "fetch"), ("LARM_CONTCAT", "agent.contact")):
        monkeypatch.setenv(name, "5s")
        with pytest.raises(ConfigError, match=rf"{name}: .*: no such key; did you mean {meant}\?"):
            effective(tmp_path, None, ())
        monkeypatch.delenv(name)
    (home / "config.yaml").write_text("frontier: {dely: 3s}")
    with pytest.raises(ConfigError, match=str(home / "config.yaml")):
        effective(tmp_path, None, ())
