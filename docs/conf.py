"""Sphinx: the manual as a site and as a man page, of the chapters beside this file and the texts at the root. ``tox -e docs``.

The texts are plain reStructuredText, which code hosts, ``larm help`` and people read as it is: a link to another chapter is a
target at the end of the file, ``.. _Scope: crawling.rst#scope``. Here it becomes a link within the site.
"""

import importlib.metadata
import re
from typing import Any

project = "larm"
release = importlib.metadata.version("larm")
root_doc = "index"
exclude_patterns = ["_build", "design", "measurements.rst", "requirements.rst"]  # the last three are for maintainers
html_theme = "alabaster"
html_title = f"larm {release}"
man_pages = [("manual", "larm", "crawl web sites and search them", "", 1)]
suppress_warnings = ["misc.highlighting_failure"]


def _linked(app: Any, text: str) -> str:
    if app.builder.name == "man":  # one page, on which names of sections are enough
        targets = re.findall(r"^\.\. _([^:]+): (?:docs/)?[\w-]+\.rst", text, re.MULTILINE)
        text = re.sub(r"^\.\. _[^:]+: (?:docs/)?[\w-]+\.rst.*\n?", "", text, flags=re.MULTILINE)
        for name in targets:
            text = re.sub(rf"`{re.escape(name)}`_(?!_)|(?<![\w`]){re.escape(name)}_(?!\w)", name, text)
    text = re.sub(r"^(\.\. _[^:]+: )(?:docs/)?([\w-]+)\.rst", r"\1\2.html", text, flags=re.MULTILINE)
    return re.sub(r"`(ARCHITECTURE|CHANGES)\.rst <(?:\.\./)?\w+\.rst>`__", lambda found: f":doc:`{found[1].lower()}`", text)


def _read(app: Any, _name: str, content: list[str]) -> None:
    content[0] = _linked(app, content[0])


def _included(app: Any, _path: Any, _parent: str, content: list[str]) -> None:
    content[0] = _linked(app, content[0])


def setup(app: Any) -> None:
    """What Sphinx calls."""
    app.connect("source-read", _read)
    app.connect("include-read", _included)
