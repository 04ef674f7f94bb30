# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The reader of HTML, compiled: parses a page by lexbor, walks through its tree once, finds where its links lead.

It gathers what `larm.parse.collector.Collector` gathers, by the same table (`larm.parse.elements`), and finds what
`larm.parse.links.find` finds; Python is asked for what neither has met before. ``lexbor.pxi`` has the parser and its tree,
``columns.pxi`` what texts are written into, ``walk.pxi`` the way through the tree, ``links.pxi`` the elements that it finds and
their links.

Nothing recurses, however deep a page is nested. Parsing gives the GIL away, the rest holds it: some 0.05 ms. Any thread: each
has a `Walk` of its own while it reads, and leaves it to the next one.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.dict cimport PyDict_GetItem
from cpython.object cimport PyObject
from cpython.unicode cimport PyUnicode_AsUTF8AndSize, PyUnicode_DecodeUTF8
from libc.stdint cimport int64_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport free, realloc
from libc.string cimport memchr, memcmp, memcpy
from posix.dlfcn cimport RTLD_LAZY, dlopen, dlsym

from xxhash import xxh3_64_intdigest

from larm.model.crawl_hash import NO_LETTERS
from larm.model.links import NONE, Links
from larm.model.url import ESCAPE, PLAIN_HOST, Url
from larm.parse.boxes import FURNITURE, NAVIGATION, WITH_ID, hides, weigh_names
from larm.parse.collector import MAX_TEXT
from larm.parse.elements import ELEMENTS, HEADING, PLAIN
from larm.parse.links import BYTES
from larm.parse.page import ASKED, LINKED_DATA, SHADOW, Reading
from larm.parse.readable import MAX_ANCHOR, anchor, is_blank

include "lexbor.pxi"
include "columns.pxi"
include "links.pxi"
include "walk.pxi"


def learn(str library, dict numbers):
    """Before all else. ``library``: the file of selectolax's; ``numbers``: of the names of elements. Raises ImportError."""
    _learn_lexbor(library)
    _learn_elements(numbers)
    _learn_attributes()


def read(bytes page, more, *, bint scripts, int64_t work, int64_t memory):
    """(a `larm.parse.page.Reading`, bytes of the page that were read). See `larm.parse.hostile.Budget`."""
    cdef Walk walk = IDLE.pop() if IDLE else Walk()
    cdef Py_ssize_t end = walk.parser.parse(page, scripts, work, memory)
    found = walk.all(walk.parser.root, more)
    if len(page) > LARGE or walk.parser.held > HELD:
        walk.parser.drop()
    IDLE.append(walk)
    return found, end


def end_of(bytes page, *, int64_t work, int64_t memory):
    """Bytes of a page that can be read within a budget."""
    return Parser().parse(page, True, work, memory)


cdef object is_plain_host = PLAIN_HOST.fullmatch
cdef list IDLE = []
cdef Py_ssize_t LARGE = 1_000_000  # bytes of a page whose tree gives its memory back at once
cdef int64_t HELD = 20_000_000  # the same of the tree itself
