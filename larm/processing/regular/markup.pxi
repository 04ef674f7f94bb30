# The markup of a page: tags with their attributes, character references, texts; and the text that is written from them. Included
# by ``page.pyx``. What a browser would have to mend is irregular.

cdef enum:
    ATTRIBUTES = 60  # of one tag
    MOST_REFERENCES = 1_000  # of one value

cdef dict LEGACY = {name: sign for name, sign in html5.items() if not name.endswith(";")}
cdef dict SIGNS = {name.encode(): sign.encode() for name, sign in html5.items()}
cdef frozenset OF_ANCHOR = frozenset(("href", "rel", "xlink:href"))  # what anybody asks an anchor for
cdef dict COMMON = {  # names of attributes
    name.encode(): name
    for name in "alt as class content href http-equiv id name property rel role sizes src style title type value".split()
}

cdef struct Attribute:
    Py_ssize_t name, name_size, value, value_size
    bint valued
    bint coded  # with character references


cdef inline bint _is_space(unsigned char c) noexcept nogil:
    return c == c' ' or c == c'\n' or c == c'\t' or c == c'\f'


cdef inline bint _is_alnum(unsigned char c) noexcept nogil:
    return c'0' <= c <= c'9' or c'a' <= (c | 32) <= c'z'


cdef bint _is_ascii(Bytes text, Py_ssize_t size) noexcept:
    cdef Py_ssize_t n
    cdef unsigned char all = 0
    for n in range(size):
        all |= text[n]
    return all < 128


cdef bint _is_plain(long code):
    """Whether a numeric reference means just this character."""
    return code == 10 or 32 <= code <= 126 or 160 <= code < 0xD800 or 0xE000 <= code < 0xFDD0 or 0xFE00 <= code < 0xFFFE


class _Irregular(Exception):
    """A page for lexbor."""


cdef class Markup:
    cdef bytes body
    cdef Bytes page
    cdef Py_ssize_t size, at
    # the text with marks, as UTF-8
    cdef unsigned char *out
    cdef Py_ssize_t used, room
    # the start tag that was read last
    cdef Attribute[ATTRIBUTES] attributes
    cdef int attribute_count
    cdef bint slashed  # it ends with a slash

    def __cinit__(self, bytes body, bint text):
        self.body = body
        self.page = body
        self.size = len(body)
        self.room = 3 * self.size + 64  # a mark may be longer than the tag that it stands for
        self.out = <unsigned char *> malloc(self.room)
        if self.out == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.out)

    cdef int _emit(self, Bytes text, Py_ssize_t size) except -1:
        """Write a piece of text."""
        if self.used + size > self.room:
            raise _Irregular
        memcpy(self.out + self.used, text, size)
        self.used += size
        return 0

    cdef int _mark(self, unsigned char sign) except -1:
        """Write one of the marks of `larm.processing.parts`."""
        if self.used + 2 > self.room:
            raise _Irregular
        self.out[self.used] = 0
        self.out[self.used + 1] = sign
        self.used += 2
        return 0

    cdef str _text(self, Py_ssize_t begin, Py_ssize_t end):
        """What has been written there."""
        return PyUnicode_DecodeUTF8(<char *> self.out + begin, end - begin, NULL)

    cdef int _decoded(self, Py_ssize_t begin, Py_ssize_t end) except -1:
        """Write a text, its character references decoded."""
        cdef Bytes found
        while begin < end:
            found = <Bytes> memchr(self.page + begin, c'&', end - begin)
            if found == NULL:
                return self._emit(self.page + begin, end - begin)
            self._emit(self.page + begin, found - self.page - begin)
            begin = found - self.page
            begin = self._reference(begin, end)
        return 0

    cdef Py_ssize_t _reference(self, Py_ssize_t at, Py_ssize_t end) except -1:
        """A character reference; returns where it ends. Those without a semicolon are for lexbor."""
        cdef Py_ssize_t i = at + 1
        cdef bytes sign
        while i < end and _is_alnum(self.page[i]):
            i += 1
        if i == at + 1:
            if i < end and self.page[i] == c'#':
                return self._number(at, end)
            self._emit(b"&", 1)
            return i
        if i < end and self.page[i] == c';':
            sign = SIGNS.get(self.page[at + 1 : i + 1])
            if sign is None:
                raise _Irregular
            self._emit(sign, len(sign))
            return i + 1
        word = self.page[at + 1 : i].decode("ascii")
        for n in range(2, 7):
            if word[:n] in LEGACY:
                raise _Irregular
        self._emit(b"&", 1)
        return at + 1

    cdef Py_ssize_t _number(self, Py_ssize_t at, Py_ssize_t end) except -1:
        cdef Py_ssize_t i = at + 2
        cdef long value = 0
        cdef bytes sign
        cdef unsigned char c
        cdef bint hexadecimal = i < end and (self.page[i] | 32) == c'x'
        if hexadecimal:
            i += 1
        while i < end and value < 0x110000:
            c = self.page[i]
            if c'0' <= c <= c'9':
                value = value * (16 if hexadecimal else 10) + c - c'0'
            elif hexadecimal and c'a' <= (c | 32) <= c'f':
                value = value * 16 + (c | 32) - c'a' + 10
            else:
                break
            i += 1
        if i >= end or self.page[i] != c';':
            raise _Irregular
        if not _is_plain(value):
            raise _Irregular
        sign = chr(value).encode()
        self._emit(sign, len(sign))
        return i + 1

    cdef Py_ssize_t _attributes(self, Py_ssize_t i) except -1:
        """Those of a start tag; returns where it ends."""
        cdef Py_ssize_t size = self.size
        cdef Bytes page = self.page
        cdef Attribute *attribute
        cdef unsigned char c, quote
        cdef Bytes found
        self.attribute_count = 0
        while True:
            self.slashed = False
            while i < size and (_is_space(page[i]) or page[i] == c'/'):
                self.slashed = page[i] == c'/'
                i += 1
            if i >= size:
                raise _Irregular
            if page[i] == c'>':
                return i + 1
            if self.attribute_count == ATTRIBUTES:
                raise _Irregular
            attribute = &self.attributes[self.attribute_count]
            self.attribute_count += 1
            attribute.name = i
            attribute.valued = attribute.coded = False
            attribute.value_size = 0
            while i < size:
                c = page[i]
                if _is_space(c) or c == c'/' or c == c'>' or c == c'=':
                    break
                if c == c'"' or c == c'\'' or c == c'<' or c >= 128 or c < 32:
                    raise _Irregular
                i += 1
            attribute.name_size = i - attribute.name
            if not attribute.name_size:
                raise _Irregular
            while i < size and _is_space(page[i]):
                i += 1
            if i >= size or page[i] != c'=':
                continue
            i += 1
            while i < size and _is_space(page[i]):
                i += 1
            if i >= size or page[i] == c'>':
                raise _Irregular
            quote = page[i]
            if quote == c'"' or quote == c'\'':
                i += 1
                found = <Bytes> memchr(page + i, quote, size - i)
                if found == NULL:
                    raise _Irregular
                attribute.value = i
                i = found - page
                attribute.value_size = i - attribute.value
                i += 1
                if i < size and not (_is_space(page[i]) or page[i] == c'>' or page[i] == c'/'):
                    raise _Irregular
            else:
                attribute.value = i
                while i < size and not _is_space(page[i]) and page[i] != c'>':
                    if page[i] == c'"' or page[i] == c'\'' or page[i] == c'<' or page[i] == c'=' or page[i] == c'`':
                        raise _Irregular
                    i += 1
                attribute.value_size = i - attribute.value
            attribute.valued = True
            attribute.coded = memchr(page + attribute.value, c'&', attribute.value_size) != NULL

    cdef object _value(self, Attribute *attribute):
        if not attribute.valued:
            return None
        cdef str text = PyUnicode_DecodeUTF8(<char *> self.page + attribute.value, attribute.value_size, NULL)
        return _unescaped(text) if attribute.coded else text

    cdef str _name(self, Attribute *attribute):
        cdef bytes written = self.page[attribute.name : attribute.name + attribute.name_size]
        cdef object known = COMMON.get(written)
        return known if known is not None else written.decode("ascii").lower()

    cdef dict _all(self):
        """The attributes of the tag; of two with one name the first counts."""
        cdef dict found = {}
        cdef int i
        for i in range(self.attribute_count):
            name = self._name(&self.attributes[i])
            if name not in found:
                found[name] = self._value(&self.attributes[i])
        return found

    cdef bint _is_plain_link(self, Attribute *href) noexcept:
        """Whether nobody asks for more than its address, if it has one, and that stands there as it is. Fills in ``href``."""
        cdef int i
        cdef Attribute *each
        cdef unsigned char first
        href.valued, href.value_size = False, 0
        for i in range(self.attribute_count):
            each = &self.attributes[i]
            first = self.page[each.name] | 32
            if each.name_size == 4 and first == c'h':
                if href.valued or each.coded or not each.valued or memcmp(self.page + each.name, b"href", 4) != 0:
                    return False
                href[0] = each[0]
            elif (each.name_size == 3 and first == c'r') or (each.name_size == 10 and first == c'x'):
                return False
        return _is_ascii(self.page + href.value, href.value_size)

    cdef dict _of_anchor(self):
        """Those of its attributes that somebody asks for."""
        cdef dict found = {}
        cdef int i
        cdef Attribute *each
        cdef unsigned char first
        for i in range(self.attribute_count):
            each = &self.attributes[i]
            if each.name_size == 4 and memcmp(self.page + each.name, b"href", 4) == 0:
                if "href" not in found:
                    found["href"] = self._value(each)
                continue
            first = self.page[each.name] | 32
            if each.name_size == 10 or (each.name_size == 4 and first == c'h') or (each.name_size == 3 and first == c'r'):
                name = self._name(each)
                if name in OF_ANCHOR and name not in found:
                    found[name] = self._value(each)
        return found

    cdef Py_ssize_t _raw_end(self, bint script, Py_ssize_t name, Py_ssize_t name_size) except -1:
        """Where the text ends that is all that is in an element; `at` goes behind the end tag."""
        cdef Py_ssize_t i = self.at, k
        cdef Bytes found
        cdef bint same, commented = False
        while True:
            found = <Bytes> memchr(self.page + i, c'<', self.size - i)
            if found == NULL:
                raise _Irregular
            i = found - self.page + 1
            if script and i < self.size and self.page[i] == c'!':
                commented = True
            elif commented and self.body[i : i + 6].lower() == b"script":
                raise _Irregular  # perhaps a script within a comment within a script: its end would not be its end
            if i + name_size + 1 >= self.size or self.page[i] != c'/':
                continue
            same = True
            for k in range(name_size):
                if self.page[i + 1 + k] | 32 != self.page[name + k] | 32:
                    same = False
                    break
            if not same:
                continue
            k = i + 1 + name_size
            if self.page[k] == c'>':
                break
            if _is_space(self.page[k]) or self.page[k] == c'/':
                raise _Irregular
        self.at = k + 1
        return i - 1


cdef str _unescaped(str text):
    """The value of an attribute, its character references decoded. Those without a semicolon are for lexbor."""
    cdef list pieces = text.split("&", MOST_REFERENCES)
    cdef list found = [pieces[0]]
    if len(pieces) > MOST_REFERENCES:
        raise _Irregular
    for piece in pieces[1:]:
        name, semicolon, rest = piece.partition(";")
        if semicolon and (sign := html5.get(name + ";")) is not None:
            found += (sign, rest)
            continue
        if name[:1] == "#":
            code = int(name[1:]) if semicolon and len(name) < 8 and name.isascii() and name[1:].isdecimal() else 0
            if not _is_plain(code):
                raise _Irregular
            found += (chr(code), rest)
            continue
        size = 0
        while size < len(name) and name[size].isascii() and name[size].isalnum():
            size += 1
        if name[:size] in LEGACY and piece[size : size + 1] != "=":
            raise _Irregular
        found += ("&", piece)
    return "".join(found)
