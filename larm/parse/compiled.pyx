# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The compiled reader of HTML: parses a page with lexbor, walks its tree once, and resolves its links.

Called by `larm.parse.lexbor_tree` and `larm.parse.links`. Thread-safe: each thread takes a `Walk` while it reads and returns it
afterwards. Nothing recurses, however deep a page is nested. The GIL is released while lexbor parses.

The walk collects the same as `larm.parse.collector.Collector`, by the same table (`larm.parse.elements`). Links are resolved
as in `larm.parse.links.find`; Python resolves addresses of unusual form. ``lexbor.pxi`` has the parser and its nodes,
``columns.pxi`` growing buffers, ``walk.pxi`` the walk, ``links.pxi`` the elements with addresses, and their links.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.dict cimport PyDict_GetItem
from cpython.object cimport PyObject
from cpython.unicode cimport PyUnicode_AsUTF8AndSize, PyUnicode_DecodeUTF8
from libc.stdint cimport int64_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport free, realloc
from libc.string cimport memchr, memcmp, memcpy
from posix.dlfcn cimport RTLD_LAZY, dlopen, dlsym

from xxhash import xxh3_64_intdigest

from larm.model.crawl_hash import NO_LETTERS
from larm.model.links import NONE, SPELLED, Links
from larm.model.url import ESCAPE, PLAIN_HOST, Url
from larm.parse.boxes import FURNITURE, NAVIGATION, WITH_ID, hides, says, weigh_names
from larm.parse.collector import MAX_TEXT
from larm.parse.elements import ELEMENTS, HEADING, PLAIN
from larm.parse.links import BYTES
from larm.parse.page import ASKED, LINKED_DATA, SHADOW, Blocks, Reading
from larm.parse.readable import MAX_ANCHOR, anchor, is_blank

include "lexbor.pxi"
include "columns.pxi"
include "links.pxi"
include "walk.pxi"


def learn(str library, dict numbers):
    """Load lexbor's functions; to be called first.

    ``library``: the file of selectolax's extension; ``numbers``: lexbor's number for each element name. Raises ImportError.
    """
    _learn_lexbor(library)
    _learn_elements(numbers)
    _learn_attributes()


def read(bytes page, more, *, bint scripts, int64_t work, int64_t memory):
    """Return a `larm.parse.page.Reading` and the number of bytes read, within a `larm.parse.hostile.Budget`."""
    cdef Walk walk = IDLE.pop() if IDLE else Walk()
    cdef Py_ssize_t end = walk.parser.parse(page, scripts, work, memory)
    found = walk.all(walk.parser.root, more)
    if len(page) <= LARGE and walk.parser.held <= HELD:
        IDLE.append(walk)
    return found, end


def end_of(bytes page, *, int64_t work, int64_t memory):
    """Return the number of bytes of a page that can be parsed within a budget."""
    return Parser().parse(page, True, work, memory)


cdef object is_plain_host = PLAIN_HOST.fullmatch
cdef list IDLE = []  # walks that no thread uses
cdef Py_ssize_t LARGE = 1_000_000  # bytes of a page after which tree and buffers are freed
cdef int64_t HELD = 20_000_000  # bytes of a tree after which they are, too
