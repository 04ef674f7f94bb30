"""Pages that another process reads come back as this one would read them, and what ends that process costs one page."""

from __future__ import annotations

import gzip
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from larm.config import ProcessingSettings
from larm.index.duplicates.novelty import page_text
from larm.kit.processes.frames import LENGTH
from larm.kit.processes.helper_process import MAX_ANSWER, Died, HelperProcess, TookTooLong
from larm.model.document import Document
from larm.model.host_resolver import parse_rules
from larm.model.lease import Lease
from larm.model.link_memo import LinkMemo
from larm.model.message import URLMessage
from larm.model.outcome import Fetched, Timing
from larm.model.url import URLNormalizer
from larm.parse.by_mime import processors
from larm.parse.reading import page_reader
from larm.parse.reading.ahead import CHILD, MEMORY
from larm.parse.reading.page_reader import Found, Lost, Page, PageReader
from larm.parse.reading.protocol import Reply, Terms, allowance, decode_reply, encode_reply, plain
from tests.parse.reading.poisoned_child import CRASH, HANG, ONCE, POISON

RULES = "synonym(www.a.test)=a.test\n"
SETTINGS = ProcessingSettings(srcset=True)
OWN = ("text/x-own",)
POISONED = "tests.parse.reading.poisoned_child"


def terms(*, text: bool = True, judged: bool = False) -> Terms:
    return Terms(plain(SETTINGS), "larm", (False, True), RULES, False, text, 10_000_000, OWN, judged=judged)


def read(there: PageReader, pages: Sequence[Page]) -> list[Found]:
    """All of them at once."""
    there.hand(pages)
    taken, found = there.take()
    assert list(taken) == list(pages)
    return list(found)


def page(path: str, body: bytes | str, **headers: str) -> Page:
    url = URLNormalizer().parse(f"http://a.test/{path}")
    body = body.encode() if isinstance(body, str) else body
    fields = {"content-type": "text/html; charset=utf-8"} | {name.replace("_", "-"): value for name, value in headers.items()}
    return Lease(len(path), "a.test", URLMessage(url)), Fetched(200, fields, body, Timing(0.1, len(body)))


PAGES = [
    page("1", "<title>Ein Titel</title><h1>Kopf</h1><nav><a href=2>zwei</a></nav><p>Grüße aus <a href='//www.a.test/x'>X</a>"),
    page("2", "<meta name=robots content='noindex, nofollow'><a href=3>drei</a><link rel=canonical href=/1>"),
    page("3", "<a href='http://['>broken</a>", x_robots_tag="noarchive", link="</4>; rel=next"),
    page("4", b"\xff\xfe<\0p\0>\0x\0", last_modified="Sun, 06 Nov 1994 08:49:37 GMT"),
    page("5", "<img src=a srcset='b 2x'>"),
    page("6", ""),
]


@pytest.fixture
def counts() -> Counter[str]:
    return Counter()


def reader(counts: Counter[str], child: str = CHILD, *, text: bool = True, judged: bool = False) -> PageReader:
    def count(name: str, n: int) -> None:
        counts[name] += n

    return PageReader(terms(text=text, judged=judged), count, HelperProcess(child, MEMORY[SETTINGS.parser]))


@pytest.fixture
def poisoned(counts: Counter[str]) -> Iterator[PageReader]:
    found = reader(counts, POISONED)
    yield found
    found.close()


def here(pages: list[Page], *, text: bool = True) -> list[Document]:
    memo = LinkMemo(URLNormalizer(parse_rules(RULES, "rules")))
    process = processors(memo, SETTINGS, text=text).process
    return [process(lease.message, fetched) for lease, fetched in pages]


@pytest.mark.parametrize("text", [True, False])
def test_documents_are_the_same_as_here(counts: Counter[str], text: bool) -> None:
    there = reader(counts, text=text)
    try:
        assert read(there, PAGES) == here(PAGES, text=text)
        assert read(there, PAGES[:1]) == here(PAGES[:1], text=text)
        assert read(there, []) == []
    finally:
        there.close()
    assert not counts


@pytest.mark.parametrize("text", [True, False])
def test_text_is_sent_only_if_a_storage_or_a_judge_has_to_read_it(counts: Counter[str], text: bool) -> None:
    pages = [*PAGES, page("long", f"<title>Long</title><h1>Head</h1><p>{'all kinds of words ' * 200}<a href=b>b</a>")]
    whole = here(pages)
    if not text:  # nobody asks for these then
        whole = [replace(each, language="", description="", modified=0) for each in whole]
    there = reader(counts, text=text, judged=True)
    try:
        *short, long = read(there, pages)
    finally:
        there.close()
    made = [page_text(lease.message.url, document) for (lease, _), document in zip(pages, whole, strict=True)]
    expected = [replace(document, measured=each) for document, each in zip(whole, made, strict=True)]
    assert short == expected[:-1]
    assert long == (expected[-1] if text else replace(expected[-1], raw_text="", other_text=""))


def test_a_page_that_ends_the_process_costs_itself(poisoned: PageReader, counts: Counter[str]) -> None:
    pages = [PAGES[0], page("p", POISON), PAGES[1]]
    first, deadly, last = read(poisoned, pages)
    assert deadly is Lost.DEADLY
    assert [first, last] == here([PAGES[0], PAGES[1]])
    assert counts["processing/died"] == 3, "among others, alone, and by html5lib"
    assert read(poisoned, PAGES) == here(PAGES), "a new process goes on"


def test_a_page_on_which_lexbor_crashes_is_read_by_html5lib(poisoned: PageReader, counts: Counter[str]) -> None:
    pages = [PAGES[0], page("c", CRASH + b"<title>t</title><p>text<a href=x>link</a>"), PAGES[1]]
    assert read(poisoned, pages) == here(pages)
    assert counts == {"processing/died": 2, "processing/careful": 1}
    assert read(poisoned, PAGES) == here(PAGES)
    assert poisoned._process.starts == 3, "the last process goes on, with lexbor"


def test_who_was_there_once_when_it_died_is_read(poisoned: PageReader, counts: Counter[str], tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    flag.touch()
    pages = [PAGES[0], page("o", ONCE + str(flag).encode() + b" --><title>t</title>")]
    assert read(poisoned, pages) == here(pages)
    assert counts["processing/died"] == 1


def test_a_process_that_was_killed_is_replaced(poisoned: PageReader) -> None:
    assert read(poisoned, PAGES) == here(PAGES)
    process = poisoned._process._process
    assert process is not None
    process.kill()
    process.wait()
    assert read(poisoned, PAGES) == here(PAGES)


def test_where_no_process_can_be_had_pages_are_read_here(counts: Counter[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/nonexistent/python")
    assert read(reader(counts), PAGES) == [None] * len(PAGES)
    assert not counts


def test_several_batches_are_out_at_a_time(counts: Counter[str]) -> None:
    there = reader(counts)
    batches = [PAGES[:2], [], PAGES[2:], PAGES * 50]
    try:
        for number, batch in enumerate(batches):
            assert there.out == number
            there.hand(batch)
        assert [there.take() for _ in batches] == [(batch, here(batch)) for batch in batches]
        assert there.out == 0
    finally:
        there.close()
    assert not counts


def test_batches_behind_a_deadly_one_are_read(poisoned: PageReader, counts: Counter[str]) -> None:
    deadly = page("p", POISON)
    poisoned.hand(PAGES[:2])
    poisoned.hand([deadly])
    poisoned.hand([PAGES[3], deadly])
    poisoned.hand(PAGES[4:])
    first, second, third, fourth = (poisoned.take()[1] for _ in range(4))
    assert first == here(PAGES[:2])
    assert second == [Lost.DEADLY]
    assert third == [*here(PAGES[3:4]), Lost.DEADLY]
    assert fourth == here(PAGES[4:])
    assert counts["processing/died"] == 6, "each batch, and then the page alone, by either parser"


def test_what_was_answered_before_a_death_is_taken_though_more_was_handed_over(
    poisoned: PageReader, counts: Counter[str]
) -> None:
    poisoned.hand(PAGES[:2])
    poisoned.hand([page("p", POISON)])
    process = poisoned._process._process
    assert process is not None
    process.wait(20)
    poisoned.hand(PAGES[2:])
    assert [poisoned.take()[1] for _ in range(3)] == [here(PAGES[:2]), [Lost.DEADLY], here(PAGES[2:])]
    assert counts["processing/died"] == 3, "nobody died over the first batch"


def test_batches_behind_an_answer_of_nonsense_are_read(counts: Counter[str], monkeypatch: pytest.MonkeyPatch) -> None:
    there = reader(counts)
    there.hand(PAGES[:2])
    there.hand(PAGES[2:])
    try:
        with monkeypatch.context() as patched:
            patched.setattr(there._process, "receive", lambda _seconds, read: read(b"\xc1"))
            assert there.take()[1] == [None] * 2
        assert there.take()[1] == here(PAGES[2:])
    finally:
        there.close()


def test_what_is_no_utf_8_is_read_here(counts: Counter[str]) -> None:
    there = reader(counts)
    odd = page("x", "<title>x</title>", odd="\udcff")
    try:
        assert read(there, [odd]) == [None]
        assert read(there, PAGES) == here(PAGES)
    finally:
        there.close()


def test_documents_and_what_the_user_has_a_processor_for_are_read_elsewhere(counts: Counter[str]) -> None:
    there = reader(counts)
    odd = page("x", b"%PDF-1.4\n%\xe2\xe3\xcf\xd3", content_type="application/pdf")
    own = page("y", b"words", content_type=OWN[0])
    packed = page("z", gzip.compress(b"words \n" * 9), content_type="application/gzip")
    try:
        assert read(there, [PAGES[0], odd, own, packed]) == [*here(PAGES[:1]), None, None, *here([packed])]
    finally:
        there.close()


def test_answers_of_nonsense_are_no_answers(counts: Counter[str], monkeypatch: pytest.MonkeyPatch) -> None:
    there = reader(counts)
    monkeypatch.setattr(there._process, "send", lambda _frame, _seconds: None)
    for answer in (b"", b"\xc1", b"\x93\x90\x80\xc2", b"\x91\x01"):
        monkeypatch.setattr(there._process, "receive", lambda _seconds, read, answer=answer: read(answer))
        assert read(there, PAGES) == [None] * len(PAGES)


def once_told(there: PageReader, receive: Callable[[float], bytes]) -> Callable[..., object]:
    """For `HelperProcess.receive`: each process takes note of the terms."""
    answer, told = there._process.receive, 0

    def received(seconds: float, read: Callable[[memoryview], object]) -> object:
        nonlocal told
        if told == there._process.starts:
            return read(memoryview(receive(seconds)))
        told = there._process.starts
        return answer(seconds, read)

    return received


def test_one_that_never_answers_is_ended(counts: Counter[str], monkeypatch: pytest.MonkeyPatch) -> None:
    there = reader(counts)

    def hang(seconds: float) -> bytes:
        assert seconds > allowance([100, 100])
        raise Died("it took too long")

    monkeypatch.setattr(there._process, "receive", once_told(there, hang))
    try:
        assert read(there, PAGES[:2]) == [Lost.DEADLY] * 2
    finally:
        there.close()


def test_at_a_stop_nothing_is_tried_again(poisoned: PageReader, counts: Counter[str]) -> None:
    for batch in (PAGES[:2], [PAGES[2], page("p", POISON)], PAGES[3:5], PAGES[5:]):
        poisoned.hand(batch)
    poisoned.hurry()
    assert poisoned.take()[1] == here(PAGES[:2])
    assert [poisoned.take()[1] for _ in range(3)] == [[None] * n for n in (2, 2, 1)]
    assert counts["processing/died"] == 1
    assert poisoned._process.starts == 1


def test_a_page_that_takes_too_long_twice_is_set_aside(counts: Counter[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be read by another run, on a machine that has less else to do; here nothing would end it."""
    there = reader(counts)

    def hang(seconds: float) -> bytes:
        raise TookTooLong("it took too long")

    monkeypatch.setattr(there._process, "receive", once_told(there, hang))
    try:
        assert read(there, [PAGES[0], page("large", b"<p>" * 1_000_000)]) == [Lost.TOO_SLOW] * 2
    finally:
        there.close()


def test_a_page_whose_time_a_stop_cuts_short_is_not_lost(counts: Counter[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The stop comes while a batch that ended the process is tried page by page."""
    there = reader(counts)
    deaths = 0

    def dies(seconds: float) -> bytes:
        nonlocal deaths
        deaths += 1
        if deaths == 2:
            there.hurry()
        raise Died("it crashed")

    monkeypatch.setattr(there._process, "receive", once_told(there, dies))
    try:
        assert read(there, PAGES[:3]) == [None] * 3
    finally:
        there.close()
    assert deaths == 2, "the others are not even tried"


def test_a_stop_waits_for_no_second_batch(poisoned: PageReader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hangs = page("h", HANG + f" {tmp_path / 'x'} -->".encode())
    poisoned.hand(PAGES[:1])
    poisoned.hand([hangs])
    poisoned.hand(PAGES[1:])
    poisoned.take()
    poisoned.hurry()
    monkeypatch.setattr(page_reader, "HURRY", 0.05)
    assert poisoned.take()[1] == [None]
    assert poisoned._process._process is None
    assert poisoned.take()[1] == [None] * len(PAGES[1:])


def test_pages_with_more_links_than_an_answer_may_hold_are_read_one_by_one(counts: Counter[str]) -> None:
    """Each of their links repeats the base. What one page may have fits, what many have together takes too much memory."""
    base = f"http://a.test/{'x' * 1_900}/"
    long = page("long", f"<base href={base}>" + "".join(f"<a href={number:x}>" for number in range(30_000)))
    found = reader(counts)
    try:
        assert read(found, [long]) == here([long])
        assert counts["processing/died"] == 0
        assert read(found, [long] * 4) == here([long]) * 4
        assert read(found, PAGES) == here(PAGES)
    finally:
        found.close()
    assert counts["processing/died"] == 1


def test_documents_that_are_too_long_together_are_told_one_by_one() -> None:
    whole, frame, room = Reply(here(PAGES), {"a": 1}), bytearray(), bytearray(b"what was there before")
    encode_reply(whole, frame)
    encode_reply(whole, room, len(frame))
    assert room == frame
    assert decode_reply(frame) == whole
    with pytest.raises(MemoryError):
        encode_reply(whole, room, len(frame) - 1)
    one = Reply(here(PAGES[:1]), {"a": 1})
    encode_reply(one, room, 100)
    assert decode_reply(room) == Reply([None]), "who reads it counts it"
    assert len(frame) < MAX_ANSWER - LENGTH


def test_one_that_is_killed_before_it_is_asked_is_replaced_by_one_that_is_told(
    counts: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    there = reader(counts)
    there.start()
    start = there._process.start

    def start_and_kill() -> None:
        start()
        process = there._process._process
        assert process is not None
        process.kill()
        process.wait()

    try:
        with monkeypatch.context() as patched:
            patched.setattr(there._process, "start", start_and_kill)
            there.hand(PAGES)
        assert there.take()[1] == here(PAGES)
    finally:
        there.close()
    assert not counts, "nobody died over a page"


def test_no_page_is_to_blame_for_a_process_that_dies_before_it(counts: Counter[str]) -> None:
    there = reader(counts, "tests.parse.reading.unfit_child")
    try:
        there.start()
        assert counts["processing/died"] == 1
        assert read(there, PAGES[:2]) == [None] * 2
        assert counts["processing/died"] == 2
        assert read(there, PAGES[:2]) == [None] * 2, "no third one is tried"
        assert (counts["processing/died"], there._process.starts) == (2, 2)
    finally:
        there.close()


def test_one_that_got_further_may_be_tried_again(counts: Counter[str], tmp_path: Path) -> None:
    there = reader(counts, "tests.parse.reading.poisoned_child")
    poison = page("poison", POISON)
    try:
        for times in range(1, 4):
            assert read(there, [poison]) == [Lost.DEADLY]
            assert there._process.starts == 3 * times
        assert isinstance(read(there, [PAGES[0]])[0], Document)
    finally:
        there.close()


def test_one_that_is_not_needed_any_more_is_let_go(counts: Counter[str]) -> None:
    there = reader(counts)
    try:
        assert isinstance(read(there, [PAGES[0]])[0], Document)
        process = there._process._process
        assert process is not None
        there.dismiss()
        assert process.wait(20) == -signal.SIGKILL
    finally:
        there.close()
