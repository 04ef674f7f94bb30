# What is made of the text with marks when all of it is written: its letters and, of a plain page, the main text and the other
# text, copied from the bytes. They are to the character what `larm.processing.parts` makes of the text with marks, which nobody
# has to decode then. Included by ``page.pyx``.

cdef int OF_MENUS = NAVIGATION, OF_MAIN = MAIN, OF_FURNITURE = FURNITURE
cdef double MOST_MENUS = MOST
cdef unsigned char ANCHOR_SIGN = ord(ANCHOR)
cdef unsigned char[256] COUNTS
for _byte in range(256):
    COUNTS[_byte] = _byte not in NO_LETTERS

cdef struct Area:
    # A stretch of the text as long as the kinds are the same.
    Py_ssize_t begin, size
    int kinds  # of the boxes around it, added up


cdef class Parted(Anchored):
    cdef int kinds  # of the boxes that are open
    cdef bint furnished  # as no plain page is
    cdef Column areas  # of `Area`

    def __cinit__(self, bytes body, bint text):
        self.areas = Column()
        self._add_area()

    cdef int _add_area(self) except -1:
        cdef Area area = Area(self.used, 0, self.kinds)
        return self.areas.append(<char *> &area, sizeof(Area))

    cdef int _begin_box(self, int kind) except -1:
        """A box begins, its mark is still to be written."""
        if kind & OF_FURNITURE and not kind & OF_MENUS:
            self.furnished = True
        return self._between(self.kinds | kind)

    cdef int _between(self, int kinds) except -1:
        """From here on the boxes that are open have these kinds."""
        if kinds == self.kinds:
            return 0
        self.kinds = kinds
        return self._add_area()

    cdef tuple _plain(self):
        """(main text, other text); None where a page is not plain."""
        cdef Area *areas = <Area *> self.areas.data
        cdef Py_ssize_t count = self.areas.used // sizeof(Area), n, end = self.used, length
        cdef Py_ssize_t named = 0, menus = 0, rest = 0
        if self.furnished:
            return None
        for n in reversed(range(count)):
            areas[n].size = end - areas[n].begin
            end = areas[n].begin
            length = _characters(self.out + end, areas[n].size)
            if areas[n].kinds & OF_MENUS:
                menus += length
            elif areas[n].kinds & OF_MAIN:
                named += length
            else:
                rest += length
        if named <= rest and menus > MOST_MENUS * (named + rest):
            return None
        return self._joined(named > rest, False), self._joined(named > rest, True)

    cdef str _joined(self, bint named, bint beside):
        """The areas beside the main text, or those that are it. ``named``: that is what the page calls so, and no more."""
        cdef Area *areas = <Area *> self.areas.data
        cdef Column text = Column()
        cdef Py_ssize_t n
        for n in range(<Py_ssize_t> (self.areas.used // sizeof(Area))):
            if _is_beside(areas[n].kinds, named) == beside:
                self._copy_clean(areas[n].begin, areas[n].size, text)
        return PyUnicode_DecodeUTF8(text.data, text.used, NULL).strip() if text.used else ""

    cdef int _copy_clean(self, Py_ssize_t begin, Py_ssize_t size, Column text) except -1:
        """What has been written there, without the marks."""
        cdef Bytes piece = self.out + begin
        cdef Bytes end = piece + size
        cdef Bytes found
        cdef unsigned char *to
        cdef unsigned char c, light = LIGHT_BOX_BEGINS, light_end = LIGHT_BOX_ENDS
        cdef Py_ssize_t n
        text.more(size + 1)
        while True:
            found = <Bytes> memchr(piece, ANCHOR_SIGN, end - piece)
            size = (end if found == NULL else found) - piece
            to = <unsigned char *> text.data + text.used
            for n in range(size):
                c = piece[n]
                to[n] = c"\n" if (c == 0) | (c == light) | (c == light_end) else c
            text.used += size
            if found == NULL:
                return 0
            piece = found + 1
            if piece < end and piece[0] >> 6 == 2:
                raise _Irregular  # no UTF-8, but without the mark it might look like it

    cdef bytes _letters(self):
        """What `larm.model.crawl_hash.page_hash` looks at of the text."""
        cdef bytes found = PyBytes_FromStringAndSize(NULL, self.used)
        cdef unsigned char *out = <unsigned char *> PyBytes_AS_STRING(found)
        cdef Bytes text = self.out
        cdef unsigned char c
        cdef Py_ssize_t n, size = 0
        for n in range(self.used):  # without branches: each would be a guess
            c = text[n]
            out[size] = c
            size += COUNTS[c]
        return found[:size]


cdef inline bint _is_beside(int kinds, bint named) noexcept:
    return (kinds & OF_MENUS) != 0 or (named and (kinds & OF_MAIN) == 0)


cdef Py_ssize_t _characters(Bytes text, Py_ssize_t size) noexcept:
    """Of UTF-8: each has one byte that is none of those that go on."""
    cdef Py_ssize_t n
    cdef unsigned int found = 0  # pages are smaller than 4 GB
    for n in range(size):
        found += text[n] >> 6 != 2
    return found
