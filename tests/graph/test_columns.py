"""What is done with columns, held against the plainest way to do it; what does not fit is refused."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.graph import columns
from larm.graph.block import GONE, MOVED, PAGE, Block
from larm.graph.columns import Column, zeros

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


@given(blocks, st.lists(words, min_size=10, max_size=12), st.lists(st.booleans(), min_size=8, max_size=8), st.data())
def test_blocks(rows: Any, nodes: list[int], living: list[bool], data: st.DataObject) -> None:
    rows = rows or [(PAGE, 1, [])]
    block, alive = block_of(rows, nodes), living[: len(rows)]
    moved = sorted(set(data.draw(st.lists(st.sampled_from(nodes), max_size=4))))
    leads = dict(zip(moved, [data.draw(st.sampled_from(nodes)) for _ in moved], strict=True))
    aliases = column("Q", moved), column("Q", leads.values())
    links = columns.opened(block)
    rows = [(kind, page, to or [(0, 0)] if kind == MOVED else to) for kind, page, to in rows]
    assert said(links.goals()) == [nodes[to[0][0]] if kind == MOVED else 0 for kind, _, to in rows]
    named = {page for (_, page, _), lives in zip(rows, alive, strict=True) if lives}
    goals = {leads.get(nodes[at], nodes[at]) for (_, _, to), lives in zip(rows, alive, strict=True) if lives for at, _ in to}
    found = set(said(links.named(bytes(alive), aliases)))
    assert named | goals <= found <= named | {leads.get(node, node) for node in nodes}
    known = sorted(set(data.draw(st.lists(words))) | found)
    number = {word: place for place, word in enumerate(known)}
    texts = data.draw(st.permutations(range(10)))
    pages, sources, counts, targets, backlinks = [], [], [], [], []
    for (_, page, to), lives in zip(rows, alive, strict=True):
        if lives:
            own = [(number[leads.get(nodes[at], nodes[at])], texts[text]) for at, text in to]
            pages.append(number[page])
            sources += [number[page]] * bool(own)
            counts += [len({target for target, _ in own})] * bool(own)
            targets += sorted({target for target, _ in own})
            backlinks += [each for target, text in own if target != number[page] for each in (target, number[page], text)]
    wanted = [pages, sources, counts, targets, backlinks]
    assert said(links.numbered(bytes(alive), aliases, column("Q", known), column("I", texts))) == wanted


@given(st.data())
def test_a_block_that_says_what_cannot_be_is_refused(data: st.DataObject) -> None:
    """Each column is replaced by any other."""
    good = block_of([(PAGE, 1, [(0, 0), (1, 1)]), (MOVED, 2, [(1, 0)]), (GONE, 3, [])], [5, 6], 2)
    columns.opened(good)
    name = data.draw(st.sampled_from(good.__struct_fields__))
    bad = {each: getattr(good, each) for each in good.__struct_fields__} | {name: data.draw(st.binary(max_size=30))}
    block = Block(**bad)
    try:
        links = columns.opened(block)
    except ValueError:
        return
    aliases = zeros("Q", 0), zeros("Q", 0)
    texts = zeros("I", block.texts.count(b"\n") + 1)
    for alive in (b"\1\1\1", b"\1\0\1", b"\0\0\0"):
        assert set(said(links.named(alive, aliases))) <= {1, 2, 3, 5, 6, *memoryview(block.nodes + block.pages).cast("Q")}
        links.goals()
        links.numbered(alive, aliases, column("Q", [5]), texts)


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
def test_what_is_refused(name: str, other: Any) -> None:
    good = block_of([(PAGE, 1, [(0, 0), (1, 1)]), (MOVED, 2, [(1, 0)]), (GONE, 3, [])], [5, 6], 2)
    with pytest.raises(ValueError):  # noqa: PT011  its words are for people
        columns.opened(Block(**{**{each: getattr(good, each) for each in good.__struct_fields__}, name: bytes(other)}))


@given(st.lists(st.tuples(st.sampled_from([PAGE, MOVED, GONE]), small | words, words)))
def test_last_rows(rows: list[tuple[int, int, int]]) -> None:
    kinds, pages, goals = (list(each) for each in zip(*rows, strict=True)) if rows else ([], [], [])
    alive, moved, led = columns.last_rows(bytes(kinds), array("Q", pages).tobytes(), array("Q", goals).tobytes())
    last = {page: row for row, page in enumerate(pages)}
    assert list(alive) == [kinds[row] == PAGE and last[page] == row for row, page in enumerate(pages)]
    wanted = sorted((page, goals[row]) for page, row in last.items() if kinds[row] == MOVED)
    assert list(zip(said(moved), said(led), strict=True)) == wanted


@given(st.dictionaries(small, small), st.integers(0, 5))
def test_resolved(led: dict[int, int], hops: int) -> None:
    names = sorted(led)
    where = dict(led)
    for _ in range(hops):  # each doubles the way
        where = {name: where.get(goal, goal) for name, goal in where.items()}
    found = columns.resolved(column("Q", names), column("Q", [led[name] for name in names]), hops)
    wanted = [(name, where[name]) for name in names if where[name] != name]
    assert list(zip(*map(said, found), strict=True)) == wanted


@given(st.lists(words), st.lists(st.lists(words)))
def test_distinct_numbers_are_sorted(known: list[int], more: list[list[int]]) -> None:
    found = columns.distinct(column("Q", sorted(set(known))), [column("Q", each) for each in more])
    assert found.tolist() == sorted(set(known).union(*more))


@given(st.sets(words, min_size=1), st.data())
def test_places(among: set[int], data: st.DataObject) -> None:
    numbers, known = data.draw(st.lists(st.sampled_from(sorted(among)))), sorted(among)
    assert said(columns.places(column("Q", known), column("Q", numbers))) == [bisect_left(known, each) for each in numbers]


@given(st.lists(st.integers(0, 2), min_size=1, max_size=9), st.data())
def test_zeros_at(numbers: list[int], data: st.DataObject) -> None:
    places = data.draw(st.lists(st.integers(0, len(numbers) - 1)))
    wanted = [which for which, place in enumerate(places) if not numbers[place]]
    assert columns.zeros_at(column("Q", numbers), column("I", places)) == wanted


@given(st.lists(st.tuples(small, small, small)), st.integers(1, 4), st.integers(1, 12), st.integers(0, 7))
def test_links_by_their_targets(rows: list[tuple[int, int, int]], width: int, buckets: int, before: int) -> None:
    links = column("I", [number for row in rows for number in row])
    if any(target // width >= buckets for target, _, _ in rows):
        with pytest.raises(ValueError, match="in none of the buckets"):
            columns.dealt(links, width, buckets)
        return
    for number, bucket in enumerate(columns.dealt(links, width, buckets)):
        own = [row for row in rows if row[0] // width == number]
        assert said(bucket) == [each for row in own for each in row]
        starts, first = column("Q", [before, *(0 for _ in range(width))]), number * width
        found = columns.by_target(bytes(bucket), first, starts)
        assert said(found) == [each for row in sorted(own, key=lambda row: row[0]) for each in row[1:]]
        assert said(starts) == [before + sum(row[0] < first + n for row in own) for n in range(width + 1)]


@given(st.lists(st.tuples(small, st.lists(small, min_size=1)), max_size=9), st.data())
def test_sums_of_links(rows: list[tuple[int, list[int]]], data: st.DataObject) -> None:
    nodes = 10
    sources, counts = column("I", [page for page, _ in rows]), column("I", [len(links) for _, links in rows])
    targets = column("I", [target for _, links in rows for target in links])
    reals = st.lists(real, min_size=nodes, max_size=nodes)
    degrees, rank, gathered = zeros("I", nodes), column("d", data.draw(reals)), column("d", data.draw(reals))
    before = said(gathered)
    columns.count(sources, counts, targets, degrees)
    assert said(degrees) == [sum(links.count(n) for page, links in rows if page != n) for n in range(nodes)]
    handed = columns.hand_on(rank, sources, counts, targets, gathered)
    assert handed == pytest.approx(sum(rank[page] for page, _ in rows))
    shares = [sum(rank[page] / len(links) * links.count(n) for page, links in rows) for n in range(nodes)]
    assert said(gathered) == pytest.approx([had + share for had, share in zip(before, shares, strict=True)])


@given(st.lists(st.tuples(real, real), min_size=1), real)
def test_what_was_gathered_is_settled(numbers: list[tuple[float, float]], handed: float) -> None:
    rank, gathered = (column("d", each) for each in zip(*numbers, strict=True))
    wanted = [0.85 * (had + (1 - handed) / len(rank)) + 0.15 / len(rank) for had in said(gathered)]
    distance = columns.settle(gathered, handed, 0.85, rank)
    assert said(gathered) == pytest.approx(wanted)
    assert distance == pytest.approx(sum(abs(one - other) for one, other in zip(wanted, said(rank), strict=True)))


@given(st.sets(small | words, min_size=1), st.dictionaries(small | words, st.floats(0.125, 8, width=32)))
def test_ranks_of_nodes_that_were_known(nodes: set[int], known: dict[int, float]) -> None:
    rank, before = column("d", [1 / len(nodes)] * len(nodes)), sorted(known)
    columns.carry(rank, column("Q", sorted(nodes)), column("Q", before), column("f", [known[node] for node in before]))
    raw = [known.get(node, 1.0) / len(nodes) for node in sorted(nodes)]
    assert said(rank) == pytest.approx([each / sum(raw) for each in raw])
    with pytest.raises(ValueError, match="not a rank for each node"):
        columns.carry(rank, column("Q", sorted(nodes)), column("Q", [1]), zeros("f", 0))


@given(st.lists(real | st.sampled_from([0.0, 0.25, 1.0])), st.integers(0, 9))
def test_orders_by_rank(rank: list[float], most: int) -> None:
    order = sorted(range(len(rank)), key=lambda n: -rank[n])
    top, places = columns.by_rank(column("d", rank), most)
    assert said(top) == order[:most]
    assert said(places) == [order.index(n) for n in range(len(rank))]
    assert said(columns.scaled(column("d", rank))) == pytest.approx([each * len(rank) for each in rank], rel=1e-6)
