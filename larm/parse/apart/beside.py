"""Diagrams, charts, drawings and comments of Office Open XML, which are parts of their own. Runs in a reading process only."""

import re

from larm.parse.apart.limits import Budget
from larm.parse.apart.package import Package, local
from larm.parse.xml_tokens import END, START, TEXT, XmlTokens

_PART = re.compile(
    r"(?:word|ppt|xl)/(?:diagrams/data|charts/chart(?:ex)?|drawings/drawing|comments/(?:modern)?comment"
    r"|threadedcomments/threadedcomment)[\w-]*\.xml",
    re.IGNORECASE,
)
_LABELS = frozenset(("strcache", "strdim"))
"""What a chart shows along its axes, as it was when the document was written."""
_SAID = frozenset(("t", "text"))
_LINES = frozenset(("p", "pt", "text"))


def read(package: Package, budget: Budget) -> None:
    """Their texts into ``budget``. Other kinds of documents have no such parts."""
    for name in filter(_PART.fullmatch, sorted(package.names)):
        if budget.spent(name):
            break
        budget.text(_text(package.tokens(name), budget))


def _text(tokens: XmlTokens, budget: Budget) -> str:
    found: list[str] = []
    inside, labels = "", False
    for kind, name, rest in budget.within(tokens):
        tag = local(name)
        if kind == TEXT:
            if inside in _SAID or (labels and inside in ("v", "pt")):
                found.append(rest)
        elif kind == START:
            inside = tag
            labels = labels or tag in _LABELS
        else:
            inside = ""
            labels = labels and tag not in _LABELS
        if kind == END and tag in _LINES:
            found.append("\n")
    return "".join(found)
