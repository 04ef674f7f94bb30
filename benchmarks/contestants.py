"""Who takes part: how each crawler is called, so that all do the same work: every page of one host, following its links.

None waits between requests, all obey robots.txt. What they do with a page differs, and the table says it: Scrapy throws it
away, wget2 saves it, larm parses, stores and (unless told not to) indexes it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.sites import fetch_deb, run

Commands = list[list[str | Path]]
_WGET2_GOOD = (0, 8)  # 8: there was a 404


@dataclass(frozen=True)
class Contestant:
    """One way to crawl."""

    name: str
    does: str
    """What it does with a page."""
    version: str
    commands: Callable[[str, Path], Commands]
    """From the start URL and an empty folder."""
    environment: dict[str, str] = field(default_factory=dict)
    good: tuple[int, ...] = (0,)
    """Exit statuses of a crawl that went well."""


@dataclass(frozen=True)
class Missing:
    """A contestant that is not here."""

    name: str
    why: str


def larm(python: str = sys.executable) -> list[Contestant | Missing]:
    """larm with and without its index; ``python``: the interpreter that it is installed for."""
    names = [("larm", "logs, pages and index", []), ("larm --no-index", "logs and pages", ["--no-index"])]
    try:
        version = run(python, "-m", "larm", "version").strip()
    except SystemExit as error:
        return [Missing(name, str(error)) for name, _, _ in names]

    def contestant(name: str, does: str, options: Sequence[str]) -> Contestant:
        def commands(url: str, folder: Path) -> Commands:
            fast = ["--delay", "0", "--per-host", "16"]
            return [[python, "-m", "larm", "crawl", "-start", url, "--dir", folder / "crawl", *fast, *options, "-q"]]

        return Contestant(name, does, version, commands, {"PYTHONPATH": str(Path(__file__).parents[1])})

    return [contestant(*each) for each in names]


def scrapy(cache: Path) -> Contestant | Missing:
    """Scrapy in a virtual environment below ``cache``, made at the first time."""
    home = cache / "scrapy"
    python = home / "bin" / "python"
    if not (home / ".complete").exists():
        venv.create(home, with_pip=True, clear=True)
        try:
            run(python, "-m", "pip", "install", "--quiet", "scrapy>=2.11,<3")
        except SystemExit as error:
            return Missing("scrapy", str(error))
        (home / ".complete").touch()
    version = run(python, "-m", "scrapy", "version").split()[-1]
    spider = Path(__file__).with_name("scrapy_spider.py")
    return Contestant("scrapy", "nothing", version, lambda url, _: [[python, spider, url]])


def wget2() -> Contestant | Missing:
    """wget2, saving pages; images, scripts and style sheets are left out, as the others leave them."""
    if shutil.which("wget2") is None:
        return Missing("wget2", "not found; apt-get install wget2")
    return Contestant("wget2", "saves pages", _wget2_version(), _save_pages, good=_WGET2_GOOD)


def wget2_and_omega(cache: Path) -> Contestant | Missing:
    """wget2, then Omega (Xapian) over what it saved: the classic way to a searchable copy."""
    name = "wget2 + omindex"
    if shutil.which("wget2") is None:
        return Missing(name, "wget2 not found; apt-get install wget2")
    home = cache / "omega"
    program = Path(shutil.which("omindex") or home / "usr" / "bin" / "omindex")
    try:
        if not program.exists():
            for package in ("xapian-omega", "libxapian30"):
                run("dpkg-deb", "-x", fetch_deb(package, cache), home)
        library = subprocess.run(["dpkg-architecture", "-qDEB_HOST_MULTIARCH"], capture_output=True, text=True, check=False)
    except (SystemExit, OSError) as error:
        return Missing(name, f"{error}; apt-get install xapian-omega")
    environment = {"LD_LIBRARY_PATH": str(home / "usr" / "lib" / (library.stdout.strip() or "x86_64-linux-gnu"))}
    ran = subprocess.run([program, "--version"], capture_output=True, text=True, env=environment, check=False)
    if ran.returncode != 0:
        return Missing(name, f"{program}: {ran.stderr.strip()}; apt-get install xapian-omega")

    def commands(url: str, folder: Path) -> Commands:
        index: list[str | Path] = [program, "--db", folder / "db", "--url", "/", "--no-delete", folder / "pages"]
        return [_wget2_command(url, folder), index]

    omega = ran.stdout.split("\n")[0].split()[-1]
    return Contestant(name, "saves pages, then index", f"{_wget2_version()} + {omega}", commands, environment, _WGET2_GOOD)


def _save_pages(url: str, folder: Path) -> Commands:
    return [_wget2_command(url, folder)]


def _wget2_command(url: str, folder: Path) -> list[str | Path]:
    options = ["--recursive", "--level=inf", "--max-threads=16", "--tries=2", "--no-xattr", "--progress=none", "--quiet"]
    pages_alone = ["--ignore-tags=img,link,script,input,embed,object,source", "--reject=png,gif,jpg,jpeg,svg,css,js,ico"]
    config = ["--no-config", "--no-hsts", "--no-ocsp", "--no-proxy"]
    return ["wget2", *config, *options, *pages_alone, "-P", folder / "pages", url]


def _wget2_version() -> str:
    return run("wget2", "--version").split("\n")[0].split()[2]
