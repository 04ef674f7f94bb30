# Where elements lead, as `larm.processing.links.find` has it, in a fifth of the time: of most links only bytes are looked up and
# copied. Included by ``page.pyx``.

cdef enum:
    MAX_TEXT = 200  # characters (LARM-101)

cdef struct Entry:
    PyObject *target
    uint64_t hash
    Py_ssize_t words, words_size  # its text, in the column of all texts
    int kind
    bint follow


cdef class Finder:
    """The links of one page, each once."""

    cdef object page  # a `larm.processing.links.PageFinder`
    cdef Targets targets
    cdef list kept  # targets that were learned
    cdef Column texts, found  # of `Entry`
    cdef Py_ssize_t count, bytes_left  # of `MAX_BYTES`
    cdef bint follow
    cdef int *places  # a table of them, by what they say; 0: none, else the place and one more
    cdef Py_ssize_t mask

    def __cinit__(self, page):
        hrefs = page.hrefs
        if hrefs.quick is None:
            hrefs.quick = Targets()
        self.page, self.targets, self.follow = page, hrefs.quick, page.follow
        self.kept, self.texts, self.found, self.bytes_left = [], Column(), Column(), MAX_BYTES

    def __dealloc__(self):
        free(self.places)

    cdef bint take(self, PyObject *target, int kind, bint follow, Py_ssize_t words) except -1:
        """One link; its text begins at ``words`` and goes to the end of all texts. False: there is no room for more."""
        cdef Py_ssize_t size = self.texts.used - words, at
        cdef const char *text = self.texts.data + words
        cdef uint64_t hash = _hashed(text, size, (<Target> target).hash + kind)
        cdef Entry *entries
        cdef Entry *each
        cdef int step = 0
        if 2 * self.count >= self.mask:
            self.grow()
        entries = <Entry *> self.found.data
        at = hash & self.mask
        while self.places[at]:
            each = &entries[self.places[at] - 1]
            if (
                each.hash == hash
                and each.kind == kind
                and each.words_size == size
                and memcmp(self.texts.data + each.words, text, size) == 0
                and _is_same(<Target> each.target, <Target> target)
            ):
                each.follow = each.follow or follow  # an image that is linked to as well
                self.texts.used = words
                return True
            at = (at + 1) & self.mask
            step += 1
            if step > STEPS:
                raise _Flooded
        self.bytes_left -= (<Target> target).access_size + (<Target> target).normalised_size
        if self.bytes_left < 0:
            self.page.cut_off(self.count)
            return False
        self.found.more(sizeof(Entry))
        each = &(<Entry *> self.found.data)[self.count]
        each.target, each.hash, each.kind, each.follow, each.words, each.words_size = target, hash, kind, follow, words, size
        self.found.used += sizeof(Entry)
        self.count += 1
        self.places[at] = self.count
        return True

    cdef int grow(self) except -1:
        cdef Py_ssize_t room = 4 * (self.mask + 1) if self.mask else 256, n, at
        cdef int *fresh = <int *> calloc(room, sizeof(int))
        cdef Entry *entries = <Entry *> self.found.data
        if fresh == NULL:
            raise MemoryError
        free(self.places)
        self.places, self.mask = fresh, room - 1
        for n in range(self.count):
            at = entries[n].hash & self.mask
            while fresh[at]:
                at = (at + 1) & self.mask
            fresh[at] = n + 1
        return 0

    cdef bint add_plain(self, const char *href, Py_ssize_t size, const char *text, Py_ssize_t text_size) except -1:
        """A link that is an address and a text; False: there is no room for more."""
        cdef PyObject *target = self.target_of(href, size)
        cdef Py_ssize_t words = self.texts.used
        if target == <PyObject *> None:
            return True
        if not self.squeeze(text, text_size):
            self.add_text(self.words_of(PyUnicode_DecodeASCII(text, text_size, NULL)))
        return self.take(target, ORDINARY_LINK, self.follow, words)

    cdef PyObject *target_of(self, const char *href, Py_ssize_t size) except NULL:
        """What an address leads to; None: nowhere. It is ASCII. Lives as long as the page is looked at."""
        cdef const char *mark = <const char *> memchr(href, c"#", size)
        cdef PyObject *target
        cdef uint64_t hash
        if mark != NULL:
            size = mark - href
        hash = _hashed(href, size, SEED)
        target = self.targets.find(href, size, hash)
        return target if target != NULL else self.learn(href[:size], hash)

    cdef PyObject *learn(self, bytes href, uint64_t hash) except NULL:
        """What nobody has asked for here before. What is kept elsewhere is kept here, too."""
        cdef str written = href.decode("ascii")
        cdef object target = self.made(self.page.resolve(written)) if written else None
        known = self.page.hrefs.get(written, "")
        if not isinstance(known, str):
            self.targets.add(href, hash, target)
        return <PyObject *> target

    cdef object made(self, object url):
        target = None if url is None else Target(url)
        self.kept.append(target)
        return target

    cdef bint squeeze(self, const char *text, Py_ssize_t size) except -1:
        """Write a text as `larm.processing.readable.anchor` makes it; False where that is not so simple."""
        cdef Py_ssize_t n, begin = self.texts.used
        cdef char *out
        cdef unsigned char c
        cdef bint spaced = False
        self.texts.more(size + 1)
        out = self.texts.data + begin
        for n in range(size):
            c = text[n]
            if c == c" " or 9 <= c <= 13 or 28 <= c <= 31:
                spaced = out != self.texts.data + begin
                continue
            if c < 32 or c > 126:
                return False
            if spaced:
                out[0] = c" "
                out += 1
                spaced = False
            out[0] = c
            out += 1
        size = out - self.texts.data - begin
        self.texts.used = begin + (size if size < MAX_TEXT else MAX_TEXT)
        return True

    cdef str words_of(self, str text):
        cdef PyObject *known = PyDict_GetItem(self.page.squeezed, text)
        return <str> known if known != NULL else self.page.squeeze(text)

    cdef int add_text(self, str words) except -1:
        cdef Py_ssize_t size
        cdef const char *text = PyUnicode_AsUTF8AndSize(words, &size)
        return self.texts.append(text, size)

    cdef bint add(self, str tag, object attributes, str text, list related) except -1:
        """Any other element; False: there is no room for more."""
        cdef Py_ssize_t begin = self.texts.used, size
        cdef str href, words
        cdef int kind = ORDINARY_LINK
        cdef bint goes
        cdef PyObject *target
        cdef const char *text_of_href
        page = self.page
        if tag == "a":
            href = attributes.get("href") or attributes.get("xlink:href")
            goes = page.follows(attributes) if attributes.get("rel") else self.follow
            words = self.words_of(text)
        else:
            href, words, kind, goes = page.other(tag, attributes)
        if not href:
            return True
        if not href.isascii():
            href = page.bare(href)
        if href.isascii():
            text_of_href = PyUnicode_AsUTF8AndSize(href, &size)
            target = self.target_of(text_of_href, size)
        else:
            made = self.made(page.resolve(href))
            target = <PyObject *> made
        if target == <PyObject *> None:
            return True
        if tag == "link":
            related.append((attributes, (<Target> target).url))
        self.add_text(words)
        return self.take(target, kind, goes, begin)

    cdef object links(self):
        """In columns."""
        cdef Column lines = Column(), targets = Column(), hosts = Column(), accesses = Column(), anchors = Column()
        cdef Column follow = Column()
        cdef Entry *each
        cdef Target target
        cdef const char *words
        cdef Py_ssize_t n
        if not self.count:
            return NONE
        for n in range(self.count):
            each = &(<Entry *> self.found.data)[n]
            target, words = <Target> each.target, self.texts.data + each.words
            lines.add(target.access, target.access_size, c"\t")
            lines.add(target.normalised, target.normalised_size, c"\t")
            lines.put(c"0" + each.kind)
            lines.put(c"\t")
            lines.add(words, each.words_size, c"\n")
            targets.append(<char *> &target.fingerprint, 8)
            hosts.add(target.host, target.host_size, c"\n")
            follow.put(each.follow)
            if each.follow:
                accesses.add(target.access, target.access_size, c"\n")
                anchors.add(words, each.words_size, c"\n")
        return Links(lines.all(), targets.all(), hosts.lines(), follow.all(), accesses.lines(), anchors.lines())


cdef inline bint _is_same(Target one, Target other) noexcept:
    return one is other or (one.access_size == other.access_size and memcmp(one.access, other.access, one.access_size) == 0)


def find(elements, page):
    """See `larm.processing.links.find`; None where only that can do it."""
    try:
        return _found(elements, Finder(page))
    except (UnicodeEncodeError, _Flooded):  # a text that is no Unicode, or a page that means ill
        return None


cdef tuple _found(object elements, Finder finder):
    cdef list related = []
    cdef Leading leading = elements if isinstance(elements, Leading) else None
    cdef Py_ssize_t number = 0
    cdef Anchor *anchor
    cdef bint room
    for item in elements if leading is None else leading.items:
        if item is None:
            anchor = &leading.anchors[number]
            number += 1
            room = finder.add_plain(
                <const char *> leading.page + anchor.href,
                anchor.href_size,
                <const char *> leading.marked + anchor.text,
                anchor.text_size,
            )
        else:
            tag, attributes, text = item
            room = finder.add(tag, attributes, text, related)
        if not room:
            break
    return finder.links(), related
