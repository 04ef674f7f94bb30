# The walk through a tree. `larm.parse.collector.Collector` does the same in the same order.

cdef enum Flags:
    BLOCK = 1
    BREAKS = 2
    HEADS = 4
    BOXED = 8
    LEADS = 16
    SAYS = 32
    HIDDEN = 64
    MORE = 128
    NAMED = 256  # the id of such a box is weighed, too
    IS_ANCHOR = 512
    IS_IMAGE = 1024
    IS_SCRIPT = 2048
    IS_TITLE = 4096
    IS_SVG = 8192
    PARTS = 16384
    IS_TEMPLATE = 32768

cdef int[KNOWN] rules
cdef list NAMES = [""] * KNOWN
cdef list BOXES = [None] * KNOWN
cdef list SIGNS = [""] * KNOWN
cdef Byte[256] COUNTS  # 1 for each byte that counts for the page hash, else 0
for _byte in range(256):
    COUNTS[_byte] = _byte not in NO_LETTERS
cdef int OF_FURNITURE = FURNITURE, OF_MENUS = NAVIGATION

cdef struct Around:
    double weight
    int kinds

cdef struct Open:
    Py_ssize_t place, begin  # an open link: its index in the elements (-1: no address), and the begin of its text


cdef int _learn_elements(dict numbers) except -1:
    special = {"a": IS_ANCHOR, "img": IS_IMAGE, "script": IS_SCRIPT, "title": IS_TITLE, "svg": IS_SVG, "template": IS_TEMPLATE}
    special["br"] = BREAKS
    for name, number in numbers.items():
        if not 0 < number < KNOWN:
            raise ImportError(f"lexbor has the number {number} for {name}")
        meaning = ELEMENTS[name]
        rules[number] = (
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
    return 0


cdef class Walk:
    """The state of one walk. Owned by the thread that reads with it."""

    cdef Parser parser
    cdef Elements elements
    cdef object more
    cdef str title, place
    cdef object blocks
    cdef list texts, sizes, marks, weights, in_links, headings, places, about, linked_data
    cdef bytearray sorts
    cdef bint furnished, shadowed
    cdef Column letters
    cdef Py_ssize_t outside
    # the text of the block that is open
    cdef Column words
    cdef str sign
    cdef double weight
    cdef int kinds
    cdef Py_ssize_t linked
    # open elements
    cdef Column around, links, said
    cdef int leading, headed, drawn
    cdef bint parted, based
    cdef Py_ssize_t heading

    def __cinit__(self):
        self.parser, self.words, self.around, self.links, self.said = Parser(), Column(), Column(), Column(), Column()
        self.letters = Column()

    cdef object all(self, Node *root, more):
        """Walk the whole tree. Return a `larm.parse.page.Reading`."""
        cdef Node *node = root
        cdef uintptr_t tag
        self.more, self.title, self.place, self.sign, self.elements = more, "", "", PLAIN, Elements()
        self.headings, self.places, self.about, self.linked_data, self.blocks = [], [], [], [], Blocks()
        self.texts, self.sizes, self.marks = self.blocks.texts, self.blocks.sizes, self.blocks.marks
        self.weights, self.sorts, self.in_links = self.blocks.weights, self.blocks.kinds, self.blocks.linked
        self.furnished = self.shadowed = self.parted = self.based = False
        self.words.used = self.around.used = self.links.used = self.said.used = self.linked = 0
        self.letters.used = self.outside = 0
        self.weight = self.kinds = self.leading = self.headed = self.drawn = 0
        while True:
            if node.kind == TEXT:
                self.say(&(<Text *> node).data)
            else:
                tag = node.name if node.name < KNOWN else 0
                if self.begin(node, rules[tag], tag) and node.child != NULL:
                    node = node.child
                    continue
                self.end(rules[tag])
            while node != root and node.next == NULL:
                node = node.parent
                self.end(rules[node.name if node.name < KNOWN else 0])
            if node == root:
                break
            node = node.next
        self.break_(PLAIN)
        language = _attributes(<Element *> root)
        return Reading(
            self.title,
            self.blocks,
            self.furnished,
            self.headings,
            self.elements,
            self.about,
            language.get("lang") or language.get("xml:lang") or "",
            self.linked_data,
            self.places,
            self.letters.piece(0, self.letters.used),
            self.outside,
            self.shadowed,
        )

    cdef bint begin(self, Node *node, int flags, uintptr_t tag) except -1:
        """Begin an element. Return True if its content counts."""
        if flags & BLOCK:
            self.begin_block(node, flags, tag)
        if not flags & ~(BLOCK | HEADS | BOXED | NAMED):
            return True
        if flags & IS_ANCHOR:
            self.begin_link(<Element *> node, tag)
        elif flags & BREAKS:
            self.words.put(c"\n")
            self.space()
        elif flags & LEADS:
            self.elements.add(<Element *> node, tag)
            if flags & (IS_IMAGE | IS_SCRIPT):
                if flags & IS_SCRIPT or self.links.used:
                    self.say_element(node, flags, self.elements.attributes(self.elements.size - 1))
            elif self.more is not None and self.elements.has(_SRCDOC):
                inner = self.more(NAMES[tag], self.elements.attributes(self.elements.size - 1)["srcdoc"] or "")
                self.break_(PLAIN)
                self.elements.extend(inner.elements)
                self.blocks.extend(inner.blocks)
                self.letters.append(<const char *> <bytes> inner.letters, len(inner.letters))
                self.outside += inner.outside
        elif flags & SAYS:
            found = _attributes(<Element *> node)
            if NAMES[tag] == "base" and "href" in found:
                self.based = True
            self.about.append((NAMES[tag], found, ""))
        elif flags & IS_TITLE and not self.drawn and is_blank(self.title):
            self.title = self.content(node)
        elif flags & MORE and self.more is not None:
            inner = self.more(NAMES[tag], self.content(node))
            self.elements.extend(inner.elements)
            self.about += inner.about
        elif flags & IS_SVG:
            self.drawn += 1
        elif flags & IS_TEMPLATE:
            self.shadowed = self.shadowed or _value(<Element *> node, SHADOW.encode()) != NULL
        return not flags & HIDDEN

    cdef int say_element(self, Node *node, int flags, dict attributes) except -1:
        """Add the alternative text of an image in a link, or the content of a JSON-LD script."""
        cdef bytes written
        if flags & IS_IMAGE:
            written = f" {attributes.get('alt') or ''} ".encode("utf-8", "replace")
            self.said.append(<const Byte *> written, len(written))
        elif attributes.get("type") == LINKED_DATA:
            self.linked_data.append(self.content(node))
        return 0

    cdef int say(self, Str *text) except -1:
        """Add a text node."""
        cdef bytes mended
        if text.data == NULL:
            return 0
        if text.size and (text.data[0] >> 6 == 2 or _is_cut(text.data, text.size)):  # its bytes may not join others
            mended = PyUnicode_DecodeUTF8(<const char *> text.data, text.size, "replace").encode()
            return self.say_text(mended, len(mended))
        return self.say_text(text.data, text.size)

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
        """End an element."""
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
        """End the current block."""
        cdef Byte *text = self.words.data
        cdef Py_ssize_t begin = 0, end = self.words.used
        cdef str found
        cdef bint odd
        self.sign, mark = mark, self.sign
        if not end:
            return self.space()
        while begin < end and _is_white(text[begin]):
            begin += 1
        while end > begin and _is_white(text[end - 1]):
            end -= 1
        if end > begin:
            found = self.words.text(begin, end)
            odd = text[begin] >= 128 or text[end - 1] >= 128
            if odd:
                found = found.strip()
            if found:
                if odd or not found.isascii():  # its bytes may differ: invalid UTF-8
                    text = <Byte *> PyUnicode_AsUTF8AndSize(found, &end)
                    begin = 0
                self.count(text + begin, end - begin, len(found))
                self.texts.append(found)
                self.sizes.append(len(found))
                self.marks.append(mark)
                self.weights.append(self.weight)
                self.sorts.append(self.kinds)
                self.in_links.append(self.linked)
                if not self.headed:
                    self.place = ""
        self.words.used = self.linked = 0
        return self.space()

    cdef int count(self, const Byte *text, Py_ssize_t size, Py_ssize_t characters) except -1:
        """Add a block to the letters, and to the characters outside links."""
        cdef Py_ssize_t n, used = self.letters.used
        cdef Byte *letters
        if used + size > self.letters.room:
            self.letters.grow(size)
        letters = self.letters.data
        for n in range(size):
            letters[used] = text[n]
            used += COUNTS[text[n]]
        self.letters.used = used
        self.outside += max(0, characters - self.linked)
        return 0

    cdef int begin_block(self, Node *node, int flags, uintptr_t tag) except -1:
        cdef Around outside
        cdef int kinds
        self.break_(SIGNS[tag])
        outside.weight, outside.kinds = self.weight, self.kinds
        self.around.append(&outside, sizeof(Around))
        self.pass_(<Element *> node)
        if flags & BOXED:
            box = _box(<Element *> node, flags, tag)
            if box is not None:
                kinds = (<tuple> box)[1]
                self.weight += <double> (<tuple> box)[0]
                self.kinds |= kinds
                if kinds & OF_FURNITURE and not kinds & OF_MENUS:
                    self.furnished = True
        if flags & HEADS:
            if not self.headed:
                self.heading = len(self.texts)
            self.headed += 1
        return 0

    cdef inline int pass_(self, Element *element) except -1:
        """Note the id of an element as the place of the next heading."""
        if element.ident != NULL and element.ident.value != NULL and element.ident.value.size:
            self.place = _text(element.ident.value.data, element.ident.value.size)
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
                self.headings.append(" ".join(self.texts[self.heading :]))
                self.places.append(self.place)
                self.place = ""
        return 0

    cdef int begin_link(self, Element *element, uintptr_t tag) except -1:
        cdef Str *name = _value(element, b"name")
        cdef Str *href
        cdef Open link
        if name != NULL and name.size:
            self.place = _text(name.data, name.size)
        self.pass_(element)
        self.elements.add(element, tag)
        link.place, link.begin = self.elements.size - 1, self.said.used
        if self.elements.leads(self.based):
            self.leading += 1
        else:
            self.elements.drop()
            link.place = -1
        return self.links.append(&link, sizeof(Open))

    cdef int end_link(self) except -1:
        cdef Open *link
        cdef Py_ssize_t end
        self.links.used -= sizeof(Open)
        link = <Open *> (self.links.data + self.links.used)
        if link.place >= 0:
            self.leading -= 1
            end = link.begin + 4 * MOST + 4
            self.elements.say(link.place, self.said.data + link.begin, min(end, self.said.used) - link.begin)
        if not self.links.used:
            self.said.used = 0
        return 0

    cdef str content(self, Node *node):
        """Return the text content of an element."""
        cdef size_t size = 0
        cdef Byte *text = content_of(node, &size)
        return PyUnicode_DecodeUTF8(<char *> text, size, "replace") if text != NULL else ""


cdef inline bint _is_white(Byte sign) noexcept:
    """Return True for ASCII white space as `str.strip` has it."""
    return sign == c" " or 9 <= sign <= 13 or 28 <= sign <= 31


cdef inline bint _is_cut(const Byte *text, Py_ssize_t size) noexcept:
    """Return True if the text ends within a UTF-8 sequence."""
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


cdef object _box(Element *element, int flags, uintptr_t tag):
    """Return the `larm.parse.boxes.Box` of an element, or None."""
    cdef Attribute *each = element.first
    cdef str kind = None, ident = None, role = None, itemprop = None
    cdef bint hidden = False
    cdef PyObject *known
    cdef int name
    while each != NULL:
        name = _name(each)
        if name == _CLASS:
            kind = _said(each)
        elif name == _ID and flags & NAMED:
            ident = _said(each)
        elif name == _ROLE:
            role = _said(each)
        elif name == _ITEMPROP:
            itemprop = _said(each)
        elif name == _STYLE:
            hidden = hidden or (each.value != NULL and each.value.size >= 12 and hides(_said(each)))
        elif name == _HIDDEN:
            hidden = True
        each = each.next
    if ident is not None and not says(ident):
        ident = None
    if ident is None and role is None and itemprop is None and not hidden:
        known = PyDict_GetItem(BOXES[tag], kind)  # four times as fast as the look-up of a subclass of dict
        return <object> known if known != NULL else BOXES[tag][kind]
    return weigh_names((NAMES[tag], kind, ident, role, itemprop, hidden))
