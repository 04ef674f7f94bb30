"""Questions of the kind "how do I", with the page that answers, from Debian packages: nothing of larm was tuned on them.

Manual pages have sections of examples, where a sentence says what a command is for: ``Remove all stopped containers``. The
sentence is the question and its page the answer; the pages are made without these sections, by mandoc, and linked from one
list. What a page says under NAME that it is for, in one line, is a question, too, about pages without that line. And the
questions of Python's FAQ, of which the answers are the pages of the manual that the FAQ leads to; the FAQ is not crawled.
``apt-get download`` fetches the packages; nothing is installed.
"""

from __future__ import annotations

import gzip
import html
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urldefrag, urljoin

from selectolax.lexbor import LexborHTMLParser

from benchmarks.judged import Question
from benchmarks.sites import Site, fetch_deb, known_sites, run, unpack

_MANUALS = {"howto podman": ("podman",), "howto system": ("systemd", "util-linux", "borgbackup", "btrfs-progs")}
_NAMES = {
    "names tools": ("coreutils", "findutils", "procps", "psmisc", "lvm2", "iproute2", "cryptsetup-bin", "mdadm"),
    "names apps": ("docker.io", "flatpak", "ostree", "lxc"),
    "names tcl": ("tcllib",),
    "names c": ("manpages-dev",),
}
_FAQ = "howto python"
HOW_TO = (*_MANUALS, *_NAMES, _FAQ)
"""Names of the sets."""
_EXAMPLES = re.compile(r'^\.S[Hh] +"?EXAMPLES?"?[^\n]*\n(.*?)(?=^\.S[Hh] |\Z)', re.MULTILINE | re.DOTALL | re.IGNORECASE)
_NAME = re.compile(r'^\.S[Hh] +"?NAME"?[^\n]*\n(.*?)(?=^\.S[Hh] )', re.MULTILINE | re.DOTALL | re.IGNORECASE)
_PARAGRAPH = re.compile(r"^\.(?:[PLIT]P|[Pp]p?|sp|R[SE]|SS|nf|fi|E[XE]|if|\}|ft|de|HP)\b.*$", re.MULTILINE)
_FONT = re.compile(r"\\f(?:\(..|\[[^]]*\]|.)|\\[&|^:]")
_NO_TASK = "Example|Here|However|If|In|It|Multiple|Note|Please|Podman|The|Then|There|This|When|You"
_TASK = re.compile(rf"(?!(?:{_NO_TASK})\b)[A-Z][a-z]+ [^$#|]{{12,150}}[a-z)][.:]")


class HowTo(NamedTuple):
    """One set: a site to be crawled, what of it is left out, and the questions."""

    site: Site
    exclude: str
    questions: dict[str, set[str]]
    """Each with the paths of the pages that answer it, below the root."""

    def judged(self, root: str) -> list[Question]:
        """``root``: the address of the site."""
        return [Question(text, {root + path: 1 for path in sorted(paths)}) for text, paths in self.questions.items()]


def howto_sets(cache: Path) -> Iterator[tuple[str, HowTo]]:
    """All, by name."""
    for name, packages in _MANUALS.items():
        yield name, _manual_pages(cache, name.replace(" ", "-"), packages, _EXAMPLES, _tasks)
    for name, packages in _NAMES.items():
        yield name, _manual_pages(cache, name.replace(" ", "-"), packages, _NAME, _purpose)
    yield _FAQ, _python_faq(cache)


def _manual_pages(
    cache: Path, name: str, packages: tuple[str, ...], without: re.Pattern[str], asked: Callable[[str], Iterable[str]]
) -> HowTo:
    """``without``: what the pages are made without; ``asked``: the questions that are in it, of the source of a page."""
    folder = cache / "unpacked" / name
    folder.mkdir(parents=True, exist_ok=True)
    for package in ("mandoc", *packages):
        if not (folder / package).exists():
            run("dpkg-deb", "-x", fetch_deb(package, cache), folder / package)
    site, questions, links = folder / "site", dict[str, set[str]](), []
    site.mkdir(exist_ok=True)
    for file in sorted(path for package in packages for path in (folder / package).glob("usr/share/man/man[1-8]/*.gz")):
        source = gzip.decompress(file.read_bytes()).decode("utf-8", "replace")
        if source.startswith(".so "):  # another name of a page
            continue
        page = file.name.removesuffix(".gz") + ".html"
        mandoc = [str(folder / "mandoc" / "usr" / "bin" / "mandoc"), "-Thtml"]
        try:
            made = subprocess.run(mandoc, input=without.sub("", source).encode(), capture_output=True, check=False, timeout=20)
        except subprocess.TimeoutExpired:  # over one page of cryptsetup it never ends
            continue
        (site / page).write_bytes(made.stdout)
        for question in asked(source):
            questions.setdefault(question, set()).add(page)
        links.append(f'<li><a href="{html.escape(page)}">{html.escape(page.removesuffix(".html"))}</a></li>')
    (site / "index.html").write_text(f"<title>Manual pages</title><ul>{''.join(links)}</ul>")
    return HowTo(Site(name, name, "/", "index.html", folder=site), "", questions)


def _tasks(source: str) -> Iterator[str]:
    examples = _EXAMPLES.search(source)
    for paragraph in _PARAGRAPH.split(examples[1]) if examples else ():
        text = _plain("\n".join(line for line in paragraph.split("\n") if not line.startswith((".", "\\"))))
        if _TASK.fullmatch(text) and 4 <= len(text.split()) <= 20:
            yield text.rstrip(".:")


def _purpose(source: str) -> Iterator[str]:
    named = _NAME.search(source)
    text = _plain(named[1]).partition(" - ")[2] if named else ""
    if len(text.split()) >= 3 and "\\" not in text:
        yield text.rstrip(".")


def _plain(source: str) -> str:
    text = _FONT.sub("", source).replace("\\-", "-").replace("\\(em", "-").replace("\\(aq", "'").replace("\\*(Aq", "'")
    return " ".join(text.split())


def _python_faq(cache: Path) -> HowTo:
    site = unpack(known_sites()["python3.11-doc"], cache)
    questions: dict[str, set[str]] = {}
    for file in sorted((site.folder / "faq").glob("*.html")):
        for section in LexborHTMLParser(file.read_text(encoding="utf-8")).css("section"):
            headings = section.css("h2, h3")
            if len(headings) != 1:
                continue
            links = [urldefrag(urljoin(f"faq/{file.name}", link.attributes.get("href") or ""))[0] for link in section.css("a")]
            found = {link for link in links if link and "://" not in link and not link.startswith("faq/")}
            text = headings[0].text().rstrip("\u00b6 ")
            if found and text.endswith("?"):
                questions[text] = found
    return HowTo(replace(site, package="python-without-faq"), "faq/", questions)
