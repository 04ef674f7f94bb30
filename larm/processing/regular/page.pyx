# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Regular pages, read in one pass and without a tree: those in which each element begins and ends where one expects it.

`read` says of a page what the walk through lexbor's tree says (``tests/processing/test_regular.py`` holds one against the
other), in a sixth of the time; for that it is compiled. It knows the common part of the standard's tree construction (WHATWG
HTML 13.2.6): end tags that may be left out, tables, what a paragraph can't contain. All else is irregular and left to lexbor:
elements that overlap, end tags of what isn't open, templates, formulas. What `larm.processing.hostile` would cut off needs no
cut here, as the time is linear. The GIL is held all the while, some 0.1 ms. Pure; any thread.

The page goes through five classes, each of which adds something: `Markup` (``markup.pxi``), `Anchored` (``anchor.pxi``),
`Parted` (``text.pxi``), `Elements` (``elements.pxi``) and `RegularPage`. ``names.pxi`` is what is known of elements by their
names. Where its links lead is found later (``links.pxi``), by a table of what their addresses lead to (``targets.pxi``).
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.dict cimport PyDict_GetItem
from cpython.object cimport PyObject
from cpython.unicode cimport PyUnicode_DecodeASCII, PyUnicode_DecodeUTF8
from libc.stdint cimport uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memchr, memcmp, memcpy, memmove

import re
from html.entities import html5

from larm.model.crawl_hash import NO_LETTERS
from larm.model.links import MAX_BYTES as MOST_OF_LINKS
from larm.model.links import NONE, Links
from larm.model.message import ORDINARY
from larm.processing.boxes import BOXES, FURNITURE, MAIN, NAVIGATION, WITH_ID, BoxesOf, weigh, weigh_names
from larm.processing.page import LINKED_DATA, LINKING, MAX_LINKS, SPEAKING
from larm.processing.parts import ANCHOR, BOX, BOX_END, HEADING, LIGHT_BOX, LIGHT_BOX_END, MOST, mark
from larm.processing.parts import BLOCK as BLOCK_MARK
from larm.processing.readable import BLOCK, HIDDEN, INNER, is_blank
from larm.processing.tree import ANCHOR_DEPTH, ANCHOR_WORK, FEW, FRAME

cdef extern from "Python.h":
    const char *PyUnicode_AsUTF8AndSize(object text, Py_ssize_t *size) except NULL

ctypedef const unsigned char *Bytes
cdef int ORDINARY_LINK = ORDINARY
cdef Py_ssize_t MAX_BYTES = MOST_OF_LINKS

include "names.pxi"
include "markup.pxi"
include "anchor.pxi"
include "column.pxi"
include "text.pxi"
include "elements.pxi"

cdef enum:
    NOSCRIPTS = 100  # of more the text counts

_PUBLIC = rb'[ \t\n\f]+public[ \t\n\f]+"-//w3c//dtd xhtml 1\.[01][^"]*"(?:[ \t\n\f]+"http://www\.w3\.org/[^"]*")?'
cdef object STANDARD = re.compile(rb"!doctype[ \t\n\f]+html(?:" + _PUBLIC + rb")?[ \t\n\f]*", re.IGNORECASE)


cdef class RegularPage(Elements):
    cdef bint typed, in_head, in_body, ended, in_drawing
    cdef int noscripts
    cdef Py_ssize_t noscript  # where the content of the last one begins
    # what was found
    cdef str title, language
    cdef list about, linked_data

    def __cinit__(self, bytes body, bint text):
        self.title, self.language = "", ""
        self.about, self.linked_data = [], []

    cdef tuple read(self, bint apart):
        """All of it. ``apart``: and taken apart, if it is plain."""
        cdef Bytes found
        cdef Py_ssize_t end
        while self.at < self.size:
            found = <Bytes> memchr(self.page + self.at, c'<', self.size - self.at)
            end = self.size if found == NULL else found - self.page
            if end > self.at:
                self._run(self.at, end)
            self.at = end + 1
            if found != NULL:
                self._tag()
        if self.in_anchor or self.in_noscript or not self.in_body:
            raise _Irregular
        while self.top >= 0:
            self._pop()
        if self.kept < FEW and FRAME.search(self.body):
            raise _Irregular  # frames count in places where the standard ignores them
        plain = self._plain() if self.wants_text and apart else None
        return (
            self.title,
            self._text(0, self.used) if self.wants_text and plain is None else "",
            self.boxes,
            self._leading(),
            self.about,
            self.sizes,
            self.headings,
            self.language,
            self.linked_data,
            self._letters() if self.wants_text else None,
            plain,
        )

    cdef Leading _leading(self):
        """The elements, which from now on keep this page, and not the other way round."""
        cdef Leading found = self.elements
        self.elements = None
        found.page, found.marked, found.owner = self.page, self.out, self
        return found

    cdef dict _last(self):
        """The attributes of the element that was kept last."""
        return self.elements.items[len(self.elements.items) - 1][1]

    cdef int _run(self, Py_ssize_t begin, Py_ssize_t end) except -1:
        """The text between two tags."""
        cdef Py_ssize_t i = begin, start = self.used
        cdef unsigned char c
        while i < end and _is_space(self.page[i]):
            i += 1
        if not self.in_body or self.ended:
            if i < end:
                raise _Irregular
            return 0
        if self.in_anchor and not self.in_noscript:
            self.texts += 1
            self.within += 1
        if i == end:
            if not self.in_noscript:
                self.pending = False
                self._emit(self.page + begin, end - begin)
            return 0
        if flags_of[self._top()] & OF_TABLE or self.in_drawing or (self.in_select and self._top() != OPTION):
            raise _Irregular
        if self.in_noscript:
            return 0
        self._decoded(begin, end)
        if self.pending:
            self.pending = False
            c = self.page[i]
            if (c == c'&' or c >= 128 or c < 32) and self._text(start, self.used).isspace():
                return 0
            if self.used + 2 > self.room:
                raise _Irregular
            memmove(self.out + start + 2, self.out + start, self.used - start)
            self.out[start], self.out[start + 1] = 0, BLOCK_ENDS
            self.used += 2
            if self.in_anchor:
                self.careful = True
                self.within += 1
                self._add_words(start, " ")
                self.anchor_from = start + 2
        return 0

    cdef int _tag(self) except -1:
        """What begins with ``<``; `at` is behind it."""
        cdef Bytes page = self.page
        cdef Py_ssize_t i = self.at, size = self.size, name
        cdef uint64_t key = 0
        cdef unsigned char c
        cdef int n = 0, code
        cdef bint ends
        if i >= size:
            raise _Irregular
        if page[i] == c'!' or page[i] == c'?':
            return self._declaration()
        ends = page[i] == c'/'
        if ends:
            i += 1
        name = i
        if i >= size or not c'a' <= (page[i] | 32) <= c'z':
            raise _Irregular
        while i < size:
            c = page[i]
            if c'A' <= c <= c'Z':
                c |= 32
            if not (_is_alnum(c) or c == c'-' or c == c'_' or c == c':'):
                break
            key = _longer(key, n, c)
            n += 1
            i += 1
        if i >= size or not (_is_space(page[i]) or page[i] == c'>' or page[i] == c'/'):
            raise _Irregular
        code = _code(key, n, page + name) if n < LONGEST_NAME else OTHER
        key ^= <uint64_t> n << 56
        if not ends:
            self.at = self._attributes(i)
            return self._start(code, key, name, n)
        while i < size and _is_space(page[i]):
            i += 1
        if i >= size or page[i] != c'>':
            raise _Irregular
        self.at = i + 1
        return self._end(code, key)

    cdef int _start(self, int code, uint64_t key, Py_ssize_t name, Py_ssize_t name_size) except -1:
        """A start tag, its attributes read."""
        cdef int flags = flags_of[code]
        if flags & ODD or self.ended or (self.in_drawing and not flags & DRAWN):
            raise _Irregular
        if not self.in_body:
            return self._before_body(code, flags, name, name_size)
        if flags & BLOCK_:
            self._block(code, flags)
        elif code == HTML or code == HEAD or code == BODY:
            raise _Irregular
        elif self.in_select or self._top() == COLGROUP or (flags_of[self._top()] & OF_TABLE and code != SCRIPT and code != STYLE):
            raise _Irregular
        else:
            self._separate()
            if code == A:
                self._begin_anchor()
                self.anchor_top = self.top + 1
            elif code == NOSCRIPT:
                self.noscripts += 1
                if self.in_noscript or self.in_anchor or self.noscripts > NOSCRIPTS:
                    raise _Irregular
                self.in_noscript, self.noscript = True, self.at
                self._push(NOSCRIPT, 0)
            elif code == SVG and not self.slashed:
                self.in_drawing = True
            if self.slashed and (self.in_drawing or code == SVG):
                pass  # in a drawing, and nowhere else, it has ended
            elif not flags & (VOID | RAW) and code != NOSCRIPT:
                self._push(code, key)
            elif self.in_noscript and (code == TITLE or code == SCRIPT):
                raise _Irregular  # who speaks to people without scripts says nothing to us
        self._keep(code, flags)
        if flags & RAW:
            self._raw(code, name, name_size)
        return 0

    cdef int _keep(self, int code, int flags) except -1:
        """What leads somewhere, or says something of the page."""
        if self.in_anchor:
            self.within += 1
            if self.within > IN_ANCHOR:
                raise _Irregular
        if flags & (LINKS | ABOUT):
            self._count()
            found = self._all()
            (self.elements.items if flags & LINKS else self.about).append((NAMES[code], found, ""))
            if code == IMG and self.in_anchor:
                if self.top - self.anchor_top > IMAGE_DEPTH:
                    raise _Irregular
                self.careful = True
                self._within_anchor(f" {found.get('alt') or ''} ", 0)
        return 0

    cdef int _before_body(self, int code, int flags, Py_ssize_t name, Py_ssize_t name_size) except -1:
        """The tags of the head, and ``<html>`` and ``<body>``."""
        if code == HTML and self.top < 0:
            found = self._all()
            self.language = found.get("lang") or found.get("xml:lang") or ""
            self._push(HTML, 0)
        elif code == HEAD and self.top == 0 and not self.in_head:
            self.in_head = True
            self._push(HEAD, 0)
        elif code == BODY and self.top == 0:
            self.in_body = True
            self._push(BODY, 0)
        elif code == NOSCRIPT and self._top() == HEAD:
            self.noscripts += 1
            self.noscript = self.at
            self._push(NOSCRIPT, 0)
        elif (flags & IN_HEAD and self._top() == HEAD) or (
            (code == LINK or code == META or code == STYLE) and self._top() == NOSCRIPT
        ):
            self._keep(code, flags)
            if flags & RAW:
                self._raw(code, name, name_size)
        else:
            raise _Irregular
        return 0

    cdef int _end(self, int code, uint64_t key) except -1:
        """An end tag."""
        cdef int flags = flags_of[code]
        if flags & (ODD | RAW):
            raise _Irregular
        if not self.in_body:
            if (code != HEAD and code != NOSCRIPT) or self._top() != code:
                raise _Irregular
            if code == NOSCRIPT:
                self._is_first_end()
            return self._pop()
        if code == BODY or code == HTML:
            if self.in_anchor or self.in_noscript or (code == HTML and not self.ended):
                raise _Irregular
            while self.top >= 0 and self._top() != BODY and self._top() != HTML:
                if not flags_of[self._top()] & IMPLIED:
                    raise _Irregular
                self._pop()
            self.ended = True
        elif self.ended or (self.in_drawing and not flags & DRAWN and code != SVG):
            raise _Irregular
        elif flags & BLOCK_:
            self._end_block(code, flags)
        elif code == A and self._top() == A:
            self._end_anchor()
            self.top -= 1
        elif code == NOSCRIPT:
            if self._top() != NOSCRIPT:
                raise _Irregular
            self._is_first_end()
            self._pop()
        elif flags & VOID or self._top() != code or self.open[self.top].name != key:
            raise _Irregular
        else:
            if code == SVG:
                self.in_drawing = False
            self.top -= 1
        return 0

    cdef int _is_first_end(self) except -1:
        """The end tag of a noscript: it ends at the first one, even within a comment or a value in it."""
        if self.body[self.noscript : self.at - 1].lower().count(b"</noscript") > 1:
            raise _Irregular
        return 0

    cdef int _raw(self, int code, Py_ssize_t name, Py_ssize_t name_size) except -1:
        """An element whose content is one text, which no reader sees."""
        cdef Py_ssize_t begin = self.at, used = self.used, end
        if self.in_anchor:
            raise _Irregular
        end = self._raw_end(code == SCRIPT, name, name_size)
        if code == TITLE and is_blank(self.title):
            self._decoded(begin, end)
            self.title = self._text(used, self.used)
            self.used = used
        elif code == SCRIPT and self.wants_text and self._last().get("type") == LINKED_DATA:
            self.linked_data.append(PyUnicode_DecodeUTF8(<char *> self.page + begin, end - begin, NULL))
        return 0

    cdef int _declaration(self) except -1:
        """A comment, or the DOCTYPE; `at` is behind its ``<``."""
        cdef Py_ssize_t at = self.at, end
        cdef Bytes found
        if self.body.startswith(b"!--", at):
            end = self.body.find(b"-->", at + 3)
            if end < 0 or self.page[at + 3] == c'>' or self.body.startswith(b"->", at + 3):
                raise _Irregular
            if self.body.find(b"--!>", at, end) >= 0:
                raise _Irregular
            if self.in_body and not self.ended:
                self._separate()
            self.within += 1
            self.at = end + 3
            return 0
        if self.top >= 0:
            raise _Irregular
        found = <Bytes> memchr(self.page + at, c'>', self.size - at)
        if found == NULL:
            raise _Irregular
        self.at = found - self.page + 1
        said = self.body[at : self.at - 1]
        if said[:8].lower() == b"!doctype" and not self.typed:
            self.typed = True
            self.quirks = STANDARD.fullmatch(said) is None
        elif said[:4] != b"?xml":
            raise _Irregular
        return 0


include "targets.pxi"
include "links.pxi"


def read(bytes body, bint text, bint apart=True):
    """A `larm.processing.page.Reading` as a tuple, or None. ``body``: UTF-8; ``text``: False where no text is wanted.

    ``apart``: False for the text with marks of plain pages, too, for who wants to hold it against that of another reader.
    """
    if b"\0" in body:
        return None
    if b"\r" in body:
        body = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        return RegularPage(body, text).read(apart)
    except (_Irregular, UnicodeError):
        return None
