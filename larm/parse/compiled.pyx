# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The walk through lexbor's tree, compiled: gathers what `larm.parse.collector.Collector` gathers, in a tenth of its time.

lexbor is not copied for that, nor are its structs known here: selectolax's library exports functions that ask a node for its
neighbours, its kind and its text, and these are found by their names in the library that is loaded already. Where one of them is
missing there is no such walk. The tree is selectolax's, too: it parses and frees it, by its public interface.

What it is given of the texts lies beside the tree and is freed with it: at most as much as the page is long.

Nothing recurses, however deep a page is nested. The GIL is held all the while, some 0.03 ms. Pure; any thread.
"""

from cpython.dict cimport PyDict_GetItem
from cpython.object cimport PyObject
from cpython.unicode cimport PyUnicode_AsUTF8AndSize, PyUnicode_DecodeUTF8
from libc.stdint cimport uintptr_t
from libc.stdlib cimport free, realloc
from libc.string cimport memchr, memcmp, memcpy
from posix.dlfcn cimport RTLD_LAZY, dlopen, dlsym

from larm.parse.boxes import FURNITURE, NAVIGATION, WITH_ID, hides, weigh_names
from larm.parse.collector import MAX_TEXT
from larm.parse.elements import ELEMENTS, HEADING, PLAIN
from larm.parse.page import ASKED, LINKED_DATA, Reading
from larm.parse.readable import is_blank

ctypedef unsigned char Byte
ctypedef void Node
ctypedef void Attribute

ctypedef Node *(*_Neighbour)(Node *) noexcept nogil
ctypedef uintptr_t (*_Number)(Node *) noexcept nogil
ctypedef int (*_Kind)(Node *) noexcept nogil
ctypedef Byte *(*_Text)(Node *, size_t *) noexcept nogil
ctypedef Attribute *(*_First)(Node *) noexcept nogil
ctypedef Attribute *(*_Next)(Attribute *) noexcept nogil
ctypedef const Byte *(*_Said)(Attribute *, size_t *) noexcept nogil
ctypedef const Byte *(*_Ident)(Node *, size_t *) noexcept nogil

cdef _Neighbour child_of, next_of, parent_of
cdef _Number tag_of
cdef _Kind kind_of
cdef _Text text_of
cdef _First first_attribute
cdef _Next next_attribute
cdef _Said name_of, value_of
cdef _Ident ident_of

cdef enum:
    TEXT = 3  # the DOM standard's number of this kind of nodes
    LONGEST_STYLE = 6  # letters of the name of a formatting element
    LONGEST = 11  # letters of the attributes that are asked for, and one more
    KNOWN = 512  # lexbor's own numbers of names are below; those of others are addresses

cdef enum Flags:
    BLOCK = 1
    BREAKS = 2
    HEADS = 4
    BOXED = 8
    LEADS = 16
    SAYS = 32
    HIDDEN = 64
    MORE = 128
    NAMED = 256  # the id of such a box says something
    IS_ANCHOR = 512
    IS_IMAGE = 1024
    IS_SCRIPT = 2048
    IS_TITLE = 4096
    IS_SVG = 8192
    PARTS = 16384

cdef struct Rule:
    int flags

cdef struct Around:
    double weight
    int kinds

cdef struct Link:
    Py_ssize_t place, begin

cdef list _KEPT = [(name, name.encode()) for name in sorted(ASKED, key=len)]  # what the next four are of
cdef int[LONGEST + 2] first_of  # by size
cdef size_t[64] sizes
cdef const char *names[64]
cdef PyObject *keys[64]
for _number in range(LONGEST + 2):
    first_of[_number] = sum(len(_key) < _number for _key, _ in _KEPT)
for _number, (_key, _name) in enumerate(_KEPT):
    sizes[_number], names[_number], keys[_number] = len(_name), <const char *> <bytes> _name, <PyObject *> _key
cdef Rule[KNOWN] rules
cdef list NAMES = [""] * KNOWN
cdef list BOXES = [None] * KNOWN
cdef list SIGNS = [""] * KNOWN
cdef Py_ssize_t MOST = MAX_TEXT
cdef int OF_FURNITURE = FURNITURE, OF_MENUS = NAVIGATION


def learn(str library, dict numbers):
    """Before all else. ``library``: the file of selectolax's; ``numbers``: of the names of elements. Raises ImportError."""
    global child_of, next_of, parent_of, tag_of, kind_of, text_of
    global first_attribute, next_attribute, name_of, value_of, ident_of
    cdef void *lexbor = dlopen(library.encode(), RTLD_LAZY)
    child_of = <_Neighbour> _found(lexbor, b"lxb_dom_node_first_child_noi")
    next_of = <_Neighbour> _found(lexbor, b"lxb_dom_node_next_noi")
    parent_of = <_Neighbour> _found(lexbor, b"lxb_dom_node_parent_noi")
    tag_of = <_Number> _found(lexbor, b"lxb_dom_node_tag_id_noi")
    kind_of = <_Kind> _found(lexbor, b"lxb_dom_node_type_noi")
    text_of = <_Text> _found(lexbor, b"lxb_dom_node_text_content")
    first_attribute = <_First> _found(lexbor, b"lxb_dom_element_first_attribute_noi")
    next_attribute = <_Next> _found(lexbor, b"lxb_dom_element_next_attribute_noi")
    name_of = <_Said> _found(lexbor, b"lxb_dom_attr_qualified_name")
    value_of = <_Said> _found(lexbor, b"lxb_dom_attr_value_noi")
    ident_of = <_Ident> _found(lexbor, b"lxb_dom_element_id_noi")
    special = {"a": IS_ANCHOR, "img": IS_IMAGE, "script": IS_SCRIPT, "title": IS_TITLE, "svg": IS_SVG, "br": BREAKS}
    for name, number in numbers.items():
        if not 0 < number < KNOWN:
            raise ImportError(f"lexbor has the number {number} for {name}")
        meaning = ELEMENTS[name]
        rules[number].flags = (
            BLOCK * bool(meaning.mark)
            | HEADS * meaning.heading
            | BOXED * (meaning.boxes is not None)
            | LEADS * meaning.leads
            | SAYS * meaning.says
            | HIDDEN * meaning.hidden
            | MORE * meaning.more
            | PARTS * meaning.parts
            | NAMED * (name in WITH_ID)
            | special.get(name, 0)
        )
        NAMES[number], BOXES[number], SIGNS[number] = name, meaning.boxes, meaning.mark


cdef void *_found(void *library, bytes name) except NULL:
    cdef void *found = NULL if library == NULL else dlsym(library, name)
    if found == NULL:
        raise ImportError(f"selectolax does not export {name.decode()}")
    return found


cdef class Column:
    """Bytes, one piece behind the other."""

    cdef Byte *data
    cdef Py_ssize_t used, room

    def __dealloc__(self):
        free(self.data)

    cdef int append(self, const void *piece, Py_ssize_t size) except -1:
        """A piece."""
        cdef void *grown
        if self.used + size > self.room:
            grown = realloc(self.data, 2 * self.room + size + 1000)
            if grown == NULL:
                raise MemoryError
            self.data, self.room = <Byte *> grown, 2 * self.room + size + 1000
        memcpy(self.data + self.used, piece, size)
        self.used += size
        return 0

    cdef inline int put(self, Byte byte) except -1:
        """One byte."""
        if self.used == self.room:
            return self.append(&byte, 1)
        self.data[self.used] = byte
        self.used += 1
        return 0

    cdef str text(self, Py_ssize_t begin, Py_ssize_t end):
        return PyUnicode_DecodeUTF8(<char *> self.data + begin, end - begin, "replace") if end > begin else ""


cdef class Walk:
    """See `larm.parse.collector.Collector`, which has the same in the same order."""

    cdef object more
    cdef str title, place
    cdef list blocks, headings, places, elements, about, linked_data
    cdef bint furnished
    # the text of the block that is open
    cdef Column words
    cdef str sign
    cdef double weight
    cdef int kinds
    cdef Py_ssize_t linked
    # what is open
    cdef Column around, links, said
    cdef int leading, headed, drawn
    cdef bint parted, based
    cdef Py_ssize_t heading

    def __cinit__(self, more):
        self.more, self.title, self.place, self.sign = more, "", "", PLAIN
        self.words, self.around, self.links, self.said = Column(), Column(), Column(), Column()
        self.blocks, self.headings, self.elements, self.about, self.linked_data, self.places = [], [], [], [], [], []

    cdef int all(self, Node *root) except -1:
        """From the root through the whole tree."""
        cdef Node *node = root
        cdef Node *found
        cdef uintptr_t tag
        while True:
            if kind_of(node) == TEXT:
                self.say(node)
            else:
                tag = tag_of(node)
                if tag >= KNOWN:
                    tag = 0
                found = child_of(node) if self.begin(node, &rules[tag], tag) else NULL
                if found != NULL:
                    node = found
                    continue
                self.end(rules[tag].flags)
            while True:
                if node == root:
                    return self.break_(PLAIN)
                found = next_of(node)
                if found != NULL:
                    break
                node = parent_of(node)
                tag = tag_of(node)
                self.end(rules[tag if tag < KNOWN else 0].flags)
            node = found

    cdef bint begin(self, Node *node, Rule *rule, uintptr_t tag) except -1:
        """An element begins; whether what is in it counts."""
        cdef int flags = rule.flags
        if flags & BLOCK:
            self.begin_block(node, flags, tag)
        if not flags & ~(BLOCK | HEADS | BOXED | NAMED):
            return True
        if flags & IS_ANCHOR:
            self.begin_link(node)
        elif flags & BREAKS:
            self.words.put(c"\n")
            self.space()
        elif flags & (LEADS | SAYS):
            found = _attributes(node)
            if NAMES[tag] == "base" and "href" in found:
                self.based = True
            (self.elements if flags & LEADS else self.about).append((NAMES[tag], found, ""))
            if flags & IS_IMAGE and self.links.used:
                written = f" {found.get('alt') or ''} ".encode("utf-8", "replace")
                self.said.append(<const Byte *> <bytes> written, len(written))
            elif flags & IS_SCRIPT and found.get("type") == LINKED_DATA:
                self.linked_data.append(self.content(node))
            elif self.more is not None and found.get("srcdoc"):
                inner = self.more(NAMES[tag], found["srcdoc"])
                self.break_(PLAIN)
                self.elements += inner.elements
                self.blocks += inner.blocks
        elif flags & IS_TITLE and not self.drawn and is_blank(self.title):
            self.title = self.content(node)
        elif flags & MORE and self.more is not None:
            inner = self.more(NAMES[tag], self.content(node))
            self.elements += inner.elements
            self.about += inner.about
        elif flags & IS_SVG:
            self.drawn += 1
        return not flags & HIDDEN

    cdef int say(self, Node *node) except -1:
        """A text."""
        cdef size_t size = 0
        cdef Byte *text = text_of(node, &size)
        cdef bytes mended
        if text == NULL:
            return 0
        if size and (text[0] >> 6 == 2 or _is_cut(text, size)):  # or its neighbours might make a character of it
            mended = PyUnicode_DecodeUTF8(<const char *> text, size, "replace").encode()
            return self.say_text(mended, len(mended))
        return self.say_text(text, size)

    cdef int say_text(self, const Byte *text, Py_ssize_t size) except -1:
        if self.parted:
            self.parted = False
            if size and (text[0] >= 128 or c"0" <= text[0] <= c"9" or c"a" <= text[0] | 32 <= c"z"):
                self.words.put(c" ")
                self.space()
        self.words.append(text, size)
        if self.leading:
            self.linked += _characters(text, size)
        if self.links.used:
            self.said.append(text, size)
        return 0

    cdef inline int end(self, int flags) except -1:
        """An element ends that has begun."""
        if flags & BLOCK:
            self.end_block(flags)
        elif flags & IS_ANCHOR:
            self.end_link()
        elif flags & PARTS or self.drawn:
            self.drawn -= flags & IS_SVG != 0
            self.parted = True
        return 0

    cdef inline int space(self) except -1:
        return self.said.put(c" ") if self.links.used else 0

    cdef int break_(self, str mark) except -1:
        """What follows is another block."""
        cdef Byte *text = self.words.data
        cdef Py_ssize_t begin = 0, end = self.words.used
        cdef str found
        self.sign, mark = mark, self.sign
        if not end:
            return self.space()
        while begin < end and _is_white(text[begin]):
            begin += 1
        while end > begin and _is_white(text[end - 1]):
            end -= 1
        if end > begin:
            found = self.words.text(begin, end)
            if text[begin] >= 128 or text[end - 1] >= 128:
                found = found.strip()
            if found:
                self.blocks.append((found, mark, self.weight, self.kinds, self.linked))
                if not self.headed:
                    self.place = ""
        self.words.used = self.linked = 0
        return self.space()

    cdef int begin_block(self, Node *node, int flags, uintptr_t tag) except -1:
        cdef Around outside
        cdef int kinds
        self.break_(SIGNS[tag])
        outside.weight, outside.kinds = self.weight, self.kinds
        self.around.append(&outside, sizeof(Around))
        self.pass_(node)
        if flags & BOXED:
            box = _box(node, flags, tag)
            if box is not None:
                kinds = (<tuple> box)[1]
                self.weight += <double> (<tuple> box)[0]
                self.kinds |= kinds
                if kinds & OF_FURNITURE and not kinds & OF_MENUS:
                    self.furnished = True
        if flags & HEADS:
            if not self.headed:
                self.heading = len(self.blocks)
            self.headed += 1
        return 0

    cdef inline int pass_(self, Node *node) except -1:
        """A place with a name, if the element has one."""
        cdef size_t size = 0
        cdef const Byte *ident = ident_of(node, &size)
        if ident != NULL and size:
            self.place = _text(ident, size)
        return 0

    cdef int end_block(self, int flags) except -1:
        cdef Around *outside
        self.break_(HEADING if flags & HEADS else PLAIN)
        self.around.used -= sizeof(Around)
        outside = <Around *> (self.around.data + self.around.used)
        self.weight, self.kinds = outside.weight, outside.kinds
        if flags & HEADS:
            self.headed -= 1
            if not self.headed:
                self.headings.append(" ".join([block[0] for block in self.blocks[self.heading :]]))
                self.places.append(self.place)
                self.place = ""
        return 0

    cdef int begin_link(self, Node *node) except -1:
        cdef dict attributes = _attributes(node)
        cdef Link link
        self.place = attributes.get("name") or self.place
        self.pass_(node)
        href = attributes.get("href")
        link.place, link.begin = -1, self.said.used
        if (href and (<str> href)[0] != c"#") or "xlink:href" in attributes or (self.based and "href" in attributes):
            link.place = len(self.elements)
            self.elements.append(attributes)  # until it ends
            self.leading += 1
        return self.links.append(&link, sizeof(Link))

    cdef int end_link(self) except -1:
        cdef Link *link
        cdef Py_ssize_t end
        cdef str said
        self.links.used -= sizeof(Link)
        link = <Link *> (self.links.data + self.links.used)
        if link.place >= 0:
            self.leading -= 1
            end = link.begin + 4 * MOST + 4
            said = self.said.text(link.begin, end if end < self.said.used else self.said.used)
            self.elements[link.place] = ("a", self.elements[link.place], said if len(said) <= MOST else said[:MOST])
        if not self.links.used:
            self.said.used = 0
        return 0

    cdef str content(self, Node *node):
        """All text in an element."""
        cdef size_t size = 0
        cdef Byte *text = text_of(node, &size)
        return PyUnicode_DecodeUTF8(<char *> text, size, "replace") if text != NULL else ""


cdef inline bint _is_white(Byte sign) noexcept:
    """Of those in ASCII that `str.strip` takes for white."""
    return sign == c" " or 9 <= sign <= 13 or 28 <= sign <= 31


cdef inline bint _is_cut(const Byte *text, Py_ssize_t size) noexcept:
    """Whether a character at the end may go on."""
    cdef Py_ssize_t n
    for n in range(1, min(size, 3) + 1):
        if text[size - n] >> 6 != 2:
            return text[size - n] >= 0xC0 and n < 2 + (text[size - n] >= 0xE0) + (text[size - n] >= 0xF0)
    return False


cdef Py_ssize_t _characters(const Byte *text, Py_ssize_t size):
    cdef Py_ssize_t n
    cdef Byte all = 0
    for n in range(size):
        all |= text[n]
    return size if all < 128 else len(PyUnicode_DecodeUTF8(<const char *> text, size, "replace"))


cdef str _text(const Byte *text, size_t size):
    return PyUnicode_DecodeUTF8(<const char *> text, size, "replace") if text != NULL else None


cdef dict _attributes(Node *node):
    """Those that anybody asks for."""
    cdef dict found = {}
    cdef size_t size = 0
    cdef const Byte *said
    cdef Attribute *each = first_attribute(node)
    cdef int n
    while each != NULL:
        said = name_of(each, &size)
        for n in range(first_of[min(size, LONGEST)], first_of[min(size, LONGEST) + 1]):
            if sizes[n] == size and memcmp(said, names[n], size) == 0:
                said = value_of(each, &size)
                found[<object> keys[n]] = _text(said, size)
                break
        each = next_attribute(each)
    return found


cdef object _box(Node *node, int flags, uintptr_t tag):
    """What the names of a box say: see `larm.parse.boxes.weigh`."""
    cdef size_t size = 0, length = 0
    cdef const Byte *name
    cdef const Byte *said
    cdef Attribute *each = first_attribute(node)
    cdef str kind = None, ident = None, role = None, itemprop = None
    cdef bint hidden = False
    cdef PyObject *known
    while each != NULL:
        name = name_of(each, &size)
        if size == 5 and memcmp(name, b"class", 5) == 0:
            said = value_of(each, &length)
            kind = _text(said, length)
        elif size == 2 and flags & NAMED and memcmp(name, b"id", 2) == 0:
            said = value_of(each, &length)
            ident = _text(said, length)
        elif size == 4 and memcmp(name, b"role", 4) == 0:
            said = value_of(each, &length)
            role = _text(said, length)
        elif size == 8 and memcmp(name, b"itemprop", 8) == 0:
            said = value_of(each, &length)
            itemprop = _text(said, length)
        elif size == 5 and memcmp(name, b"style", 5) == 0:
            said = value_of(each, &length)
            hidden = hidden or (length >= 12 and hides(_text(said, length)))
        elif size == 6 and memcmp(name, b"hidden", 6) == 0:
            hidden = True
        each = next_attribute(each)
    if ident is None and role is None and itemprop is None and not hidden:
        known = PyDict_GetItem(BOXES[tag], kind)  # a subclass of dict finds what it has in four times as long
        return <object> known if known != NULL else BOXES[tag][kind]
    return weigh_names((NAMES[tag], kind, ident, role, itemprop, hidden))


def walk(root, more):
    """A `larm.parse.page.Reading`. ``root``: a `LexborNode`, whose parser must live as long as this."""
    cdef Node *node = <Node *> <uintptr_t> root.mem_id
    cdef Walk found = Walk(more)
    found.all(node)
    language = _attributes(node)
    return Reading(
        found.title,
        found.blocks,
        found.furnished,
        found.headings,
        found.elements,
        found.about,
        language.get("lang") or language.get("xml:lang") or "",
        found.linked_data,
        found.places,
    )


def tags(bytes page):
    """See `larm.parse.hostile`: (how many there are, how many of them are end tags)."""
    cdef const Byte *at = page
    cdef const Byte *end = at + len(page)
    cdef Py_ssize_t begun = 0, ended = 0
    while True:
        at = <const Byte *> memchr(at, c"<", end - at)
        if at == NULL:
            return begun, ended
        at += 1
        begun += 1
        ended += at < end and at[0] == c"/"


def styled(bytes page, tuple names):
    """See there: the start tags with these names, each way to write one once, without their ``>``."""
    cdef set found = set()
    cdef const Byte *text = page
    cdef const Byte *end = text + len(page)
    cdef const Byte *at = text
    cdef const Byte *close
    cdef Byte[LONGEST_STYLE + 1] name
    cdef Py_ssize_t n
    while True:
        at = <const Byte *> memchr(at, c"<", end - at)
        if at == NULL:
            return found
        at += 1
        n = 0
        while at + n < end and n <= LONGEST_STYLE and c"a" <= at[n] | 32 <= c"z":
            name[n] = at[n] | 32
            n += 1
        if n == 0 or n > LONGEST_STYLE or at + n == end or not _is_space(at[n]) and at[n] != c"/" and at[n] != c">":
            continue
        for each in names:
            if len(<bytes> each) == n and memcmp(<const char *> <bytes> each, name, n) == 0:
                close = <const Byte *> memchr(at, c">", end - at)
                found.add(page[at - text - 1 : (end if close == NULL else close) - text])
                break


cdef inline bint _is_space(Byte sign) noexcept:
    return 9 <= sign <= 13 or sign == c" "
