# The link that a page is in: its text is what stands in it, with a space for each block and the ALT of each image. Included by
# ``page.pyx``.

cdef struct Anchor:
    # A link that is no more than an address and a text: where they stand, in the page and in the text with marks.
    Py_ssize_t href, href_size
    Py_ssize_t text, text_size


cdef class Leading:
    """The elements of a page that lead somewhere, in their order. Of most links nobody needs an object, so there is none."""

    cdef list items  # None: an `Anchor`
    cdef Anchor *anchors
    cdef Py_ssize_t count, room  # of them
    cdef Bytes page
    cdef unsigned char *marked
    cdef object owner  # of these two

    def __cinit__(self):
        self.items = []

    def __dealloc__(self):
        free(self.anchors)

    cdef int add(self, Py_ssize_t href, Py_ssize_t href_size, Py_ssize_t text, Py_ssize_t text_size) except -1:
        """One more `Anchor`, at the end. Both are ASCII."""
        cdef void *grown
        cdef Anchor *anchor
        if self.count == self.room:
            grown = realloc(self.anchors, (2 * self.room + 64) * sizeof(Anchor))
            if grown == NULL:
                raise MemoryError
            self.anchors, self.room = <Anchor *> grown, 2 * self.room + 64
        anchor = &self.anchors[self.count]
        anchor.href, anchor.href_size, anchor.text, anchor.text_size = href, href_size, text, text_size
        self.items.append(None)
        self.count += 1
        return 0

    def __len__(self):
        return len(self.items)

    def __iter__(self):
        """As `larm.processing.page.Element`."""
        cdef Py_ssize_t number = 0
        cdef Anchor *anchor
        for item in self.items:
            if item is None:
                anchor = &self.anchors[number]
                number += 1
                href = PyUnicode_DecodeASCII(<char *> self.page + anchor.href, anchor.href_size, NULL)
                text = PyUnicode_DecodeASCII(<char *> self.marked + anchor.text, anchor.text_size, NULL)
                item = ("a", {"href": href}, text)
            yield item

cdef enum:
    IN_ANCHOR = 90  # nodes within one
cdef int IMAGE_DEPTH = ANCHOR_DEPTH - 1  # elements between it and an image


cdef class Anchored(Markup):
    cdef bint in_anchor
    cdef int anchor_top  # its place among the elements that are open
    cdef int leading  # anchors that led somewhere, with this one
    cdef int quick  # of them so many may be read the quick way
    cdef int kept  # elements that lead somewhere or say something, with all anchors
    cdef bint leads  # somewhere
    cdef Py_ssize_t anchor  # its place among the elements
    cdef Py_ssize_t anchor_from  # where the text begins that is not in `words` yet
    cdef list words  # texts, and what stands between them; None: there is one text
    cdef int within, texts  # nodes, and those of them that are texts
    cdef bint spaced, careful  # there are blocks in it, there are marks or images
    cdef Attribute href  # of a link that has no more
    cdef dict link  # else its attributes
    # what was found
    cdef Leading elements
    cdef list sizes  # characters of the text of each

    def __cinit__(self, bytes body, bint text):
        self.elements, self.sizes = Leading(), []
        self.quick = ANCHOR_WORK // (len(body) + 1)

    cdef int _count(self) except -1:
        self.kept += 1
        if self.kept > MAX_LINKS:
            raise _Irregular
        return 0

    cdef int _begin_anchor(self) except -1:
        if self.in_anchor:
            raise _Irregular
        self._count()
        if self._is_plain_link(&self.href):
            self.link = None
            self.leads = self.href.value_size != 0 and self.page[self.href.value] != c'#'
        else:
            self.link = self._of_anchor()
            href = self.link.get("href")
            self.leads = bool((href and href[0] != "#") or "xlink:href" in self.link)
        self.in_anchor = True
        self.within = self.texts = 0
        self.spaced = self.careful = False
        self.words = None
        self.anchor = len(self.elements.items)
        if self.leads:
            self.leading += 1
        self._emit(ANCHOR_BEGINS, len(ANCHOR_BEGINS))
        self.anchor_from = self.used
        return 0

    cdef int _end_anchor(self) except -1:
        cdef Py_ssize_t size
        if self.within > IN_ANCHOR:
            raise _Irregular
        self.in_anchor = False
        if not self.leads:
            self.sizes.append(0)
            return 0
        size = self.used - self.anchor_from
        if (
            self.link is None
            and self.words is None
            and self.anchor == len(self.elements.items)
            and _is_ascii(self.out + self.anchor_from, size)
        ):
            self.elements.add(self.href.value, self.href.value_size, self.anchor_from, size)
            self.sizes.append(size)
            return 0
        text = self._text(self.anchor_from, self.used)
        if self.words is not None:
            self.words.append(text)
            text = "".join(self.words)
            if self.spaced and self.texts <= 1 and not self.careful:
                if self.leading >= self.quick:
                    raise _Irregular
                text = "".join(self.words[::2])  # one text only: blocks around it say nothing
        if self.link is None:
            self.link = {} if not self.href.valued else {"href": self._value(&self.href)}
        self.elements.items.insert(self.anchor, ("a", self.link, text))
        self.sizes.append(len(text))
        return 0

    cdef int _within_anchor(self, str text, int marked) except -1:
        """Something in an anchor that stands for words. ``marked``: bytes of the mark that has been written for it."""
        self._add_words(self.used - marked, text)
        self.anchor_from = self.used
        return 0

    cdef int _add_words(self, Py_ssize_t end, str text) except -1:
        """The text of the anchor up to there, and what stands behind it."""
        if self.words is None:
            self.words = []
        self.words += (self._text(self.anchor_from, end), text)
        return 0

    cdef inline int _space(self) except -1:
        """A mark that stands behind an element: in the text of an anchor it is a space."""
        if self.in_anchor:
            self.careful = True
            self.within += 1
            self._within_anchor(" ", 2)
        return 0

    cdef inline int _spaced(self) except -1:
        """A block begins."""
        if self.in_anchor:
            self.spaced = True
            self._within_anchor(" ", 0)
        return 0
