# lexbor inside selectolax's extension. Functions are found by their exported names. Nodes are read by their memory layout,
# which `learn` compares with lexbor's own accessors on a sample. A `Parser` owns one document and reuses it for each page.

ctypedef unsigned char Byte

cdef struct Str:
    Byte *data
    size_t size

cdef struct Node:
    void *events
    uintptr_t name, prefix, space
    void *document
    Node *next
    Node *previous
    Node *parent
    Node *child
    Node *last
    void *user
    int kind

cdef struct Text:
    Node node
    Str data

cdef struct Attribute:
    Node node
    uintptr_t upper, qualified
    Str *value
    void *owner
    Attribute *next

cdef struct Element:
    Node node
    uintptr_t upper, qualified
    Str *given
    Attribute *first
    Attribute *last
    Attribute *ident

cdef struct Memory:
    void *last
    void *first
    size_t least, pieces

cdef struct Arena:
    Memory *memory

cdef struct Document:
    Node node
    int mode, kind
    void *doctype
    Node *root
    void *others[5]
    Arena *arena  # holds the nodes
    void *tables[5]
    void *parser

cdef struct Stack:
    void **list
    size_t room, length

cdef struct Tree:
    void *tokenizer
    Document *document
    void *others[2]
    Stack *elements  # the stack of open elements
    Stack *formatting  # active formatting elements, with markers

ctypedef Document *(*_New)() noexcept nogil
ctypedef Document *(*_Free)(Document *) noexcept nogil
ctypedef unsigned int (*_Step)(Document *) noexcept nogil
ctypedef unsigned int (*_Chunk)(Document *, const Byte *, size_t) noexcept nogil
ctypedef void (*_Scripts)(Document *, bint) noexcept nogil
ctypedef Tree *(*_Tree)(void *) noexcept nogil
ctypedef Arena *(*_Arena)(Document *) noexcept nogil
ctypedef size_t (*_Length)(Memory *) noexcept nogil
ctypedef Byte *(*_Content)(Node *, size_t *) noexcept nogil
ctypedef const Byte *(*_Name)(Attribute *, size_t *) noexcept nogil
ctypedef Node *(*_Neighbour)(Node *) noexcept nogil
ctypedef Attribute *(*_First)(Node *) noexcept nogil
ctypedef const Byte *(*_Value)(Attribute *, size_t *) noexcept nogil

cdef _New new_document
cdef _Free free_document
cdef _Step begin_document, end_document
cdef _Chunk feed
cdef _Scripts with_scripts
cdef _Tree tree_of
cdef _Content content_of
cdef _Name name_of

cdef enum:
    TEXT = 3  # the DOM standard's number of this kind of nodes
    CHUNK = 4_096  # bytes parsed between two checks of the budget
    LEAST = 16  # bytes of the smallest chunk
    FEW = 40  # active formatting elements from which on chunks get smaller
    PER_BYTE = 66  # tree bytes for each byte of the largest harmless tree: repeated ``<p>``
    KNOWN = 512  # numbers of names in lexbor's tables are smaller; those of other names are addresses


cdef void *_found(void *library, bytes name) except NULL:
    cdef void *found = NULL if library == NULL else dlsym(library, name)
    if found == NULL:
        raise ImportError(f"selectolax does not export {name.decode()}")
    return found


cdef int _learn_lexbor(str file) except -1:
    global new_document, free_document, begin_document, end_document, feed, with_scripts, tree_of, content_of, name_of
    cdef void *library = dlopen(file.encode(), RTLD_LAZY)
    new_document = <_New> _found(library, b"lxb_html_document_create")
    free_document = <_Free> _found(library, b"lxb_html_document_destroy")
    begin_document = <_Step> _found(library, b"lxb_html_document_parse_chunk_begin")
    feed = <_Chunk> _found(library, b"lxb_html_document_parse_chunk")
    end_document = <_Step> _found(library, b"lxb_html_document_parse_chunk_end")
    with_scripts = <_Scripts> _found(library, b"lxb_dom_document_scripting_set_noi")
    tree_of = <_Tree> _found(library, b"lxb_html_parser_tree_noi")
    content_of = <_Content> _found(library, b"lxb_dom_node_text_content")
    name_of = <_Name> _found(library, b"lxb_dom_attr_qualified_name")
    _learn_document(
        <_Arena> _found(library, b"lxb_html_document_mraw_noi"), <_Length> _found(library, b"lexbor_mem_chunk_length_noi")
    )
    cdef Parser parser = Parser()
    parser.parse(SAMPLE, False, 1, 1_000_000)
    if not _is_known(
        parser.root,
        <_Neighbour> _found(library, b"lxb_dom_node_next_noi"),
        <_Neighbour> _found(library, b"lxb_dom_node_parent_noi"),
        <_Neighbour> _found(library, b"lxb_dom_node_first_child_noi"),
        <_First> _found(library, b"lxb_dom_element_first_attribute_noi"),
        <_Value> _found(library, b"lxb_dom_attr_value_noi"),
    ):
        raise ImportError("the nodes of selectolax have another layout")
    return 0


cdef int _learn_document(_Arena arena_of, _Length length_of) except -1:
    """Compare the layout of an empty document with lexbor's accessors, before any of its pointers is followed."""
    cdef Document *document = new_document()
    if document == NULL:
        raise MemoryError
    known = arena_of(document) == document.arena and document.parser == NULL and document.root == NULL
    if known:
        known = length_of(document.arena.memory) == document.arena.memory.pieces
    if known:
        known = begin_document(document) == 0 and document.parser != NULL and tree_of(document.parser).document == document
    free_document(document)
    if not known:
        raise ImportError("the documents of selectolax have another layout")
    return 0


cdef bytes SAMPLE = (
    b"<!DOCTYPE html><title>T</title><p class='a b' id=c hidden>d<!--e--><b>f</b> g<svg><a xlink:href=h>i</a></svg><p>j"
)


cdef bint _is_known(
    Node *root, _Neighbour next_of, _Neighbour parent_of, _Neighbour child_of, _First first_of, _Value value_of
) except -1:
    """Return True if the layout agrees with lexbor's accessors for each node of the sample."""
    cdef Node *node = root
    cdef Attribute *each
    cdef const Byte *said
    cdef size_t size = 0
    cdef int nodes = 0, values = 0
    while True:
        nodes += 1
        if next_of(node) != node.next or parent_of(node) != node.parent or child_of(node) != node.child:
            return False
        if node.kind == TEXT:
            said = content_of(node, &size)
            if size != (<Text *> node).data.size or memcmp(said, (<Text *> node).data.data, size):
                return False
        elif node.kind == 1:
            each = (<Element *> node).first
            if each != first_of(node):
                return False
            while each != NULL:
                said = value_of(each, &size)
                values += each.value != NULL
                if said != (NULL if each.value == NULL else each.value.data) or (said != NULL and size != each.value.size):
                    return False
                if (<Element *> node).ident == each and (size != 1 or said[0] != c"c"):
                    return False
                each = each.next
        if node.child != NULL:
            node = node.child
            continue
        while node != root and node.next == NULL:
            node = node.parent
        if node == root:
            return nodes == 16 and values == 3
        node = node.next


cdef class Parser:
    """A parser with one document. Each page replaces the tree of the last one."""

    cdef Document *document
    cdef Node *root
    cdef int64_t held  # bytes of the nodes of the page

    def __dealloc__(self):
        if self.document != NULL:
            free_document(self.document)

    cdef Py_ssize_t parse(self, bytes page, bint scripts, int64_t work, int64_t memory) except -1:
        """Parse a page within a budget (`larm.parse.hostile`). Return the number of bytes parsed. Raises MemoryError."""
        cdef const Byte *text = page
        cdef Py_ssize_t size = len(page), at
        if self.document == NULL:
            self.document = new_document()
            if self.document == NULL:
                raise MemoryError
        with nogil:
            at = self.feed_all(text, size, scripts, work, memory)
        self.root = self.document.root
        if at < 0 or self.root == NULL:
            self.drop()
            raise MemoryError("no tree")
        return at

    cdef Py_ssize_t feed_all(
        self, const Byte *text, Py_ssize_t size, bint scripts, int64_t work, int64_t memory
    ) noexcept nogil:
        """Parse chunk by chunk, and check the budget in between. Return the number of bytes parsed, or -1 on an error.

        A tag may climb all open elements, and reopen all active formatting elements: the more of them, the smaller the chunk.
        """
        cdef Tree *tree
        cdef Memory *held
        cdef Py_ssize_t at = 0, chunk
        if begin_document(self.document):
            return -1
        with_scripts(self.document, scripts)
        self.document.mode = 0  # lexbor keeps the quirks mode of the last page
        tree, held = tree_of(self.document.parser), self.document.arena.memory
        self.held = held.least * held.pieces
        while at < size and work >= 0 and memory >= 0:
            chunk = min(size - at, max(LEAST, CHUNK // (1 + <Py_ssize_t> tree.formatting.length // FEW)))
            if feed(self.document, text + at, chunk):
                return -1
            if chunk < size:
                work -= _tags(text + at, chunk) * <int64_t> tree.elements.length
                memory -= max(0, <int64_t> (held.least * held.pieces) - self.held - PER_BYTE * chunk)
                self.held = held.least * held.pieces
            at += chunk
        if end_document(self.document):
            return -1
        self.held = held.least * held.pieces
        return at

    cdef int drop(self) except -1:
        """Free the memory of the last page."""
        if self.document != NULL:
            free_document(self.document)
        self.document = self.root = NULL
        return 0


cdef Py_ssize_t _tags(const Byte *text, Py_ssize_t size) noexcept nogil:
    cdef const Byte *at = text
    cdef const Byte *end = text + size
    cdef Py_ssize_t found = 0
    while True:
        at = <const Byte *> memchr(at, c"<", end - at)
        if at == NULL:
            return found
        found += 1
        at += 1
