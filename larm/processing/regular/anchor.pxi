# The link that a page is in: its text is what stands in it, with a space for each block and the ALT of each image. Included by
# ``page.pyx``.

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
    cdef list words  # texts, and what stands between them
    cdef int within, texts  # nodes, and those of them that are texts
    cdef bint spaced, careful  # there are blocks in it, there are marks or images
    cdef dict link  # its attributes
    # what was found
    cdef list elements
    cdef list sizes  # characters of the text of each

    def __cinit__(self, bytes body, bint text):
        self.elements, self.sizes = [], []
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
        self.link = self._of_anchor()
        href = self.link.get("href")
        self.leads = bool((href and href[0] != "#") or "xlink:href" in self.link)
        self.in_anchor = True
        self.within = self.texts = 0
        self.spaced = self.careful = False
        self.words = []
        self.anchor = len(self.elements)
        if self.leads:
            self.leading += 1
            self.elements.append(None)
        self._emit(ANCHOR_BEGINS, len(ANCHOR_BEGINS))
        self.anchor_from = self.used
        return 0

    cdef int _end_anchor(self) except -1:
        if self.within > IN_ANCHOR:
            raise _Irregular
        self.in_anchor = False
        if not self.leads:
            self.sizes.append(0)
            return 0
        text = self._text(self.anchor_from, self.used)
        if self.words:
            self.words.append(text)
            text = "".join(self.words)
            if self.spaced and self.texts <= 1 and not self.careful:
                if self.leading >= self.quick:
                    raise _Irregular
                text = "".join(self.words[::2])  # one text only: blocks around it say nothing
        self.elements[self.anchor] = ("a", self.link, text)
        self.sizes.append(len(text))
        return 0

    cdef int _within_anchor(self, str text, int marked) except -1:
        """Something in an anchor that stands for words. ``marked``: bytes of the mark that has been written for it."""
        self.words += (self._text(self.anchor_from, self.used - marked), text)
        self.anchor_from = self.used
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
