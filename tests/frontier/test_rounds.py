"""What a closed pattern holds back is asked for in rounds: whole crawls of made-up webs, without network."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from larm.frontier.traps.saved import row_of
from larm.kit.disk.block_store import BlockStore
from tests.frontier.walk import Read, Walk, Web, read_by_larm, replaced
from tests.support.webs.table import SITES, TRAPS


@pytest.fixture
def store(tmp_path: Path):
    made = BlockStore(tmp_path / "cachingqueue")
    yield made
    made.close()


HOST = "http://a.test"


def number_of(address: str) -> int:
    digits = "".join(filter(str.isdigit, address))
    return int(digits) if digits else 0


def catalogue(size: int) -> Web:
    """Lists of twenty parts each; parts are leaves, and none says anything new."""

    def read(address: str) -> Read:
        number = number_of(address)
        if address.startswith(f"{HOST}/part/"):
            return Read()
        parts = [f"{HOST}/part/{n}" for n in range(20 * number, min(20 * number + 20, size))]
        return Read(parts + [f"{HOST}/list/{number + 1}"] * (20 * number + 20 < size))

    return read


def index(size: int) -> Web:
    """One page that leads to all others, which are alike, and know their neighbours."""

    def read(address: str) -> Read:
        if address == f"{HOST}/":
            return Read([f"{HOST}/page/{n}" for n in range(size)], new=True)
        number = number_of(address)
        return Read([f"{HOST}/page/{n}" for n in (number - 1, number + 1) if 0 <= n < size])

    return read


def chain(size: int) -> Web:
    """Each page leads to the next, and none says anything new."""
    return lambda address: Read([f"{HOST}/page/{number_of(address) + 1}"] * (number_of(address) + 1 < size))


def thin(fertile: int, size: int = 10**9) -> Web:
    """Of so many pages one leads on: to as many again."""

    def read(address: str) -> Read:
        number = number_of(address)
        if number % fertile or number >= size:
            return Read()
        return Read([f"{HOST}/page/{n}" for n in range(number + 1, number + fertile + 1) if n < size])

    return read


def tree(branches: int, size: int = 10**9) -> Web:
    """Each page leads to some others."""

    def read(address: str) -> Read:
        first = number_of(address) * branches + 1
        return Read([f"{HOST}/page/{n}" for n in range(first, first + branches) if n < size])

    return read


def sessions(pages: int, different: int = 10**12) -> Web:
    """Every link to one of few pages has another session, of so many."""

    def read(address: str) -> Read:
        chance = random.Random(address)
        page = number_of(address.partition("?")[0]) % pages
        links = [f"{HOST}/page/{(page + n) % pages}?sid={chance.randrange(different):x}z" for n in range(1, 4)]
        return Read(links, new="?" not in address, simhash=random.Random(page).getrandbits(64))

    return read


def pictures(size: int) -> Web:
    """Pictures without a word, that lead to the first, the next, the one before and to any other."""

    def read(address: str) -> Read:
        number = number_of(address)
        near = [0, number - 1, number + 1, random.Random(number).randrange(size)]
        return Read([f"{HOST}/page/{each}" for each in near if 0 <= each < size])

    return read


def facets(folders: int) -> Web:
    """Any combination of some values."""

    def read(address: str) -> Read:
        chosen = address.removeprefix(f"{HOST}/").strip("/").split("/") if address != f"{HOST}/" else []
        free = [f"{name}{value}" for name in "abcdef"[:folders] for value in range(10)]
        return Read([f"{HOST}/{'/'.join(sorted({*chosen, each}))}" for each in free if each not in chosen])

    return read


SLOW = pytest.mark.slow
SIZES = (1, 2, 30, 31, 63, 64, 200, 1_000, pytest.param(5_000, marks=SLOW))
SHORT = 1_000
"""Pages of a chain of which none says anything new: of longer ones nobody can know whether they end."""


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("web", [catalogue, index, chain], ids=lambda web: web.__name__)
def test_what_ends_is_fetched_whole(store: BlockStore, web: Callable[[int], Web], size: int) -> None:
    found = web(size)
    if size > SHORT and web is not index:
        found = sometimes_new(found)
    walk = Walk(store, found, [f"{HOST}/"]).run()
    walk.check()
    assert not walk.held, walk.rig.said


def sometimes_new(web: Web) -> Web:
    """One page in eight has something of its own to say."""
    return lambda address: web(address)._replace(new=number_of(address) % 8 == 0)  # type: ignore[union-attr]


ENDLESS = {
    "chain": (chain(10**9), 1_200),
    "thin-5": (thin(5), 1_200),
    "thin-31": (thin(31), 2_000),
    "thin-400": (thin(400), 15_000),  # thirty that lead on have to be seen
    "tree-2": (tree(2), 1_000),
    "tree-3": (tree(3), 1_000),
    "tree-30": (tree(30), 1_000),
    "sessions": (sessions(50), 1_000),
    "facets": (facets(4), 2_000),
}


JUDGED_OTHERWISE = {"tree-2": "two addresses a page are not more than two: a chain, which is due after 1,100 pages; 1,119"}
"""Bars that are not held, and why."""


def rest_slow(names: Iterable[str], *quick: str) -> list[ParameterSet]:
    """All but these take long."""
    missed = {name: pytest.mark.xfail(strict=True, reason=reason) for name, reason in JUDGED_OTHERWISE.items()}
    return [
        pytest.param(name, marks=[*([] if name in quick else [SLOW]), *([missed[name]] if name in missed else [])])
        for name in names
    ]


def versions(chapters: int, count: int) -> Web:
    """Of a manual: nearly all chapters are those of the first one, and lead to further ones of their version."""

    def read(address: str) -> Read:
        if address == f"{HOST}/":
            return Read([f"{HOST}/v{version}/0" for version in range(count)], new=True)
        version, chapter = (number_of(each) for each in address.removeprefix(f"{HOST}/v").split("/"))
        near = [n for n in (*range(3 * chapter + 1, 3 * chapter + 4), chapter + 1, chapter - 1) if 0 <= n < chapters]
        changed = random.Random(address).random() < 1 / 13
        return Read([f"{HOST}/v{version}/{n}" for n in near], new=not version or changed)

    return read


def test_of_many_versions_of_a_manual_all_are_fetched(store: BlockStore) -> None:
    """They say hardly anything new, and now and then something."""
    walk = Walk(store, versions(150, 12), [f"{HOST}/"], order=random.Random(1), leases=16, batch=100).run()
    walk.check()
    assert not walk.held, walk.rig.said
    assert walk.fetched.total() == 1 + 12 * 150


def shop(products: int) -> Web:
    """Lists of fifty products, which name similar ones; all differ in numbers alone, so that none says anything new."""

    def read(address: str) -> Read:
        if address == f"{HOST}/":
            return Read([f"{HOST}/list/{number}" for number in range(products // 50)], new=True)
        number = number_of(address)
        if address.startswith(f"{HOST}/list/"):
            return Read([f"{HOST}/product/{50 * number + n}" for n in range(50)])
        return Read([f"{HOST}/product/{(31 * number + 7 * n) % products}" for n in range(6)])

    return read


def test_products_that_differ_in_a_number_are_all_fetched(store: BlockStore) -> None:
    """Held back, as their lists are found later than they are; but in the end they lead to no others."""
    walk = Walk(store, shop(3_000), [f"{HOST}/"]).run()
    walk.check()
    assert any("closed for now: /product/0" in line for line in walk.rig.said), walk.rig.said
    assert any("open again: /product/0: it has come to an end" in line for line in walk.rig.said), walk.rig.said
    assert not walk.held, walk.rig.said
    assert walk.fetched.total() == 1 + 60 + 3_000


@pytest.mark.parametrize("size", [300, pytest.param(3_000, marks=SLOW)])
@pytest.mark.parametrize("name", ["session-path", "session-query", "rotating"])
def test_a_site_whose_links_all_have_a_new_session_is_fetched_whole(store: BlockStore, name: str, size: int) -> None:
    named = TRAPS[name](size)
    walk = Walk(store, read_by_larm(named), named.starts, order=random.Random(size), leases=16, batch=100).run(20_000)
    walk.check()
    assert named.found(walk.fetched) == named.real
    assert walk.fetched.total() <= 2 * size + 500


@pytest.mark.parametrize("web", [tree(3, 300), tree(3, 900), pictures(900)], ids=["tree-300", "tree-900", "pictures"])
def test_a_site_below_a_thousand_pages_is_whole_whatever_it_looks_like(store: BlockStore, web: Web) -> None:
    """Nothing is put off before; and it is said of nothing that it is not decided."""
    walk = Walk(store, web, [f"{HOST}/"]).run()
    walk.check()
    assert not walk.held, walk.rig.said


def test_a_family_is_fetched_whole_though_each_of_its_people_leads_to_others(store: BlockStore) -> None:
    """Reached by way of each other alone, and read somewhat later than fetched. All words are known long before the end, but no
    two have one name and the same dates."""
    named = SITES["genealogy"](3_600)
    walk = Walk(store, read_by_larm(named), named.starts, leases=4, block=100, unread=64).run()
    walk.check()
    assert named.found(walk.fetched) == named.real


def test_what_has_little_to_say_goes_on_while_it_says_something(store: BlockStore) -> None:
    """Each page leads to two others, and one in 40 says something new."""
    web = tree(2, 2_500)

    def read(address: str) -> Read | None:
        found = web(address)
        return found and found._replace(new=number_of(address) % 40 == 0)

    walk = Walk(store, read, [f"{HOST}/"], leases=4, block=100).run()
    walk.check()
    assert not walk.held, walk.rig.said


def test_titles_of_their_own_are_no_way_out_of_a_trap(store: BlockStore) -> None:
    web = tree(3)

    def read(address: str) -> Read | None:
        found = web(address)
        return found and found._replace(named=True)

    walk = Walk(store, read, [f"{HOST}/"], leases=4, block=100).run(15_000)
    walk.check()
    assert 8_000 <= walk.fetched.total() < 8_500, walk.rig.said
    assert walk.held


def days(address: str) -> Read:
    """A calendar by seconds: each day has a name of its own, which its address does not say, and months lead to months."""
    if address == f"{HOST}/":
        return Read([f"{HOST}/?m=0"], new=True)
    at = int(address.rpartition("=")[2])
    if "?d=" in address:
        return Read([f"{HOST}/?d={at + 86_400}", f"{HOST}/?m={at // 2_419_200 * 2_419_200}"], named=True)
    near = [f"{HOST}/?d={at + 86_400 * day}" for day in range(28)]
    return Read([*near, f"{HOST}/?m={at + 2_419_200}"], named=True)


def test_names_of_days_are_no_way_out_of_a_calendar(store: BlockStore) -> None:
    walk = Walk(store, days, [f"{HOST}/"], leases=4, block=100).run(5_000)
    walk.check()
    assert walk.fetched.total() < 2_500, walk.rig.said
    assert walk.held


def test_parts_are_fetched_though_each_leads_to_a_trap(store: BlockStore) -> None:
    """Of how they compare with others, without end; a page leads to no more of that than it is worth."""

    def read(address: str) -> Read:
        if address == f"{HOST}/":
            return Read([f"{HOST}/shelf/{shelf}" for shelf in range(40)], new=True)
        numbers = address.removeprefix(f"{HOST}/").split("/")
        if numbers[0] == "shelf":
            return Read([f"{HOST}/part/{50 * int(numbers[1]) + n}" for n in range(50)])
        chance = random.Random(address)
        others = [chance.randrange(2_000) for _ in range(3)]
        if numbers[0] == "part":
            return Read([f"{HOST}/compare/{numbers[1]}/{others[0]}"])
        return Read([f"{HOST}/compare/{'/'.join([*numbers[1:][-5:], str(other)])}" for other in others])

    walk = Walk(store, read, [f"{HOST}/"], leases=4, block=100).run(10_000)
    walk.check()
    assert sum("/part/" in address for address in walk.fetched) == 2_000, walk.rig.said
    assert walk.fetched.total() < 5_000
    assert walk.held


@pytest.mark.parametrize("web", rest_slow(ENDLESS, "chain", "thin-5", "tree-3", "sessions"))
def test_what_goes_on_for_ever_comes_to_an_end(store: BlockStore, web: str) -> None:
    found, most = ENDLESS[web]
    walk = Walk(store, found, [f"{HOST}/"]).run(20_000)
    print(f"{web}: {walk.fetched.total()} requests, {walk.held.total()} held back")
    walk.check()
    assert walk.fetched.total() < most, walk.rig.said
    assert walk.held
    [left] = walk.rig.traps.left()
    assert left.urls == sum(each.urls for each in left.patterns) == walk.held.total()


@pytest.mark.parametrize("name", SITES)
def test_named_sites_are_fetched_whole(store: BlockStore, name: str) -> None:
    named = SITES[name](120)
    walk = Walk(store, read_by_larm(named), named.starts, leases=4, block=100).run(20_000)
    walk.check()
    assert named.found(walk.fetched) == named.real, walk.rig.said


KINDS = ("calendar-thin", "session-path", "session-query", "pagination", "sort-orders", "print-views", "logins", "repository")
"""Of traps, the cheap ones."""


@pytest.mark.parametrize("name", rest_slow([name for name in TRAPS if name not in {"tarpit", "redirects"}], *KINDS))
def test_named_traps_come_to_an_end_with_their_articles(store: BlockStore, name: str) -> None:
    named = TRAPS[name](80 if name == "calendar-query" else 40)  # its first years cost as much for any number of events
    assert named.budget is not None
    walk = Walk(store, read_by_larm(named), named.starts, leases=4, block=100).run(3 * named.budget)
    walk.check()
    missing = named.real - named.found(walk.fetched)
    print(f"{name}: {walk.fetched.total()} requests of {named.budget}, {len(missing)} of {len(named.real)} missing")
    assert not missing
    assert walk.fetched.total() <= 2 * named.budget


def test_versions_of_a_file_are_one_page_though_their_links_are_others(store: BlockStore) -> None:
    """What they show is the same; the addresses that they show in place of words are not."""
    named = TRAPS["one-path"](40)
    assert named.budget is not None
    walk = Walk(store, read_by_larm(named), named.starts, leases=4, block=100).run(named.budget + 1)
    walk.check_soon()
    assert named.found(walk.fetched) == named.real
    assert walk.fetched.total() <= named.budget


AHEAD = ("deep-relative", "facets-path", "one-path", "session-path")


@pytest.mark.parametrize("name", rest_slow(AHEAD, "deep-relative", "session-path"))
def test_of_a_trap_no_more_is_asked_for_while_its_pages_wait_to_be_read(store: BlockStore, name: str) -> None:
    """Fetchers may be 1,500 pages ahead of who reads them; as many were asked for before it was known what they are."""
    named = TRAPS[name](150)
    assert named.budget is not None
    walk = Walk(store, read_by_larm(named), named.starts, leases=16, unread=1_500).run(3 * named.budget)
    walk.check()
    assert named.found(walk.fetched) == named.real
    assert walk.fetched.total() <= named.budget


@pytest.mark.parametrize("count", [150, pytest.param(1_000, marks=SLOW)])
@pytest.mark.parametrize("name", ["calendar-path", pytest.param("calendar-query", marks=SLOW)])
def test_all_events_of_a_calendar_without_end_are_found(store: BlockStore, name: str, count: int) -> None:
    """Years go by between them in the order in which days are found; the days of empty years may not cost more than that."""
    named = TRAPS[name](count)
    assert named.budget is not None
    walk = Walk(store, read_by_larm(named), named.starts, leases=4, block=100).run(3 * named.budget)
    walk.check()
    assert named.found(walk.fetched) == named.real
    assert walk.fetched.total() <= named.budget


def albums(photos: int) -> Web:
    """Photos without a word, in two sizes, of which the larger ones lead nowhere."""

    def read(address: str) -> Read:
        if address == f"{HOST}/":
            return Read([f"{HOST}/a/0/{each}" for each in range(photos)], new=True)
        return Read([] if address.endswith("-big") else [f"{address}-big"])

    return read


def test_leaves_of_a_folder_are_fetched_whatever_they_are_called(store: BlockStore) -> None:
    """More of them than a host may have of what says nothing new, where nothing speaks for a trap."""
    walk = Walk(store, albums(1_200), [f"{HOST}/"]).run()
    walk.check()
    assert not walk.held, walk.rig.said
    assert walk.fetched.total() == 1 + 2 * 1_200


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=SLOW) for seed in range(1, 4))])
@pytest.mark.parametrize("web", ["thin-5", "tree-3", "index"])
def test_whoever_comes_first_it_ends_the_same(store: BlockStore, web: str, seed: int) -> None:
    """Fetchers and handler in any order, batches of any size, several requests at a time."""
    chance = random.Random(seed)
    found = index(400) if web == "index" else ENDLESS[web][0]
    walk = Walk(store, found, [f"{HOST}/"], order=chance, batch=chance.choice((1, 3, 50)), leases=chance.choice((1, 4)))
    walk.run(3_000)
    walk.check()
    if web == "index":
        assert not walk.held, walk.rig.said
    else:
        assert walk.held
        assert walk.fetched.total() <= 1_500


@pytest.mark.parametrize("web", ["thin-5", "tree-3", "index"])
def test_a_record_that_leaves_the_memory_comes_back_as_it_was(store: BlockStore, tmp_path: Path, web: str) -> None:
    """Between any two steps."""
    found = index(300) if web == "index" else ENDLESS[web][0]
    one = Walk(store, found, [f"{HOST}/"]).run(1_500)

    def exchange(walk: Walk) -> None:
        with walk.rig.book.lock:
            host = walk.rig.book.get_locked("a.test")
            if host.traps is not None:
                row = row_of(host.traps)
                host.traps = walk.rig.book.records.traps("a.test", row)
                assert row_of(host.traps) == row

    other_store = BlockStore(tmp_path / "other")
    try:
        other = Walk(other_store, found, [f"{HOST}/"]).run(1_500, exchange)
        assert list(other.fetched) == list(one.fetched)
        assert list(other.held) == list(one.held)
        assert other.rig.said == one.rig.said
    finally:
        other_store.close()


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=SLOW) for seed in range(1, 5))])
@pytest.mark.parametrize("web", ["thin-5", "tree-3", "index", "catalogue"])
def test_stopped_and_resumed_at_any_step(store: BlockStore, web: str, seed: int) -> None:
    """Nothing is lost, nothing is asked for twice, and it comes to an end."""
    chance = random.Random(seed)
    found = {"index": index(300), "catalogue": catalogue(300)}.get(web) or ENDLESS[web][0]
    walk = Walk(store, found, [f"{HOST}/"], order=chance, leases=chance.choice((1, 3)))
    steps = [chance.randrange(3_000) for _ in range(3)]
    for _ in range(3):
        for _ in range(steps.pop()):
            if not walk.step():
                break
        walk.restart().check_soon()
    walk.run(5_000)
    walk.check()
    if web in {"index", "catalogue"}:
        assert not walk.held, walk.rig.said
    else:
        assert walk.fetched.total() <= 2_500
        assert walk.held


def wide(size: int) -> Web:
    """Every page is new, and leads to two further ones."""

    def read(address: str) -> Read:
        number = number_of(address)
        return Read([f"{HOST}/page/{n}" for n in (2 * number + 1, 2 * number + 2) if n < size], new=True)

    return read


@pytest.mark.parametrize(("size", "grows"), [(10**9, ["a.test"]), (500, [])])
def test_a_start_host_that_grows_as_fast_as_ever_is_named(
    store: BlockStore, monkeypatch: pytest.MonkeyPatch, size: int, grows: list[str]
) -> None:
    """It goes on; one that has hardly any more addresses than pages is not named, however large it is."""
    monkeypatch.setattr("larm.frontier.traps.limits._LARGE", 400)
    monkeypatch.setattr("larm.frontier.traps.limits._OFTEN", 100)
    walk = Walk(store, wide(size), [f"{HOST}/"]).run(450)
    assert walk.rig.traps.growing == grows
    assert walk.restart().rig.traps.growing == grows
    walk.run(600)
    assert walk.fetched.total() == min(size, 600)
    assert walk.rig.traps.growing == grows


# -- what a person can do


def test_a_later_run_does_not_ask_again(store: BlockStore) -> None:
    walk = Walk(store, tree(3), [f"{HOST}/"]).run(3_000)
    before, held = walk.fetched.total(), walk.held
    walk.restart().run()
    assert walk.fetched.total() == before
    assert walk.held == held


def test_all_that_is_held_back_can_be_asked_for(store: BlockStore) -> None:
    """And what it brings is held back again."""
    walk = Walk(store, tree(3), [f"{HOST}/"]).run(3_000)
    held = set(walk.held)
    walk.restart(parked=True).run(20_000)
    walk.check()
    assert held <= set(walk.fetched)
    assert walk.held
    assert walk.fetched.total() < 10 * len(held)


def test_what_is_held_back_can_be_asked_for_while_it_runs(store: BlockStore) -> None:
    """At one host, by one pattern after the other; what it brings is held back again."""
    walk = Walk(store, tree(3), [f"{HOST}/"]).run(3_000)
    held = set(walk.held)
    traps, (left,) = walk.rig.traps, walk.rig.traps.left()
    patterns = [each.pattern for each in left.patterns if each.urls]
    assert sum(traps.held_by(left.host, pattern) for pattern in patterns) == len(held)
    assert traps.held_by(left.host, "/nothing") == traps.held_by("nobody", patterns[0]) == 0
    assert traps.holders() == traps.holders(left.host) == [left.host]
    for pattern in patterns:
        walk.rig.changes.alter(left.host, lambda host, pattern=pattern: traps.reopen_locked(host, pattern))
    walk.run(20_000)
    walk.check()
    assert held <= set(walk.fetched)
    assert walk.held
    assert walk.fetched.total() < 10 * len(held)


def test_so_can_all_that_is_behind_it(store: BlockStore) -> None:
    """Of a chain a single address is held back: to fetch no more than that would take as many runs as it has pages."""
    walk = Walk(store, chain(1_200), [f"{HOST}/"]).run()
    assert walk.held.total() == 1
    walk.restart(parked=True).run()
    walk.check()
    assert not walk.held
    assert walk.fetched.total() == 1_200


def test_a_start_url_pulls_its_own_out(store: BlockStore) -> None:
    walk = Walk(store, tree(3), [f"{HOST}/"]).run(3_000)
    held = set(walk.held)
    wanted, other = sorted(held)[:2]
    fetched = walk.fetched.total()
    walk.restart(starts=[wanted, f"{HOST}/"]).run(20_000)
    walk.check()
    assert wanted in walk.fetched
    assert walk.fetched.total() == fetched + 1
    assert other in walk.held
    walk.restart(starts=[wanted]).run()
    assert walk.fetched[wanted] == 1
    walk.restart(parked=True).run(20_000)
    walk.check()
    assert held <= set(walk.fetched)


@pytest.mark.parametrize("again", [False, True])
def test_without_repetition_nothing_is_held_back(store: BlockStore, again: bool) -> None:
    """Nor what an earlier run has held back."""
    web, settings = tree(3, 4_000), replaced(repetition=False)
    walk = Walk(store, web, [f"{HOST}/"], None if again else settings)
    if again:
        walk.run()
        assert walk.held
        walk.restart(settings)
    walk.run()
    walk.check()
    assert not walk.held
    assert walk.fetched.total() == 4_000


def test_parameters_that_meant_nothing_mean_something_without_repetition(store: BlockStore) -> None:
    walk = Walk(store, sessions(20, 100), [f"{HOST}/"]).run(3_000)
    assert any(line.endswith("parameter sid does not change the page") for line in walk.rig.said)
    assert walk.held
    walk.restart(replaced(repetition=False)).run()
    walk.check()
    assert not walk.held


def test_a_parameter_is_asked_for_where_one_page_in_sixteen_says_something_new(store: BlockStore) -> None:
    """It does change the text, if only in one view of many."""
    alike = sessions(20, 100)

    def read(address: str) -> Read | None:
        found = alike(address)
        return found and found._replace(new=found.new or random.Random(address).random() < 1 / 16)

    walk = Walk(store, read, [f"{HOST}/"]).run(700)
    walk.check_soon()
    assert any("open again: *?sid" in line for line in walk.rig.said), walk.rig.said


@pytest.mark.parametrize(
    ("name", "value", "web"),
    [("pages", 100, index(300)), ("depth", 50, chain(200)), ("variants", 20, None), ("foreign_pages", 7, None)],
)
def test_what_is_beyond_a_limit_waits_for_another(store: BlockStore, name: str, value: int, web: Web | None) -> None:
    found = web or queries(60)
    walk = Walk(store, found, [f"{HOST}/"], replaced(repetition=False, **{name: value})).run()
    walk.check()
    all_of_it = walk.fetched.total() + walk.held.total()
    assert (walk.held.total() > 0) is (name != "foreign_pages"), "it is the host of a start URL"
    fetched = walk.fetched.total()
    walk.restart().run()
    assert walk.fetched.total() == fetched, "the limit is what it was"
    walk.restart(replaced(repetition=False, **{name: 10 * value})).run()
    walk.check()
    assert not walk.held
    assert walk.fetched.total() >= all_of_it


def queries(number: int) -> Web:
    """One path that has so many."""

    def read(address: str) -> Read:
        return Read([f"{HOST}/list?n={'abcdefghijklmnopqrstuvwxyz'[n % 26]}{n}" for n in range(number)], new=True)

    return read


def test_limits_alone_and_off(store: BlockStore) -> None:
    settings = replaced(limits=False, pages=10)
    walk = Walk(store, index(300), [f"{HOST}/"], settings).run()
    assert walk.fetched.total() == 301
    walk = Walk(store, tree(3), ["http://b.test/"], settings).run(3_000)
    walk.check()


def test_more_than_may_be_held_back_is_counted(store: BlockStore) -> None:
    walk = Walk(store, tree(30), [f"{HOST}/"], replaced(held=100)).run(5_000)
    walk.check()
    assert walk.held.total() <= 100
    assert walk.over > 1_000
    assert walk.rig.counted["traps/over"] == walk.over
    [left] = walk.rig.traps.left()
    assert (left.urls, left.lost) == (walk.held.total(), walk.over)


def test_what_is_counted(store: BlockStore) -> None:
    """All that is held back, and all that is let go."""
    walk = Walk(store, tree(3), [f"{HOST}/"]).run(3_000)
    counted = walk.rig.counted
    assert counted["traps/filtered"] - counted["traps/released"] == walk.held.total()
    assert counted["traps/closed"] >= 1
    assert counted["traps/found"] == 1
