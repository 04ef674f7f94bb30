# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Features of texts, one text after the other; says what `larm.duplicates.numpy_features` says, to the bit.

The GIL is given away once for all texts of a call, which takes 15 us for each: who gives it away next to busy threads gets it
back milliseconds later. For one thread.
"""

from cpython.bytes cimport PyBytes_AS_STRING
from libc.stdint cimport uint8_t, uint16_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

cdef extern from "Python.h":
    const char *PyUnicode_AsUTF8AndSize(object text, Py_ssize_t *size) except NULL

cdef extern from *:
    """
    #include <stdlib.h>
    #if defined(__linux__)
    #include <sys/mman.h>
    #endif
    #define LARM_HUGE ((size_t) 2 << 20)
    /* Zeroed memory for what is looked into everywhere: in few large pages, where the system has them. */
    static void *larm_table(size_t size) {
    #if defined(__linux__) && defined(MADV_HUGEPAGE)
        void *table;
        if (size >= LARM_HUGE) {
            if (posix_memalign(&table, LARM_HUGE, size) != 0) return NULL;
            madvise(table, size, MADV_HUGEPAGE);
            memset(table, 0, size);
            return table;
        }
    #endif
        return calloc(size, 1);
    }
    """
    void *larm_table(size_t size)

cdef enum:
    WINDOW = 16
    SPACE = 32
    DRAWERS = 128
    KEPT = 1 << 20  # bytes of a text, for more of which the room is given back
    SHORT = 64  # features; of a text with fewer all are looked at for the memory

cdef struct Text:
    const uint8_t *raw  # UTF-8
    Py_ssize_t size
    # what was found
    Py_ssize_t features, looked, news
    uint64_t simhash
    uint8_t[DRAWERS] sketch


cdef uint64_t C1 = 0x9E3779B97F4A7C15ULL, C2 = 0xC2B2AE3D27D4EB4FULL, C3 = 0xFF51AFD7ED558CCDULL
cdef uint64_t REST = (<uint64_t> 1 << 57) - 1  # of a hash, without the number of its drawer
cdef uint64_t EMPTY = <uint64_t> 1 << 63
cdef uint64_t LOWEST = 0x0101010101010101ULL
cdef uint8_t[256] FOLD


def _learn():
    """Lower case, everything but letters and digits a space; other bytes of UTF-8 as they are."""
    for each in range(256):
        kept = each >= 0x80 or chr(each).isalnum()
        FOLD[each] = (each | 32 if 0x41 <= each <= 0x5A else each) if kept else 32


_learn()


cdef inline uint64_t _hash(const uint8_t *text) noexcept nogil:
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


cdef void _blur(const uint8_t *text, uint8_t *blurred, Py_ssize_t used) noexcept nogil:
    """All words with digits are the same, but for their lengths: numbers, dates, identifiers."""
    cdef Py_ssize_t n, begin = 0
    cdef bint digits = False
    cdef uint8_t byte
    memcpy(blurred, text, used)
    for n in range(used):  # the last byte is no letter
        byte = text[n]
        if c"0" <= byte <= c"9":
            digits = True
        elif not c"a" <= byte <= c"z":
            if digits:
                memset(blurred + begin, c"0", n - begin)
                digits = False
            begin = n + 1


cdef class Memory:
    """See `larm.duplicates.fingerprints.new_memory`."""

    cdef uint16_t *table
    cdef uint64_t mask
    # of the text that is being read
    cdef uint8_t *text
    cdef uint8_t *blurred
    cdef uint64_t *slots
    cdef Py_ssize_t *places
    cdef Py_ssize_t used, room

    def __cinit__(self, Py_ssize_t slots):
        self.mask = slots - 1
        self.table = <uint16_t *> larm_table(slots * sizeof(uint16_t))
        if self.table == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.table)
        free(self.text)
        free(self.blurred)
        free(self.slots)
        free(self.places)

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
        self.slots = <uint64_t *> _grown(self.slots, room * sizeof(uint64_t))
        self.places = <Py_ssize_t *> _grown(self.places, room * sizeof(Py_ssize_t))
        self.room = room
        return 0

    cdef void give_back(self) noexcept:
        """The room of a very long text: 20 bytes for each of it, or more."""
        if self.room > 2 * KEPT + 4096:
            free(self.text)
            free(self.blurred)
            free(self.slots)
            free(self.places)
            self.text = self.blurred = NULL
            self.slots = NULL
            self.places = NULL
            self.room = 0

    cdef void measure(self, Text *text) noexcept nogil:
        """There is room for it."""
        cdef Py_ssize_t n
        cdef uint64_t[DRAWERS] low
        cdef uint64_t mixed, rest
        for n in range(DRAWERS):
            low[n] = EMPTY
        text.features = self.read(text.raw, text.size)
        for n in range(text.features):
            mixed = _hash(self.text + self.places[n])
            rest = mixed & REST
            if rest < low[mixed >> 57]:
                low[mixed >> 57] = rest
        text.simhash = _simhash(low)
        for n in range(DRAWERS):  # a byte of the smallest hash of each; 0 for an empty one
            text.sketch[n] = 0 if low[n] == EMPTY else <uint8_t> (low[n] % 255 + 1)
        self.look(text)

    cdef Py_ssize_t read(self, const uint8_t *raw, Py_ssize_t size) noexcept nogil:
        """Fold the text, runs of spaces to one, and note where features begin of which all bytes are there; how many."""
        cdef Py_ssize_t n, used = 0, count = 0
        cdef uint8_t *text
        cdef Py_ssize_t *places
        cdef uint8_t byte, before = SPACE
        text, places = self.text, self.places
        for n in range(size):  # without branches: each would be a guess
            byte = FOLD[raw[n]]
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

    cdef void look(self, Text *found) noexcept nogil:
        """How many features are looked at, and how many of them were not known: of a quarter of the places, chosen by what
        stands there."""
        cdef Py_ssize_t n, place, used = self.used, count = found.features
        cdef const uint8_t *text = self.text  # as `blurred`, here: else the compiler must fear that writing one moves the other
        cdef uint8_t *blurred = self.blurred
        cdef uint64_t mixed
        cdef Py_ssize_t looked = 0, news = 0
        _blur(text, blurred, used)
        for n in range(count):
            place = self.places[n]
            if count < SHORT or not (2 * blurred[place + 1] ^ blurred[place] ^ blurred[place + 2] >> 1) & 3:
                self.slots[looked] = _hash(blurred + place)
                looked += 1
        for n in range(looked):
            mixed = self.slots[n]
            news += self.table[mixed & self.mask] != (<uint16_t> (mixed >> 48) | 1)
        for n in range(looked):  # afterwards: a text may repeat itself
            mixed = self.slots[n]
            self.table[mixed & self.mask] = <uint16_t> (mixed >> 48) | 1
        found.looked, found.news = looked, news


cdef void *_grown(void *data, size_t size) except NULL:
    cdef void *grown = realloc(data, size)
    if grown == NULL:
        raise MemoryError
    return grown


cdef uint64_t _simhash(const uint64_t *low) noexcept nogil:
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


def measured(list texts, Memory memory not None):
    """Of each text: the count of its features, their simhash and sketch, and its news."""
    cdef Py_ssize_t n, count = len(texts), longest = 0
    cdef list kept = [None] * count  # for as long as the texts are read
    cdef Text *room = <Text *> malloc(count * sizeof(Text) + 1)
    if room == NULL:
        raise MemoryError
    try:
        for n in range(count):
            kept[n] = _utf8(texts[n], &room[n])
            longest = max(longest, room[n].size)
        memory.make_room(longest)
        with nogil:
            for n in range(count):
                memory.measure(&room[n])
        return [_told(&room[n]) for n in range(count)]
    finally:
        memory.give_back()
        free(room)


cdef tuple _told(Text *text):
    return text.features, text.simhash, <bytes> text.sketch[:DRAWERS], (text.looked, text.news)


cdef object _utf8(str text, Text *found):
    """Python keeps the UTF-8 that it makes here with the text, for the index, which wants it next. What keeps the bytes."""
    cdef const char *raw
    cdef bytes written
    try:
        raw = PyUnicode_AsUTF8AndSize(text, &found.size)
    except UnicodeEncodeError:  # lone surrogates
        written = text.encode("utf-8", "surrogatepass")
        found.raw, found.size = <const uint8_t *> PyBytes_AS_STRING(written), len(written)
        return written
    found.raw = <const uint8_t *> raw
    return text
