"""PageRules at work: title, main text and fields of a page by CSS selectors, as ``sites`` in config.yaml says (YIOOP-13).

Used by the HTML processor, on any thread; keeps no state. A page that has rules is parsed once more, by selectolax, which knows
selectors; all others cost a look at a table.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import comb
from typing import Final, NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from larm.config import PageRules
from larm.model.crawl_hash import page_hash
from larm.model.cuts import EFFORT
from larm.model.sites import SiteTable
from larm.model.url import Url
from larm.parse.page import Page, Reading
from larm.parse.parts import headings_of, split
from larm.parse.readable import squeeze_line

USED: Final = "page_rules/used"
"""Counts pages that some rules were for."""
NOTHING: Final = "page_rules/nothing_found"
"""Counts those of them in which a selector found nothing."""
TOO_SLOW: Final = "page_rules/too_slow"
"""Counts pages that no rules were applied to, as that might take too long."""
_ATTRIBUTE = re.compile(r"(.*)::attr\(([\w:-]+)\)\s*", re.DOTALL)
MAX_VALUES = 100
MAX_LENGTH = 10_000
MAX_STEPS: Final = 100_000_000
"""Steps through a page that its rules may take, times ``processing.effort``: at most 2 s."""
_ALONE = re.compile(
    r"""(:has\(\s*>)\s*[^\s()>+~]*\)|\[(?:"[^"]*"|'[^']*'|[^\]])*\]|\([-+\dn\s]*\)|\([^\s()>+~]*\)|\\.""", re.DOTALL
)
"""Parts of a selector that are about one element; the first is tried with its children."""
_JOINT = re.compile(r"\s*([>+~ ])\s*")
_ALONG, _DOWN = re.compile(":nth-|-of-type"), re.compile(":has|:lexbor")
"""These are tried with all siblings of an element, or with all that is in it."""


Read = Callable[[bytes], Reading]


class Ruled(NamedTuple):
    """What came of it."""

    page: Page
    fields: Mapping[str, tuple[str, ...]]
    counts: tuple[str, ...]


class Rules:
    """Those of all sites, by their names or patterns."""

    def __init__(self, sites: Mapping[str, Sequence[PageRules]]) -> None:
        """Raises ValueError for what is no selector."""
        for rules in sites.values():
            for rule in rules:
                _check(rule)
        # constant after construction
        self._sites = SiteTable({name: rules for name, rules in sites.items() if rules})

    def of(self, url: Url) -> Sequence[PageRules]:
        """Those for a page, in their order."""
        return (self._sites.of_url(url) or ()) if self._sites else ()


def apply(rules: Sequence[PageRules], html: bytes, page: Page, read: Read, effort: int = 1) -> Ruled:
    """The page as the first of the rules has it whose ``when`` is there. ``html``: UTF-8; ``read``: reads a part of a page.

    A page through which the selectors may have too many ways is left as it is, and noted as cut.
    """
    tree = LexborHTMLParser(html)
    if _steps(rules, tree) > MAX_STEPS * effort:
        warning = "its rules were not applied: their selectors may take too long on its nested elements"
        return Ruled(page._replace(warnings=[*page.warnings, warning], cuts=tuple({*page.cuts, EFFORT})), {}, (TOO_SLOW,))
    rule = next((each for each in rules if not each.when or tree.css_first(each.when) is not None), None)
    if rule is None:
        return Ruled(page, {}, ())
    empty, warnings = False, list(page.warnings)
    fields = {}
    for name, written in rule.fields.items():
        fields[name] = _values(tree, written, name, warnings)
        empty = empty or not fields[name]
    title = page.title
    if rule.title:
        found = tree.css_first(rule.title)
        title = squeeze_line(found.text()) if found is not None else title
        empty = empty or found is None
    if rule.without or rule.main:
        if rule.without:
            tree = LexborHTMLParser(_rest(tree, _outermost(tree.css(rule.without))))
        main = _outermost(tree.css(rule.main)) if rule.main else []
        empty = empty or bool(rule.main and not main)
        page = _with_text(page, tree, main, read)
    page = page._replace(title=title, words=page_hash(title, page.text + page.other), warnings=warnings)
    return Ruled(page, {name: values for name, values in fields.items() if values}, (USED, NOTHING) if empty else (USED,))


def _with_text(page: Page, tree: LexborHTMLParser, main: Sequence[LexborNode], read: Read) -> Page:
    if not main:  # larm's own guess, of what is left
        parts = split(read(_html(tree)))
        return page._replace(text=parts.main, other=parts.other, headings=parts.headings, places=parts.places)
    reading = read("".join([node.html or "" for node in main]).encode("utf-8", "replace"))
    headings, places = headings_of(reading)
    return page._replace(text=_text(reading), other=_text(read(_rest(tree, main))), headings=headings, places=places)


def _rest(tree: LexborHTMLParser, nodes: Sequence[LexborNode]) -> bytes:
    """The page without these. The tree is of no use any more."""
    if any(node.tag == "html" for node in nodes):  # the root can't be taken out
        return b""
    for node in nodes:
        node.decompose()
    return _html(tree)


def _steps(rules: Sequence[PageRules], tree: LexborHTMLParser) -> int:
    """Return the number of steps that all selectors of the rules take at most."""
    above = [(node.mem_id, node.parent.mem_id if node.parent else 0) for node in (tree.root.traverse() if tree.root else ())]
    children = Counter(parent for _, parent in above)
    places = {0: (-1, 0, 0)}
    for node, parent in above:
        ancestors, _, along_path = places.get(parent, places[0])
        places[node] = ancestors + 1, children[parent], along_path + children[parent]
    shape, steps = Counter([places[node] for node, _ in above]), 0
    for rule in rules:
        once = [rule.when, rule.title, *(_parted(each)[0] for each in rule.fields.values())]
        for selector, again in (*((each, 0) for each in once), (rule.main, 1), (rule.without, 1)):  # `_outermost` goes up, too
            plain = _ALONE.sub(
                lambda found: ":nth-" if found[1] else "", ",".join(map(str.strip, " ".join(selector.split()).split(",")))
            )
            for part in [plain] if "(" in plain else filter(None, plain.split(",")):
                steps += sum(count * (_tries(part, len(above), *place) + again * place[0]) for place, count in shape.items())
    return steps


def _tries(selector: str, elements: int, ancestors: int, siblings: int, along_path: int) -> int:
    """Return the number of elements that lexbor tries for one: all ways up its ancestors, and along their siblings."""
    *others, last = _JOINT.split(selector)
    tries = 1 + (siblings if _ALONG.search(last) else 0) + (ancestors if _DOWN.search(last) else 0)
    up, along = 0, 1
    for compound, joint in zip(others[-2::-2], others[::-2], strict=True):
        up += joint == " "
        along *= (along_path if up or along > 1 else siblings) if joint == "~" else 1
        wide = comb(ancestors, max(0, up - 1)) * along_path if _ALONG.search(compound) else 0
        tries += along * (comb(ancestors, up) * (elements if _DOWN.search(compound) else 1) + wide)
    return tries


def _outermost(nodes: Sequence[LexborNode]) -> list[LexborNode]:
    """Without those that are in others of them."""
    ids = {node.mem_id for node in nodes}
    found = []
    for node in nodes:
        above = node.parent
        while above is not None and above.mem_id not in ids:
            above = above.parent
        if above is None:
            found.append(node)
    return found


def _values(tree: LexborHTMLParser, written: str, name: str, warnings: list[str]) -> tuple[str, ...]:
    selector, attribute = _parted(written)
    found: list[str] = []
    left = 10 * MAX_VALUES * MAX_LENGTH
    for node in tree.css(selector):
        said = node.attributes.get(attribute) if attribute else node.text()
        left -= len(said or "")
        if left < 0:  # elements within elements have the same text again and again
            warnings.append(f"field {name}: the values are too long, those from number {len(found) + 1} on are left out")
            break
        if value := squeeze_line(said or ""):
            found.append(value[:MAX_LENGTH])
            if len(value) > MAX_LENGTH:
                warnings.append(f"field {name}: a value of {len(value)} characters was cut to {MAX_LENGTH}")
    found = list(dict.fromkeys(found))
    if len(found) > MAX_VALUES:
        warnings.append(f"field {name}: of {len(found)} values the first {MAX_VALUES} are kept")
    return tuple(found[:MAX_VALUES])


def _parted(written: str) -> tuple[str, str]:
    """Selector and attribute; empty: the text."""
    match = _ATTRIBUTE.fullmatch(written)
    return (match[1], match[2].lower()) if match else (written, "")


def _text(reading: Reading) -> str:
    return "\n".join(reading.blocks.texts)


def _html(tree: LexborHTMLParser) -> bytes:
    return (tree.html or "").encode("utf-8", "replace")


def _check(rule: PageRules) -> None:
    tree = LexborHTMLParser("<p>")
    said = {"when": rule.when, "title": rule.title, "main": rule.main, "without": rule.without}
    for key, written in (*said.items(), *((f"fields.{name}", text) for name, text in rule.fields.items())):
        if not written and key in said:
            continue
        selector = _parted(written)[0] if key not in said else written
        try:
            tree.css(selector)
        except SelectolaxError as error:
            raise ValueError(f"{key}: {written!r} is no CSS selector that larm knows") from error
