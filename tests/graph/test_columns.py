"""What is compiled says of any columns what numpy says, and reads and writes nothing else."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from array import array
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import larm.graph.columns
from larm.graph import numpy_columns
from larm.graph.block import GONE, MOVED, PAGE, Block
from larm.graph.columns import Column, zeros
from tests.graph.twins import TWINS, needs_it, quick

words = st.integers(0, 2**64 - 1) | st.integers(0, 20) | st.integers(2**40, 2**40 + 9)
small = st.integers(0, 9)
real = st.floats(0, 1)


def column(kind: str, numbers: Any) -> Column:
    return memoryview(array(kind, numbers))


def said(result: Any) -> Any:
    """Columns as lists."""
    if isinstance(result, tuple | list):
        return [said(each) for each in result]
    return result.tolist() if isinstance(result, memoryview) else result


def outcome(module: Any, name: str, *arguments: Any) -> Any:
    """What it returns and what it changed; None where the columns don't fit."""
    own = [memoryview(array(each.format, each.tolist())) if isinstance(each, memoryview) else each for each in arguments]
    try:
        return said(getattr(module, name)(*own)), said(own)
    except (ValueError, IndexError):
        return None


def both(name: str, *arguments: Any) -> Any:
    """What both say."""
    found = outcome(quick, name, *arguments)
    assert found == outcome(numpy_columns, name, *arguments)
    return found


blocks = st.lists(
    st.tuples(st.sampled_from([PAGE, PAGE, MOVED, GONE]), small, st.lists(st.tuples(small, small), max_size=6)), max_size=8
)


def block_of(rows: list[tuple[int, int, list[tuple[int, int]]]], nodes: list[int], texts: int = 10) -> Block:
    """Rows: kind, page, links as (place of a node, place of a text)."""
    rows = [(kind, page, links or [(0, 0)] if kind == MOVED else links) for kind, page, links in rows]
    links = [link for _, _, links in rows for link in links]
    return Block(
        bytes(kind for kind, _, _ in rows),
        array("Q", [page for _, page, _ in rows]).tobytes(),
        b"\n".join(b"u" for _ in rows),
        array("I", [len(links) for _, _, links in rows]).tobytes(),
        array("Q", nodes).tobytes(),
        b"\n".join(b"t" for _ in range(texts)),
        array("I", [target for target, _ in links]).tobytes(),
        array("I", [text for _, text in links]).tobytes(),
    )


@needs_it
@given(blocks, st.lists(words, min_size=10, max_size=12), st.lists(st.booleans(), min_size=8, max_size=8), st.data())
def test_blocks(rows: Any, nodes: list[int], living: list[bool], data: st.DataObject) -> None:
    block, alive = block_of(rows or [(PAGE, 1, [])], nodes), bytes(living[: max(len(rows), 1)])
    moved = sorted(set(data.draw(st.lists(st.sampled_from(nodes), max_size=4))))
    aliases = column("Q", moved), column("Q", [data.draw(st.sampled_from(nodes)) for _ in moved])
    one, other = quick.opened(block), numpy_columns.opened(block)
    assert said(one.goals()) == said(other.goals())
    named = [said(each.named(alive, aliases)) for each in (one, other)]
    assert set(named[0]) == set(named[1])
    known = column("Q", sorted(set(data.draw(st.lists(words)) + named[0])))
    texts = column("I", data.draw(st.permutations(range(10))))
    assert said(one.numbered(alive, aliases, known, texts)) == said(other.numbered(alive, aliases, known, texts))


@pytest.mark.parametrize("module", TWINS)
@given(st.data())
def test_a_block_that_says_what_cannot_be_is_refused(module: Any, data: st.DataObject) -> None:
    """Each column is replaced by any other."""
    good = block_of([(PAGE, 1, [(0, 0), (1, 1)]), (MOVED, 2, [(1, 0)]), (GONE, 3, [])], [5, 6], 2)
    module.opened(good)
    name = data.draw(st.sampled_from(good.__struct_fields__))
    bad = {each: getattr(good, each) for each in good.__struct_fields__} | {name: data.draw(st.binary(max_size=30))}
    block = Block(**bad)
    try:
        links = module.opened(block)
    except ValueError:
        return
    aliases = zeros("Q", 0), zeros("Q", 0)
    texts = zeros("I", block.texts.count(b"\n") + 1)
    for alive in (b"\1\1\1", b"\1\0\1", b"\0\0\0"):
        assert set(said(links.named(alive, aliases))) <= {1, 2, 3, 5, 6, *memoryview(block.nodes + block.pages).cast("Q")}
        links.goals()
        links.numbered(alive, aliases, column("Q", [5]), texts)


@pytest.mark.parametrize("module", TWINS)
@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("targets", array("I", [0, 2, 1])),
        ("anchors", array("I", [0, 1, 2])),
        ("counts", array("I", [3, 0, 0])),
        ("counts", array("I", [2, 1, 2**32 - 1])),
        ("kinds", b"\0\1"),
        ("urls", b"u"),
        ("pages", b"abc"),
    ],
)
def test_what_is_refused(module: Any, name: str, other: Any) -> None:
    good = block_of([(PAGE, 1, [(0, 0), (1, 1)]), (MOVED, 2, [(1, 0)]), (GONE, 3, [])], [5, 6], 2)
    with pytest.raises(ValueError):  # noqa: PT011  its words are for people
        module.opened(Block(**{**{each: getattr(good, each) for each in good.__struct_fields__}, name: bytes(other)}))


@needs_it
@given(st.lists(st.tuples(st.sampled_from([PAGE, MOVED, GONE]), small | words, words)))
def test_last_rows(rows: list[tuple[int, int, int]]) -> None:
    kinds, pages, goals = (list(each) for each in zip(*rows, strict=True)) if rows else ([], [], [])
    found = both("last_rows", bytes(kinds), array("Q", pages).tobytes(), array("Q", goals).tobytes())
    last = {page: row for row, page in enumerate(pages)}
    assert list(found[0][0]) == [kinds[row] == PAGE and last[page] == row for row, page in enumerate(pages)]


@needs_it
@given(st.dictionaries(small, small), st.integers(0, 5))
def test_resolved(led: dict[int, int], hops: int) -> None:
    names = sorted(led)
    both("resolved", column("Q", names), column("Q", [led[name] for name in names]), hops)


@pytest.mark.parametrize("module", TWINS)
@given(st.lists(words), st.lists(st.lists(words)))
def test_distinct_numbers_are_sorted(module: Any, known: list[int], more: list[list[int]]) -> None:
    found = module.distinct(column("Q", sorted(set(known))), [column("Q", each) for each in more])
    assert found.tolist() == sorted(set(known).union(*more))


@needs_it
@given(st.sets(words), st.lists(words))
def test_places(among: set[int], numbers: list[int]) -> None:
    both("places", column("Q", sorted(among)), column("Q", numbers))


@needs_it
@given(st.lists(st.integers(0, 2), max_size=9), st.lists(small))
def test_zeros_at(numbers: list[int], places: list[int]) -> None:
    both("zeros_at", column("Q", numbers), column("I", places))


@needs_it
@given(st.lists(st.tuples(small, small, small)), st.integers(1, 4), st.integers(1, 12), st.integers(0, 7))
def test_links_by_their_targets(rows: list[tuple[int, int, int]], width: int, buckets: int, before: int) -> None:
    links = column("I", [number for row in rows for number in row])
    found = both("dealt", links, width, buckets)
    assert (found is None) == any(target // width >= buckets for target, _, _ in rows)
    for number, bucket in enumerate(found[0] if found else []):
        both("by_target", array("I", bucket).tobytes(), number * width, column("Q", [before, *(0 for _ in range(width))]))
    both("by_target", links.tobytes(), before, column("Q", [before, *(0 for _ in range(width))]))


pages_with_links = st.lists(st.tuples(small, st.lists(small, min_size=1)), max_size=9)


@needs_it
@given(pages_with_links, st.integers(1, 10), st.data())
def test_sums_of_links(rows: list[tuple[int, list[int]]], nodes: int, data: st.DataObject) -> None:
    sources, counts = column("I", [page for page, _ in rows]), column("I", [len(links) for _, links in rows])
    targets = column("I", [target for _, links in rows for target in links])
    fit = all(number < nodes for page, links in rows for number in (page, *links))
    reals = st.lists(real, min_size=nodes, max_size=nodes)
    degrees, rank, gathered = zeros("I", nodes), column("d", data.draw(reals)), column("d", data.draw(reals))
    if all(target < nodes for target in targets):
        both("count", sources, counts, targets, degrees)
    else:
        assert outcome(quick, "count", sources, counts, targets, degrees) is None
    found = [outcome(each, "hand_on", rank, sources, counts, targets, gathered) for each in (quick, numpy_columns)]
    assert (found[0] is not None) == fit
    if fit:
        assert found[0][0] == pytest.approx(found[1][0], rel=1e-9)
        assert found[0][1][-1] == pytest.approx(found[1][1][-1], rel=1e-9)


@needs_it
@given(st.lists(st.tuples(real, real), min_size=1), real)
def test_what_was_gathered_is_settled(numbers: list[tuple[float, float]], handed: float) -> None:
    rank, gathered = (column("d", each) for each in zip(*numbers, strict=True))
    found = [outcome(each, "settle", gathered, handed, 0.85, rank) for each in (quick, numpy_columns)]
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-9)
    assert found[0][1][0] == pytest.approx(found[1][1][0], rel=1e-9)


@needs_it
@given(st.sets(small | words), st.dictionaries(small | words, st.floats(0.125, 8, width=32)))
def test_ranks_of_nodes_that_were_known(nodes: set[int], known: dict[int, float]) -> None:
    rank, before = column("d", [1 / max(len(nodes), 1)] * len(nodes)), sorted(known)
    arguments = rank, column("Q", sorted(nodes)), column("Q", before), column("f", [known[node] for node in before])
    found = [outcome(each, "carry", *arguments)[1][0] for each in (quick, numpy_columns)]
    assert found[0] == pytest.approx(found[1], rel=1e-9)
    for module in (quick, numpy_columns):
        with pytest.raises(ValueError):  # noqa: PT011
            module.carry(*arguments[:2], column("Q", [1]), zeros("f", 0))


@needs_it
@given(st.lists(real | st.sampled_from([0.0, 0.25, 1.0])), st.integers(0, 9))
def test_orders_by_rank(rank: list[float], most: int) -> None:
    both("by_rank", column("d", rank), most)
    both("scaled", column("d", rank))


@needs_it
def test_many_numbers() -> None:
    """More than are sorted while the GIL is held, and by more than one digit."""
    choose = random.Random(1)
    numbers = [choose.getrandbits(64 if n % 2 else 20) for n in range(150_000)]
    found = both("distinct", column("Q", sorted(set(numbers[:1000]))), [column("Q", numbers)])
    assert len(found[0]) > 90_000
    both("by_rank", column("d", [choose.choice((choose.random(), 0.5)) for _ in numbers]), 1000)
    pages = array("Q", [number % 99_991 for number in numbers])
    both("last_rows", bytes(len(pages)), pages.tobytes(), bytes(8 * len(pages)))


@needs_it
def test_columns_that_do_not_fit_are_refused() -> None:
    """None of them comes from a block; nothing may be read or written beyond them all the same."""
    one, two, none = column("I", [1]), column("I", [1, 1]), zeros("Q", 0)
    block = quick.opened(block_of([(PAGE, 1, [(0, 0)])], [5], 1))
    for attempt in (
        lambda: quick.by_target(array("I", [5, 1, 1]).tobytes(), 6, zeros("Q", 4)),
        lambda: quick.by_target(b"1234", 0, zeros("Q", 4)),
        lambda: quick.by_target(b"", 0, zeros("Q", 0)),
        lambda: quick.dealt(two, 1, 1),
        lambda: quick.dealt(zeros("I", 3), 0, 1),
        lambda: quick.count(one, two, two, zeros("I", 2)),
        lambda: quick.count(one, column("I", [2**32 - 1]), two, zeros("I", 2)),
        lambda: quick.hand_on(zeros("d", 2), one, column("I", [3]), two, zeros("d", 2)),
        lambda: quick.hand_on(zeros("d", 1), one, one, one, zeros("d", 2)),
        lambda: quick.settle(zeros("d", 1), 0.0, 0.5, zeros("d", 2)),
        lambda: quick.carry(zeros("d", 1), none, none, zeros("f", 0)),
        lambda: quick.resolved(none, zeros("Q", 1), 5),
        lambda: quick.last_rows(b"\0", bytes(16), bytes(16)),
        lambda: quick.distinct(memoryview(b"1234567"), []),
        lambda: quick.places(memoryview(bytes(17))[1:], none),
        lambda: block.named(b"", (none, none)),
        lambda: block.named(b"\1", (none, zeros("Q", 1))),
        lambda: block.numbered(b"\1\1", (none, none), none, one),
        lambda: block.numbered(b"\1", (none, none), none, two),
    ):
        with pytest.raises(ValueError):  # noqa: PT011
            attempt()
    with pytest.raises(BufferError):
        quick.by_target(b"", 0, bytes(8))


@needs_it
def test_it_is_used_and_is_what_its_source_says() -> None:
    assert larm.graph.columns.columns is quick
    folder = Path(__file__).parents[2] / "larm" / "graph"
    if Path(larm.graph.columns.__file__).parent == folder:  # built in place, so that has to be done again after a change
        newest = max((folder / name).stat().st_mtime for name in ("quick_columns.pyx", "block_links.pxi", "sorting.pxi"))
        assert Path(quick.__file__).stat().st_mtime >= newest, "pip install -e ."


@pytest.mark.parametrize("compiled", [pytest.param(True, marks=needs_it), False])
def test_numpy_is_loaded_only_where_nothing_is_compiled(tmp_path: Path, compiled: bool) -> None:
    """By a crawl's graph storage, from the first link to the texts of links that can be searched."""
    script = (
        "import sys\n"
        f"if not {compiled}: sys.modules['larm.graph.quick_columns'] = None\n"
        "from pathlib import Path; from tests.graph.webs import page, stored; from larm.graph.reader import open_graph\n"
        "stored(Path('.'), page('a', {'b': 'about'}), page('b', {'a': 'home'}))\n"
        "print(open_graph(Path('graph')).links, 'numpy' in sys.modules)"
    )
    paths = os.pathsep.join([str(Path(larm.graph.columns.__file__).parents[2]), str(Path(__file__).parents[2])])
    clean = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, cwd=tmp_path, env=clean, timeout=60)
    assert done.stdout.split() == [b"2", str(not compiled).encode()]
