# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Features of texts, compiled: says what `larm.index.duplicates.features` says, to the bit, in a tenth of its time.

The GIL is kept, some 20 us a page: a thread that gives it away next to busy threads gets it back milliseconds later.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Malloc
from cpython.unicode cimport PyUnicode_DATA, PyUnicode_KIND, PyUnicode_READ
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from larm.index.duplicates.features import FOLD

cdef enum:
    WINDOW = 16
    SPACE = 32
    DRAWERS = 128
    SHORT = 64  # features; of a text with fewer all are looked at for the memory
    SPOKEN = 4  # digits: of a year
    KEPT = 1_000_000  # bytes of memory that is used again

cdef uint64_t C1 = 0x9E3779B97F4A7C15ULL, C2 = 0xC2B2AE3D27D4EB4FULL, C3 = 0xFF51AFD7ED558CCDULL
cdef uint64_t REST = (<uint64_t> 1 << 57) - 1  # of a hash, without the number of its drawer
cdef uint64_t EMPTY = <uint64_t> 1 << 63
cdef uint64_t LOWEST = 0x0101010101010101ULL
cdef uint16_t[128] folds  # of ASCII: the folded byte and, above it, 256 for a byte of a word
for _byte in range(128):
    folds[_byte] = FOLD[_byte] | (FOLD[_byte] != SPACE) << 8


cdef inline uint64_t _hash(const uint8_t *text) noexcept:
    """Of the 16 bytes there."""
    cdef uint64_t mixed, more
    memcpy(&mixed, text, 8)
    memcpy(&more, text + 8, 8)
    mixed *= C1
    mixed ^= mixed >> 32
    mixed += more
    mixed *= C2
    mixed ^= mixed >> 29
    mixed *= C3
    return mixed ^ (mixed >> 32)


cdef inline bint _is_of_word(uint8_t byte) noexcept:
    return c"a" <= byte <= c"z" or c"0" <= byte <= c"9"


cdef Py_ssize_t _fold(int kind, void *raw, Py_ssize_t size, uint8_t *text, uint32_t *places, Py_ssize_t *used) noexcept:
    """Fold a text, runs of spaces to one; note its size, and where features begin. Return the number of features."""
    cdef Py_ssize_t n, end = 0, count = 0
    cdef Py_ssize_t word, before = 0
    cdef uint32_t unit
    cdef int more
    cdef const uint16_t *folded = folds  # else it is read again for each byte
    for n in range(size):
        unit = PyUnicode_READ(kind, raw, n)
        places[count] = <uint32_t> end
        if unit < 128:  # without more branches: each would be a guess
            unit = folded[unit]
            word = unit >> 8
            text[end] = <uint8_t> unit
            count += word & ~before
            end += word | before
            before = word
            continue
        more = 1 + (unit > 0x7FF) + (unit > 0xFFFF)  # bytes after the first in UTF-8
        count += more > 1 or not before
        text[end] = <uint8_t> (0x1F80 >> more | unit >> 6 * more)
        while more:
            more -= 1
            end += 1
            text[end] = <uint8_t> (0x80 | unit >> 6 * more & 0x3F)
        end += 1
        before = 1
    text[end] = 0  # is the last byte of the last feature
    used[0] = end + 1
    while count and places[count - 1] + WINDOW > end + 1:
        count -= 1
    return count


cdef Py_ssize_t _blur(uint8_t *text, Py_ssize_t used, bint identifiers) noexcept:
    """Make short numbers of one length the same, with ``identifiers`` all words of ASCII with digits.

    Return the bytes of such words that are no short numbers.
    """
    cdef Py_ssize_t begin, end = 0, n, found = 0
    cdef bint number
    while end < used:  # the last byte is none of a word
        if not c"0" <= text[end] <= c"9":  # nearly all
            end += 1
            continue
        begin = end
        while begin and _is_of_word(text[begin - 1]):
            begin -= 1
        while _is_of_word(text[end]):
            end += 1
        number = end - begin <= SPOKEN
        for n in range(begin, end if number else begin):
            number &= text[n] <= c"9"
        if not number:
            found += end - begin
        if number or identifiers:
            memset(text + begin, c"0", end - begin)
    return found


cdef Py_ssize_t _pieces(const uint8_t *text, const uint32_t *places, Py_ssize_t count, uint64_t *hashes) noexcept:
    """Write the hashes of a quarter of the features, chosen by what stands there; of all if there are few. Return how many."""
    cdef Py_ssize_t n, looked = 0
    cdef const uint8_t *at
    for n in range(count):
        at = text + places[n]
        if count < SHORT or not (2 * at[1] ^ at[0] ^ at[2] >> 1) & 3:
            hashes[looked] = _hash(at)
            looked += 1
    return looked


cdef uint64_t _sketch(const uint8_t *text, const uint32_t *places, Py_ssize_t count, uint8_t *sketch) noexcept:
    """Write a byte of the smallest hash of each drawer, 0 for an empty one; return the simhash."""
    cdef Py_ssize_t n
    cdef uint64_t[DRAWERS] low
    cdef uint64_t mixed, rest
    for n in range(DRAWERS):
        low[n] = EMPTY
    for n in range(count):
        mixed = _hash(text + places[n])
        rest = mixed & REST
        if rest < low[mixed >> 57]:
            low[mixed >> 57] = rest
    for n in range(DRAWERS):
        sketch[n] = 0 if low[n] == EMPTY else <uint8_t> (low[n] % 255 + 1)
    return _simhash(low)


cdef uint64_t _simhash(const uint64_t *low) noexcept:
    """Of the smallest hash of each drawer: a fair sample of the features. For each bit, what most of them say."""
    cdef uint64_t[8] sums  # in each byte the count of one bit: there are 128 drawers
    cdef int n, bit, full = 0
    cdef uint64_t mixed, found = 0
    memset(sums, 0, sizeof(sums))
    for n in range(DRAWERS):
        if low[n] == EMPTY:
            continue
        full += 1
        mixed = low[n] * C1
        mixed ^= mixed >> 29
        mixed *= C3
        for bit in range(8):
            sums[bit] += mixed >> bit & LOWEST
    for bit in range(64):
        found |= <uint64_t> ((sums[bit & 7] >> (bit & ~7) & 0xFF) > <uint64_t> (full // 2)) << bit
    return found


cdef uint8_t *_room = NULL
cdef Py_ssize_t _size = 0


cdef uint8_t *_room_for(Py_ssize_t size) except NULL:
    """Return memory that is used again, but for that of large texts: memory that was given back costs more than all else here.

    One text at a time is in it, as nothing here gives the GIL away.
    """
    global _room, _size
    if size > _size or _size > KEPT:
        PyMem_Free(_room)
        _size = 0
        _room = <uint8_t *> PyMem_Malloc(max(size, KEPT))
        if _room == NULL:
            raise MemoryError
        _size = max(size, KEPT)
    return _room


def measured(str text not None, bint links):
    """See `larm.index.duplicates.features.measured`."""
    cdef int kind = PyUnicode_KIND(text)
    cdef void *raw = PyUnicode_DATA(text)
    cdef Py_ssize_t size = len(text), room = size + WINDOW, used = 0, count, looked
    cdef Py_ssize_t most = size * (kind + (not text.isascii())) + WINDOW  # bytes in UTF-8
    cdef uint8_t[DRAWERS] sketch
    cdef uint64_t *hashes = <uint64_t *> _room_for(room * (sizeof(uint64_t) + sizeof(uint32_t)) + 2 * most)
    cdef uint32_t *places = <uint32_t *> (hashes + room)
    cdef uint8_t *folded = <uint8_t *> (places + room)
    cdef uint8_t *blurred = folded + most
    count = _fold(kind, raw, size, folded, places, &used)
    cdef uint64_t simhash = _sketch(folded, places, count, sketch)
    memcpy(blurred, folded, used)
    if 2 * _blur(blurred, used, True) > used and count >= SHORT and not links:
        memcpy(blurred, folded, used)
        _blur(blurred, used, False)
    looked = _pieces(blurred, places, count, hashes)
    return count, simhash, <bytes> sketch[:DRAWERS], (<uint8_t *> hashes)[: looked * sizeof(uint64_t)]


cdef class Memory:
    """See `larm.index.duplicates.features.Memory`."""

    cdef uint16_t *table
    cdef uint64_t mask

    def __cinit__(self, Py_ssize_t slots):
        self.mask = slots - 1
        self.table = <uint16_t *> PyMem_Calloc(slots, sizeof(uint16_t))
        if self.table == NULL:
            raise MemoryError

    def __dealloc__(self):
        PyMem_Free(self.table)

    @property
    def size(self):
        """Bytes of the table."""
        return (self.mask + 1) * sizeof(uint16_t)

    def news(self, bytes pieces not None):
        """See `larm.index.duplicates.features.Memory.news`."""
        cdef const uint64_t *hashes = <const uint64_t *> PyBytes_AS_STRING(pieces)
        cdef Py_ssize_t n, count = PyBytes_GET_SIZE(pieces) // sizeof(uint64_t), found = 0
        for n in range(count):
            found += self.table[hashes[n] & self.mask] != (<uint16_t> (hashes[n] >> 48) | 1)
        for n in range(count):  # afterwards: a text may repeat itself
            self.table[hashes[n] & self.mask] = <uint16_t> (hashes[n] >> 48) | 1
        return count, found
