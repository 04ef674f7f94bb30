# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Features of texts, compiled: says what `larm.index.duplicates.features` says, to the bit, in a tenth of its time.

A page of a crawl is asked what of it is new before its links go on, so this is paid on the threads that read. With numpy it
took 0.18 s of the 1.62 s of CPU of a crawl of 1,167 pages of documentation, a third of it to load numpy.

The GIL is kept, some 10 us a page: who gives it away next to busy threads gets it back milliseconds later. For one thread.
"""

from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Realloc
from libc.stdint cimport uint8_t, uint16_t, uint64_t
from libc.string cimport memcpy, memset

from larm.index.duplicates.features import FOLD

cdef enum:
    WINDOW = 16
    SPACE = 32
    DRAWERS = 128
    SHORT = 64  # features; of a text with fewer all are looked at for the memory
    SPOKEN = 4  # digits: of a year

cdef uint64_t C1 = 0x9E3779B97F4A7C15ULL, C2 = 0xC2B2AE3D27D4EB4FULL, C3 = 0xFF51AFD7ED558CCDULL
cdef uint64_t REST = (<uint64_t> 1 << 57) - 1  # of a hash, without the number of its drawer
cdef uint64_t EMPTY = <uint64_t> 1 << 63
cdef uint64_t LOWEST = 0x0101010101010101ULL
cdef bytes _FOLD = FOLD
cdef const uint8_t *fold = _FOLD


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


cdef void *_grown(void *data, size_t size) except NULL:
    cdef void *grown = PyMem_Realloc(data, size)
    if grown == NULL:
        raise MemoryError
    return grown


cdef class Memory:
    """See `larm.index.duplicates.fingerprints.new_memory`."""

    cdef uint16_t *table
    cdef uint64_t mask
    # of the text that is being read
    cdef uint8_t *text
    cdef uint8_t *blurred
    cdef uint64_t *looked
    cdef Py_ssize_t *places
    cdef Py_ssize_t used, room

    def __cinit__(self, Py_ssize_t slots):
        self.mask = slots - 1
        self.table = <uint16_t *> PyMem_Calloc(slots, sizeof(uint16_t))
        if self.table == NULL:
            raise MemoryError

    def __dealloc__(self):
        PyMem_Free(self.table)
        PyMem_Free(self.text)
        PyMem_Free(self.blurred)
        PyMem_Free(self.looked)
        PyMem_Free(self.places)

    @property
    def size(self):
        """Bytes of the table."""
        return (self.mask + 1) * sizeof(uint16_t)

    cdef int make_room(self, Py_ssize_t size) except -1:
        """For a text of so many bytes."""
        cdef Py_ssize_t room = 2 * size + 4096
        if size + 2 * WINDOW <= self.room:
            return 0
        self.room = 0
        self.text = <uint8_t *> _grown(self.text, room)
        self.blurred = <uint8_t *> _grown(self.blurred, room)
        self.looked = <uint64_t *> _grown(self.looked, room * sizeof(uint64_t))
        self.places = <Py_ssize_t *> _grown(self.places, room * sizeof(Py_ssize_t))
        self.room = room
        return 0

    cdef Py_ssize_t read(self, const uint8_t *raw, Py_ssize_t size) noexcept:
        """Fold the text, runs of spaces to one, and note where features begin of which all bytes are there; how many."""
        cdef Py_ssize_t n, used = 0, count = 0
        cdef uint8_t *text = self.text
        cdef Py_ssize_t *places = self.places
        cdef uint8_t byte, before = SPACE
        for n in range(size):  # without branches: each would be a guess
            byte = fold[raw[n]]
            text[used] = byte
            places[count] = used
            count += ((byte != SPACE) & (before == SPACE)) | (byte >= 0xE0)
            used += (byte != SPACE) | (before != SPACE)
            before = byte
        text[used] = 0  # is the last byte of the last feature
        self.used = used + 1
        while count and places[count - 1] + WINDOW > self.used:
            count -= 1
        return count

    cdef Py_ssize_t blur(self, bint identifiers) noexcept:
        """Words of ASCII with digits are the same, but for their lengths: short numbers, and others if asked. Returns how many
        bytes the others have."""
        cdef Py_ssize_t begin, end = 0, n, found = 0
        cdef const uint8_t *text = self.text
        cdef bint number
        memcpy(self.blurred, text, self.used)
        while end < self.used:  # the last byte is none of a word
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
                memset(self.blurred + begin, c"0", end - begin)
        return found

    cdef tuple look(self, Py_ssize_t count, bint links):
        """How many features are looked at, and how many of them were not known: of a quarter of the places, chosen by what
        stands there."""
        cdef Py_ssize_t n, looked = 0, news = 0
        cdef const uint8_t *at
        cdef uint64_t mixed
        if 2 * self.blur(True) > self.used and count >= SHORT and not links:
            self.blur(False)
        for n in range(count):
            at = self.blurred + self.places[n]
            if count < SHORT or not (2 * at[1] ^ at[0] ^ at[2] >> 1) & 3:
                self.looked[looked] = _hash(at)
                looked += 1
        for n in range(looked):
            mixed = self.looked[n]
            news += self.table[mixed & self.mask] != (<uint16_t> (mixed >> 48) | 1)
        for n in range(looked):  # afterwards: a text may repeat itself
            mixed = self.looked[n]
            self.table[mixed & self.mask] = <uint16_t> (mixed >> 48) | 1
        return looked, news

    cdef tuple measure(self, bytes text, bint links):
        """One text."""
        cdef Py_ssize_t n, count
        cdef uint64_t[DRAWERS] low
        cdef uint8_t[DRAWERS] sketch
        cdef uint64_t mixed, rest
        self.make_room(len(text))
        count = self.read(text, len(text))
        for n in range(DRAWERS):
            low[n] = EMPTY
        for n in range(count):
            mixed = _hash(self.text + self.places[n])
            rest = mixed & REST
            if rest < low[mixed >> 57]:
                low[mixed >> 57] = rest
        for n in range(DRAWERS):  # a byte of the smallest hash of each; 0 for an empty one
            sketch[n] = 0 if low[n] == EMPTY else <uint8_t> (low[n] % 255 + 1)
        return count, _simhash(low), <bytes> sketch[:DRAWERS], self.look(count, links)


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


def measured(texts, Memory memory not None, bint links):
    """Of each text: the count of its features, their simhash and sketch, and its news."""
    return [memory.measure(text.encode("utf-8", "surrogatepass"), links) for text in texts]
