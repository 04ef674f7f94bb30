# The elements that are open, and what ends them (WHATWG HTML 13.2.4.2, 13.2.6.4). Included by ``page.pyx``.

cdef enum:
    DEPTH = 400  # open elements

cdef struct Open:
    int code
    unsigned char end  # mark that follows it, as it is a box; 0: none
    int paragraph  # the open one outside its scope
    int kinds  # of the boxes around it
    uint64_t name


cdef class Elements(Parted):
    cdef Open[DEPTH] open
    cdef int top
    cdef int paragraph  # the one that is open in this scope; -1: none
    cdef bint wants_text, quirks
    cdef bint pending  # a block has ended, and what follows tells whether they are to be separated
    cdef bint in_form, in_button, in_select, in_noscript
    cdef Py_ssize_t heading  # where its text begins; 0: in none
    # what was found
    cdef list boxes, headings

    def __cinit__(self, bytes body, bint text):
        self.wants_text = text
        self.quirks = True
        self.top = self.paragraph = -1
        self.boxes, self.headings = [], []

    cdef inline int _top(self) noexcept:
        """The innermost element."""
        return self.open[self.top].code if self.top >= 0 else OTHER

    cdef int _push(self, int code, uint64_t name) except -1:
        """An element begins."""
        cdef int flags = flags_of[code]
        cdef Open *entry
        if self.top + 1 == DEPTH:
            raise _Irregular
        self.top += 1
        entry = &self.open[self.top]
        entry.code, entry.end, entry.paragraph, entry.kinds, entry.name = code, 0, self.paragraph, self.kinds, name
        if code == P:
            self.paragraph = self.top
        elif flags & SCOPE:
            self.paragraph = -1
        if not flags & BLOCK_:
            return 0
        self.pending = False
        self._spaced()
        if flags & BOX_ and self.wants_text:
            box = self._box(code)
            if box is not None:
                self.boxes.append(box)
                self._begin_box(box[1])
                entry.end = BOX_ENDS if box[1] else LIGHT_BOX_ENDS
                self._mark(BOX_BEGINS if entry.end == BOX_ENDS else LIGHT_BOX_BEGINS)
        self._emit(mark_of[code], mark_size[code])
        self.anchor_from = self.used
        if flags & HEADING_:
            self.heading = self.used
        return 0

    cdef int _pop(self) except -1:
        """The innermost element ends."""
        cdef Open *entry = &self.open[self.top]
        cdef int flags = flags_of[entry.code]
        self.paragraph = entry.paragraph
        self.top -= 1
        if flags & BLOCK_:
            self.pending = False
            if entry.end:
                self._between(entry.kinds)
                self._mark(entry.end)
                self._space()
            elif flags & HEADING_:
                if self.wants_text:
                    self.headings.append(self._text(self.heading, self.used))
                self.heading = 0
                self._mark(HEADING_ENDS)
                self._space()
            elif flags & CLOSING:
                self.pending = True
        if entry.code == FORM:
            self.in_form = False
        elif entry.code == BUTTON:
            self.in_button = False
        elif entry.code == NOSCRIPT:
            self.in_noscript = False
        elif entry.code == SELECT:
            self.in_select = False
        return 0

    cdef object _box(self, int code):
        """What the names of a box say."""
        cdef Attribute *each
        cdef Attribute *kind = NULL
        cdef Attribute *ident = NULL
        cdef PyObject *known
        cdef int i
        for i in range(self.attribute_count):
            each = &self.attributes[i]
            if each.name_size == 5 and memcmp(self.page + each.name, b"class", 5) == 0:
                if kind == NULL:
                    kind = each
            elif self._speaks(code, each):
                if ident != NULL or each.name_size != 2 or memcmp(self.page + each.name, b"id", 2) != 0:
                    return weigh(NAMES[code], self._all())
                ident = each
        name = None if kind == NULL else self._value(kind)
        if ident != NULL:
            return weigh_names((NAMES[code], name, self._value(ident), None, None, False))
        known = PyDict_GetItem(BOXES_OF[code], name)
        return <object> known if known != NULL else BOXES_OF[code][name]

    cdef inline bint _speaks(self, int code, Attribute *each) noexcept:
        """Whether that may be an attribute that `weigh` looks at: id, role, class, style, hidden or itemprop."""
        cdef unsigned char first = self.page[each.name] | 32
        cdef Py_ssize_t size = each.name_size
        if size == 2:
            return first == c'i' and flags_of[code] & NAMED
        return (
            (size == 4 and first == c'r')
            or (size == 5 and (first == c'c' or first == c's'))
            or (size == 6 and first == c'h')
            or (size == 8 and first == c'i')
        )

    cdef inline int _separate(self) except -1:
        """What follows is no block: the block before it has ended."""
        if self.pending:
            self.pending = False
            self._mark(BLOCK_ENDS)
            self._space()
        return 0

    cdef int _block(self, int code, int flags) except -1:
        """The start tag of a block."""
        if (self.in_button and code != BR) or self.in_select != (code == OPTION or code == OPTGROUP):
            raise _Irregular
        self._place(code, flags)
        if flags & VOID:
            self.pending = False
            self._spaced()
            self._emit(mark_of[code], mark_size[code])
            self.anchor_from = self.used
            return 0
        if code == FORM:
            if self.in_form:
                raise _Irregular
            self.in_form = True
        elif code == BUTTON:
            self.in_button = True
        elif code == SELECT:
            self.in_select = True
        elif flags & HEADING_ and self.heading:
            raise _Irregular
        self._push(code, 0)
        if code == PRE and self.at < self.size and self.page[self.at] == c'\n':
            self.at += 1
        return 0

    cdef int _end_block(self, int code, int flags) except -1:
        """The end tag of one."""
        cdef int top = self._top()
        if code == P:
            if self.paragraph < 0:
                if flags_of[top] & OF_TABLE or self.in_button or self.in_select:
                    raise _Irregular
                self.attribute_count = 0
                self._push(P, 0)  # an empty one, says the standard
                self.within += 1
            elif self.paragraph != self.top:
                raise _Irregular
            return self._pop()
        if code == TR:
            self._close_cell()
        elif code == TBODY or code == THEAD or code == TFOOT:
            self._close_row()
        elif code == TABLE:
            self._close_section()
        elif code == SELECT or code == OPTGROUP:
            if top == OPTION:
                self._pop()
            if code == SELECT and self._top() == OPTGROUP:
                self._pop()
        elif code != LEGEND:  # that one is ended by nothing but its own tag
            while flags_of[self._top()] & IMPLIED and self._top() != code:
                self._pop()
        if self._top() != code or flags & VOID:
            raise _Irregular
        return self._pop()

    cdef int _place(self, int code, int flags) except -1:
        """Ends what a block ends by its beginning."""
        cdef int top
        if flags_of[self._top()] & OF_TABLE and not flags & IN_TABLE:
            raise _Irregular
        if code == LI:
            self._close_item(LI, LI)
        elif code == DD or code == DT:
            self._close_item(DD, DT)
        elif code == TR:
            self._close_row()
            if self._top() == COLGROUP:
                self._pop()
            if self._top() == TABLE:
                self._push(TBODY, 0)
                self.within += 1
            top = self._top()
            if top != TBODY and top != THEAD and top != TFOOT:
                raise _Irregular
        elif code == TD or code == TH:
            self._close_cell()
            if self._top() != TR:
                raise _Irregular
        elif code == TBODY or code == THEAD or code == TFOOT or code == COLGROUP or code == CAPTION:
            self._close_section()
        elif code == COL:
            if self._top() != COLGROUP:
                raise _Irregular
        elif code == OPTION or code == OPTGROUP:
            if self._top() == OPTION:
                self._pop()
            if code == OPTGROUP and self._top() == OPTGROUP:
                self._pop()
        elif flags & OUT_OF_P:
            if code == TABLE and self.quirks and self.paragraph >= 0:
                raise _Irregular
            self._close_paragraph()
        return 0

    cdef int _close_paragraph(self) except -1:
        if self.paragraph >= 0:
            if self.paragraph != self.top:
                raise _Irregular
            self._pop()
        return 0

    cdef int _imply_ends(self) except -1:
        while flags_of[self._top()] & IMPLIED:
            self._pop()
        return 0

    cdef int _close_item(self, int one, int other) except -1:
        """Before an item of a list begins: the one before ends."""
        cdef int i
        self._close_paragraph()
        i = self.top
        while i >= 0 and not flags_of[self.open[i].code] & STOPS:
            i -= 1
        if i >= 0 and (self.open[i].code == one or self.open[i].code == other):
            if i != self.top:
                raise _Irregular
            self._pop()
        return 0

    cdef int _close_cell(self) except -1:
        cdef int code
        if flags_of[self._top()] & OF_TABLE:
            return 0
        self._imply_ends()
        code = self._top()
        if code != TD and code != TH:
            raise _Irregular
        return self._pop()

    cdef int _close_row(self) except -1:
        self._close_cell()
        if self._top() == TR:
            self._pop()
        return 0

    cdef int _close_section(self) except -1:
        cdef int code
        self._close_row()
        code = self._top()
        if code == TBODY or code == THEAD or code == TFOOT or code == COLGROUP:
            self._pop()
        if self._top() != TABLE:
            raise _Irregular
        return 0
