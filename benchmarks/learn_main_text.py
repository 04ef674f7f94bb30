"""Learns the numbers of `larm.parse.box_words` anew, from pages whose main text is known.

``python -m benchmarks.learn_main_text [--folds 4] [--docs FOLDER] [--write]``. It prints how it does on pages that were not
learned from; with ``--write`` the numbers learned from all pages go into the file. It needs scikit-learn and trafilatura.

The pages: those of ``html-article-benchmark``, where the text of the article is known; those of ``html-trafilatura-eval``, of
which some texts are known to be in it or not, and trafilatura's opinion stands for the rest; and manuals, at little weight,
where all is main text but menus.
"""

from __future__ import annotations

import argparse
import json
import re
import tarfile
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import larm.parse.boxes as naming
import larm.parse.html as parser
from benchmarks.sites import TESTDATA
from larm.parse import box_words, collector, html5lib_tree, main_text, parts
from larm.parse.boxes import NAVIGATION, Box
from larm.parse.page import Reading
from larm.parse.readable import names
from larm.testing.fakes import page as answer

_FILE = Path(box_words.__file__)
_WORD = re.compile(r"\w+")
_RARE = 20
"""Pages that must have a word, for it to be learned."""
_STRENGTH = 0.06
"""scikit-learn's C: of small numbers, weights stay near zero."""
_MANUAL = 0.1
"""Weight of a manual's page."""
_FAINT = 0.08
_USUAL = names("dd div dl h1 li p td")  # too many in any page for a weight of their own: their marks have one
_SHOWY = names(  # words of appearance: they hold for the sites that were learned from, and for no other
    "active after align all app background before between big bodywrapper bottom boxed canvas center centered"
    " children class clearfix col color cols columns current default detail details display documentwrapper end even"
    " fade first fixed flex fluid font for full icon inline justify large last layout left line method mode module"
    " none normal odd offset one padding parent plus position responsive right root row select small space start"
    " sticky style summary table template the third three two uses variablelist vertical white wide width with"
)


class Block(NamedTuple):
    """One of `larm.parse.page.Blocks`."""

    text: str
    mark: str
    weight: Any
    """Names and their counts."""
    kinds: int
    linked: int


class Example(NamedTuple):
    """One page: its blocks, of which the weight is the names of their boxes, and which of them are main text."""

    blocks: list[Block]
    truth: list[bool]
    weight: float


def main() -> None:
    """What the command line asks for."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--folds", type=int, default=4)
    options.add_argument("--docs", type=Path, action="append", default=[], help="a folder with a manual in HTML")
    options.add_argument("--write", action="store_true")
    chosen = options.parse_args()
    examples = [*_articles(), *_snippets(), *(each for folder in chosen.docs for each in _manual(folder))]
    rows = [[_features(page, at) for at in range(len(page.blocks))] for page in examples]
    seen = Counter(name for page in rows for name in {name for row in page for name in row})
    known = sorted(name for name, pages in seen.items() if pages >= _RARE or ":" not in name)
    right = total = 0
    for fold in range(chosen.folds):
        learned = [number for number in range(len(examples)) if number % chosen.folds != fold]
        weights = _learn([examples[each] for each in learned], [rows[each] for each in learned], known)
        for number in range(fold, len(examples), chosen.folds):
            for block, row, true in zip(examples[number].blocks, rows[number], examples[number].truth, strict=True):
                score = sum(weights.get(name, 0.0) * value for name, value in row.items())
                right += len(block.text) * ((score > 0) == true)
                total += len(block.text)
    print(
        f"{len(examples)} pages, {len(known)} features; characters told right, of pages not learned from: {right / total:.3f}"
    )
    if chosen.write:
        _write(_learn(examples, rows, known))


def _features(page: Example, at: int) -> dict[str, float]:
    """What `larm.parse.main_text.scores` adds up for a block, by the name of its weight."""
    blocks = page.blocks
    text, mark, names, _, linked = blocks[at]
    size = len(text)
    length = main_text.LENGTHS[min(size, len(main_text.LENGTHS) - 1)]
    share = min(1.0, linked / size)
    total = sum(len(block.text) for block in blocks)
    row = {
        "bias": 1.0,
        "length": length,
        "short": float(size < 20),
        "long": float(size > 100),
        {" ": "paragraph", "\t": "item", "\r": "heading"}.get(mark, "block"): 1.0,
        "links": share,
        "links*length": share * length,
        "commas": min(5, main_text.commas_of([text])[0]) / 5,
        "ends": float(text[-1] in main_text.ENDS),
        "place": sum(len(block.text) for block in blocks[:at]) / total,
    }
    for distance, step in (("near", 1), ("far", 2)):
        for other in (at - step, at + step):
            if 0 <= other < len(blocks):
                text, _, _, _, linked = blocks[other]
                size = len(text)
                for name, value in (
                    ("length", main_text.LENGTHS[min(size, len(main_text.LENGTHS) - 1)]),
                    ("links", min(1.0, linked / size)),
                    ("commas", min(5, main_text.commas_of([text])[0]) / 5),
                ):
                    row[f"{name} {distance}"] = row.get(f"{name} {distance}", 0.0) + value
    return row | dict(names)


def _learn(
    examples: Sequence[Example], rows: Sequence[Sequence[Mapping[str, float]]], known: Sequence[str]
) -> dict[str, float]:
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression

    column = {name: number for number, name in enumerate(known)}
    values, columns, starts = [], [], [0]
    for row in (row for page in rows for row in page):
        for name, value in row.items():
            if value and name in column:
                values.append(value)
                columns.append(column[name])
        starts.append(len(values))
    matrix = csr_matrix((values, columns, starts), shape=(len(starts) - 1, len(known)))
    for part in ("indices", "indptr"):  # liblinear wants them so
        setattr(matrix, part, getattr(matrix, part).astype("int32"))
    weights = []
    for page in examples:
        sizes = [min(1_010, 10 + len(block.text)) for block in page.blocks]
        weights += [page.weight * 100 * size / sum(sizes) for size in sizes]
    model = LogisticRegression(C=_STRENGTH, max_iter=3_000, solver="liblinear", fit_intercept=False)
    model.fit(matrix, [true for page in examples for true in page.truth], sample_weight=weights)
    return {name: round(float(weight), 2) for name, weight in zip(known, model.coef_[0], strict=True)}


def _blocks(body: bytes) -> list[Block]:
    """Those of a page; for the weights of their boxes, the names that have them."""
    taken: list[Reading] = []

    def keep(found: Reading) -> parts.Parts:
        taken.append(found)
        return parts.Parts()

    weigh, split = collector.weigh, parser.split
    collector.weigh, parser.split = _names, keep
    collector.Collector.NO_WEIGHT = Counter()
    try:
        parser.read(answer(body, content_type="text/html"), "text/html", html5lib_tree.read_tree)
    finally:
        collector.weigh, parser.split = weigh, split
        collector.Collector.NO_WEIGHT = 0.0
    found = taken[0].blocks
    return list(map(Block, found.texts, found.marks, found.weights, found.kinds, found.linked))


def _names(tag: str, attributes: Mapping[str, str | None]) -> Box:
    """As `larm.parse.boxes.weigh`, but with the names that have a weight in the place of their sum."""
    found = Counter({f"tag:{tag}": int(tag not in _USUAL)})
    for attribute in ("class", "id")[: 1 + (tag in naming.WITH_ID)]:
        words = {word.lower() for word in naming.WORD.findall(attributes.get(attribute) or "")}
        found.update(f"word:{word}" for word in words - _SHOWY if len(word) >= naming.SHORTEST)
    found.update(f"role:{each}" for name in ("role", "itemprop") if (each := attributes.get(name)))
    found["role:hidden"] += "hidden" in attributes or "display:none" in (attributes.get("style") or "").replace(" ", "")
    box = naming.weigh(tag, attributes)
    return Box(found, 0 if box is None else box.kind)  # type: ignore[arg-type]  added up like numbers


def _articles() -> Iterator[Example]:
    folder = TESTDATA / "html-article-benchmark" / "given"
    truth = json.loads((folder / "ground-truth.json").read_text(encoding="utf-8"))
    for name, body in _bodies(folder / "html.tar.xz"):
        blocks = _blocks(body)
        yield Example(blocks, _judge(blocks, truth[name.removesuffix(".html")]["articleBody"]), 1.0)


def _snippets() -> Iterator[Example]:
    import trafilatura

    folder = TESTDATA / "html-trafilatura-eval" / "given"
    cases = {each["file"]: each for each in json.loads((folder / "evaldata.json").read_text(encoding="utf-8")).values()}
    for name, body in _bodies(folder / "html.tar.xz"):
        if name in cases:
            blocks = _blocks(body)
            opinion = trafilatura.extract(body, include_comments=False) or ""
            yield Example(blocks, _judge(blocks, opinion, cases[name]["with"], cases[name]["without"]), 1.0)


def _manual(folder: Path) -> Iterator[Example]:
    for file in sorted(folder.rglob("*.html"))[:: max(1, len(list(folder.rglob("*.html"))) // 40)]:
        blocks = _blocks(file.read_bytes())
        yield Example(blocks, [not block.kinds & NAVIGATION for block in blocks], _MANUAL)


def _bodies(file: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(file) as tar:
        for member in tar:
            if (data := tar.extractfile(member)) is not None:
                yield Path(member.name).name, data.read()


def _judge(blocks: Sequence[Block], text: str, inside: Sequence[str] = (), outside: Sequence[str] = ()) -> list[bool]:
    """Which blocks are in the text: by runs of four words; short ones must be there as a whole."""
    words = _WORD.findall(text)
    runs, line = set(zip(words, words[1:], words[2:], words[3:], strict=False)), f" {' '.join(words)} "
    verdicts = []
    for block in blocks:
        piece = " ".join(block.text.split())
        own = _WORD.findall(piece)
        own_runs = list(zip(own, own[1:], own[2:], own[3:], strict=False))
        true = sum(run in runs for run in own_runs) > len(own_runs) / 2 if own_runs else f" {' '.join(own)} " in line
        for texts, verdict in ((inside, True), (outside, False)):
            if any(each in piece or (len(piece) > 20 and piece in each) for each in (" ".join(text.split()) for text in texts)):
                true = verdict
        verdicts.append(true and bool(own))
    return verdicts


def _write(weights: Mapping[str, float]) -> None:
    """Put the numbers into the place of the old ones."""
    source = _FILE.read_text(encoding="utf-8")
    for name in box_words.BLOCKS:
        source = re.sub(rf'("{re.escape(name)}": )[-\d.]+', rf"\g<1>{weights.get(name, 0.0)}", source)
    for table, kind in (("TAGS", "tag"), ("ROLES", "role"), ("WORDS", "word")):
        found = sorted((name.partition(":")[2], weight) for name, weight in weights.items() if name.startswith(f"{kind}:"))
        entries = " ".join(f"{name}={weight:g}" for name, weight in found if abs(weight) >= _FAINT or name == "hidden")
        lines = textwrap.wrap(entries, 118, break_on_hyphens=False)
        text = "".join(f'    "{" " * (number > 0)}{line}"\n' for number, line in enumerate(lines))
        begin = source.index("(\n", source.index(f"{table}: Final")) + 2
        source = source[:begin] + text + source[source.index(")\n", begin) :]
    _FILE.write_text(source, encoding="utf-8")


if __name__ == "__main__":
    main()
