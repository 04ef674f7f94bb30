# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""`larm.graph.columns` in C; says what `larm.graph.numpy_columns` says, ranks but for the rounding of sums.

The GIL is held but where very many numbers are sorted: who gives it away next to busy threads gets it back milliseconds later,
and nothing else takes so long. What stands in one column is looked at before it is used as a place in another: nothing beyond
their ends is read or written, whatever stands there, and ValueError is raised. Pure, but for what is changed; any thread.

What sorts and finds is in ``sorting.pxi``, what numbers the links of a block in ``block_links.pxi``.
"""

from cpython cimport array
from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.math cimport fabs
from libc.stdint cimport UINT32_MAX, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

import array
import sys

from larm.graph import block as _block

if sys.byteorder == "big":
    raise ImportError("the journal is in another byte order; numpy knows both")

cdef uint8_t PAGE = _block.PAGE, MOVED = _block.MOVED

include "sorting.pxi"
include "block_links.pxi"


def opened(block):
    """See `larm.graph.columns.Columns`, as for all that follow."""
    return BlockLinks(block)


def last_rows(bytes kinds not None, bytes pages not None, bytes goals not None):
    cdef View kind = view(kinds, 1), page = view(pages, 8), goal = view(goals, 8)
    same(kind, page), same(page, goal)
    cdef Order order = Order(page.count)
    cdef array.array moved = array.clone(WORDS, page.count, zero=False), led = array.clone(WORDS, page.count, zero=False)
    cdef bytes made = PyBytes_FromStringAndSize(NULL, page.count)
    cdef char *alive = PyBytes_AS_STRING(made)
    cdef Py_ssize_t n, row, count = 0
    memset(alive, 0, page.count)
    for n in range(page.count):
        order.room[n].key, order.room[n].place = page.words[n], n
    order.sort()
    for n in range(page.count):
        if n + 1 < page.count and order.pairs[n].key == order.pairs[n + 1].key:
            continue
        row = order.pairs[n].place
        alive[row] = kind.bytes[row] == PAGE
        if kind.bytes[row] == MOVED:
            words_of(moved)[count], words_of(led)[count] = page.words[row], goal.words[row]
            count += 1
    return made, cut(moved, count), cut(led, count)


def resolved(moved, goals, int hops):
    cdef View names = view(moved, 8), table = view(goals, 8)
    cdef array.array found, kept = array.clone(WORDS, names.count, zero=False)
    cdef Py_ssize_t n, count = 0
    same(names, table)
    for _ in range(hops):
        found = array.clone(WORDS, names.count, zero=False)
        for n in range(names.count):
            words_of(found)[n] = alias(table.words[n], names, table)
        table = view(found, 8)
    found = array.clone(WORDS, names.count, zero=False)
    for n in range(names.count):
        if names.words[n] != table.words[n]:
            words_of(kept)[count], words_of(found)[count] = names.words[n], table.words[n]
            count += 1
    return cut(kept, count), cut(found, count)


def distinct(known, more):
    cdef View before = view(known, 8), part
    cdef list parts = [view(each, 8) for each in more]
    cdef Py_ssize_t count = 0, kept
    for part in parts:
        count += part.count
    cdef array.array room = array.clone(WORDS, 2 * count, zero=False)
    cdef array.array made = array.clone(WORDS, before.count + count, zero=False)
    cdef uint64_t *items = words_of(room)
    cdef uint64_t *found = words_of(made)
    for part in parts:
        if part.count:  # else there may be no place to copy from
            memcpy(items, part.words, part.buffer.len)
            items += part.count
    items = words_of(room)
    if before.count + count < LARGE:
        kept = merged(before.words, before.count, sort[uint64_t](items, items + count, count), count, found)
    else:
        with nogil:
            kept = merged(before.words, before.count, sort[uint64_t](items, items + count, count), count, found)
    return cut(made, kept)


cdef Py_ssize_t merged(
    const uint64_t *one, Py_ssize_t ones, const uint64_t *other, Py_ssize_t others, uint64_t *made
) noexcept nogil:
    """How many they are together, each once."""
    cdef Py_ssize_t n = 0, m = 0, kept = 0
    cdef uint64_t least
    while n < ones or m < others:
        if m == others or n < ones and one[n] <= other[m]:
            least = one[n]
            n += 1
        else:
            least = other[m]
            m += 1
        made[kept] = least
        kept += not kept or made[kept - 1] != least
    return kept


def places(among, numbers):
    cdef View table = view(among, 8), keys = view(numbers, 8)
    cdef array.array made = array.clone(NUMBERS, keys.count, zero=False)
    cdef Py_ssize_t n
    for n in range(keys.count):
        numbers_of(made)[n] = place_of(table.words, table.count, keys.words[n])
    return memoryview(made)


def zeros_at(column, numbers):
    cdef View words = view(column, 8), which = view(numbers, 4)
    cdef Py_ssize_t n
    cdef list found = []
    for n in range(which.count):
        if which.numbers[n] >= words.count:
            raise ValueError("no place of the column")
        if not words.words[which.numbers[n]]:
            found.append(n)
    return found


def dealt(backlinks, uint32_t width, Py_ssize_t buckets):
    cdef View rows = view(backlinks, 4)
    cdef Py_ssize_t n, bucket, count = rows.count // 3
    cdef array.array ends = array.clone(WORDS, buckets + 1, zero=True)
    cdef array.array made = array.clone(NUMBERS, rows.count, zero=False)
    cdef uint64_t *end = words_of(ends)
    if rows.count % 3 or not width:
        raise ValueError("a part of a link")
    for n in range(count):
        bucket = rows.numbers[3 * n] // width
        if bucket >= buckets:
            raise ValueError("a target is in none of the buckets")
        end[bucket + 1] += 1
    for bucket in range(buckets):
        end[bucket + 1] += end[bucket]
    for n in range(count):
        bucket = rows.numbers[3 * n] // width
        memcpy(numbers_of(made) + 3 * end[bucket], rows.numbers + 3 * n, 12)
        end[bucket] += 1
    column = memoryview(made)
    return [column[3 * (ends[bucket - 1] if bucket else 0) : 3 * ends[bucket]] for bucket in range(buckets)]


def by_target(bytes backlinks not None, uint32_t first, starts):
    cdef View rows = view(backlinks, 4), ends = view(starts, 8, True)
    cdef Py_ssize_t n, width = ends.count - 1, count = rows.count // 3
    cdef uint64_t total = 0, many
    cdef uint32_t target
    if rows.count % 3 or width < 0:
        raise ValueError("a part of a link")
    cdef array.array begins = array.clone(WORDS, width, zero=True)
    cdef array.array made = array.clone(NUMBERS, 2 * count, zero=False)
    cdef uint64_t *begin = words_of(begins)
    cdef uint32_t *links = numbers_of(made)
    for n in range(count):
        target = rows.numbers[3 * n] - first  # of one that is less it makes a very large one
        if target >= width:
            raise ValueError("a target is in another bucket")
        begin[target] += 1
    for n in range(width):
        many = begin[n]
        begin[n] = total
        total += many
        ends.words[n + 1] = ends.words[0] + total
    for n in range(count):
        target = rows.numbers[3 * n] - first
        memcpy(links + 2 * begin[target], rows.numbers + 3 * n + 1, 8)
        begin[target] += 1
    return memoryview(made)


def count(sources, counts, targets, degrees):
    cdef View pages = view(sources, 4), many = view(counts, 4), goals = view(targets, 4), found = view(degrees, 4, True)
    cdef Py_ssize_t row, n, end, link = 0
    same(pages, many)
    for row in range(pages.count):
        end = link + many.numbers[row]
        if end > goals.count:
            raise ValueError("there are not so many links")
        for n in range(link, end):
            if goals.numbers[n] >= found.count:
                raise ValueError("a link leads nowhere")
            found.numbers[goals.numbers[n]] += goals.numbers[n] != pages.numbers[row]
        link = end


def carry(rank, nodes, known, ranks):
    cdef View found = view(rank, 8, True), among = view(nodes, 8), before = view(known, 8), had = view(ranks, 4)
    cdef Py_ssize_t n, m = 0
    cdef double total = 0
    same(found, among), same(before, had)
    for n in range(found.count):
        while m < before.count and before.words[m] < among.words[n]:
            m += 1
        if m < before.count and before.words[m] == among.words[n]:
            found.reals[n] = (<float *> had.numbers)[m] / <float> found.count
        total += found.reals[n]
    for n in range(found.count):
        found.reals[n] /= total


def hand_on(rank, sources, counts, targets, gathered):
    cdef View ranks = view(rank, 8), pages = view(sources, 4), many = view(counts, 4), goals = view(targets, 4)
    cdef View found = view(gathered, 8, True)
    cdef Py_ssize_t row, n, end, link = 0
    cdef double handed = 0, held, share
    same(ranks, found), same(pages, many)
    for row in range(pages.count):
        end = link + many.numbers[row]
        if pages.numbers[row] >= ranks.count or end > goals.count:
            raise ValueError("there are not so many links")
        held = ranks.reals[pages.numbers[row]]
        handed += held
        share = held / many.numbers[row]
        for n in range(link, end):
            if goals.numbers[n] >= found.count:
                raise ValueError("a link leads nowhere")
            found.reals[goals.numbers[n]] += share
        link = end
    return handed


def settle(gathered, double handed, double damping, rank):
    cdef View found = view(gathered, 8, True), before = view(rank, 8)
    cdef double even = (1.0 - handed) / found.count, anew = (1.0 - damping) / found.count, moved = 0
    cdef Py_ssize_t n
    same(found, before)
    for n in range(found.count):
        found.reals[n] = damping * (found.reals[n] + even) + anew
        moved += fabs(found.reals[n] - before.reals[n])
    return moved


def by_rank(rank, Py_ssize_t most):
    cdef View ranks = view(rank, 8)
    cdef Order order = Order(ranks.count)
    cdef array.array top = array.clone(NUMBERS, min(most, ranks.count), zero=False)
    cdef array.array made = array.clone(NUMBERS, ranks.count, zero=False)
    cdef Py_ssize_t n
    for n in range(ranks.count):  # the bits of numbers that are not negative are in the order of the numbers
        order.room[n].key, order.room[n].place = ~ranks.words[n], n
    order.sort()
    for n in range(ranks.count):
        numbers_of(made)[order.pairs[n].place] = n
    for n in range(len(top)):
        numbers_of(top)[n] = order.pairs[n].place
    return memoryview(top), memoryview(made)


def scaled(rank):
    cdef View ranks = view(rank, 8)
    cdef array.array made = array.clone(FLOATS, ranks.count, zero=False)
    cdef Py_ssize_t n
    for n in range(ranks.count):
        made.data.as_floats[n] = <float> (ranks.reals[n] * ranks.count)
    return memoryview(made)
