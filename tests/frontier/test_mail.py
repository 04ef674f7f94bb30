"""What is found of hosts that are not in memory waits on the disk, and comes to them with their turn."""

from __future__ import annotations

from itertools import count

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from larm.errors import StorageError
from larm.frontier.host import NEVER
from larm.frontier.host_records import ROW, decode_host
from larm.kit.disk import letter_box
from larm.kit.disk.block_store import BlockStore
from larm.kit.disk.database import Database
from larm.model.lease import Lease
from larm.model.message import URLMessage, pack_message, unpack_message
from larm.model.url import URLNormalizer
from larm.testing.fakes import message
from tests.conftest import empty
from tests.frontier.rig import CONNECT, Rig, drained, of, ok, status

ONE = of(hosts_in_memory=1)


def with_hosts(store: BlockStore, *hosts: str) -> Rig:
    """Known by robots.txt that has to be asked for; only the last one is in memory."""
    rig = Rig(store, ONE)
    for host in hosts:
        rig.screen(f"{host}/first")
        rig.save()
    assert rig.book.in_memory() == [hosts[-1]]
    return rig


def pages(rig: Rig) -> list[str]:
    """All that is fetched in the end."""
    return [address for address in drained(rig) if not address.endswith("robots.txt")]


def test_a_url_of_a_host_on_the_disk_does_not_touch_its_record(store: BlockStore) -> None:
    rig = with_hosts(store, "a", "b")
    row = store.get(ROW + "a")
    rig.screen("a/1", "b/1", "a/2")
    assert (rig.book.in_memory(), rig.book.mail.waiting, rig.tally.value) == (["b"], 2, 5)
    rig.save()
    assert (rig.book.in_memory(), store.get(ROW + "a"), store.ask(letter_box.size_of).there) == (["b"], row, 2)
    assert sorted(pages(rig)) == ["a/1", "a/2", "a/first", "b/1", "b/first"]
    assert (rig.tally.value, rig.book.mail.waiting) == (0, 0)
    rig.save()
    assert store.ask(letter_box.size_of).there == 0


def test_mail_comes_in_its_order_whether_a_checkpoint_has_it_or_not(store: BlockStore) -> None:
    rig = with_hosts(store, "a", "b")
    rig.screen("a/1", "a/2")
    rig.save()
    rig.screen("a/3")
    rig.book.cut()
    rig.screen("a/4")
    assert [each.url.access[-1] for each in rig.host("a").parked] == ["t", "1", "2", "3", "4"]
    assert rig.book.mail.waiting == 0


def test_what_the_disk_was_asked_for_while_a_checkpoint_was_written_is_not_doubled_or_lost(
    store: BlockStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`warm` has no lock while it reads."""
    rig = with_hosts(store, "a", "b")
    rig.screen("a/1")
    read = rig.book.mail.read

    def late(keys: list[str]) -> object:
        before = read(keys)
        monkeypatch.undo()
        rig.save()
        return before

    monkeypatch.setattr(rig.book.mail, "read", late)
    rig.book.warm(["a"])
    assert rig.book.in_memory() == ["b"], "it can't be known what came to the disk meanwhile"
    assert [each.url.access[-1] for each in rig.host("a").parked] == ["t", "1"]


def test_where_rules_are_known_the_filters_go_on_with_it_at_once(store: BlockStore) -> None:
    rig = Rig(store, ONE)
    rig.screen("a/1", "a/2")
    rig.robots_lander.land(rig.one(), ok(body=b"User-agent: *\nDisallow: /no"))
    assert rig.settle() == (["http://a/1", "http://a/2"], [])
    rig.save()
    rig.screen("b/1")
    rig.save()
    rig.screen("a/no", "a/3")
    assert rig.book.mail.waiting == 2
    (lease, _) = rig.queues.lease(2)
    assert (lease.message.url.access, len(rig.arrivals)) == ("http://a/1", 1)
    assert rig.settle() == (["http://a/3"], ["http://a/no"])
    assert rig.arrivals == []


def test_a_record_that_leaves_before_its_mail_was_judged_tells_it_again(store: BlockStore) -> None:
    """Nobody would ask for its rules, as they are known."""
    rig = Rig(store, ONE)
    rig.screen("a/1", "a/2")
    rig.robots_lander.land(rig.one(), ok())
    rig.settle()
    rig.save()
    rig.screen("b/1")
    rig.save()
    rig.screen("a/3")
    rig.host("a")
    rig.save()
    new = rig.load()
    assert sorted(pages(new)) == ["a/1", "a/2", "a/3", "b/1"]
    assert new.tally.value == 0


def test_after_a_kill_what_nobody_had_judged_is_judged_though_its_record_has_no_room(store: BlockStore) -> None:
    """It has no turn that would bring the record into the memory, as nothing else waits there."""
    rig = Rig(store, ONE)
    rig.screen("z/1")
    rig.robots_lander.land(rig.one(), ok())
    rig.settle()
    rig.save()
    rig.screen("b/1")
    rig.save()
    rig.screen("z/2")
    for lease in rig.queues.lease(2):
        if lease.host == "z":
            rig.end(lease)
    rig.save()
    new = rig.load()
    assert sorted(pages(new)) == ["b/1", "z/2"]
    assert new.tally.value == 0


@pytest.mark.parametrize("known", [False, True])
def test_who_has_no_turn_takes_no_mail(store: BlockStore, known: bool) -> None:
    rig = with_hosts(store, "b", "c")
    if known:
        rig.changes.block("b")
        rig.save()
        rig.host("c")
        rig.screen("c/2")
        rig.save()
        assert "b" not in rig.book.in_memory()
    rig.screen("b/1" if known else "a/1")
    assert rig.book.mail.waiting == 0
    assert rig.turns.figures().uncounted == 2 * known


def test_the_next_process_has_all_of_it(store: BlockStore) -> None:
    rig = with_hosts(store, "a", "b", "c")
    rig.screen("a/1", "b/1", "c/1")
    rig.save()
    rig.screen("a/lost")
    new = rig.load()
    assert (new.tally.value, len(new.book)) == (6, 3)
    assert sorted(pages(new)) == ["a/1", "a/first", "b/1", "b/first", "c/1", "c/first"]


def test_mail_of_a_host_that_was_blocked_between_two_runs_counts_for_nothing(store: BlockStore) -> None:
    rig = with_hosts(store, "a", "b")
    rig.screen("a/1")
    rig.save()
    saved = decode_host(store.get(ROW + "a") or b"")
    saved.row.state.blocked = True
    store.put(ROW + "a", msgspec.msgpack.encode(saved))
    again = rig.load()
    assert again.host("a").blocked
    assert (again.tally.value, again.turns.figures().uncounted) == (1, 2)
    assert pages(again) == ["b/first"]


def test_a_disk_that_is_full_leaves_the_checkpoint_before(store: BlockStore, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = with_hosts(store, "a", "b")
    rig.screen("a/1")
    rig.save()
    rig.screen("a/2", "c/1")
    write = Database.write

    def full(self: Database, statement: str, values: object = ()) -> int:
        if "letters_size SET" in statement:
            raise StorageError("the disk is full")
        return write(self, statement, values)  # type: ignore[arg-type]

    monkeypatch.setattr(Database, "write", full)
    with pytest.raises(StorageError, match="the disk is full"):
        rig.save()
    monkeypatch.undo()
    new = rig.load()
    assert sorted(pages(new)) == ["a/1", "a/first", "b/first"]
    assert new.tally.value == 0


def test_a_damaged_letter_is_named(store: BlockStore) -> None:
    rig = with_hosts(store, "a", "b")
    rig.screen("a/1")
    rig.save()
    box = store.ask(lambda database: database.row("SELECT box FROM letters_tail"))[0]
    torn = letter_box.Letter(box, 2, pack_message(message("http://a/2"))[:-3])
    store.transaction({}, (), lambda database: letter_box.write(database, [torn], []))
    with pytest.raises(StorageError, match=f"letter 2 of {box} is damaged.*larm repair"):
        rig.load().host("a")


def test_two_hosts_with_one_box_get_their_own(store: BlockStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("larm.frontier.mail._box", lambda key: 7)
    rig = with_hosts(store, "a", "b", "c")
    rig.screen("a/1", "b/1")
    rig.save()
    assert [each.url.access[-1] for each in rig.host("a").parked] == ["t", "1"]
    rig.save()
    assert rig.book.mail.waiting == store.ask(letter_box.size_of).there == 1
    assert sorted(pages(rig)) == ["a/1", "a/first", "b/1", "b/first", "c/first"]


def test_hosts_with_one_box_that_come_into_the_memory_together_get_their_own(
    store: BlockStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There one was given what was the other's: it waited for a host that was in memory, and the crawl did not end."""
    monkeypatch.setattr("larm.frontier.mail._box", lambda key: 7)
    rig = with_hosts(store, "a", "b", "c")
    rig.screen("a/1", "b/1")
    rig.save()
    rig.book.warm(["a", "b"])
    assert [[each.url.access for each in rig.host(key).parked] for key in "ab"] == [
        [f"http://{key}/first", f"http://{key}/1"] for key in "ab"
    ]
    assert rig.book.mail.waiting == 0
    assert sorted(pages(rig)) == ["a/1", "a/first", "b/1", "b/first", "c/first"]


@pytest.mark.parametrize(
    "address",
    ["http://a.example/b?c=d", "https://www.a.example:81/", "http://ä.example/ü", "http://a.example"],
)
def test_a_message_alone_comes_back_as_it_was(address: str) -> None:
    url = URLNormalizer().parse(address)
    for each in (URLMessage(url), URLMessage(url, "http://b.example/", 1, 2, 3, 4, stale=True), message(address)):
        assert unpack_message(pack_message(each)) == each


class Post(RuleBasedStateMachine):
    """Links, turns, checkpoints and kills in any order: no URL is lost, none is fetched twice but for a kill."""

    mailed = 0

    def __init__(self, store: BlockStore) -> None:
        super().__init__()
        empty(store)
        self.rig = Rig(store, ONE)
        self.numbers = count()
        self.unfinished = set[str]()
        self.saved = set[str]()
        self.leases: list[Lease] = []
        self.rig.save()

    @rule(hosts=st.text("abcdef", min_size=1, max_size=12))
    def links(self, hosts: str) -> None:
        addresses = [f"http://{host}/{next(self.numbers)}" for host in hosts]
        self.unfinished.update(addresses)
        before = self.rig.book.mail.waiting
        self.rig.screen(*addresses)
        Post.mailed += self.rig.book.mail.waiting - before

    @rule(limit=st.integers(1, 4))
    def lease(self, limit: int) -> None:
        self.leases += self.rig.queues.lease(limit)

    @precondition(lambda self: self.leases)
    @rule(which=st.integers(0, 9), outcome=st.sampled_from([ok(), ok(), ok(), status(503), CONNECT]))
    def end(self, which: int, outcome: object) -> None:
        lease = self.leases.pop(which % len(self.leases))
        if lease.robots:
            self.rig.robots_lander.land(lease, outcome)
        elif not self.rig.end(lease, outcome).retry:
            self.unfinished.remove(lease.message.url.access)

    @precondition(lambda self: self.rig.arrivals)
    @rule()
    def settle(self) -> None:
        self.rig.settle()

    @rule()
    def save(self) -> None:
        self.rig.save()
        self.saved = set(self.unfinished)

    @rule()
    def end_well(self) -> None:
        self.rig.save(last=True)
        self.saved = set(self.unfinished)
        self.kill()

    @rule(seconds=st.sampled_from([1.0, 70.0, 100_000.0]))
    def time(self, seconds: float) -> None:
        self.rig.fake.advance(seconds)

    @rule()
    def kill(self) -> None:
        self.rig = self.rig.load()
        self.leases, self.unfinished = [], set(self.saved)

    def teardown(self) -> None:
        for lease in self.leases:
            self.rig.queues.give_back([lease])
        while self.rig.arrivals:
            self.rig.settle()
        found = []
        while (wait := self.rig.queues.seconds_to_next()) != NEVER:
            self.rig.fake.advance(wait)
            for lease in self.rig.queues.lease(3):
                if lease.robots:
                    self.rig.robots_lander.land(lease, ok())
                else:
                    found.append(lease.message.url.access)
                    self.rig.end(lease)
            while self.rig.arrivals:
                self.rig.settle()
        assert sorted(found) == sorted(self.unfinished)
        assert (self.rig.tally.value, self.rig.book.mail.waiting) == (0, 0)


def test_whatever_happens_nothing_is_lost(store: BlockStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("larm.frontier.mail._box", lambda key: ord(key) // 2)  # b and c have one, d and e another
    run_state_machine_as_test(
        lambda: Post(store),
        settings=settings(
            max_examples=50, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck), database=None
        ),
    )
    assert Post.mailed > 50, "else it says little"
