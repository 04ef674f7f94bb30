# Part of quick_columns.pyx: the links of a block.


cdef class BlockLinks:
    """See `larm.graph.columns.BlockLinks`, as for all that it does."""

    cdef View kinds, pages, counts, nodes, targets, anchors
    cdef Py_ssize_t rows, links, texts

    def __init__(self, block):
        cdef Py_ssize_t n
        cdef uint64_t links = 0
        self.kinds, self.pages, self.counts = view(block.kinds, 1), view(block.pages, 8), view(block.counts, 4)
        self.nodes, self.targets, self.anchors = view(block.nodes, 8), view(block.targets, 4), view(block.anchors, 4)
        self.rows, self.links, self.texts = self.kinds.count, self.targets.count, block.texts.count(b"\n") + 1
        if not self.rows == self.pages.count == self.counts.count == block.urls.count(b"\n") + 1:
            raise ValueError("its rows are incomplete")
        for n in range(self.rows):
            links += self.counts.numbers[n]
            if self.kinds.bytes[n] == MOVED and not self.counts.numbers[n]:
                raise ValueError("a page moved nowhere")
        if links != <uint64_t> self.links or self.links != self.anchors.count or self.nodes.count > <Py_ssize_t> UINT32_MAX:
            raise ValueError("its links are incomplete")
        for n in range(self.links):
            if self.targets.numbers[n] >= self.nodes.count or self.anchors.numbers[n] >= self.texts:
                raise ValueError("a link leads out of it")

    def goals(self):
        cdef array.array made = array.clone(WORDS, self.rows, zero=True)
        cdef Py_ssize_t row, first = 0
        for row in range(self.rows):
            if self.kinds.bytes[row] == MOVED:
                words_of(made)[row] = self.nodes.words[self.targets.numbers[first]]
            first += self.counts.numbers[row]
        return memoryview(made)

    def named(self, bytes alive not None, tuple aliases not None):
        cdef array.array used = array.clone(NUMBERS, self.nodes.count, zero=True)
        cdef array.array made = array.clone(WORDS, self.nodes.count + self.rows, zero=False)
        cdef View moved, goals
        cdef const char *living = self.living(alive)
        cdef Py_ssize_t row, n, link = 0, count = 0
        cdef bint whole
        moved, goals = pair_of(aliases)
        for row in range(self.rows):
            if living[row]:
                words_of(made)[count] = self.pages.words[row]
                count += 1
                for n in range(link, link + self.counts.numbers[row]):
                    numbers_of(used)[self.targets.numbers[n]] = 1
            link += self.counts.numbers[row]
        whole = count == self.rows
        for n in range(self.nodes.count):
            if whole or numbers_of(used)[n]:
                words_of(made)[count] = alias(self.nodes.words[n], moved, goals)
                count += 1
        return cut(made, count)

    def numbered(self, bytes alive not None, tuple aliases not None, nodes, texts):
        cdef View moved, goals, among = view(nodes, 8), words = view(texts, 4)
        cdef array.array places = array.clone(NUMBERS, self.nodes.count, zero=False)
        cdef array.array pages = array.clone(NUMBERS, self.rows, zero=False)
        cdef array.array backlinks = array.clone(NUMBERS, 3 * self.links, zero=False)
        cdef const char *living = self.living(alive)
        cdef Py_ssize_t row, n, link = 0, count = 0, others = 0
        cdef uint32_t source, target
        cdef uint32_t *other = numbers_of(backlinks)
        if words.count != self.texts:
            raise ValueError("not the block's texts")
        moved, goals = pair_of(aliases)
        for n in range(self.nodes.count):
            numbers_of(places)[n] = place_of(among.words, among.count, alias(self.nodes.words[n], moved, goals))
        for row in range(self.rows):
            if living[row]:
                source = place_of(among.words, among.count, self.pages.words[row])
                numbers_of(pages)[count] = source
                count += 1
                for n in range(link, link + self.counts.numbers[row]):
                    target = numbers_of(places)[self.targets.numbers[n]]
                    if target != source:  # that a page links to itself is no recommendation
                        other[0], other[1], other[2] = target, source, words.numbers[self.anchors.numbers[n]]
                        other += 3
            link += self.counts.numbers[row]
        others = other - numbers_of(backlinks)
        return cut(pages, count), *self.once(living, places, pages), cut(backlinks, others)

    cdef tuple once(self, const char *living, array.array places, array.array pages):
        """(sources, counts, targets): of several links of a page to another, one.

        Links are dealt to their targets, and then, target after target, to their pages: so each page's are sorted.
        """
        cdef Order order = Order(self.nodes.count)
        cdef array.array ranks = array.clone(NUMBERS, self.nodes.count, zero=False)
        cdef array.array ends = array.clone(NUMBERS, self.nodes.count + 1, zero=True)
        cdef array.array dealt = array.clone(NUMBERS, self.links, zero=False)
        cdef array.array targets = array.clone(NUMBERS, self.links, zero=False)
        cdef array.array sources = array.clone(NUMBERS, self.rows, zero=False)
        cdef array.array counts = array.clone(NUMBERS, self.rows, zero=False)
        cdef array.array firsts = array.clone(NUMBERS, self.rows, zero=False)
        cdef array.array filled = array.clone(NUMBERS, self.rows, zero=False)
        cdef uint32_t *rank = numbers_of(ranks)
        cdef uint32_t *end = numbers_of(ends)
        cdef uint32_t *target = numbers_of(targets)
        cdef uint32_t *first = numbers_of(firsts)
        cdef uint32_t *stop = numbers_of(filled)
        cdef uint32_t number, page
        cdef Py_ssize_t row, n, link = 0, used = 0, count = 0, kept = 0, some = 0, distinct = 0
        for n in range(self.nodes.count):
            order.room[n].key, order.room[n].place = numbers_of(places)[n], n
        order.sort()
        for n in range(self.nodes.count):
            distinct += n and order.pairs[n].key != order.pairs[n - 1].key
            rank[order.pairs[n].place] = distinct
        for row in range(self.rows):
            if living[row]:
                first[count] = stop[count] = used
                count += 1
                used += self.counts.numbers[row]
                for n in range(link, link + self.counts.numbers[row]):
                    end[rank[self.targets.numbers[n]] + 1] += 1
            link += self.counts.numbers[row]
        for n in range(self.nodes.count):
            end[n + 1] += end[n]
        link = count = 0
        for row in range(self.rows):  # now `end` is where those of a target begin, and then again where they end
            if living[row]:
                for n in range(link, link + self.counts.numbers[row]):
                    number = rank[self.targets.numbers[n]]
                    numbers_of(dealt)[end[number]] = count
                    end[number] += 1
                count += 1
            link += self.counts.numbers[row]
        link = 0
        for n in range(self.nodes.count):
            if n and order.pairs[n].key == order.pairs[n - 1].key:
                continue
            number = order.pairs[n].key
            while link < end[rank[order.pairs[n].place]]:
                page = numbers_of(dealt)[link]
                if stop[page] == first[page] or target[stop[page] - 1] != number:
                    target[stop[page]] = number
                    stop[page] += 1
                link += 1
        for row in range(count):
            if stop[row] > first[row]:
                numbers_of(sources)[some], numbers_of(counts)[some] = numbers_of(pages)[row], stop[row] - first[row]
                some += 1
                for n in range(first[row], stop[row]):
                    target[kept] = target[n]
                    kept += 1
        return cut(sources, some), cut(counts, some), cut(targets, kept)

    cdef const char *living(self, bytes alive) except NULL:
        if len(alive) != self.rows:
            raise ValueError("not the block's rows")
        return PyBytes_AS_STRING(alive)
