"""The registrar by itself: told, asked, lied to."""

from __future__ import annotations

import os
import random
import zlib
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import msgspec
import pytest

from larm.index.search.query import parse_question
from larm.kit.clock import SystemClock
from larm.peers.channel import Contact
from larm.peers.door import Call, RefusedError
from larm.peers.identity import Identity
from larm.peers.yousearch import protocol as say
from larm.peers.yousearch import registrar as registrar_module
from larm.peers.yousearch.needs import needs_of
from larm.peers.yousearch.recommendations import Recommendation
from larm.peers.yousearch.recommendations import signed as recommended
from larm.peers.yousearch.registrar import Registrar
from larm.peers.yousearch.summary import LENGTH, Summary, name_of, summary_of, to_wire
from larm.testing.clock import FakeClock
from tests.peers.yousearch.groups import size


class World:
    """Peers of which some can be reached."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.gone: set[str] = set()
        self.verified: list[str] = []
        self.registrar = self.new()

    def new(self) -> Registrar:
        return Registrar(self.clock, self.is_there, 120.0)

    def is_there(self, contact: Contact) -> bool:
        self.verified.append(contact.url)
        return contact.key not in self.gone

    def tell(
        self, key: str, summary: Summary, *, before: Summary | None = None, silent: bool = False, address: str = "192.0.2.1"
    ) -> bool:
        wire = None if silent else to_wire(summary, before)
        asked = say.Announce(f"peer {key}", 7_000, name_of(summary), before=name_of(before) if before else "", summary=wire)
        asked = msgspec.json.decode(msgspec.json.encode(asked), type=say.Announce)
        return self.registrar.announce(Call(key, address), asked).known

    def who(self, query: str) -> list[str]:
        return [each.key for each in self.look(query).peers]

    def look(self, query: str) -> say.Found:
        asked = say.Look(needs_of(parse_question(query).tree))
        return self.registrar.look(Call("asker", ""), msgspec.json.decode(msgspec.json.encode(asked), type=say.Look))


@pytest.fixture
def world() -> World:
    return World()


def words(*given: str, languages: Sequence[str] = ("en",)) -> Summary:
    return summary_of(given, languages)


def test_what_takes_time_is_done_while_others_are_answered(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Signatures and packed bits are looked at without the lock: one peer may send two hundred of them."""
    assert world.tell("a", words("tide"))
    locked = []
    for name in ("is_good", "unpacked"):
        original = getattr(registrar_module, name)
        watched = lambda *given, original=original: (locked.append(world.registrar._lock.locked()), original(*given))[1]  # noqa: E731
        monkeypatch.setattr(registrar_module, name, watched)
    plain = Recommendation(query="q", url="http://a.org/", title="A", author="", made=world.clock.wall())
    world.registrar.recommend(Call("a", "192.0.2.1"), say.Recommend((recommended(Identity.new(), plain),)))
    assert world.tell("b", words("eel"))
    assert locked == [False, False]
    assert len(world.registrar.recommended(Call("b", ""), say.Recommended("q")).said) == 1


def test_recommendations_without_room_are_refused_aloud(world: World) -> None:
    assert world.tell("a", words("tide"))
    plain = Recommendation(query="q", url="http://a.org/", title="A", author="", made=world.clock.wall())
    said = tuple(recommended(Identity.new(), plain) for _ in range(22))
    with pytest.raises(RefusedError, match="no room for 2 "):
        world.registrar.recommend(Call("a", "192.0.2.1"), say.Recommend(said))


def test_who_has_more_for_some_is_named_to_who_signs(world: World) -> None:
    assert world.tell("a", words("tide"))
    asked = say.Announce("b", 7_000, "n", summary=to_wire(words("pond")), more=True)
    assert world.registrar.announce(Call("b", "192.0.2.2"), asked).known
    look = say.Look(needs_of(parse_question("tide").tree))
    assert [each.key for each in world.registrar.look(Call("", ""), look).peers] == ["a"]
    signed_look = msgspec.structs.replace(look, signed=True)
    assert [each.key for each in world.registrar.look(Call("", ""), signed_look).peers] == ["a", "b"]


def test_who_has_the_words_is_named(world: World) -> None:
    assert world.tell("a", words("tide", "eels"))
    assert world.tell("b", words("tides", "pond"))
    assert world.tell("c", words("flut", "tide", languages=("de",)))
    assert world.who("tide") == ["a", "b", "c"]
    assert world.who("tide eel") == ["a"]
    assert world.who("pond OR flut") == ["b", "c"]
    assert world.who("-tide") == ["a", "b", "c"], "where nothing is needed all are asked"
    found = world.look("pond")
    assert (found.everyone, found.complete) == (3, True)
    assert found.peers == (Contact("b", "http://192.0.2.1:7000", "peer b"),)


def test_where_nobody_has_all_those_with_most_are_asked(world: World) -> None:
    world.tell("a", words("tide", "eels"))
    world.tell("b", words("pond"))
    found = world.look("tide eels pond")
    assert ([each.key for each in found.peers], found.complete) == (["a"], False)
    assert world.who("nothing like it") == []


def test_changes_are_taken_by_who_knows_what_they_change(world: World) -> None:
    others = [f"w{n}" for n in range(1_000)]  # or changes would not be shorter
    first, second, third = (words(word, *others) for word in ("tide", "eels", "pond"))
    world.tell("a", first)
    assert world.tell("a", second, before=first)
    assert (world.who("tide"), world.who("eels")) == ([], ["a"])
    assert world.tell("a", second, silent=True)
    assert not world.tell("a", third, before=first), "it has another one"
    assert not world.tell("a", third, silent=True)
    assert world.who("eels") == ["a"]
    world.registrar = world.new()
    assert not world.tell("a", second, silent=True), "a new registrar knows nothing"
    assert world.who("eels") == []
    assert world.tell("a", second)
    assert world.who("eels") == ["a"]


def test_full_peers_have_several_summaries(world: World) -> None:
    many = words(*(f"w{n}" for n in range(30_000)), languages=())
    assert len(many.partitions) == 2
    world.tell("a", many)
    world.tell("b", words("w5", languages=()))
    assert world.who("w5 w29000") == ["a"]
    assert world.who("w5") == ["a", "b"]
    fewer = words("w5", languages=())
    world.tell("a", fewer)
    assert world.who("w29000") == []


def test_what_is_no_summary_is_not_taken(world: World) -> None:
    bomb = msgspec.structs.replace(to_wire(words("a")), data=zlib.compress(bytes(10_000_000)))
    for wire in (bomb, msgspec.structs.replace(bomb, partitions=1 << 40), msgspec.structs.replace(bomb, data=b"x")):
        told = say.Announce("p", 7_000, "n", summary=wire)
        assert not world.registrar.announce(Call("a", "192.0.2.1"), told).known  # its vectors would be longer than they may
    assert world.registrar.members == []


def test_whoever_cannot_be_reached_is_not_taken(world: World) -> None:
    world.gone.add("a")
    with pytest.raises(RefusedError, match="can't be reached"):
        world.tell("a", words("tide"))
    assert world.who("tide") == []
    world.tell("b", words("tide"), address="2001:db8::1")
    assert world.verified == ["http://192.0.2.1:7000", "http://[2001:db8::1]:7000"], (
        "where the request came from, and nowhere else"
    )
    world.tell("b", words("tide"), address="2001:db8::1")
    assert len(world.verified) == 2, "who is known is not asked again"
    world.tell("b", words("tide"), address="192.0.2.9")
    assert len(world.verified) == 3, "who moves is"


def test_a_name_is_asked_at_the_address_that_it_came_from(world: World) -> None:
    summary = words("tide")
    asked = say.Announce("p", 7_000, name_of(summary), https=True, host="anna.example", summary=to_wire(summary))
    world.registrar.announce(Call("a", "192.0.2.1"), asked)
    (found,) = world.look("tide").peers
    assert (found.url, found.address) == ("https://anna.example:7000", "192.0.2.1")
    plain = msgspec.structs.replace(asked, https=False, host="bank.example")
    world.registrar.announce(Call("b", "192.0.2.2"), plain)
    assert [each.url for each in world.look("tide").peers][1] == "http://192.0.2.2:7000", "without a certificate no name counts"
    for wrong in ("x/../", "a b", "a:1", "[::1]", "x" * 254, "@x", "x\n"):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(msgspec.to_builtins(msgspec.structs.replace(asked, host=wrong)), say.Announce)


def test_one_address_cannot_fill_it(world: World) -> None:
    one = words("tide")
    for n in range(64):
        world.tell(f"k{n}", one)
    with pytest.raises(RefusedError, match="too many"):
        world.tell("k64", one)
    assert world.tell("k64", one, address="192.0.2.2")
    assert world.tell("k3", one)


def test_a_report_is_verified(world: World) -> None:
    world.tell("a", words("tide"))
    world.registrar.report(Call("x", ""), say.Report("a"))
    assert world.who("tide") == ["a"], "it is there, whoever says what"
    world.gone.add("a")
    world.registrar.report(Call("x", ""), say.Report("a"))
    assert world.who("tide") == []
    world.gone.clear()
    world.tell("a", words("tide"))
    assert world.who("tide") == ["a"], "it has come back"


def test_who_leaves_or_falls_silent_is_forgotten(world: World) -> None:
    world.tell("a", words("tide"))
    world.tell("b", words("tide"))
    world.registrar.leave(Call("a", ""), say.Hello())
    assert world.who("tide") == ["b"]
    world.clock.advance(240)
    assert world.who("tide") == ["b"]
    world.clock.advance(6)
    assert world.who("tide") == [], "two periods of 120 s, and five"
    world.tell("c", words("tide"))
    assert world.who("tide") == ["c"]


def test_found_says_for_how_long_no_peer_has_changed(world: World) -> None:
    world.clock.advance(10)
    for key in "ab":
        world.tell(key, words("tide"))
    world.clock.advance(30)
    assert world.look("tide").unchanged == 30
    world.tell("a", words("tide"), silent=True)
    assert world.look("tide").unchanged == 30, "nothing has changed"
    other = summary_of(["tide"], ["en"], "later")
    world.tell("b", other, before=words("tide"))
    assert world.look("tide").unchanged == 0, "results of b are not what they were, though its words are"
    world.clock.advance(20)
    world.registrar.leave(Call("stranger", ""), say.Hello())
    assert world.look("tide").unchanged == 20
    world.registrar.leave(Call("a", ""), say.Hello())
    assert world.look("tide").unchanged == 0, "a kept answer may have results of a"


def full(chance: random.Random) -> Summary:
    """As of 20,000 words and stems: a quarter of all bits are set. Not of words, which take a tenth of a second."""
    size = LENGTH // 8
    vectors = [(chance.getrandbits(8 * size) & chance.getrandbits(8 * size)).to_bytes(size) for _ in range(3)]
    return Summary((), (tuple(vectors),))


def costs(world: World, number: int, *, seed: int = 5) -> int:
    """Bytes of the announcements of so many peers."""
    told = 0
    chance = random.Random(seed)
    for n in range(number):
        summary = full(chance)
        asked = say.Announce("p", 7_000, name_of(summary), summary=to_wire(summary))
        told += len(msgspec.json.encode(asked))
        assert world.registrar.announce(Call(f"k{n}", f"192.{n >> 16}.{n >> 8 & 255}.{n & 255}"), asked).known
    return told


def test_a_registrar_takes_what_the_formula_says() -> None:
    """YOUS-1: k vectors of b bits for each peer, in memory, and on the wire for each that changes in a period."""
    world = World()
    told = costs(world, 8)
    formula = 8 * 3 * 65_536 / 8
    assert size(world.registrar) / formula == pytest.approx(1.0, rel=0.25)
    assert told / formula == pytest.approx(1.0, rel=0.25)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("number", [1_000, 10_000])
def test_a_registrar_of_thousands_takes_what_the_formula_says(number: int) -> None:
    world, clock = World(), SystemClock()
    before, began = resident(), clock.monotonic()
    told = costs(world, number)
    each = (clock.monotonic() - began) / number
    formula = number * 3 * 65_536 / 8
    assert size(world.registrar) / formula == pytest.approx(1.0, rel=0.25)
    assert told / formula == pytest.approx(1.0, rel=0.25)
    took = resident() - before
    assert took < 1.5 * formula + 50_000_000
    world.tell("who", words("tide", "causeway"), address="198.51.100.1")
    began = clock.monotonic()
    for _ in range(100):
        assert "who" in world.who("tide causeway")
    looked = (clock.monotonic() - began) / 100
    print(f"\n{number:,} peers: {took / 1e6:.0f} MB, {formula / 1e6:.0f} by the formula; {told / number:,.0f} bytes and")
    print(f"{1e3 * each:.1f} ms an announcement; {1e3 * looked:.2f} ms a look; load {os.getloadavg()[0]:.0f}")


def resident() -> int:
    """Bytes of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize(
    "needs",
    [
        [[[{"word": "w"}]]] * 100,
        [[[{"word": "w"}]] * 100],
        [[[{"word": "w"}] * 100]],
        [[[{"word": "w", "stems": [["en", "w"]] * 100}]]],
    ],
)
def test_a_question_has_not_more_words_than_a_query(needs: object) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"needs": needs}, say.Look)


def test_who_can_not_be_reached_keeps_nobody_waiting() -> None:
    """Call-backs that take long are few, so that the others' questions are answered."""
    world = World()
    inner: list[str] = []

    def is_there(contact: Contact) -> bool:
        if len(inner) < 2 and contact.key != "other":
            inner.append(contact.key)
            with pytest.raises(RefusedError, match="too many") if len(inner) == 2 else nullcontext():
                world.tell(f"more {len(inner)}", words("tide"))
        return True

    world.registrar = Registrar(world.clock, is_there, 120.0)
    assert world.tell("a", words("tide"))
    assert world.tell("other", words("tide"), address="192.0.2.2")
