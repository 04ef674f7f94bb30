# What is known of links, found by their bytes: a table for each directory of a site. Included by ``page.pyx``.

cdef enum:
    STEPS = 128  # in a table that is half empty; more of them take a page that was made for it
    SEED = 0x811C9DC5


class _Flooded(Exception):
    """Too many links look alike."""


cdef inline uint64_t _hashed(const char *text, Py_ssize_t size, uint64_t seed) noexcept nogil:
    """Fast, and no protection against who wants many texts to have the same: that is what `STEPS` is for."""
    cdef uint64_t mixed = seed ^ <uint64_t> size, word
    while size >= 8:
        memcpy(&word, text, 8)
        mixed = (mixed ^ word) * <uint64_t> 0x9E3779B97F4A7C15
        mixed ^= mixed >> 32
        text += 8
        size -= 8
    word = 0
    memcpy(&word, text, size)
    mixed = (mixed ^ word) * <uint64_t> 0x9E3779B97F4A7C15
    mixed = (mixed ^ mixed >> 32) * <uint64_t> 0xC2B2AE3D27D4EB4F  # or the last characters would reach the high bits only
    return mixed ^ mixed >> 29


cdef class Target:
    """A Url, as the columns want it."""

    cdef object url
    cdef const char *access
    cdef const char *normalised
    cdef const char *host
    cdef Py_ssize_t access_size, normalised_size, host_size
    cdef uint64_t fingerprint, hash

    def __cinit__(self, url):
        self.url = url  # keeps the bytes
        self.access = PyUnicode_AsUTF8AndSize(url.access, &self.access_size)
        self.normalised = PyUnicode_AsUTF8AndSize(url.normalised, &self.normalised_size)
        self.host = PyUnicode_AsUTF8AndSize(url.host, &self.host_size)
        self.fingerprint = url.fingerprint
        self.hash = _hashed(self.access, self.access_size, SEED)


cdef struct Known:
    uint64_t hash
    const char *href
    Py_ssize_t size
    PyObject *target  # None: it leads nowhere


cdef class Targets:
    """What the hrefs of one directory lead to: as much of `larm.model.link_memo.LinkMemo.hrefs` as was asked for here."""

    cdef Known *slots
    cdef Py_ssize_t mask, used
    cdef list kept  # hrefs and targets

    def __cinit__(self):
        self.kept = []

    def __dealloc__(self):
        free(self.slots)

    cdef PyObject *find(self, const char *href, Py_ssize_t size, uint64_t hash) noexcept:
        cdef Py_ssize_t at = hash & self.mask
        cdef int step
        if self.slots == NULL:
            return NULL
        for step in range(STEPS):
            if self.slots[at].target == NULL:
                break
            if self.slots[at].hash == hash and self.slots[at].size == size and memcmp(self.slots[at].href, href, size) == 0:
                return self.slots[at].target
            at = (at + 1) & self.mask
        return NULL

    cdef int add(self, bytes href, uint64_t hash, object target) except -1:
        """One that is not there, if there is a place for it."""
        if 2 * self.used >= self.mask:
            self.grow()
        if self.put(href, len(href), hash, <PyObject *> target):
            self.kept += (href, target)
            self.used += 1
        return 0

    cdef bint put(self, const char *href, Py_ssize_t size, uint64_t hash, PyObject *target) noexcept:
        cdef Py_ssize_t at = hash & self.mask
        cdef int step
        for step in range(STEPS):
            if self.slots[at].target == NULL:
                self.slots[at].href, self.slots[at].size, self.slots[at].hash, self.slots[at].target = href, size, hash, target
                return True
            at = (at + 1) & self.mask
        return False

    cdef int grow(self) except -1:
        cdef Known *old = self.slots
        cdef Py_ssize_t n, size = self.mask + 1 if old != NULL else 0, room = 4 * size if size else 64
        cdef Known *fresh = <Known *> calloc(room, sizeof(Known))
        if fresh == NULL:
            raise MemoryError
        self.slots, self.mask = fresh, room - 1
        for n in range(size):
            if old[n].target != NULL:
                self.put(old[n].href, old[n].size, old[n].hash, old[n].target)
        free(old)
        return 0
