# Growing buffers of bytes. Their memory is reused for the next page.


cdef class Column:
    cdef Byte *data
    cdef Py_ssize_t used, room

    def __dealloc__(self):
        free(self.data)

    cdef int grow(self, Py_ssize_t size) except -1:
        """Make room for at least ``size`` more bytes."""
        cdef void *grown = realloc(self.data, 2 * self.room + size + 1000)
        if grown == NULL:
            raise MemoryError
        self.data, self.room = <Byte *> grown, 2 * self.room + size + 1000
        return 0

    cdef inline int append(self, const void *piece, Py_ssize_t size) except -1:
        """Append bytes."""
        if self.used + size > self.room:
            self.grow(size)
        memcpy(self.data + self.used, piece, size)
        self.used += size
        return 0

    cdef inline int put(self, Byte byte) except -1:
        """Append one byte."""
        if self.used == self.room:
            self.grow(1)
        self.data[self.used] = byte
        self.used += 1
        return 0

    cdef int line(self, bytes piece) except -1:
        """Append bytes and a line break."""
        self.append(<const char *> piece, len(piece))
        return self.put(c"\n")

    cdef str text(self, Py_ssize_t begin, Py_ssize_t end):
        return PyUnicode_DecodeUTF8(<char *> self.data + begin, end - begin, "replace") if end > begin else ""

    cdef bytes piece(self, Py_ssize_t begin, Py_ssize_t end):
        return PyBytes_FromStringAndSize(<char *> self.data + begin, end - begin)


cdef str _text(const Byte *text, size_t size):
    return PyUnicode_DecodeUTF8(<const char *> text, size, "replace") if text != NULL else None
