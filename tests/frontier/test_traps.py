"""What is remembered of one host's addresses, and the desk that asks it. For what becomes of what is held back: test_rounds."""

from __future__ import annotations

import random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.frontier.host_records import ROW, decode_host
from larm.frontier.traps.host_traps import HostTraps
from larm.frontier.traps.limits import TrapRules
from larm.frontier.traps.records import PatternRecord, State
from larm.frontier.traps.saved import decode_traps, row_of, traps_of
from larm.kit.disk.block_store import BlockStore
from larm.kit.disk.caching_queue import CachingQueue, QueueState
from larm.model.message import REDIRECT, UNKNOWN, URLMessage, decode_messages, encode_messages
from larm.model.novelty import Novelty
from larm.model.session_links import session_links
from larm.model.url_shape import parts_of
from larm.testing.fakes import Drops, message, url
from tests.frontier.rig import Rig, of, ok

SETTINGS = TrapRules(stale_pages=10)
HOST = "http://a.test"


@pytest.fixture
def store(tmp_path):
    made = BlockStore(tmp_path / "cachingqueue")
    yield made
    made.close()


@pytest.fixture
def traps(store: BlockStore) -> HostTraps:
    return HostTraps(make_queue=maker(store))


@pytest.fixture
def rig(store: BlockStore) -> Rig:
    return Rig(store, traps=SETTINGS)


def maker(store: BlockStore):
    def make(number: int, state: QueueState[URLMessage] | None) -> CachingQueue[URLMessage]:
        name = f"trap{number}-a.test"
        if state is None:
            return CachingQueue(name, 10, store, encode_messages, decode_messages)
        return CachingQueue.restore(state, name, 10, store, encode_messages, decode_messages)

    return make


def read(address: str, *, stale: bool = True, referrer: str = "", simhash: int = 0) -> Novelty:
    return Novelty(url(HOST + address), referrer and HOST + referrer, stale, simhash & (1 << 64) - 1)


def holder(traps: HostTraps, address: str) -> str | None:
    made = url(HOST + address)
    found = traps.holder(made.access)
    return found[1].text if found else None


def strike(traps: HostTraps, *addresses: str, given: TrapRules = SETTINGS) -> list[str]:
    return [line for address in addresses for line in traps.strike(HOST + address, given)]


def closed(traps: HostTraps) -> list[str]:
    return sorted(each.text for each in traps.records.values() if each.closed)


# -- what closes a pattern, and what does not


def test_a_pattern_is_closed_when_its_last_pages_were_stale_and_led_on(traps: HostTraps) -> None:
    lines = strike(traps, *(f"/day/{number}" for number in range(9)))
    assert lines == []
    lines = strike(traps, "/day/9")
    assert lines == ["closed for now: /day/0 (one shape): 10 of the last 10 pages said nothing new, and led to others"]
    assert traps.active
    assert holder(traps, "/day/99") == "/day/0"
    assert holder(traps, "/day/today") is None
    assert holder(traps, "/") is None


def test_a_page_counts_once_however_many_its_new_links_are(traps: HostTraps) -> None:
    assert strike(traps, *["/day/1"] * 100) == []
    assert not traps.active


def test_pages_that_lead_nowhere_close_nothing(traps: HostTraps) -> None:
    """A catalogue has leaves: they are stale, and bring no address that nobody had seen."""
    for number in range(1_000):
        assert traps.learn(read(f"/part/{number}"), SETTINGS) == []
    assert not traps.active
    assert not traps.records


def test_news_keep_a_pattern_open(traps: HostTraps) -> None:
    lines = []
    for number in range(200):
        lines += strike(traps, f"/day/{number}")
        if number % 2 == 0:
            lines += traps.learn(read(f"/day/{number + 1000}", stale=False), SETTINGS)
    assert lines == []


def test_a_list_is_worth_what_it_leads_to(traps: HostTraps) -> None:
    """Pages of a list have no text of their own, but each leads to something new."""
    for number in range(100):
        strike(traps, f"/list?page={number}")
        traps.learn(read(f"/article-{number}", stale=False, referrer=f"/list?page={number}"), SETTINGS)
        assert holder(traps, f"/list?page={number + 1}") is None
        assert holder(traps, f"/article-{number + 1}") is None


def test_broad_patterns_need_more(traps: HostTraps) -> None:
    lines = strike(traps, *(f"/shop/{'abcdefghij'[n % 10]}{'xyz'[n % 3]}/{'q' * n}" for n in range(130)))
    assert [line.removeprefix("closed for now: ").split(" ")[0] for line in lines] == ["/shop/**", "/**"]


def test_the_narrowest_pattern_that_is_known_decides(traps: HostTraps) -> None:
    """A repository on the web: its commits are new, all other views of them are not."""
    given = TrapRules(stale_pages=20)
    for number in range(300):
        for view in ("commit", "diff", "log", "blame"):
            if view == "commit" and number % 3 == 0:
                traps.learn(read(f"/repo/{view}?id={number}", stale=False), given)
            else:
                strike(traps, f"/repo/{view}?id={number}", given=given)
    assert holder(traps, "/repo/commit?id=999") is None
    assert "*?id" in closed(traps)
    assert holder(traps, "/repo/diff?id=999") == "/repo/diff?id"
    assert holder(traps, "/repo/other?id=999") == "*?id"


def test_views_at_one_path_are_told_apart(traps: HostTraps, store: BlockStore) -> None:
    """A parameter says what is wanted: files are new, their histories are not."""
    for number in range(60):
        for view in ("blob", "history", "blame"):
            address, stale = f"/git?a={view};h={number}", view != "blob" or number % 2 > 0
            traps.learn(read(address, stale=stale), SETTINGS)
            if stale:
                strike(traps, address)
    assert "/git?a=history&h" in closed(traps)
    assert holder(traps, "/git?a=blob;h=999") is None
    assert holder(traps, "/git?a=blame;h=999") == "/git?a=blame&h"
    assert holder(traps_of(row_of(traps), maker(store)), "/git?a=blob;h=999") is None


# -- newcomers


def let_through(traps: HostTraps, address: str) -> bool:
    made = url(HOST + address)
    found = traps.holder(made.access)
    assert found is not None
    return traps.lets_through(made.access, found[1])


def test_little_known_shapes_get_some_tries(traps: HostTraps) -> None:
    strike(traps, *(f"/{number}" for number in range(200)))
    assert holder(traps, "/new/1") == "/**"
    passed = [let_through(traps, f"/new/{number}") for number in range(30)]
    assert passed == [True] * 12 + [False] * 18, "six of its shape, and as many of its folder"
    assert not let_through(traps, "/7"), "of its own shape all is known"


def test_newcomers_are_few(traps: HostTraps, store: BlockStore) -> None:
    """A trap may have any number of shapes."""
    strike(traps, *(f"/{number}" for number in range(200)))
    passed = sum(let_through(traps, f"/{'x' * number}/1") for number in range(1, 1_000))
    assert 200 <= passed <= 400
    assert traps_of(row_of(traps), maker(store)).newcomers == traps.newcomers == passed


def test_nothing_passes_a_trap(traps: HostTraps) -> None:
    strike(traps, *(f"/{number}" for number in range(200)))
    for record in traps.records.values():
        if record.text == "/**":
            record.state = State.TRAP
    assert not let_through(traps, "/new/1")


def test_views_that_are_unknown_get_no_tries_of_their_own(traps: HostTraps) -> None:
    """Facets have more combinations than a crawl has time for."""
    for number in range(40):
        traps.learn(read(f"/shop?colour=red&page={number}"), SETTINGS)
        strike(traps, f"/shop?colour=red&page={number}")
    passed = [let_through(traps, f"/shop?colour={'x' * length}&page=1") for length in range(1, 30)]
    assert not any(passed)


# -- parameters


def test_a_parameter_that_changes_nothing(traps: HostTraps) -> None:
    lines: list[str] = []
    for page in range(9):
        for sid in (1, 2, 3):
            lines += traps.learn(read(f"/p{page}?sid={sid}&id=7", simhash=(page + 1) * 0x0123456789ABCDEF), SETTINGS)
    assert lines == ["parameter sid does not change the page"]
    assert traps.parameters.empty == {"sid"}
    assert holder(traps, "/p3?id=7&sid=99") == "*?sid"
    assert holder(traps, "/p99?id=7&sid=99") is None, "of that page none was read"


def test_texts_that_change_with_each_request_are_of_one_page(traps: HostTraps) -> None:
    """The first of a page goes on whatever is closed; no other is held back for it, as it may be a day of the weather."""
    lines, draw = [], random.Random(1)
    texts = [draw.getrandbits(64) for _ in range(20)]
    for page, text in enumerate(texts):
        for sid in (100 + page, 200 + page):
            changed = text ^ sum(1 << bit for bit in draw.sample(range(64), 5))
            lines += traps.learn(read(f"/p{page}?sid={sid}", simhash=changed), SETTINGS)
    assert lines == ["parameter sid does not change the page"]
    assert holder(traps, "/p3?sid=999") is None
    strike(traps, *(f"/p{number % 20}?sid={number}" for number in range(1000, 1200)))
    assert holder(traps, "/p3?sid=999") == "/p0?sid"
    assert holder(traps, "/p99?sid=999") is None, "of that page none was read"


def test_a_parameter_of_pages_that_are_all_alike_is_not_known(traps: HostTraps) -> None:
    """Products of one make differ as little from each other as from themselves."""
    draw = random.Random(1)
    for page in range(40):
        for number in (1, 2):
            changed = 0x0123456789ABCDEF ^ sum(1 << bit for bit in draw.sample(range(64), 4))
            assert traps.learn(read(f"/make{page}?id={page + 100 * number}", simhash=changed), SETTINGS) == []


def in_links(traps: HostTraps, page: str, sid: int, *targets: str) -> list[str]:
    """Read a page whose links have a session; its text is never the same."""
    accesses = "\n".join(f"{HOST}{target}?sid={sid:016x}" for target in targets)
    made = read(page, simhash=random.Random(sid).getrandbits(64))
    return traps.learn(msgspec.structs.replace(made, sessions=session_links(made.url, accesses)), SETTINGS)


def test_a_session_is_known_by_the_links_of_a_page_whatever_its_text_says(traps: HostTraps, store: BlockStore) -> None:
    lines = [in_links(traps, f"/?sid={sid - 1:016x}", sid, "/a", "/b", "/c") for sid in range(1, 6)]
    assert lines == [[], [], [], ["parameter sid is a session"], []]
    for known in (traps, traps_of(row_of(traps), maker(store))):
        assert known.parameters.sessions == ["sid"]
        assert holder(known, "/p99?sid=3") is None, "of that page none was read"
    traps.parameters.claim(f"{HOST}/p99?sid=3", parts_of(f"{HOST}/p99?sid=3"))
    assert holder(traps, "/p99?sid=4") == "*?sid"


def test_other_links_or_an_old_value_are_no_session(traps: HostTraps) -> None:
    for sid in range(1, 20):
        assert in_links(traps, f"/?sid={sid - 1:016x}", sid, f"/a{sid}", f"/b{sid}", f"/c{sid}") == []
        assert in_links(traps, f"/list?sid={sid - 1:016x}", 77, "/a", "/b", "/c") == []
    assert traps.parameters.sessions == []


def useless(traps: HostTraps, address: str, *, barren: bool = False, copy: bool = False) -> list[str]:
    return traps.learn(msgspec.structs.replace(read(address), barren=barren, copy=copy), SETTINGS)


@pytest.mark.parametrize(("barren", "pages"), [(True, 20), (False, 60)])
def test_a_kind_of_pages_that_are_of_no_use_is_closed(traps: HostTraps, store: BlockStore, barren: bool, pages: int) -> None:
    for number in range(pages - 1):
        assert useless(traps, f"/edit?page={number}", barren=barren, copy=not barren) == []
    assert closed(traps_of(row_of(traps), maker(store))) == []
    (line,) = useless(traps, f"/edit?page={pages}", barren=barren, copy=not barren)
    assert line.startswith("closed for now: /edit?page (one shape): nearly all of its last")
    assert closed(traps_of(row_of(traps), maker(store))) == ["/edit?page"]
    assert traps.records[traps.holder(url(f"{HOST}/edit?page=999").access)[0]].copies is not barren


def test_a_page_of_use_keeps_its_kind_open(traps: HostTraps) -> None:
    for number in range(100):
        assert useless(traps, f"/edit?page={number}", barren=number % 10 > 0) == []


def test_copies_below_a_folder_close_nothing(traps: HostTraps) -> None:
    """A manual's older version has much that is as it is now."""
    for number in range(300):
        assert useless(traps, f"/old/{number}.html", copy=True) == []


def read_in_session(traps: HostTraps, page: int, session: int, text: int) -> list[str]:
    address = f"/s-{session:06x}/page/{page}"
    return traps.learn(read(address, stale=session > 0, simhash=text * 0x0123456789ABCDEF), SETTINGS)


def in_sessions(traps: HostTraps, *, texts: int) -> list[str]:
    """Ten pages, each in two sessions."""
    strike(traps, "/s-0/page/0")  # segments are looked at where something repeats itself
    return [
        line for page in range(10) for s in (0, 1) for line in read_in_session(traps, page, 10 * page + s, 1 + page % texts)
    ]


def test_a_segment_that_changes_nothing_is_a_session(traps: HostTraps, store: BlockStore) -> None:
    assert in_sessions(traps, texts=10) == ["parameter /s-0/** does not change the page"]
    strike(traps, *(f"/s-{number}/page/{number % 10}" for number in range(10_000, 10_200)))
    assert holder(traps, "/s-777777/page/3") == "/s-0/page/0", "that page was read"
    for known in (traps, traps_of(row_of(traps), maker(store))):
        assert holder(known, "/s-777777/page/99") is None, "of its family none was"
    traps.parameters.claim(f"{HOST}/s-777777/page/99", parts_of(f"{HOST}/s-777777/page/99"))
    assert holder(traps, "/s-777777/page/99") is None
    assert holder(traps, "/s-888888/page/99") == "/s-0/page/0"


@pytest.mark.parametrize("texts", [1, 7])
def test_pages_of_few_texts_have_no_session(traps: HostTraps, texts: int) -> None:
    """Albums of pictures without a word, days without an event: what else is in the address changes nothing, either."""
    assert in_sessions(traps, texts=texts) == []


def test_a_segment_that_changes_numbers_alone_holds_nothing_back(traps: HostTraps) -> None:
    """Of a weather station, every day is the same but for its digits; nothing tells it from a counter of visits."""
    strike(traps, "/oslo/0")
    lines = []
    for station in range(12):
        for day in (1, 2):
            page = read(f"/{'ab' * (station + 1)}/{day}", simhash=0x0123456789ABCDEF * (station + 1))
            lines += traps.learn(page, SETTINGS)
    assert lines == ["parameter /*/0 does not change the page"]
    assert holder(traps, "/abab/3") is None


def test_families_that_say_nothing_are_closed_like_all_others(traps: HostTraps) -> None:
    in_sessions(traps, texts=10)
    strike(traps, *(f"/s-{number}/page/{number}" for number in range(10_000, 10_200)))
    for number in range(20_000, 20_030):
        page = f"/s-{number}/page/{number}"
        traps.parameters.claim(HOST + page, parts_of(HOST + page))
        strike(traps, page)
    assert holder(traps, "/s-777777/page/99999") == "/page/0 (each once)"


def test_a_parameter_of_pages_that_all_say_the_same_is_not_known(traps: HostTraps) -> None:
    """Histories of files: which file it is means nothing there, but something elsewhere."""
    for page in range(40):
        for sid in (1, 2, 3):
            assert traps.learn(read(f"/p{page}?sid={sid}&id=7", simhash=(page % 7 + 1) * 0x0123456789ABCDEF), SETTINGS) == []


def test_a_parameter_that_changes_the_text(traps: HostTraps) -> None:
    for page in range(40):
        traps.learn(read(f"/p?id={page}", simhash=0x9E3779B97F4A7C15 * (page + 1) & (1 << 64) - 1), SETTINGS)
    assert traps.parameters.empty == frozenset()
    assert holder(traps, "/p?id=99") is None


# -- the row


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["/d/{}", "/list?n={}", "/{0}/x?a=b&c={0}", "/x"]),
            st.integers(0, 50),
            st.sampled_from(["fresh", "stale", "strike", "hold"]),
        ),
        max_size=150,
    )
)
@settings(max_examples=60)
def test_it_is_in_its_row_whatever_happened(steps: list[tuple[str, int, str]]) -> None:
    queues: dict[int, CachingQueue[URLMessage]] = {}

    def make(number: int, state: QueueState[URLMessage] | None) -> CachingQueue[URLMessage]:
        encoding = (encode_messages, decode_messages)
        never: BlockStore = None  # type: ignore[assignment]  # nothing becomes a block
        if state is None:
            return queues.setdefault(number, CachingQueue(str(number), 10_000, never, *encoding))
        return CachingQueue.restore(state, str(number), 10_000, never, *encoding)

    traps = HostTraps(make_queue=make)
    given = TrapRules(stale_pages=3)
    for form, number, what in steps:
        address = form.format(number)
        if what == "strike":
            strike(traps, address, given=given)
        elif what == "hold":
            found = traps.holder(HOST + address)
            if found:
                traps.hold(*found, message(HOST + address, depth=1))
        else:
            traps.learn(read(address, stale=what == "stale", simhash=number + 1), given)
    again = traps_of(row_of(traps), make)
    assert row_of(again) == row_of(traps)
    assert again.left("a.test") == traps.left("a.test")
    assert (again.read, again.held, again.active or True) == (traps.read, traps.held, traps.active or True)
    for form, number, _ in steps:
        assert holder(again, form.format(number)) == holder(traps, form.format(number))


def test_it_is_bounded(traps: HostTraps) -> None:
    for number in range(8_000):
        address = f"/{'x' * (number % 50)}/{number}?n={number}&{'p' * (number % 90)}=1"
        traps.limits.admit(message(HOST + address, HOST, depth=1), parts_of(HOST + address), SETTINGS)
        traps.learn(read(address, stale=number % 3 > 0, simhash=number + 1), SETTINGS)
        strike(traps, address)
    assert len(traps.records) <= 4_096
    assert len(row_of(traps)) < 500_000


def test_an_empty_one_has_a_row() -> None:
    assert row_of(traps_of(b"", maker(None))) == b""  # type: ignore[arg-type]


def test_damaged_row_of_traps_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        decode_traps(msgspec.msgpack.encode(["damaged"]))


def test_a_record_remembers_its_last_pages() -> None:
    record = PatternRecord("/x/0", 1)
    for number in range(100):
        record.add(number % 4 == 0, 30)
    assert (record.judged, record.fresh, record.proven) == (100, 7, True)
    again = msgspec.convert(record.saved(), PatternRecord)
    assert (again.judged, again.fresh, again.proven) == (100, 7, True)


# -- the desk


def test_the_desk(rig: Rig) -> None:
    """Patterns close by what is new of stale pages; a lease passes over what waited; start URLs and revisited pages pass."""
    drops = Drops()
    days = [message(f"{HOST}/day/{n}", f"{HOST}/day/{n - 100}", depth=1) for n in range(110, 130)]
    stale = [msgspec.structs.replace(each, stale=True) for each in days]
    rig.tally.rise(21)
    assert rig.traps.sift(days[:10], drops) == days[:10]
    rig.queues.add(days[:10])
    assert rig.said == []
    assert rig.traps.sift(stale[10:], drops) == stale[10:], "what is to be held back is known when it is next"
    closing = "closed for now: /day/0 (one shape): 10 of the last 10 pages said nothing new, and led to others"
    assert rig.said == [f"# a.test\t{closing}"]
    rig.queues.add([*stale[10:], message(f"{HOST}/real", depth=1)])
    (lease,) = rig.queues.lease(5)
    assert lease.message.url.access == f"{HOST}/real"
    assert rig.tally.value == 2, "the lease, and that there is something to decide"
    assert rig.said[1:] == [each.url.access for each in days]
    assert +rig.counted == {"traps/closed": 1, "traps/filtered": 20}
    late = message(f"{HOST}/day/77", depth=1)
    start, known = message(f"{HOST}/day/88"), msgspec.structs.replace(late, known=UNKNOWN)
    redirected = msgspec.structs.replace(start, link_type=REDIRECT)
    with rig.book.lock:
        host = rig.book.get_locked("a.test")
        held = [rig.traps.hold_locked(host, each) for each in (late, redirected, start, known)]
    assert held == [True, True, False, False]
    assert drops.reasons() == []
    assert (rig.traps.explain(late) or "").startswith("held back: pattern /day/0 ")
    assert host.traps is not None
    left = host.traps.left(host.key)
    assert (left.urls, left.patterns[0].pattern, left.patterns[0].state) == (22, "/day/0", "closed")
    assert rig.traps.held_back == 22
    assert rig.at_rest == []
    rig.end(lease)
    assert rig.at_rest == ["a.test"]
    released = [each for batch in rig.traps.decide("a.test") for each in batch]
    assert [each.url for each in released[:20]] == [each.url for each in days]
    assert all(each.released and not each.stale for each in released)
    assert rig.counted["traps/released"] == len(released) == 22


def test_of_a_host_that_still_has_something_to_do_nothing_is_decided(rig: Rig) -> None:
    stale = [
        msgspec.structs.replace(message(f"{HOST}/day/{n + 20}", f"{HOST}/day/{n}", depth=1), stale=True) for n in range(20)
    ]
    rig.tally.rise(20)
    rig.queues.add(rig.traps.sift(stale, Drops()))
    assert rig.queues.lease(5) == []
    rig.queues.add([message(f"{HOST}/real", depth=1)])
    rig.tally.rise()
    assert list(rig.traps.decide("a.test")) == []
    assert list(rig.traps.decide("never.test")) == []


def test_a_restart_knows_what_is_closed(rig: Rig) -> None:
    stale = [
        msgspec.structs.replace(message(f"{HOST}/day/{n + 20}", f"{HOST}/day/{n}", depth=1), stale=True) for n in range(20)
    ]
    rig.tally.rise(20)
    rig.queues.add(rig.traps.sift(stale, Drops()))
    assert rig.queues.lease(5) == []
    (cut,) = rig.book.cut()
    saved = decode_host(cut.encode())
    assert saved.key == "a.test"
    rig.store.put(ROW + "a.test", cut.encode())
    later = Rig(rig.store, traps=SETTINGS)
    assert later.traps.explain(message(f"{HOST}/day/11", depth=1)) is not None
    assert later.traps.explain(message(f"{HOST}/other", depth=1)) is None
    assert later.traps.explain(message("http://b.test/day/11", depth=1)) is None


@pytest.mark.parametrize(
    ("path", "limit"),
    [
        ("/", None),
        ("/" + "/".join("abcdefghijklmnopqrstuvwxy"), None),
        ("/" + "/".join("abcdefghijklmnopqrstuvwxyz"), "filters.traps.limits: 25 segments of a path"),
        ("/img/img/img/x", None),
        ("/img/a/img/b/img/c/img/", "filters.traps.limits: 3 times the same segment"),
        ("/2019/12/12/12/12/12/x", None),
        ("/login?next=/join?next=/a", None),
        ("/login?next=/join?next=/login?next=/a", "filters.traps.limits: 1 x an address within itself"),
        ("/x?" + "&".join(f"n{number}=1" for number in range(40)), None),
        ("/x?" + "&".join(f"n{number}=1" for number in range(41)), "filters.traps.limits: 40 parameters"),
    ],
)
@pytest.mark.parametrize("limits", [True, False])
def test_addresses_that_no_site_needs(rig: Rig, path: str, limit: str | None, limits: bool) -> None:
    desk = Rig(rig.store, traps=TrapRules(limits=limits)).traps
    drops, one = Drops(), message(f"{HOST}{path}", depth=1)
    beyond = limits and limit is not None
    assert desk.sift([one], drops) == ([] if beyond else [one])
    assert len(drops.urls()) == beyond
    assert desk.explain(one) == (f"held back: beyond {limit}" if beyond else None)
    start = message(f"{HOST}{path}")
    assert desk.sift([start], drops) == [start], "what a person asks for passes"


def test_fewer_segments_than_one_may_stand_there_again(rig: Rig) -> None:
    desk = Rig(rig.store, traps=TrapRules(segments=2)).traps
    near, far = message(f"{HOST}/a/b", depth=1), message(f"{HOST}/a/b/c", depth=1)
    assert desk.sift([near, far], Drops()) == [near]
    assert desk.explain(far) == "held back: beyond filters.traps.limits: 2 segments of a path"


def test_far_away(store: BlockStore) -> None:
    desk = Rig(store, traps=TrapRules(depth=3)).traps
    near, far = (message(f"{HOST}/", depth=depth) for depth in (3, 4))
    assert desk.sift([near, far], Drops()) == [near]
    assert desk.explain(far) == "held back: beyond filters.traps.limits: 3 links from a start URL"
    revisited = msgspec.structs.replace(far, known=UNKNOWN)
    assert desk.sift([revisited], Drops()) == [revisited]


def test_limits_of_a_host(traps: HostTraps) -> None:
    limits = TrapRules(pages=30, variants=10, parameter_sets=3)
    admitted: list[str] = []

    def offer(address: str) -> str | None:
        parts = parts_of(HOST + address)
        beyond = traps.limits.beyond(parts, limits)
        if beyond is None:
            traps.limits.admit(message(HOST + address, HOST, depth=1), parts, limits)
            admitted.append(address)
        return beyond

    for number in range(20):
        offer(f"/q?n={number}")
        offer(f"/r?{'abcdefghijklmnopqrst'[number]}=1")
    assert len([each for each in admitted if each.startswith("/q")]) == 10
    assert [each for each in admitted if each.startswith("/r")] == ["/r?a=1", "/r?b=1", "/r?c=1"]
    assert offer("/q?n=20") == "filters.traps.limits: 10 queries of one path"
    assert offer("/r?z=1") == "filters.traps.limits: 3 sets of parameter names of one path"
    for number in range(40):
        offer(f"/{number}")
    assert traps.limits.urls == 30
    assert offer("/77") == "filters.traps.pages: 30"


def test_hosts_that_nobody_named_may_have_more_the_more_link_to_them(traps: HostTraps) -> None:
    limits = TrapRules(foreign_pages=5)
    for linking in range(3):
        for number in range(100):
            address = f"{HOST}/{linking}/{number}"
            if traps.limits.beyond(parts_of(address), limits) is None:
                referrer = f"http://h{linking}.test/" if number == 0 else f"{HOST}/"
                traps.limits.admit(message(address, referrer, depth=1), parts_of(address), limits)
        with_linking = traps.limits.urls
    assert len(traps.limits.linking) >= 1
    assert with_linking == 5 * (1 + len(traps.limits.linking))
    traps.limits.start = True
    assert traps.limits.beyond(parts_of(f"{HOST}/x"), limits) is None


def test_a_start_rewrites_only_the_hosts_that_it_changes(store: BlockStore) -> None:
    """What is changed stays in memory until it is written: a start that changed every host would need room for all of them."""
    rig = Rig(store, traps=TrapRules(stale_pages=10))
    batch = [message(f"http://h{n}.test/a", depth=1) for n in range(20)]
    rig.tally.rise(len(batch))
    rig.queues.add(rig.traps.sift(batch, Drops()))
    rig.save()
    assert rig.load().book.cut() == []
    other = rig.load(traps=TrapRules(stale_pages=11))
    assert len(other.book.cut()) == 20, "verdicts of other settings are looked at again"


def test_a_host_is_at_rest_also_where_all_that_waited_for_robots_txt_was_forbidden(store: BlockStore) -> None:
    """Else nobody would ever decide what it holds back, and the crawl would not end."""
    rig = Rig(store, traps=SETTINGS)
    days = [message(f"{HOST}/day/{n}", f"{HOST}/day/{n - 20}", depth=1) for n in range(20, 40)]
    rig.tally.rise(20)
    rig.queues.add(rig.traps.sift([msgspec.structs.replace(each, stale=True) for each in days], Drops()))
    assert rig.queues.lease(5) == []
    rig.at_rest.clear()
    rig.screen("https://a.test/private/x")
    lease = rig.one()
    assert lease.robots
    rig.robots_lander.land(lease, ok(body=b"User-agent: *\nDisallow: /"))
    assert rig.at_rest == []
    assert rig.settle() == ([], ["https://a.test/private/x"])
    assert rig.at_rest == ["a.test"]


def alike(host: str, numbers: range) -> list[URLMessage]:
    """Links to days of a calendar, each from a page of its own that said nothing new."""
    links = [message(f"http://{host}/day/{n + 100}", f"http://{host}/day/{n}", depth=1) for n in numbers]
    return [msgspec.structs.replace(each, stale=True) for each in links]


def test_a_lease_does_not_pass_over_all_that_waits(store: BlockStore) -> None:
    """The lock is held meanwhile, and everybody needs it."""
    rig = Rig(store, traps=SETTINGS)
    rig.tally.rise(1_200)
    rig.queues.add(rig.traps.sift(alike("a.test", range(1_200)), Drops()))
    held = []
    while rig.queues.seconds_to_next() == 0:
        assert rig.queues.lease(5) == []
        held.append(rig.traps.held_back)
    assert held == [500, 1_000, 1_200]
    assert rig.at_rest == ["a.test"]


def test_a_record_that_was_on_the_disk_meanwhile_goes_on_as_it_was(store: BlockStore) -> None:
    """More hosts than have room in memory: of none of them the pages would ever count."""
    rig = Rig(store, of(hosts_in_memory=1), traps=SETTINGS)
    for number in range(12):
        for host in ("a.test", "b.test"):
            rig.tally.rise()
            rig.queues.add(rig.traps.sift(alike(host, range(number, number + 1)), Drops()))
            rig.traps.learn([Novelty(url(f"http://{host}/day/{number}"), "", True, 0)])
        rig.save()
    assert rig.counted["traps/closed"] == 2
    assert rig.load().traps.sift(alike("a.test", range(50, 99)), Drops())
    assert rig.counted["traps/closed"] == 2, "what an earlier process read is not known to this one"


def test_what_was_put_off_is_asked_for_when_the_host_has_had_more_pages(store: BlockStore) -> None:
    rig = Rig(store, traps=SETTINGS)
    rig.tally.rise(20)
    rig.queues.add(rig.traps.sift(alike("a.test", range(20)), Drops()))
    assert rig.queues.lease(5) == []
    traps = rig.host("a.test").traps
    assert traps is not None
    [record] = [each for each in traps.records.values() if each.held]
    record.postponed = 200
    assert [*rig.traps.decide("a.test")] == []
    assert rig.tally.value == 0
    rig.traps.learn([Novelty(url(f"{HOST}/other/{n}"), "", False, n) for n in range(256)])
    assert rig.tally.value == 1
    assert len([each for batch in rig.traps.decide("a.test") for each in batch]) == 20
