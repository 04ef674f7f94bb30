"""Story: every command line of README.rst and docs/ works as it stands, while a crawl runs and after one has ended."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from contextlib import chdir, suppress
from pathlib import Path

import pytest

from larm import cli, open_index
from larm.engine.orders import Add
from larm.errors import UsageError
from larm.ops.control.client import Control
from larm.ops.control.requests import Do, Watch
from larm.store.reader import StoreLog
from larm.testing.web import SyntheticWeb
from tests.ops.control.running import Running, running
from tests.stories.crawls import run_crawl
from tests.stories.processes import Process
from tests.test_docs import MANUAL, blocks, section, text

ELSEWHERE = {
    r"(python3|pip) ": "installs larm; tests/test_package.py does",
    r"larm serve\b": "serves until it is stopped; tests/cli/test_serve.py starts it",
    r"larm demo\b": "is a crawl with a web of its own; tests/cli/test_demo.py",
    r"larm crawl .*--cluster": "waits for agents on three machines; tests/cluster",
    r"larm cluster (status|pause|resume|set|leave|remove|found|etcd)": "needs a cluster; tests/cluster/test_walkthrough.py",
    r"larm search .*--cluster": "needs a cluster; tests/cluster/test_walkthrough.py",
}
"""Command lines that are not run here, and why."""
NO_CRAWL_RUNS = r"larm ctl "
ENDS_OTHERWISE = {
    r"larm links --broken": 1,  # a page has a broken link
    r"larm forget ": 2,  # it asks before it takes anything out, and there is no terminal
}
"""Exit statuses that are not 0."""
TITLE = "Home vacuum wraparound full text search transaction isolation"
REFUSED_BESIDE = r"larm (crawl|forget) "
"""What a crawl that runs does not allow in its directory."""


def documented() -> list[str]:
    recipes = section("Recipes", text("README.rst"))
    shown = re.findall(r"^ {3}(?:\$ )?(larm (?:.*\\\n)*.*)$", MANUAL, re.MULTILINE)
    lines = [line for block in blocks("sh") for line in block.splitlines()] + shown + re.findall(r"``(larm [^`]*)``", recipes)
    return list(dict.fromkeys(re.sub(r"\\\n *", "", line).split("   ")[0].strip() for line in lines))


LINES = documented()
HERE = [line for line in LINES if not any(re.match(pattern, line) for pattern in ELSEWHERE)]


def arguments(line: str, start: str, folders: dict[str, str]) -> tuple[list[str], str]:
    """What larm is given, with the names of this machine, and the file that its output goes to."""
    command, _, output = line.partition(" > ")
    command = re.sub(r"https?://(www\.)?(example\.org|pg\.localhost:8801)/", start, command).replace("~/", "")
    for name, value in {"URL": start, "WORDS": "home", "DEST": "copy", "DIR": ".", "A": ".", "B": "pg", **folders}.items():
        command = re.sub(rf"(?<= ){name}(?= |$)", value, command)
    return shlex.split(command)[1:], output


@pytest.fixture(scope="module")
def web() -> Iterator[SyntheticWeb]:
    with SyntheticWeb() as made:
        pages = ("/", "/index.html", "/docs/", "/blog/", "/de/", "/new", "/sql-vacuum.html")
        for path in pages:
            made.host("a.localhost").page(path, links=[*pages, "/missing"], title=TITLE)
        yield made


@pytest.fixture(scope="module")
def new(tmp_path_factory: pytest.TempPathFactory, web: SyntheticWeb) -> Path:
    """A folder without a crawl; with lists of start URLs, a folder and an archive."""
    folder, start = tmp_path_factory.mktemp("new"), web.url("a.localhost")
    other = tmp_path_factory.mktemp("other")
    run_crawl(other, start, {"storage.chain": ["log", "warc"]})
    (archive,) = (other / "warc").glob("*.warc.gz")
    shutil.copy(archive, folder / "archive.warc.gz")
    for name in ("starts.txt", "sites.txt"):
        (folder / name).write_text(f"{start}\n")
    (folder / "docs").mkdir()
    (folder / "docs" / "a.html").write_text("<title>Home</title>")
    for name in ("ca", "certificates"):
        assert cli.run(["cluster", "ca", str(folder / "made" / name)]) == 0
    return folder


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory, web: SyntheticWeb, new: Path) -> Path:
    folder = tmp_path_factory.mktemp("ended") / "all"
    shutil.copytree(new, folder)
    for name in (".", "example", "pg"):
        run_crawl(folder / name, web.url("a.localhost"))
    return folder


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LARM_FRONTIER_DELAY", "0")
    monkeypatch.setenv("LARM_FETCH_IP", "4")


def larm(line: str, start: str, capfd: pytest.CaptureFixture[str], **folders: str) -> tuple[int, str]:
    """Its exit status, and what it says on stderr."""
    given, output = arguments(line, start, folders)
    capfd.readouterr()
    status = cli.run(given)
    said = capfd.readouterr()
    if output:
        Path(output).write_text(said.out)
    assert "unexpected" not in said.err
    return status, said.err


@pytest.mark.parametrize("line", HERE)
def test_documented_command_works_when_the_crawl_has_ended(
    line: str, web: SyntheticWeb, new: Path, ended: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    fresh = line.startswith("larm crawl ") and "--dir" not in line
    shutil.copytree(new if fresh else ended, tmp_path / "here")
    with chdir(tmp_path / "here"):
        for made in Path("made").iterdir() if "cluster issue" in line else ():
            made.rename(made.name)
        status, said = larm(line, web.url("a.localhost"), capfd)
    if re.match(NO_CRAWL_RUNS, line):
        assert (status, "no crawl runs" in said) == (2, True)
    else:
        assert status == next((status for pattern, status in ENDS_OTHERWISE.items() if re.match(pattern, line)), 0), said


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory, new: Path) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("running") / "all"
    shutil.copytree(new, folder)
    with running(folder, {"storage.index.commit_after": "0s"}) as crawl:
        crawl.until("idle")
        crawl.web.host("a.localhost").page("/new")
        crawl.web.host("a.localhost").page("/sql-vacuum.html", title=TITLE)
        with Control(folder) as control:
            control.ask(Do(Add((crawl.web.url("a.localhost", "/sql-vacuum.html"),))))
            for _ in control.stream(Watch()):
                with suppress(UsageError):
                    if open_index(folder).search("vacuum").total:
                        break
        run_crawl(folder / "pg", crawl.web.url("a.localhost"))
        yield crawl


@pytest.mark.parametrize("line", [line for line in HERE if "cluster" not in line])
def test_documented_command_works_when_the_crawl_runs(line: str, beside: Running, capfd: pytest.CaptureFixture[str]) -> None:
    start = beside.web.url("a.localhost")
    with chdir(beside.directory):
        if " -f" in line:
            given, _ = arguments(line, start, {})
            with Process(*given) as process:
                assert process.first_line().startswith("<start>\t")
            return
        shutil.rmtree("copy", ignore_errors=True)
        status, said = larm(line, start, capfd, example=".", pg=".", ten=".")
    refused = re.match(REFUSED_BESIDE, line)
    otherwise = next((status for pattern, status in ENDS_OTHERWISE.items() if re.match(pattern, line)), 0)
    assert status == (2 if refused else otherwise), said
    assert StoreLog(beside.directory).find(start), "the log of the crawl is whole"
