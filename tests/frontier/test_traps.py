from __future__ import annotations

import msgspec
import pytest

from larm.config import TrapsFilter as Settings
from larm.frontier.hosts import ROW
from larm.frontier.saved_host import decode_host
from larm.frontier.trap_desk import TrapDesk, closed_here
from larm.frontier.traps import HostTraps, closed_lines
from larm.kit.block_store import BlockStore
from larm.model.message import REDIRECT, UNKNOWN
from larm.model.told import Told
from larm.model.url_shape import parts_of
from larm.testing.fakes import Drops, message, url
from tests.frontier.rig import Rig

SETTINGS = Settings(stale_pages=10)


def told(address: str, *, stale: bool = True, first: str = "", referrer: str = "") -> Told:
    return Told(
        url(f"http://a.test{address}"), referrer and f"http://a.test{referrer}", stale, first and f"http://a.test{first}"
    )


def closed(traps: HostTraps, address: str) -> str | None:
    made = url(f"http://a.test{address}")
    return traps.closed(parts_of(made.access), made.fingerprint)


def test_a_pattern_is_closed_when_its_last_pages_were_stale() -> None:
    traps = HostTraps()
    lines = [line for number in range(10) for line in traps.learn(told(f"/day/{number}", stale=number != 5), SETTINGS)]
    assert lines == ["closed: /day/0 (one shape): 9 of the last 10 pages said nothing new"]
    assert closed(traps, "/day/99") == "pattern /day/0 is closed: it went on and on without anything new"
    assert closed(traps, "/day/today") is None
    assert closed(traps, "/") is None


def test_a_pattern_with_news_stays_open() -> None:
    traps = HostTraps()
    assert [line for number in range(100) for line in traps.learn(told(f"/day/{number}", stale=number % 5 > 0), SETTINGS)] == []
    assert not traps.active


def test_a_list_is_worth_what_it_leads_to() -> None:
    """Pages of a list have no text of their own, but each leads to something new."""
    traps = HostTraps()
    for number in range(50):
        lines = traps.learn(told(f"/list?page={number}"), SETTINGS)
        lines += traps.learn(told(f"/article-{number}", stale=False, referrer=f"/list?page={number}"), SETTINGS)
        assert lines == []


def test_what_is_of_the_same_pattern_does_not_speak_for_it() -> None:
    traps = HostTraps()
    lines = []
    for number in range(40):
        lines += traps.learn(told(f"/day/{number}", referrer=f"/day/{number - 1}", stale=number > 5), SETTINGS)
    assert len(lines) == 1


def test_news_open_a_pattern_again() -> None:
    traps = HostTraps()
    for number in range(10):
        traps.learn(told(f"/day/{number}"), SETTINGS)
    assert traps.learn(told("/day/77", stale=False), SETTINGS) == [], "one in ten is too few"
    assert traps.learn(told("/day/78", stale=False), SETTINGS) == ["opened again: /day/0: 2 of its pages were worth while"]
    assert closed(traps, "/day/5") is None


def test_fewer_and_fewer_may_pass_a_closed_pattern() -> None:
    traps = HostTraps()
    for number in range(10):
        traps.learn(told(f"/day/{number}"), SETTINGS)
    passed = [number for number in range(1, 1001) if traps.probe(parts_of(f"http://a.test/day/{number}"), number)]
    assert passed == [16, 32, 64, 128, 256, 512]
    assert traps.closed(parts_of("http://a.test/day/64"), 64) is None
    assert traps.closed(parts_of("http://a.test/day/65"), 65) is not None


def test_broad_patterns_need_more() -> None:
    traps = HostTraps()
    lines: list[str] = []
    for number in range(130):
        lines += traps.learn(told(f"/shop/{'abcdefghij'[number % 10]}{'xyz'[number % 3]}/{'q' * number}"), SETTINGS)
    assert [line.split(" ")[1] for line in lines] == ["/shop/**", "/**"]


def test_the_narrowest_pattern_decides() -> None:
    """A repository on the web: its commits are new, all other views of them are not."""
    traps = HostTraps()
    for number in range(300):
        for view, stale in (("commit", number % 5 > 0), ("diff", True), ("log", True), ("blame", True)):
            traps.learn(told(f"/repo/{view}?id={number}", stale=stale), Settings(stale_pages=20))
    assert closed(traps, "/repo/commit?id=999") is None
    assert "*?id" in [each.text for each in traps.patterns.values() if each.closed]
    assert closed(traps, "/repo/diff?id=999") is not None
    assert closed(traps, "/repo/other?id=999") == "pattern *?id is closed: it went on and on without anything new"
    passed = [number for number in range(10) if traps.probe(parts_of(f"http://a.test/repo/other?id={number}"), number)]
    assert passed == [0, 1, 2, 3, 4, 5], "little is known of its shape, nor of its path"


def test_views_at_one_path_are_told_apart() -> None:
    """A parameter says what is wanted: files are new, their histories are not."""
    traps = HostTraps()
    lines: list[str] = []
    for number in range(60):
        for view in ("blob", "history", "blame"):
            lines += traps.learn(told(f"/git?a={view};h={number}", stale=view != "blob" or number % 3 > 0), SETTINGS)
    assert "closed: /git?a=history&h (one view): 10 of the last 10 pages said nothing new" in lines
    assert "/git?a&h" in [each.text for each in traps.patterns.values() if each.closed]
    assert closed(traps, "/git?a=blob;h=999") is None
    assert closed(traps, "/git?a=blame;h=999") == "pattern /git?a=blame&h is closed: it went on and on without anything new"
    assert closed(traps, "/git?a=other;h=999") == "pattern /git?a&h is closed: it went on and on without anything new"
    again = HostTraps.of(traps.row())
    assert closed(again, "/git?a=blob;h=999") is None
    assert "/git?a=history&h (0 dropped)" in closed_lines(again)


def test_views_that_are_unknown_get_no_tries_of_their_own() -> None:
    """Facets have more combinations than a crawl has time for."""
    traps = HostTraps()
    for number in range(40):
        traps.learn(told(f"/shop?colour=red&page={number}"), SETTINGS)
    colours = ["/shop?colour=" + "x" * length + "&page=1" for length in range(1, 30)]
    passed = [n for n, address in enumerate(colours, 1) if traps.probe(parts_of(f"http://a.test{address}"), n)]
    assert passed == [16], "as of any closed pattern"


def test_combinations_of_choices_do_not_push_other_patterns_out() -> None:
    traps = HostTraps()
    for number in range(10):
        traps.learn(told(f"/day/{number}"), SETTINGS)
    for number in range(900):
        traps.learn(told(f"/shop?a={'x' * (1 + number % 30)}&b={'y' * (1 + number // 30)}", stale=number % 2 > 0), SETTINGS)
    assert len(traps.views) == 128
    assert closed(traps, "/day/99") is not None


def test_newcomers_are_few() -> None:
    """A trap may have any number of shapes."""
    traps = HostTraps()
    for number in range(120):
        traps.learn(told(f"/{number}"), SETTINGS)
    shapes = ["/" + "x" * number + "/1" for number in range(1, 400)]
    assert closed(traps, shapes[0]) is not None
    passed = sum(traps.probe(parts_of(f"http://a.test{shape}"), number) for number, shape in enumerate(shapes))
    assert 200 <= passed <= 410
    assert HostTraps.of(traps.row()).newcomers == traps.newcomers <= 400


def test_a_parameter_that_changes_nothing() -> None:
    traps = HostTraps()
    lines: list[str] = []
    for page in range(4):
        lines += traps.learn(told(f"/p{page}?sid=1&id=7", stale=False), SETTINGS)
        for sid in (2, 3):
            lines += traps.learn(told(f"/p{page}?sid={sid}&id=7", first=f"/p{page}?sid=1&id=7"), SETTINGS)
    assert lines == ["parameter sid does not change the text"]
    assert closed(traps, "/p3?id=7&sid=99") == "read already; sid does not change the text"
    assert closed(traps, "/p3?sid=3&id=7") is None, "that is the one that was read"
    assert closed(traps, "/p3?id=8&sid=99") is None
    assert closed(traps, "/p99?id=7&sid=99") is None


def test_a_parameter_that_changes_the_text_sometimes() -> None:
    traps = HostTraps()
    for page in range(20):
        traps.learn(told(f"/p?id={page}", stale=False), SETTINGS)
    for page in range(20, 40):
        traps.learn(told(f"/p?id={page}", first="/p?id=1"), SETTINGS)
    assert traps.meaningless(parts_of("http://a.test/p?id=3")) == set()


def test_limits_of_a_host() -> None:
    traps = HostTraps()
    limits = Settings(pages=30, variants=10, parameter_sets=3)
    admitted = []
    for number in range(20):
        for address in (f"/q?n={number}", f"/r?{'abcdefghijklmnopqrst'[number]}=1"):
            parts = parts_of("http://a.test" + address)
            if traps.refuse(parts, limits) is None:
                traps.admit(parts, limits)
                admitted.append(address)
    assert len([each for each in admitted if each.startswith("/q")]) == 10
    assert [each for each in admitted if each.startswith("/r")] == ["/r?a=1", "/r?b=1", "/r?c=1"]
    for number in range(40):
        parts = parts_of(f"http://a.test/{number}")
        if traps.refuse(parts, limits) is None:
            traps.admit(parts, limits)
    assert traps.urls == 30
    assert traps.refuse(parts, limits) == "the host has had 30 URLs (filters.traps.pages)"


def test_it_survives_in_its_row_and_is_bounded() -> None:
    traps = HostTraps()
    for number in range(3000):
        address = f"/{'x' * (number % 500)}/{number}?n={number}&{'p' * (number % 90)}=1"
        traps.admit(parts_of("http://a.test" + address), SETTINGS)
        traps.learn(told(address, stale=number % 3 > 0, first=f"/?{number}" if number % 2 else ""), SETTINGS)
    again = HostTraps.of(traps.row())
    assert again.row() == traps.row()
    assert msgspec.msgpack.decode(again.row()) == msgspec.msgpack.decode(traps.row())
    assert (again.urls, again.active) == (traps.urls, traps.active)
    assert len(traps.row()) < 120_000
    assert HostTraps.of(HostTraps().row()).row() == b""


@pytest.fixture
def rig(tmp_path):
    store = BlockStore(tmp_path / "cachingqueue")
    yield Rig(store)
    store.close()


def test_the_desk(rig: Rig) -> None:
    """Patterns close by what is told; a lease passes over what waited; start URLs and revisited pages pass."""
    said: list[str] = []
    counted: dict[str, int] = {}
    desk = TrapDesk(rig.book, SETTINGS, said.extend, lambda name, n: counted.update({name: counted.get(name, 0) + n}))
    rig.queues._guard = desk
    drops = Drops()
    days = [message(f"http://a.test/day/{number}", depth=1) for number in range(30)]
    assert desk.screen(days, drops) == days
    rig.tally.rise(31)
    rig.queues.add([*days, message("http://a.test/real", depth=1)])
    desk.learn([told(f"/day/{number}") for number in range(10)])
    assert said == ["# a.test\tclosed: /day/0 (one shape): 10 of the last 10 pages said nothing new"]
    (lease,) = rig.queues.lease(5)
    assert lease.message.url.access == "http://a.test/real"
    assert rig.tally.value == 1
    assert counted == {"traps/closed": 1, "traps/opened_again": 0, "traps/parameters": 0, "traps/filtered": 30}
    assert said[1:] == [each.url.access for each in days]
    late = message("http://a.test/day/77", depth=1)
    start, known = message("http://a.test/day/88"), msgspec.structs.replace(late, known=UNKNOWN)
    redirected = msgspec.structs.replace(start, link_type=REDIRECT)
    assert desk.screen([late, start, known, redirected], drops) == [start, known]
    assert drops.reasons() == ["trap", "trap"]
    assert desk.explain(late) == "pattern /day/0 is closed: it went on and on without anything new"
    with rig.book.lock:
        assert closed_here(rig.book.get_locked("a.test")) == ["/day/0 (2 dropped)"]


def test_a_restart_knows_what_is_closed(rig: Rig) -> None:
    desk = TrapDesk(rig.book, SETTINGS)
    desk.learn([told(f"/day/{number}") for number in range(10)])
    (cut,) = rig.book.cut()
    saved = decode_host(cut.encode())
    assert saved.key == "a.test"
    rig.store.put(ROW + "a.test", cut.encode())
    later = TrapDesk(Rig(rig.store).book, SETTINGS)
    assert later.explain(message("http://a.test/day/11", depth=1)) is not None
    assert later.explain(message("http://a.test/other", depth=1)) is None
    assert later.explain(message("http://b.test/day/11", depth=1)) is None
