# Part of quick_columns.pyx: columns as C sees them, and how they are sorted and searched.

cdef enum:
    LARGE = 100_000  # to sort more takes milliseconds


cdef class View:
    """The numbers of a column, for as long as this lives."""

    cdef Py_buffer buffer
    cdef bint held
    cdef Py_ssize_t count
    cdef uint8_t *bytes
    cdef uint32_t *numbers
    cdef uint64_t *words
    cdef double *reals

    def __dealloc__(self):
        if self.held:
            PyBuffer_Release(&self.buffer)


cdef View view(object column, Py_ssize_t size, bint change=False):
    """Of numbers of ``size`` bytes; to ``change`` them takes a column that may be. Raises ValueError where they are none."""
    cdef View made = View.__new__(View)
    PyObject_GetBuffer(column, &made.buffer, PyBUF_WRITABLE if change else PyBUF_SIMPLE)
    made.held = True
    if made.buffer.len % size or made.buffer.len and <size_t> made.buffer.buf % <size_t> size:
        raise ValueError("a part of a number")
    made.count = made.buffer.len // size
    made.bytes = <uint8_t *> made.buffer.buf
    made.numbers = <uint32_t *> made.buffer.buf
    made.words = <uint64_t *> made.buffer.buf
    made.reals = <double *> made.buffer.buf
    return made


cdef tuple same(View one, View other):
    """Both, which have to be as long."""
    if one.count != other.count:
        raise ValueError("columns of different lengths")
    return one, other


cdef tuple pair_of(tuple aliases):
    """(names that moved, where each leads)."""
    moved, goals = aliases
    return same(view(moved, 8), view(goals, 8))


cdef array.array WORDS = array.array("Q"), NUMBERS = array.array("I"), FLOATS = array.array("f")


cdef inline uint64_t *words_of(array.array made) noexcept nogil:
    return <uint64_t *> made.data.as_voidptr


cdef inline uint32_t *numbers_of(array.array made) noexcept nogil:
    return <uint32_t *> made.data.as_voidptr


cdef object cut(array.array made, Py_ssize_t count):
    """Its first numbers, as a column."""
    array.resize(made, count)
    return memoryview(made)


cdef packed struct Pair:  # what is sorted by another column: 12 bytes
    uint64_t key
    uint32_t place


ctypedef fused Item:
    uint64_t
    Pair


cdef inline uint64_t key_of(Item item) noexcept nogil:
    if Item is Pair:
        return item.key
    else:
        return item


cdef Item *sort(Item *items, Item *spare, Py_ssize_t count) noexcept nogil:
    """Sorts by eight digits of 8 bits, those that differ; equals stay in their order. Which of both has them then."""
    cdef size_t[8][256] ends
    cdef size_t before, many
    cdef uint64_t key
    cdef Py_ssize_t n
    cdef int digit, each
    if not count:
        return items
    memset(ends, 0, sizeof(ends))
    for n in range(count):
        key = key_of(items[n])
        for digit in range(8):
            ends[digit][key >> 8 * digit & 255] += 1
    for digit in range(8):
        if ends[digit][key_of(items[0]) >> 8 * digit & 255] == <size_t> count:
            continue
        before = 0
        for each in range(256):
            many = ends[digit][each]
            ends[digit][each] = before
            before += many
        for n in range(count):
            each = key_of(items[n]) >> 8 * digit & 255
            spare[ends[digit][each]] = items[n]
            ends[digit][each] += 1
        items, spare = spare, items
    return items


cdef class Order:
    """Rows in the order of their keys."""

    cdef Pair *room  # to be filled by who made it
    cdef Pair *pairs  # sorted
    cdef Py_ssize_t count

    def __cinit__(self, Py_ssize_t count):
        if count > <Py_ssize_t> UINT32_MAX:
            raise ValueError("more rows than have a number")
        self.count = count
        self.room = <Pair *> malloc(2 * count * sizeof(Pair) + 1)
        if self.room == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.room)

    cdef void sort(self) noexcept:
        if self.count < LARGE:
            self.pairs = sort[Pair](self.room, self.room + self.count, self.count)
        else:
            with nogil:
                self.pairs = sort[Pair](self.room, self.room + self.count, self.count)


cdef inline Py_ssize_t place_of(const uint64_t *among, Py_ssize_t count, uint64_t number) noexcept nogil:
    """Of the first in a sorted column that is not less."""
    cdef const uint64_t *base = among
    cdef Py_ssize_t half
    while count > 1:
        half = count >> 1
        if base[half - 1] < number:
            base += half
        count -= half
    return base - among + (count == 1 and base[0] < number)


cdef inline uint64_t alias(uint64_t fingerprint, View moved, View goals) noexcept nogil:
    """The same, or where it leads."""
    cdef Py_ssize_t place
    if moved.count:
        place = place_of(moved.words, moved.count, fingerprint)
        if place < moved.count and moved.words[place] == fingerprint:
            return goals.words[place]
    return fingerprint
