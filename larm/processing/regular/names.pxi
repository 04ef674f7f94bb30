# What is known of elements by their names: a number for each, and what holds for it. Included by ``page.pyx``; filled once, when
# that is imported, then constant.

cdef enum Flag:
    BLOCK_ = 1
    CLOSING = 2  # what follows it is to be separated from what is in it
    VOID = 4
    RAW = 8  # its content is one text
    LINKS = 16  # may lead somewhere
    ABOUT = 32  # says something of the page
    HEADING_ = 64
    OUT_OF_P = 128  # a paragraph ends where it begins
    ODD = 256  # makes a page irregular
    BOX_ = 512
    SCOPE = 1024  # a paragraph around it does not end within it
    IMPLIED = 2048  # its end tag may be left out
    OF_TABLE = 4096  # may hold parts of tables only
    IN_HEAD = 8192  # may be there
    DRAWN = 16384  # may be within a drawing
    IN_TABLE = 32768  # a part of tables
    STOPS = 65536  # an item of a list around it does not end within it
    NAMED = 131072  # its id says something of it

# Names that the rules below speak of; all others have a number of their own, or none.
cdef enum:
    OTHER = 0
    A, BODY, BR, BUTTON, CAPTION, COL, COLGROUP, DD, DT, FORM, HEAD, HTML, IMG, LI, NOSCRIPT, P, PRE, SCRIPT, TABLE, TBODY, TD
    LEGEND, LINK, META, OPTGROUP, OPTION, SELECT, SVG, TFOOT, TH, THEAD, TITLE, TR, ADDRESS, DIV, STYLE, FIRST_FREE

_NUMBERED = (
    "a body br button caption col colgroup dd dt form head html img li noscript p pre script table tbody td"
    " legend link meta optgroup option select svg tfoot th thead title tr address div style"
).split()
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
_DRAWN = frozenset(
    "circle clippath defs ellipse g line lineargradient mask path polygon polyline radialgradient rect stop symbol use".split()
)
_ODD = frozenset(
    "applet frame frameset image isindex keygen listing marquee math nobr noframes object plaintext ruby search template xmp".split()
)
_OUT_OF_P = frozenset(
    "address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5"
    " h6 header hgroup hr li main menu nav ol p pre section summary table ul".split()
)
_HEADINGS = frozenset("h1 h2 h3 h4 h5 h6".split())
_FLAGS = (
    (BLOCK_, BLOCK),
    (CLOSING, BLOCK - INNER - _HEADINGS),
    (VOID, _VOID),
    (RAW, HIDDEN),
    (LINKS, LINKING - {"a"}),
    (ABOUT, SPEAKING),
    (HEADING_, _HEADINGS),
    (OUT_OF_P, _OUT_OF_P),
    (ODD, _ODD),
    (BOX_, BOXES),
    (NAMED, WITH_ID),
    (SCOPE, frozenset("button caption table td th".split())),
    (IMPLIED, frozenset("dd dt li p".split())),
    (OF_TABLE, frozenset("colgroup table tbody tfoot thead tr".split())),
    (IN_HEAD, frozenset("base link meta script style title".split())),
    (DRAWN, _DRAWN),
    (STOPS, (BLOCK | {"body", "noscript"}) - frozenset("address dialog div legend p".split())),
    (IN_TABLE, frozenset("caption col colgroup tbody td tfoot th thead tr".split())),
)
_KNOWN = [*_NUMBERED, *sorted(frozenset().union(*[names for _, names in _FLAGS]) - set(_NUMBERED))]
cdef unsigned char BLOCK_ENDS = ord(BLOCK_MARK[1]), HEADING_ENDS = ord(HEADING[1])
cdef unsigned char BOX_BEGINS = ord(BOX[1]), BOX_ENDS = ord(BOX_END[1])
cdef unsigned char LIGHT_BOX_BEGINS = ord(LIGHT_BOX[1]), LIGHT_BOX_ENDS = ord(LIGHT_BOX_END[1])
cdef bytes ANCHOR_BEGINS = ANCHOR.encode()
cdef list NAMES = ["", *_KNOWN]
cdef list BOXES_OF = [BoxesOf(name) if name in BOXES else None for name in NAMES]

cdef enum:
    SLOTS = 1024  # of the table of names
    MOST_NAMES = 256
    LONGEST_NAME = 16  # longer ones are none of ours

cdef struct Slot:
    uint64_t key
    int size
    int code

cdef Slot[SLOTS] slots
cdef int[MOST_NAMES] flags_of
cdef unsigned char[MOST_NAMES][2] mark_of
cdef int[MOST_NAMES] mark_size


cdef inline uint64_t _slot(uint64_t key, int size) noexcept nogil:
    return ((key ^ (<uint64_t> size << 56)) * <uint64_t> 0x9E3779B97F4A7C15) >> 54


cdef inline uint64_t _longer(uint64_t key, int size, unsigned char c) noexcept nogil:
    """The key of a name that is longer by one character. Up to eight it is the name itself."""
    return key | <uint64_t> c << (8 * size) if size < 8 else (key ^ c) * <uint64_t> 0x100000001B3


cdef inline int _code(uint64_t key, int size, Bytes name) noexcept:
    """The number of a name, of which ``name`` is the first byte."""
    cdef uint64_t at = _slot(key, size)
    while slots[at].size:
        if slots[at].key == key and slots[at].size == size:
            return slots[at].code if size <= 8 or _is_written(name, NAMES[slots[at].code]) else OTHER
        at = (at + 1) & (SLOTS - 1)
    return OTHER


cdef bint _is_written(Bytes place, str name) noexcept:
    """Whether the name stands there: one of more than eight characters may have the key of another."""
    cdef int i
    for i in range(len(name)):
        if (place[i] | 32) != <unsigned char> ord(name[i]):
            return False
    return True


def _learn():
    cdef uint64_t key, at
    assert len(NAMES) < MOST_NAMES and NAMES[FIRST_FREE - 1] == "style"
    for code, name in enumerate(NAMES):
        flags_of[code] = 0
        for flag, names in _FLAGS:
            if name in names:
                flags_of[code] |= flag
        sign = mark(name).encode()
        mark_size[code] = len(sign)
        for number, byte in enumerate(sign):
            mark_of[code][number] = byte
        if code:
            key = 0
            for number, byte in enumerate(name.encode()):
                key = _longer(key, number, byte)
            at = _slot(key, len(name))
            while slots[at].size:
                at = (at + 1) & (SLOTS - 1)
            slots[at].key, slots[at].size, slots[at].code = key, len(name), code


_learn()

