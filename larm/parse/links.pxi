# The elements of a page that may have an address, in columns, and the resolution of their links by a memo of their site.

cdef list KEPT = sorted(ASKED)
cdef list ALL_NAMES = [*KEPT, "class", "id", "role", "style", "hidden"]
cdef int[KNOWN] codes  # code by lexbor's number of an attribute name: one more than the index in ALL_NAMES
cdef list RARE = []  # (name, code) of attribute names without a number in lexbor's tables
cdef int LAST_KEPT = len(KEPT)
cdef int _ALT = KEPT.index("alt") + 1, _HREF = KEPT.index("href") + 1, _REL = KEPT.index("rel") + 1
cdef int _SRC = KEPT.index("src") + 1
cdef int _SRCDOC = KEPT.index("srcdoc") + 1, _XLINK = KEPT.index("xlink:href") + 1, _ITEMPROP = KEPT.index("itemprop") + 1
cdef int _CLASS = LAST_KEPT + 1, _ID = LAST_KEPT + 2, _ROLE = LAST_KEPT + 3, _STYLE = LAST_KEPT + 4, _HIDDEN = LAST_KEPT + 5
cdef Py_ssize_t MOST = MAX_TEXT, MOST_OF_ANCHOR = MAX_ANCHOR
cdef enum:
    LONG = 1_000  # bytes; longer elements and addresses are not kept in the memo

cdef uint64_t LEADING = 1 << _HREF | 1 << _SRC | 1 << KEPT.index("data") + 1  # attributes with addresses, as bits
cdef tuple NOWHERE = (None, False, None)

cdef enum Signs:
    OF_PATH = 1
    OF_QUERY = 2
    UPPER = 4

cdef Byte[256] signs  # characters that both forms of an address keep (`larm.model.url`)
for _byte in range(128):
    _sign = chr(_byte)
    signs[_byte] = (
        OF_PATH * (_sign.isalnum() or _sign in "_-./")
        | OF_QUERY * (_sign.isalnum() or _sign in "_-.=&;")
        | UPPER * _sign.isupper()
    )
cdef bint[8192] escapes  # by two hex digits: True if the normal form keeps the escape
for _byte in range(256):
    escapes[_byte] = ESCAPE.fullmatch(f"%{_byte:02X}") is not None
cdef enum:
    NO_ESCAPE = 256  # as a digit, it leads behind all that are


cdef int _learn_attributes() except -1:
    cdef Parser parser = Parser()
    cdef Attribute *each
    cdef Node *node
    cdef uintptr_t number
    cdef size_t size = 0
    cdef const Byte *name
    parser.parse(b"<p " + " ".join(ALL_NAMES).encode() + b">", False, 1, 1_000_000)
    node = parser.root.child.next.child
    each = (<Element *> node).first
    while each != NULL:
        name = name_of(each, &size)
        code = ALL_NAMES.index(_text(name, size)) + 1
        number = each.qualified or each.node.name
        if number < KNOWN:
            codes[number] = code
        else:
            RARE.append((_text(name, size).encode(), code))
        each = each.next
    RARE.append((b"xlink:href", _XLINK))
    return 0


cdef int _name(Attribute *attribute) except -1:
    """Return the code of an attribute, or 0 for one that is not used."""
    cdef uintptr_t number = attribute.qualified or attribute.node.name
    cdef size_t size = 0
    cdef const Byte *said
    cdef bytes name
    if number < KNOWN:
        return codes[number]
    said = name_of(attribute, &size)
    for name, code in RARE:
        if len(name) == <Py_ssize_t> size and memcmp(said, <const char *> name, size) == 0:
            return code
    return 0


cdef inline str _said(Attribute *attribute):
    return None if attribute.value == NULL else _text(attribute.value.data, attribute.value.size)


cdef Str *_value(Element *element, bytes name) except? NULL:
    """Return the value of an attribute, or NULL."""
    cdef Attribute *each = element.first
    cdef size_t size = 0
    cdef const Byte *said
    while each != NULL:
        said = name_of(each, &size)
        if <Py_ssize_t> size == len(name) and memcmp(said, <const char *> name, size) == 0:
            return each.value if each.value != NULL else &NO_VALUE
        each = each.next
    return NULL

cdef Str NO_VALUE
NO_VALUE.data, NO_VALUE.size = NULL, 0


cdef dict _attributes(Element *element):
    """Return the attributes that are used, by name."""
    cdef dict found = {}
    cdef Attribute *each = element.first
    cdef int code
    while each != NULL:
        code = _name(each)
        if 0 < code <= LAST_KEPT:
            found[KEPT[code - 1]] = _said(each)
        each = each.next
    return found


cdef struct Entry:
    uintptr_t tag  # 0: an element of an inner reading
    uint64_t asked  # one bit for each attribute
    Py_ssize_t begin, end  # range of its attributes in ``data``; of an inner reading: its index in ``others``
    Py_ssize_t href, said, last  # of a link: begin of its address, of its text, and end of both


cdef class Target:
    """A resolved link with its text: the same as `larm.model.links.Row`, as bytes."""

    cdef bytes line, access, normalised, host, anchor
    cdef uint64_t fingerprint

    cdef object url(self):
        return Url(self.access.decode(), self.normalised.decode(), self.host.decode(), self.fingerprint)


cdef class Elements:
    """A sequence of `larm.parse.page.Element`, which are made on access."""

    cdef Column data, entries
    cdef list others
    cdef Py_ssize_t size

    def __cinit__(self):
        self.data, self.entries, self.others = Column(), Column(), []

    cdef inline Entry *at(self, Py_ssize_t place) noexcept:
        return <Entry *> self.entries.data + place

    cdef int add(self, Element *element, uintptr_t tag) except -1:
        """Append an element. Each attribute is stored as code, flag (has a value), size and value."""
        cdef Entry entry
        cdef Attribute *each = element.first
        cdef int code
        cdef uint32_t size
        entry.tag, entry.asked, entry.begin = tag, 0, self.data.used
        while each != NULL:
            code = _name(each)
            if 0 < code <= LAST_KEPT and not entry.asked >> code & 1:
                entry.asked |= <uint64_t> 1 << code
                size = 0 if each.value == NULL else each.value.size
                self.data.put(code)
                self.data.put(each.value != NULL and each.value.data != NULL)
                self.data.append(&size, 4)
                if size:
                    self.data.append(each.value.data, size)
            each = each.next
        entry.end = entry.href = entry.said = entry.last = self.data.used
        self.size += 1
        return self.entries.append(&entry, sizeof(Entry))

    cdef int drop(self) except -1:
        """Remove the last element."""
        self.size -= 1
        self.data.used = self.at(self.size).begin
        self.entries.used -= sizeof(Entry)
        return 0

    cdef int extend(self, others) except -1:
        """Append the elements of an inner reading."""
        cdef Entry entry
        for each in others:
            entry.tag, entry.asked, entry.begin = 0, 0, len(self.others)
            self.others.append(each)
            self.entries.append(&entry, sizeof(Entry))
            self.size += 1
        return 0

    cdef inline bint has(self, int code) noexcept:
        """Return True if the last element has an attribute."""
        return self.at(self.size - 1).asked >> code & 1

    cdef const Byte *value(self, Entry *entry, int code, uint32_t *size) noexcept:
        """Return the value of an attribute, or NULL."""
        cdef Byte *at = self.data.data + entry.begin
        cdef Byte *end = self.data.data + entry.end
        while at < end:
            memcpy(size, at + 2, 4)
            if at[0] == code:
                return at + 6 if at[1] else NULL
            at += 6 + size[0]
        size[0] = 0
        return NULL

    cdef dict attributes(self, Py_ssize_t place):
        """Return all attributes of an element."""
        cdef dict found = {}
        cdef Entry *entry = self.at(place)
        cdef Byte *at = self.data.data + entry.begin
        cdef Byte *end = self.data.data + entry.end
        cdef uint32_t size
        while at < end:
            memcpy(&size, at + 2, 4)
            found[KEPT[at[0] - 1]] = _text(at + 6, size) if at[1] else None
            at += 6 + size
        return found

    cdef bint leads(self, bint based) noexcept:
        """Return True if the last element, a link, has an address (LARM-102).

        ``based``: a mere fragment leads to another page.
        """
        cdef uint32_t size = 0
        cdef const Byte *href = self.value(self.at(self.size - 1), _HREF, &size)
        return size and href[0] != c"#" or self.has(_XLINK) or based and self.has(_HREF)

    cdef int say(self, Py_ssize_t place, const Byte *text, Py_ssize_t size) except -1:
        """Store the text of a link that has ended."""
        cdef Entry *entry = self.at(place)
        cdef uint32_t length = 0
        cdef const Byte *href
        cdef bytes cut
        if self.data.used + entry.end - entry.begin > self.data.room:
            self.data.grow(entry.end - entry.begin)  # first, because growing moves the bytes that are appended
        href = self.value(entry, _HREF, &length)
        if not length:
            href = self.value(entry, _XLINK, &length)
        if not length and entry.asked >> _HREF & 1:
            href, length = b"#", 1
        entry.href = self.data.used
        self.data.append(href, length)
        self.data.put(0)
        entry.said = self.data.used
        if size > MOST:
            cut = PyUnicode_DecodeUTF8(<const char *> text, size, "replace")[:MOST].encode()
            self.data.append(<const char *> cut, len(cut))
        else:
            self.data.append(text, size)
        entry.last = self.data.used
        return 0

    def __len__(self):
        return self.size

    def __getitem__(self, place):
        if isinstance(place, slice):
            return list(self)[place]
        if not 0 <= place < self.size:
            raise IndexError(place)
        cdef Entry *entry = self.at(place)
        if not entry.tag:
            return self.others[entry.begin]
        return NAMES[entry.tag], self.attributes(place), self.data.text(entry.said, entry.last)

    def __eq__(self, other):
        return list(self) == list(other)

    def find(self, page, Py_ssize_t most):
        """Resolve the links, see `larm.parse.links.find`. ``page``: the `PageFinder` of the page."""
        return (<Finder> Finder(self, page)).all(most)


cdef class Finder:
    """Resolves the links of one page.

    The memo is not used for non-ASCII addresses of a page in another encoding, because their queries are encoded in it.
    """

    cdef Elements elements
    cdef object page, resolver
    cdef dict in_directory, in_site, keys
    cdef bytes directory, root, host
    cdef bint goes, embedded, charset, plain, plain_host, lowercase, plain_address
    cdef int kept
    cdef Column address
    cdef tuple empty

    def __cinit__(self, Elements elements, page):
        resolver = page.resolver
        self.elements, self.page, self.resolver, self.goes, self.embedded = elements, page, resolver, page.follow, page.embedded
        self.charset = bool(page.charset)
        self.address = Column()
        self.in_directory, self.in_site, self.keys = resolver.hrefs.targets, resolver.site.targets, resolver.normalizer.keys
        self.directory, self.root = resolver.directory.encode(), resolver.root.encode()
        self.lowercase = resolver.normalizer.lowercase_path
        _, _, authority = resolver.origin.partition("://")
        self.host = (self.keys.get(authority) or (authority and resolver.normalizer.key_of(authority))).encode()
        self.plain_host = self.host == authority.encode() != b""
        self.plain = self.plain_host and self.is_plain(self.directory, len(self.root), len(self.directory))

    cdef object all(self, Py_ssize_t most):
        cdef Elements elements = self.elements
        cdef Py_ssize_t place, count = min(elements.size, most), room = most * BYTES
        cdef Entry *entry
        cdef Target found
        cdef bint goes
        cdef dict places = {}  # index in ``targets`` by line
        cdef list targets = [], related = []
        cdef Column follow = Column()
        if elements.size > most:
            self.page.cut_off(elements.size, most)
        for place in range(count):
            entry = elements.at(place)
            if entry.tag and rules[entry.tag] & IS_ANCHOR:
                goes = self.page.follows(elements.attributes(place)) if entry.asked >> _REL & 1 else self.goes
                found = self.of_link(entry)
            else:
                known = self.of_other(place, entry)
                found, goes = known[0], known[1]
                if known[2] is not None:
                    related.append(known[2])
            if found is None:
                continue
            known = places.get(found.line)
            if known is None:
                room -= len(found.line)
                if room < 0:
                    self.page.cut_off(count, len(targets))
                    break
                places[found.line] = len(targets)
                targets.append(found)
                follow.put(goes)
            elif goes:  # the address of an image that is also a link
                follow.data[<Py_ssize_t> known] = True
        if self.kept:
            self.resolver.hold(self.kept)
        return _links(targets, follow), related

    cdef Target of_link(self, Entry *entry):
        """Resolve an ``<a>``."""
        cdef Column data = self.elements.data
        cdef const Byte *href = data.data + entry.href
        cdef Py_ssize_t size = entry.said - 1 - entry.href
        cdef bytes key = data.piece(entry.href, entry.last)
        cdef dict known = self.known(href, size) if not self.charset or key.isascii() else {}
        cdef PyObject *found = PyDict_GetItem(known, key)
        cdef Target target
        if found != NULL:
            return <object> found
        target = self.target(href, size, 0, self.squeezed(data.data + entry.said, entry.last - entry.said))
        if self.plain_address or self.is_kept(_text(href, size)):
            self.keep(known, key, target)
        return target

    cdef tuple of_other(self, Py_ssize_t place, Entry *entry):
        """Resolve any other element. Return the target, whether it is followed, and of a ``<link>`` its attributes and Url."""
        cdef Elements elements = self.elements
        cdef bytes key, address
        cdef dict known
        cdef PyObject *found
        cdef Target target
        cdef const Byte *source
        cdef const Byte *text
        cdef uint32_t size = 0, length = 0
        if not entry.tag:
            tag, attributes, said = elements.others[entry.begin]
        elif not entry.asked & LEADING:
            return NOWHERE
        else:
            key = b"%d %d" % (entry.tag, self.goes + 2 * self.embedded) + elements.data.piece(entry.begin, entry.end)
            known = self.in_directory if not self.charset or key.isascii() else {}
            found = PyDict_GetItem(known, key)
            if found != NULL:
                return <tuple> found
            if rules[entry.tag] & (IS_IMAGE | IS_SCRIPT) and not self.embedded:  # recorded, not followed
                source = elements.value(entry, _SRC, &size)
                if self.glued(source, size) is not None:
                    text = elements.value(entry, _ALT, &length) if rules[entry.tag] & IS_IMAGE else NULL
                    return self.keep(known, key, (self.target(source, size, 0, self.squeezed(text, length)), False, None))
            tag, attributes = NAMES[entry.tag], elements.attributes(place)
        left, self.page.left = self.page.left, {}
        if tag == "a":
            href = attributes.get("href") or attributes.get("xlink:href") or ("#" if "href" in attributes else "")
            said, kind, goes = anchor(said), 0, self.page.follows(attributes)
        else:
            href, said, kind, goes = self.page.other(tag, attributes)
        says, self.page.left = bool(self.page.left), {**left, **self.page.left}
        if not href:
            return NOWHERE
        address = href.encode("utf-8", "surrogatepass")
        target = self.target(address, len(address), kind, said.encode("utf-8", "replace"))
        made = (target, goes, None)
        if tag == "link" and target is not None:
            made = (target, goes, (attributes, target.url()))
        if entry.tag and not says and (self.plain_address or self.is_kept(href)):
            self.keep(known, key, made)
        return made

    cdef bint is_kept(self, str href) except -1:
        """Return True if other pages may reuse the result, and no warning belongs to it."""
        return href not in self.page.malformed and self.resolver.keeps(href)

    cdef object keep(self, dict known, bytes key, found):
        """Store a result in the memo, and return it."""
        if len(key) <= LONG:
            known[key] = found
            self.kept += 1
        return found

    cdef inline dict known(self, const Byte *href, Py_ssize_t size):
        """Return the memo for an address: that of the site, or of the directory (`larm.model.link_memo`)."""
        if size and href[0] == c"/" or size >= 7 and (memcmp(href, b"http://", 7) == 0 or memcmp(href, b"https:/", 7) == 0):
            return self.in_site
        return self.in_directory

    cdef Target target(self, const Byte *href, Py_ssize_t size, int kind, bytes words):
        """Resolve an address. Python resolves one that is not plain. Return None if there is no target."""
        cdef Column line = self.address
        cdef Target found = Target()
        found.host = self.glued(href, size)
        self.plain_address = found.host is not None
        if self.plain_address:
            found.access = found.normalised = line.piece(0, line.used)
            found.fingerprint = <uint64_t> xxh3_64_intdigest(found.access) >> 1
        else:
            url = self.address_of(_text(href, size)) if size else None
            if url is None:
                return None
            found.access, found.normalised, found.host = url.access.encode(), url.normalised.encode(), url.host.encode()
            found.fingerprint = url.fingerprint
        found.anchor, found.line = words, b"%b\t%b\t%d\t%b\n" % (found.access, found.normalised, kind, words)
        return found

    cdef object address_of(self, str href):
        """Resolve an address in Python. All mere fragments have one result."""
        if href[0] != "#":
            return self.page.resolve(href)
        if self.empty is None:
            self.empty = (self.page.resolve("#"),)
        return self.empty[0]

    cdef bytes squeezed(self, const Byte *text, Py_ssize_t size):
        """Return the text of a link as `larm.parse.readable.anchor` does, which is called for non-ASCII texts."""
        cdef Column found = self.address
        cdef Py_ssize_t n
        cdef bint white = True
        found.used = 0
        for n in range(size):
            if text[n] >= 127 or (text[n] < 32 and not _is_white(text[n])):
                return anchor(_text(text, size)).encode("utf-8", "replace")
            if not _is_white(text[n]):
                found.put(text[n])
                white = False
            elif not white:
                found.put(c" ")
                white = True
        found.used -= white and found.used > 0
        return found.piece(0, min(found.used, MOST_OF_ANCHOR))

    cdef bytes glued(self, const Byte *href, Py_ssize_t size):
        """Write a plain address to ``self.address`` and return the key of its host; return None for any other address."""
        cdef Column address = self.address
        cdef const Byte *end = <const Byte *> memchr(href, c"#", size) if size else NULL
        cdef Py_ssize_t at = 0, base = len(self.directory), root = len(self.root), begin
        cdef bytes host = self.host
        address.used = 0
        size = size if end == NULL else end - href
        if not size or href[0] == c"?":
            return None
        if size > root and memcmp(href, <const char *> self.root, root) == 0:
            at = base = root
        elif (href[0] == c"h" and size > 8 or href[0] == c"/") and (at := self.behind_scheme(href, size)):
            end = <const Byte *> memchr(href + at, c"/", size - at)
            end = href + size if end == NULL else end
            authority = PyUnicode_DecodeUTF8(<const char *> href + at, end - href - at, "replace")
            if self.host_key(authority) != authority:
                return None
            host, base = authority.encode(), 0
            address.append(href, end - href)
            address.put(c"/")
            at = min(size, end - href + 1)
        elif href[0] == c"/":
            at, base = 1, root
        else:
            while size - at >= 3 and memcmp(href + at, b"../", 3) == 0:
                at += 3
                if base > root:
                    base -= 1
                    while self.directory[base - 1] != c"/":
                        base -= 1
        if base and not (self.plain_host if base == root else self.plain) or size - at > LONG:
            return None
        address.append(<const char *> self.directory, base)
        begin = address.used
        address.append(href + at, size - at)
        return host if self.is_plain(address.piece(begin, address.used), 0, address.used - begin) else None

    cdef Py_ssize_t behind_scheme(self, const Byte *href, Py_ssize_t size) except -1:
        """Return the index of the host, or 0. Writes the scheme to ``self.address`` if the address has none."""
        if memcmp(href, b"http://", 7) == 0:
            return 7
        if memcmp(href, b"https://", 8) == 0:
            return 8
        if size > 2 and href[0] == c"/" and href[1] == c"/" and self.plain_host:
            self.address.append(<const char *> self.root, <Py_ssize_t> self.root.index(b"/"))
            return 2
        return 0

    cdef object host_key(self, str authority):
        """Return the key of a host, or None if it is not plain."""
        key = self.keys.get(authority)
        if key is None and is_plain_host(authority) is not None:
            return self.resolver.normalizer.key_of(authority)
        return key if ":" not in authority else None

    cdef bint is_plain(self, bytes path, Py_ssize_t at, Py_ssize_t end) except -1:
        """Return True if both forms of an address keep this part, which begins behind a slash (`larm.model.url`)."""
        cdef const Byte *text = path
        cdef int asked = OF_PATH
        cdef Byte before = c"/"
        while at < end:
            if asked == OF_PATH and text[at] == c"?" and at + 1 < end:
                asked = OF_QUERY
            elif text[at] == c"%" and at + 2 < end and escapes[_hex(text[at + 1]) << 4 | _hex(text[at + 2])]:
                at += 2
            elif not signs[text[at]] & asked or (signs[text[at]] & UPPER and self.lowercase):
                return False
            elif before == c"/" and (text[at] in b"/." or _begins(text + at, end - at, b"index.")):
                return False
            elif before == c"/" and _begins(text + at, end - at, b"default."):
                return False
            before = text[at] if asked == OF_PATH else 0
            at += 1
        return True


cdef inline int _hex(Byte sign) noexcept:
    """Return the value of a hex digit; of another character one that makes an escape that is not kept."""
    return sign - c"0" if c"0" <= sign <= c"9" else sign - c"A" + 10 if c"A" <= sign <= c"F" else NO_ESCAPE


cdef bint _begins(const Byte *text, Py_ssize_t size, const char *name) noexcept:
    """Return True if a text begins with a name, ignoring case."""
    cdef Py_ssize_t n = 0
    while name[n]:
        if n == size or text[n] | 32 != <Byte> name[n] | 32:
            return False
        n += 1
    return True


cdef object _links(list targets, Column follow):
    """Return the targets as `larm.model.links.Links`."""
    cdef Target each
    cdef Py_ssize_t place
    cdef Column lines = Column(), fingerprints = Column(), hosts = Column(), accesses = Column(), anchors = Column()
    if not targets:
        return NONE
    for place in range(len(targets)):
        each = targets[place]
        lines.append(<const char *> each.line, len(each.line))
        fingerprints.append(&each.fingerprint, 8)
        hosts.line(each.host)
        if follow.data[place]:
            follow.data[place] = 1 if each.access is each.normalised or each.access == each.normalised else SPELLED
            accesses.line(each.access)
            anchors.line(each.anchor)
    return Links(
        lines.piece(0, lines.used),
        fingerprints.piece(0, fingerprints.used),
        hosts.text(0, hosts.used - 1),
        follow.piece(0, follow.used),
        accesses.text(0, accesses.used - 1),
        anchors.text(0, anchors.used - 1),
    )
