# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Places of candidates in texts, compiled: the functions of `larm.index.text_scan` with the same results, twenty times as fast.

The index writer calls them for each page. They do not release the GIL.
"""

from cpython.unicode cimport PyUnicode_DATA, PyUnicode_KIND, PyUnicode_READ
from libc.stdint cimport uint8_t

cdef enum:
    HEAD = 2  # bits of a character, as in larm.index.text_scan
    OPERATOR = 4
    ALONE = 8


cdef inline bint _is_word(Py_UCS4 character) noexcept:
    return character.isalnum() or character == c"_"


cdef inline bint _is_letter(Py_UCS4 character) noexcept:
    return c"a" <= character <= c"z" or c"A" <= character <= c"Z"


def sign_places(str text not None, const uint8_t *kinds):
    """See `larm.index.text_scan.sign_places`; ``kinds``: the bits of each ASCII character."""
    cdef int kind = PyUnicode_KIND(text)
    cdef void *data = PyUnicode_DATA(text)
    cdef Py_ssize_t at, size = len(text)
    cdef Py_UCS4 sign, before, after
    cdef bint begins
    found = []
    for at in range(size):
        sign = PyUnicode_READ(kind, data, at)
        if sign >= 128 or not kinds[sign]:
            continue
        before = PyUnicode_READ(kind, data, at - 1) if at else c" "
        after = PyUnicode_READ(kind, data, at + 1) if at + 1 < size else c" "
        if sign == before and kinds[sign] & OPERATOR:
            begins = False
        elif _is_word(after):
            begins = kinds[sign] & HEAD and not _is_word(before)
        elif after < 128 and kinds[after] & OPERATOR:
            begins = True
        else:
            begins = sign == c"#" and _is_letter(before) or kinds[sign] & ALONE and before.isspace() and after.isspace()
        if begins:
            found.append(at)
    return found


def name_spans(str text not None):
    """See `larm.index.text_scan.name_spans`."""
    cdef int kind = PyUnicode_KIND(text)
    cdef void *data = PyUnicode_DATA(text)
    cdef Py_ssize_t at = 0, line, begin, size = len(text)
    cdef Py_UCS4 character, last
    found = []
    while at < size:
        line = at
        while PyUnicode_READ(kind, data, at) in (c" ", c"\t"):  # a zero stands behind the text
            at += 1
        begin, last = at, 0
        character = PyUnicode_READ(kind, data, at)
        if at <= line + 8 and _is_letter(character):
            while _is_letter(character) or c"0" <= character <= c"9" or character == c"-":
                at += 1
                character = PyUnicode_READ(kind, data, at)
            if character in (c".", c"_", c":"):
                while character < 128 and _is_word(character) or character in (c".", c":", c"-"):
                    last = character
                    at += 1
                    character = PyUnicode_READ(kind, data, at)
                if (last == c"_" or last.isalnum()) and (at == size or character in (c"(", c" ", c"\t", 0xB6, c"\n")):
                    found.append((begin, at))
        while at < size and PyUnicode_READ(kind, data, at) != c"\n":
            at += 1
        at += 1
    return found


def accented_words(str text not None):
    """See `larm.index.text_scan.accented_words`."""
    cdef int kind = PyUnicode_KIND(text)
    cdef void *data = PyUnicode_DATA(text)
    cdef Py_ssize_t at = 0, begin, size = len(text)
    cdef Py_UCS4 character
    found = []
    while at < size:
        character = PyUnicode_READ(kind, data, at)
        if 0xC0 <= character < 0x250 or 0x1E00 <= character < 0x1F00 or 0x2100 <= character < 0x2D00:
            begin = at
            while begin and not (<Py_UCS4> PyUnicode_READ(kind, data, begin - 1)).isspace():
                begin -= 1
            while at < size and not (<Py_UCS4> PyUnicode_READ(kind, data, at)).isspace():
                at += 1
            found.append(text[begin:at])
        at += 1
    return found
