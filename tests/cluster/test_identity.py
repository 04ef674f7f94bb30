"""Who an agent is, and who can't speak for it: certificates, signatures, directories that were copied."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from larm.cluster.bus import Question
from larm.cluster.identity import Identity, read_identity, write_identity
from larm.cluster.line import Line
from larm.cluster.said import NoSeal, Said, Sealing
from larm.errors import ConfigError, UsageError
from tests.support.local_bus import Hub, LocalBus

pytest.importorskip("cryptography")
from larm.cluster.certificates import issue, make_authority
from larm.cluster.seal import Seal

NOW = datetime.datetime.now(datetime.UTC)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Ours with the agents one, two and three; theirs, which also has one that is called two."""
    ours, theirs = tmp_path_factory.mktemp("ours"), tmp_path_factory.mktemp("theirs")
    for folder, names in ((ours, ("one", "two", "three")), (theirs, ("two",))):
        make_authority(folder, NOW)
        for name in names:
            issue(folder, name, ("127.0.0.1",), NOW)
    return ours, theirs


def seal_of(folder: Path, name: str, cluster: str = "demo", members: tuple[str, ...] = ()) -> Seal:
    return Seal(cluster, folder / "ca.pem", folder / f"{name}.pem", folder / f"{name}.key", members)


def test_what_is_signed_is_believed_for_whom_and_what_it_is_for(folders: tuple[Path, Path]) -> None:
    ours, theirs = folders
    one, two = seal_of(ours, "one"), seal_of(ours, "two")
    said = one.open(two.close(b"rows", "parcel", "one-1"), "parcel", "one-1")
    assert said == Said(b"rows", "two")
    assert said.may_speak_for("two-3f2a91")
    assert not said.may_speak_for("one-3f2a91")
    assert not said.may_speak_for("two")
    sealed = two.close(b"rows", "parcel", "one-1")
    for data, context, seal in (
        (sealed, ("parcel", "three-1"), one),  # sent on to another agent
        (sealed, ("beat", "one-1"), one),  # as something else
        (sealed.replace(b"rows", b"rats"), ("parcel", "one-1"), one),
        (sealed, ("parcel", "one-1"), seal_of(ours, "one", "other")),
        (seal_of(theirs, "two").close(b"rows", "parcel", "one-1"), ("parcel", "one-1"), one),
        (sealed, ("parcel", "one-1"), seal_of(ours, "one", members=("one", "three"))),
        (b"", ("parcel", "one-1"), one),
        (b"\x93\xc4\x01x\xc4\x01y\xc4\x01z", ("parcel", "one-1"), one),
    ):
        with pytest.raises(ValueError, match=r"."):
            seal.open(data, *context)


def test_a_certificate_and_a_key_that_do_not_belong_together(folders: tuple[Path, Path]) -> None:
    ours, theirs = folders
    with pytest.raises(ConfigError, match="not that of"):
        Seal("demo", ours / "ca.pem", ours / "one.pem", ours / "two.key")
    with pytest.raises(ConfigError, match="not of the authority"):
        Seal("demo", ours / "ca.pem", theirs / "two.pem", theirs / "two.key")
    with pytest.raises(ConfigError, match="can't be read"):
        Seal("demo", ours / "ca.pem", ours / "four.pem", ours / "four.key")
    with pytest.raises(ConfigError, match=r"cluster\.members"):
        seal_of(ours, "one", members=("two",))


def test_the_name_is_that_of_the_certificate_and_new_for_each_directory(tmp_path: Path) -> None:
    """Who starts anew, as the disk was lost, must not be taken for the one who had the hosts."""
    names = {read_identity(tmp_path / str(number), "demo", "one").name for number in range(2)}
    assert len(names) == 2
    assert all(Said(b"", "one").may_speak_for(name) for name in names)
    path = tmp_path / "agent.json"
    write_identity(path, Identity("demo", "one-3f2a91"))
    assert read_identity(path, "demo", "one").name == "one-3f2a91"
    with pytest.raises(UsageError, match="is for two"):
        read_identity(path, "demo", "two")
    assert read_identity(path, "demo").name == "one-3f2a91"


class Pair:
    """Two agents on one bus; what ``there`` is asked, and what each has refused."""

    def __init__(self, here: Sealing, there: Sealing, name: str = "one-1") -> None:
        hub = Hub()
        self.asked: list[tuple[str, Said]] = []
        self.answers: list[bytes | None] = []
        self.refused: list[str] = []
        self.there = Line("two-2", LocalBus(hub, "there"), there, {}, self.refused.append, now=lambda: 0.0, lease=3.0)
        self.here = Line(name, LocalBus(hub, "here"), here, {"two-2": "there"}, self.refused.append, now=lambda: 0.0, lease=3.0)
        self.hub = hub
        self.there.open(self._answer)

    def _answer(self, kind: str, said: Said) -> bytes | None:
        self.asked.append((kind, said))
        return b"taken " + said.payload

    def ask(self, kind: str = "parcel") -> bytes | None:
        self.here.ask("two-2", kind, b"rows", 1.0, self.answers.append)
        self.there.take(1)
        self.here.take(1)
        return self.answers.pop()


def test_questions_and_answers_are_signed(folders: tuple[Path, Path]) -> None:
    ours, _ = folders
    pair = Pair(seal_of(ours, "one"), seal_of(ours, "two"))
    assert pair.ask() == b"taken rows"
    assert pair.asked == [("parcel", Said(b"rows", "one"))]
    assert pair.refused == []


def test_who_is_not_of_the_cluster_is_not_heard_and_not_answered(folders: tuple[Path, Path]) -> None:
    ours, theirs = folders
    for stranger in (seal_of(theirs, "two"), NoSeal()):
        pair = Pair(stranger, seal_of(ours, "two"))
        assert pair.ask() is None
        assert pair.asked == []
        assert len(pair.refused) == 1


def test_an_answer_of_another_agent_is_none(folders: tuple[Path, Path]) -> None:
    """Of one of the cluster who listens at that address, and is not the one who was asked."""
    ours, _ = folders
    pair = Pair(seal_of(ours, "one"), seal_of(ours, "three"))
    assert pair.ask() is None
    assert pair.refused == ["an answer of three, who was not asked, but two-2"]


def test_a_parcel_can_not_be_sent_on_to_another_agent(folders: tuple[Path, Path]) -> None:
    """Its number would be taken there, and the real one dropped."""
    ours, _ = folders
    pair = Pair(seal_of(ours, "one"), seal_of(ours, "two"))
    answers: list[bytes | None] = []
    kept = seal_of(ours, "one").close(b"rows", "question", "parcel", "three-3")
    pair.hub.listening["there"](Question("parcel", kept, answers.append))
    pair.there.take(1)
    assert answers == [None]
    assert "not for this agent" in pair.refused[0]


def test_a_first_beat_is_for_whoever_listens_there(folders: tuple[Path, Path]) -> None:
    ours, _ = folders
    pair = Pair(seal_of(ours, "one"), seal_of(ours, "two"))
    answers: list[Said | None] = []
    for kind, heard in (("beat", [Said(b"taken hello", "two")]), ("parcel", [None])):
        pair.here.ask_at("there", "", kind, b"hello", 1.0, answers.append)
        pair.there.take(1)
        pair.here.take(1)
        assert answers == heard
        answers.clear()
