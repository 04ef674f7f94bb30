# Bytes that come piece by piece, such as the columns of `larm.model.links.Links`. Included by ``page.pyx``.


cdef class Column:
    """Bytes, one piece behind the other."""

    cdef char *data
    cdef Py_ssize_t used, room

    def __dealloc__(self):
        free(self.data)

    cdef int more(self, Py_ssize_t size) except -1:
        """Room for so many more."""
        cdef void *grown
        if self.used + size > self.room:
            grown = realloc(self.data, 2 * self.room + size + 1000)
            if grown == NULL:
                raise MemoryError
            self.data, self.room = <char *> grown, 2 * self.room + size + 1000
        return 0

    cdef inline int append(self, const char *piece, Py_ssize_t size) except -1:
        """A piece."""
        if self.used + size > self.room or self.data == NULL:
            self.more(size + 1)
        memcpy(self.data + self.used, piece, size)
        self.used += size
        return 0

    cdef inline int put(self, char byte) except -1:
        """One byte."""
        if self.used == self.room:
            self.more(1)
        self.data[self.used] = byte
        self.used += 1
        return 0

    cdef inline int add(self, const char *piece, Py_ssize_t size, char end) except -1:
        """A piece, and one byte behind it."""
        self.append(piece, size)
        return self.put(end)

    cdef bytes all(self):
        return PyBytes_FromStringAndSize(self.data, self.used)

    cdef str lines(self):
        """As text, without the end of the last line."""
        return PyUnicode_DecodeUTF8(self.data, self.used - 1, NULL) if self.used else ""
