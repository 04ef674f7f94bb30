"""What is given to users: the sources and the wheel, built as a release is, installed and tried in bare environments."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def run(*command: str | Path, cwd: Path, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with sdist and wheel, of the files that git knows: others lie about in a working copy."""
    place = tmp_path_factory.mktemp("built")
    source = place / "source"
    run("git", "clone", "-q", ROOT, source, cwd=place)
    run(sys.executable, "-P", "-m", "build", "--outdir", place / "dist", source, cwd=place)
    return place / "dist"


def installed(place: Path, what: Path, environment: dict[str, str] | None = None) -> Path:
    """The folder of the programs of a bare environment with larm in it."""
    run(sys.executable, "-m", "venv", place / "venv", cwd=place)
    programs = place / "venv" / "bin"
    run(programs / "pip", "install", "-q", what, cwd=place, environment=environment)
    return programs


def try_it(programs: Path, place: Path) -> str:
    """Crawl a folder, search it, read the manual; what ``version -v`` says."""
    site = place / "site"
    site.mkdir()
    (site / "index.html").write_text("<title>Lighthouse</title><p>the lamp turns at night <a href=more.html>more</a>")
    (site / "more.html").write_text("<title>More</title><p>of the lamp")
    run(programs / "larm", "crawl", site, "--dir", place / "crawl", "-q", cwd=place)
    assert "Lighthouse" in run(programs / "larm", "search", "lamp", "--dir", place / "crawl", cwd=place)
    assert "larm forget" in run(programs / "larm", "help", "forget", cwd=place)
    run(programs / "larm", "init", "--dir", place / "new", cwd=place)
    return run(programs / "larm", "version", "-v", cwd=place)


def test_the_sources_are_whole(built: Path) -> None:
    [sdist] = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    known = set(subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split())
    assert {name for name in known if name.startswith(("larm/", "tests/", "docs/", "benchmarks/"))} - names == set()
    assert {"config.yaml", "tox.ini", "README.rst", "CHANGES.rst", "ARCHITECTURE.rst", "LICENSE", "requirements.lock"} <= names


def test_the_wheel_has_the_manual_and_no_tests(built: Path) -> None:
    [wheel] = built.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {f"larm/manual/{name}.rst" for name in ("README", "CHANGES", "ARCHITECTURE", "manual", "crawling")} <= set(names)
    assert "larm/config.yaml" in names
    assert {name.partition("/")[0] for name in names if ".dist-info" not in name} == {"larm"}


def test_the_wheel_works_by_itself(built: Path, tmp_path: Path) -> None:
    [wheel] = built.glob("*.whl")
    assert "compiled reader: yes" in try_it(installed(tmp_path, wheel), tmp_path)


def test_the_sources_work_without_a_compiler(built: Path, tmp_path: Path) -> None:
    [sdist] = built.glob("*.tar.gz")
    without = dict.fromkeys(("CC", "CXX"), "/bin/false")
    assert "compiled reader: no" in try_it(installed(tmp_path, sdist, without), tmp_path)
