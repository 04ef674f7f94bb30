"""Files as a server would answer with them, on a real disk with all that may lie there."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from larm.config import FetchSettings
from larm.fetch import disk
from larm.fetch.file_fetcher import FileFetcher
from larm.fetch.file_types import FOLDER
from larm.kit.units import ByteSize
from larm.model.file_rules import FileRules, Root
from larm.model.file_url import file_url
from larm.model.lease import Lease
from larm.model.message import Known, URLMessage
from larm.model.outcome import Failed, FailReason, Fetched, Moved, NotModified, Outcome, Refused
from larm.model.url import BadUrl, URLNormalizer
from larm.testing.clock import FakeClock

NORMALIZER = URLNormalizer(files=True)
LATER = 100.0  # seconds: long enough after a change


class Disk:
    """A start folder, and a fetcher for it."""

    def __init__(self, root: Path, **rules: object) -> None:
        self.root = root
        self.rules = FileRules([Root(str(root), listed=True)], **rules)  # type: ignore[arg-type]
        self.clock = FakeClock(start=root.stat().st_mtime + LATER)
        self.size = 1000

    def get(self, name: str, etag: str = "") -> Outcome:
        """``name``: as seen from the folder, or a whole URL."""
        address = name if name.startswith("file:") else file_url(f"{self.root}/{name}")
        return self.fetch(address, etag)

    def fetch(self, address: str, etag: str = "") -> Outcome:
        known = Known(etag, "", 0) if etag else None
        fetcher = FileFetcher(
            FetchSettings(page_size=ByteSize(self.size), document_size=ByteSize(3000)), self.rules, self.clock
        )
        fetcher.start(Lease(1, "file:", URLMessage(NORMALIZER.parse(address), known=known)))
        assert fetcher.in_flight == 1
        [(_, outcome)] = fetcher.wait(60.0)
        assert fetcher.in_flight == 0
        return outcome

    def listing(self, name: str = "") -> list[str]:
        outcome = self.get(name)
        assert isinstance(outcome, Fetched)
        assert outcome.headers == {"content-type": FOLDER}
        prefix = file_url(f"{self.root}/{name}").removeprefix("file://")
        lines = outcome.body.decode("ascii").splitlines()
        assert all(line.startswith(prefix) for line in lines)
        return [line.removeprefix(prefix) for line in lines]


@pytest.fixture
def docs(tmp_path: Path) -> Disk:
    root = Path(os.path.realpath(tmp_path)) / "docs"
    root.mkdir()
    return Disk(root)


def reason(outcome: Outcome) -> FailReason:
    assert isinstance(outcome, Failed), outcome
    assert outcome.detail.isprintable()
    assert outcome.detail
    return outcome.reason


def target(outcome: Outcome) -> str:
    assert isinstance(outcome, Moved), outcome
    return outcome.location


# -- what a server would send


def test_a_file(docs: Disk) -> None:
    path = docs.root / "a b.html"
    path.write_bytes(b"<p>hello")
    os.utime(path, (1e9, 1e9))
    outcome = docs.get("a b.html")
    assert isinstance(outcome, Fetched)
    assert (outcome.status, outcome.body, outcome.truncated) == (200, b"<p>hello", False)
    assert outcome.headers["content-type"] == "text/html"
    assert outcome.headers["last-modified"] == formatdate(1e9, usegmt=True)
    assert outcome.timing.received == 8


@pytest.mark.parametrize(
    ("name", "body", "mime"),
    [
        ("a.HTM", b"", "text/html"),
        ("a.xhtml", b"", "application/xhtml+xml"),
        ("a.txt", b"", "text/plain"),
        ("a.md", b"", "text/plain"),
        ("a.ts", b"let a", "text/plain"),
        ("a.pdf", b"", "application/pdf"),
        ("a.py", b"", "text/x-python"),
        ("a.odt", b"", "application/vnd.oasis.opendocument.text"),
        ("a.docx", b"", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ("a.tar.gz", b"", "application/gzip"),
        ("a.html.gz", b"", "application/gzip"),
        ("README", b"", None),
        (".html", b"", None),
        ("a.", b"", None),
        ("a.nobody-knows", b"", None),
        ("a.txt", b"\x7fELF\0\0", None),
        ("a.txt", b"\xff\xfea\0b\0", "text/plain"),
    ],
)
def test_its_type_is_that_of_its_name_unless_that_lies(docs: Disk, name: str, body: bytes, mime: str | None) -> None:
    """None: the processors look at the bytes."""
    docs.rules = FileRules(docs.rules.roots, hidden=True)
    (docs.root / name).write_bytes(body)
    outcome = docs.get(name)
    assert isinstance(outcome, Fetched)
    assert outcome.headers.get("content-type") == mime


@pytest.mark.parametrize(("size", "truncated"), [(999, False), (1000, False), (1001, True), (5000, True)])
def test_a_big_file_is_cut(docs: Disk, size: int, truncated: bool) -> None:
    (docs.root / "big.txt").write_bytes(b"x" * size)
    outcome = docs.get("big.txt")
    assert isinstance(outcome, Fetched)
    assert (len(outcome.body), outcome.truncated) == (min(size, 1000), truncated)


@pytest.mark.parametrize(("size", "truncated"), [(3000, False), (3001, True)])
def test_a_document_may_be_larger(docs: Disk, size: int, truncated: bool) -> None:
    for name in ("big.pdf", "big.docx"):
        (docs.root / name).write_bytes(b"%PDF" + b"x" * (size - 4))
        outcome = docs.get(name)
        assert isinstance(outcome, Fetched)
        assert (len(outcome.body), outcome.truncated) == (3000, truncated)


def test_an_empty_file(docs: Disk) -> None:
    (docs.root / "empty").touch()
    assert isinstance(docs.get("empty"), Fetched)


def test_what_has_not_changed_is_not_read(docs: Disk) -> None:
    path = docs.root / "a.txt"
    path.write_text("one")
    first = docs.get("a.txt")
    assert isinstance(first, Fetched)
    etag = first.headers["etag"]
    assert isinstance(docs.get("a.txt", etag), NotModified)
    path.write_text("two")
    os.utime(path, ns=(first_time := path.stat().st_mtime_ns, first_time))
    docs.clock.advance(1.0)
    again = docs.get("a.txt", etag)
    assert isinstance(again, Fetched)
    assert again.body == b"two"


def test_what_has_just_changed_may_change_again_without_its_times_telling(docs: Disk) -> None:
    (docs.root / "a.txt").write_text("one")
    docs.clock = FakeClock(start=(docs.root / "a.txt").stat().st_ctime + 1.0)
    outcome = docs.get("a.txt")
    assert isinstance(outcome, Fetched)
    assert "etag" not in outcome.headers


# -- folders


def test_a_folder_is_a_list_of_what_is_in_it(docs: Disk) -> None:
    for name in ("b.txt", "a b.txt", "ä.txt", "50%.txt", "c:d", "#x?", "new\nline", ".hidden"):
        (docs.root / name).touch()
    (docs.root / "sub").mkdir()
    assert docs.listing() == [
        "%23x%3F",
        "50%25.txt",
        "a%20b.txt",
        "b.txt",
        "c:d",
        "new%0Aline",
        "sub/",
        "%C3%A4.txt",
    ]
    assert docs.listing("sub/") == []


def test_a_listing_has_only_what_is_wanted(docs: Disk) -> None:
    docs.rules = FileRules(docs.rules.roots, hidden=True, include=["*.txt"], exclude=["sub/x*"])
    for name in ("sub/x.txt", "sub/y.txt", "sub/y.html", "sub/.z.txt", "sub/xx/a.txt", "sub/yy/a.txt"):
        (docs.root / name).parent.mkdir(parents=True, exist_ok=True)
        (docs.root / name).touch()
    assert docs.listing("sub/") == [".z.txt", "y.txt", "yy/"]


def test_names_in_no_encoding(docs: Disk) -> None:
    (docs.root / os.fsdecode(b"\xff.txt")).write_text("odd")
    assert docs.listing() == ["%FF.txt"]
    outcome = docs.get("file://" + file_url(str(docs.root)).removeprefix("file://") + "/%FF.txt")
    assert isinstance(outcome, Fetched)
    assert outcome.body == b"odd"


def test_a_huge_folder_is_cut(docs: Disk) -> None:
    for number in range(300):
        (docs.root / f"{number:05}").touch()
    for docs.size in (1000, 3000):
        outcome = docs.get("")
        assert isinstance(outcome, Fetched)
        assert outcome.truncated
        assert docs.size / 3 < len(outcome.body) <= docs.size
        assert outcome.body.endswith(b"\n")


def test_a_folder_without_its_slash_and_a_file_with_one(docs: Disk) -> None:
    (docs.root / "sub").mkdir()
    (docs.root / "file").touch()
    assert target(docs.get("sub")) == file_url(f"{docs.root}/sub/")
    assert isinstance(docs.get("file/"), Refused)
    assert isinstance(docs.get("file/x"), Refused)


def test_what_is_not_there(docs: Disk) -> None:
    for name in ("none", "none/", "none/x", "x" * 300):
        outcome = docs.get(name)
        assert isinstance(outcome, Refused)
        assert outcome.status == 404


# -- links


def test_a_link_within_the_folder_is_a_redirect(docs: Disk) -> None:
    (docs.root / "sub").mkdir()
    (docs.root / "sub" / "a.txt").touch()
    (docs.root / "link.txt").symlink_to("sub/a.txt")
    (docs.root / "folder").symlink_to(docs.root / "sub")
    (docs.root / "sub" / "loop").symlink_to("..")
    assert docs.listing() == ["folder/", "link.txt", "sub/"]
    assert target(docs.get("link.txt")) == file_url(f"{docs.root}/sub/a.txt")
    assert target(docs.get("folder/")) == file_url(f"{docs.root}/sub/")
    assert target(docs.get("folder/a.txt")) == file_url(f"{docs.root}/sub/a.txt")
    assert target(docs.get("sub/loop/sub/loop/sub/a.txt")) == file_url(f"{docs.root}/sub/a.txt")
    assert target(docs.get("sub/loop/")) == file_url(f"{docs.root}/")


def test_links_that_lead_out_around_and_nowhere(docs: Disk) -> None:
    outside = docs.root.parent / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (docs.root / "out").symlink_to(outside)
    (docs.root / "passwd").symlink_to(outside / "secret")
    (docs.root / "up").symlink_to("..")
    (docs.root / "around").symlink_to("around")
    (docs.root / "a").symlink_to("b")
    (docs.root / "b").symlink_to("a")
    (docs.root / "nowhere").symlink_to("none")
    for name in ("out/", "out", "out/secret", "passwd", "up/", "up/outside/secret"):
        assert reason(docs.get(name)) is FailReason.PRIVATE, name
    for name in ("around", "a", "b/x"):
        assert reason(docs.get(name)) is FailReason.FILE, name
    assert isinstance(docs.get("nowhere"), Refused)
    assert docs.listing() == ["out/", "passwd", "up/"]


def test_a_link_to_what_is_not_wanted(docs: Disk) -> None:
    (docs.root / ".git").mkdir()
    (docs.root / "shown").symlink_to(".git")
    assert reason(docs.get("shown/")) is FailReason.PRIVATE


def test_names_that_try_to_climb(docs: Disk) -> None:
    (docs.root.parent / "secret").write_text("secret")
    for name in ("../secret", "x/../../secret", "%2e%2e/secret", ".%2E/secret"):
        outcome = docs.fetch(f"file://{docs.root}/{name}")
        assert reason(outcome) is FailReason.PRIVATE, name


def test_a_start_folder_that_is_a_link(docs: Disk) -> None:
    (docs.root / "a.txt").write_text("hello")
    alias = docs.root.parent / "alias"
    alias.symlink_to("docs")
    docs.rules = FileRules([Root(str(docs.root), listed=True, alias=str(alias))])
    assert target(docs.get(file_url(f"{alias}/"))) == file_url(f"{docs.root}/")
    assert target(docs.get(file_url(f"{alias}/a.txt"))) == file_url(f"{docs.root}/a.txt")
    assert isinstance(docs.get("a.txt"), Fetched)


def test_a_folder_that_becomes_a_link_while_it_is_walked(docs: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look at a name and its opening; what was opened then is not followed."""
    outside = docs.root.parent / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (docs.root / "sub").mkdir()
    real_open = os.open

    def swap(name: str, flags: int, **options: int) -> int:
        if name == "sub":
            (docs.root / "sub").rmdir()
            (docs.root / "sub").symlink_to(outside)
        return real_open(name, flags, **options)

    monkeypatch.setattr(disk.os, "open", swap)
    assert reason(docs.get("sub/secret")) is FailReason.FILE


# -- what must not be opened, and what can't be


@pytest.fixture
def never_open(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    opened: list[str] = []
    real_open = os.open

    def note(name: str, flags: int, **options: int) -> int:
        opened.append(name)
        return real_open(name, flags, **options)

    monkeypatch.setattr(disk.os, "open", note)
    yield opened
    assert not {"pipe", "socket", "/dev/zero"} & set(opened)


def test_pipes_sockets_and_devices(docs: Disk, never_open: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(docs.root / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(docs.root)  # its address may have only 107 characters
        listener.bind("socket")
        (docs.root / "tunnel").symlink_to("pipe")
        assert docs.listing() == []
        assert reason(docs.get("pipe")) is FailReason.FILE
        assert reason(docs.get("socket")) is FailReason.FILE
        assert reason(docs.get("pipe/x")) is FailReason.FILE
        assert target(docs.get("tunnel")) == file_url(f"{docs.root}/pipe")
    docs.rules = FileRules([Root("/dev", listed=True)])
    assert reason(docs.get("file:///dev/zero")) is FailReason.FILE


def test_a_file_that_becomes_a_pipe_while_it_is_looked_at(docs: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    (docs.root / "file").touch()
    real_open = os.open

    def swap(name: str, flags: int, **options: int) -> int:
        if name == "file":
            (docs.root / "file").unlink()
            os.mkfifo(docs.root / "file")
        return real_open(name, flags, **options)

    monkeypatch.setattr(disk.os, "open", swap)
    assert reason(docs.get("file")) is FailReason.FILE


def test_a_file_that_may_not_be_read(docs: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    (docs.root / "file").touch()

    def deny(name: str, flags: int, **options: int) -> int:
        raise PermissionError(13, "Permission denied", name)

    monkeypatch.setattr(disk.os, "open", deny)
    outcome = docs.get("file")
    assert isinstance(outcome, Failed)
    assert (outcome.reason, outcome.detail) == (FailReason.FILE, "Permission denied")


def test_a_start_file_opens_its_neighbours_but_lists_no_folder(docs: Disk) -> None:
    (docs.root / "sub").mkdir()
    (docs.root / "sub" / "a.html").touch()
    docs.rules = FileRules([Root(str(docs.root), listed=False)])
    assert isinstance(docs.get("sub/a.html"), Fetched)
    for name in ("", "sub/"):
        assert reason(docs.get(name)) is FailReason.PRIVATE


def test_no_descriptor_is_left_open(docs: Disk) -> None:
    (docs.root / "sub").mkdir()
    (docs.root / "sub" / "a").touch()
    os.mkfifo(docs.root / "sub" / "pipe")
    (docs.root / "sub" / "link").symlink_to("a")
    before = len(os.listdir("/proc/self/fd"))
    for name in ("", "sub", "sub/", "sub/a", "sub/pipe", "sub/link", "sub/none", "sub/a/b"):
        docs.get(name)
    assert len(os.listdir("/proc/self/fd")) == before


def test_what_waits_is_given_back(docs: Disk) -> None:
    fetcher = FileFetcher(FetchSettings(), docs.rules, docs.clock)
    lease = Lease(1, "file:", URLMessage(NORMALIZER.parse(file_url(str(docs.root)))))
    fetcher.start(lease)
    assert fetcher.abandon() == [lease]
    assert fetcher.wait(1.0) == []
    fetcher.wake()
    fetcher.close()


def test_big_files_come_a_few_at_a_time(docs: Disk) -> None:
    """The threads of the storages should not have to wait for all of them."""
    (docs.root / "big").write_bytes(b"x" * 3_000_000)
    fetcher = FileFetcher(FetchSettings(), docs.rules, docs.clock)
    for number in range(4):
        fetcher.start(Lease(number, "file:", URLMessage(NORMALIZER.parse(file_url(f"{docs.root}/big")))))
    assert [len(fetcher.wait(0.0)) for _ in range(3)] == [2, 2, 0]


PIECES = [
    "..",
    "../",
    "/",
    "//",
    "\\",
    "%2e%2e",
    "%2E.",
    "%2f",
    "%5c",
    "secret",
    "docs",
    "out",
    "up",
    "a",
    ".",
    "?",
    "#",
    "%00",
    "file:",
    "%20",
]


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(PIECES), max_size=8).map("".join))
def test_no_link_however_it_is_written_leads_out(docs: Disk, href: str) -> None:
    if not (docs.root / "out").is_symlink():
        (docs.root.parent / "secret").write_text("secret")
        (docs.root / "out").symlink_to("../secret")
        (docs.root / "up").symlink_to("..")
        (docs.root / "a").mkdir()
    try:
        url = NORMALIZER.join(file_url(f"{docs.root}/a/page.html"), href)
    except BadUrl:
        return
    outcome = docs.fetch(url.access)
    for _ in range(3):
        if not isinstance(outcome, Moved):
            break
        outcome = docs.fetch(NORMALIZER.join(url.access, outcome.location).access)
    assert not isinstance(outcome, Moved)
    if isinstance(outcome, Fetched):  # a listing of the folder, or of the empty one in it
        assert outcome.headers == {"content-type": FOLDER}
        assert outcome.body.startswith(file_url(f"{docs.root}/")[7:].encode()) or not outcome.body
