"""A web of more than HTML is read, followed and found; what kills the reader of documents costs one page."""

from __future__ import annotations

import functools
import gzip
import os
import select
import signal
import threading
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from larm.engine.reading_pool import Ended
from larm.index.search.searcher import IndexSearcher
from larm.ops.observers import build_crawl
from larm.parse.apart.reader import DocumentReader
from larm.parse.reading.page_reader import Found
from larm.testing.replies import Reply
from larm.testing.site import Site
from larm.testing.web import SyntheticWeb
from tests.parse.office_files import docx, ods, odt, pdf, pptx, xlsx
from tests.stories.crawls import config_of, indexed, lines, rows, run_crawl
from tests.stories.processes import DEADLINE, Process, crawl_arguments, larm_says

FEED = (
    "<rss version='2.0'><channel><title>Daily feed</title><item><title>Entry of the day</title><link>/entry</link>"
    "<description>wombat</description></item></channel></rss>"
)


def document(body: bytes, content_type: str = "application/octet-stream") -> Reply:
    return Reply(200, {"Content-Type": content_type}, body)


def site_of(web: SyntheticWeb, name: str = "a") -> Site:
    return web.host(f"{name}.localhost")


def found(directory: Path, words: str) -> list[str]:
    return [
        hit.url.partition("/")[2].partition("/")[2].partition("/")[2] for hit in IndexSearcher(directory).search(words).hits
    ]


def test_documents_are_found_and_their_links_followed(web: SyntheticWeb, tmp_path: Path) -> None:
    site = site_of(web)
    base = f"http://a.localhost:{site.port}"
    files = {"x.docx": docx(), "x.xlsx": xlsx(), "x.pptx": pptx(), "x.odt": odt(), "x.ods": ods()}
    site.page("/", "Home", links=["/paper.pdf", "/feed", "/sitemap.xml.gz", "/notes.txt", *(f"/{name}" for name in files)])
    site.add("/paper.pdf", document(pdf("On aardvarks", ["An aardvark digs."], link=f"{base}/cited"), "application/pdf"))
    for name, body in files.items():
        site.add(f"/{name}", document(body))
    site.add("/feed", document(FEED.encode(), "text/html"))
    site.add("/notes.txt", document(b"plain capybara", "text/plain"))
    sitemap = f"<urlset><url><loc>{base}/mapped</loc></url><url><loc>http://other.localhost/</loc></url></urlset>"
    site.add("/sitemap.xml.gz", document(gzip.compress(sitemap.encode()), "application/x-gzip"))
    for path in ("/cited", "/entry", "/mapped"):
        site.page(path, path[1:].title())
    run = run_crawl(tmp_path, f"{base}/")
    assert run.reason == "finished"
    assert run.counters["processing/documents"] == 6
    assert "processing/documents_failed" not in run.counters
    urls = {url.removeprefix(base) for url in indexed(tmp_path)}
    assert urls == {"/", "/paper.pdf", "/feed", "/notes.txt", "/cited", "/entry", "/mapped", *(f"/{name}" for name in files)}
    assert found(tmp_path, "aardvark digs")[0] == "paper.pdf"
    assert found(tmp_path, "wombat") == ["feed"]
    assert found(tmp_path, "capybara") == ["notes.txt"]
    assert set(found(tmp_path, "pears")) == {"x.xlsx"}
    titles = {row.url.removeprefix(base): row.title for row in rows(tmp_path)}
    assert (titles["/paper.pdf"], titles["/x.docx"], titles["/feed"]) == ("On aardvarks", "Of crawlers", "Daily feed")
    assert any("Entry of the day" in line for line in lines(tmp_path, "links"))


def test_search_by_author_or_outline_title_finds_the_document(web: SyntheticWeb, tmp_path: Path) -> None:
    site = site_of(web)
    rtf = rb"{\rtf1{\info{\author Rita Teff}}words}"
    paper = pdf("Paper", ["Digging"], author="Ada Pidief", outline=["Burrows", "Termites", "Tunnels"])
    files = {"x.docx": docx(), "x.xlsx": xlsx(), "x.pptx": pptx(), "x.odt": odt(), "x.rtf": rtf, "x.pdf": paper}
    site.page("/", "Home", links=[f"/{name}" for name in files])
    for name, body in files.items():
        site.add(f"/{name}", document(body))
    run_crawl(tmp_path, f"http://a.localhost:{site.port}/")
    assert found(tmp_path, "Dox") == ["x.docx"]
    assert found(tmp_path, "Xenia") == ["x.xlsx"]
    assert found(tmp_path, "Slider") == ["x.pptx"]
    assert found(tmp_path, "odo") == found(tmp_path, "inga") == ["x.odt"]
    assert found(tmp_path, "Teff") == ["x.rtf"]
    assert [found(tmp_path, words) for words in ("Pidief", "burrows", "termites", "tunnels")] == [["x.pdf"]] * 4


def test_what_was_not_read_for_want_of_processes_is_read_once_there_are_some(web: SyntheticWeb, tmp_path: Path) -> None:
    site = site_of(web)
    base = f"http://a.localhost:{site.port}"
    site.page("/", links=["/paper.pdf"])
    reply = document(pdf("On aardvarks", ["An aardvark digs."], link=f"{base}/cited"), "application/pdf")
    reply.headers["ETag"] = '"1"'
    site.add("/paper.pdf", reply)
    site.page("/cited")
    run = run_crawl(tmp_path, f"{base}/", {"processing.documents.processes": 0})
    assert run.counters["cut/processing.documents.processes"] == 1
    assert "hollow/document" not in run.counters
    assert found(tmp_path, "cut:processing.documents.processes") == ["paper.pdf"]
    run = run_crawl(tmp_path, f"{base}/")
    assert run.counters["processing/documents"] == 1
    assert "paper.pdf" in found(tmp_path, "aardvark")
    assert f"{base}/cited" in indexed(tmp_path)


def test_what_kills_its_reader_costs_one_page(web: SyntheticWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    poisoned = functools.partial(DocumentReader, child="tests.stories.poisoned_child")
    monkeypatch.setattr("larm.parse.apart.reader.DocumentReader", poisoned)
    site = site_of(web)
    names = ["hanging.pdf", "crashing.pdf", "good.pdf", "broken.pdf"]
    site.page("/", links=[f"/{name}" for name in names])
    site.add("/hanging.pdf", document(pdf("HANG", ["x"])))
    site.add("/crashing.pdf", document(pdf("CRASH", ["x"])))
    site.add("/good.pdf", document(pdf("Good", ["An aardvark digs."])))
    site.add("/broken.pdf", document(b"%PDF-1.7 nothing"))
    settings = {"processing.documents.timeout": "4s", "processing.documents.processes": 1}
    run = run_crawl(tmp_path, f"http://a.localhost:{site.port}/", settings)
    assert run.reason == "finished"
    assert (run.counters["processing/documents"], run.counters["processing/documents_failed"]) == (1, 3)
    assert run.counters["item_scraped_count"] == 5
    assert found(tmp_path, "aardvark") == ["good.pdf"]
    assert "hanging.pdf" in found(tmp_path, "hanging")
    told = "\n".join(line for name in ("thread0", "thread1", "thread2") for line in lines(tmp_path, f"{name}_errors"))
    for sentence in ("hanging.pdf: application/pdf: the reading process: it took too long", "it crashed (SIGSEGV)", "damaged"):
        assert sentence in told


def test_every_reader_killed_once_and_all_texts_are_there(
    web: SyntheticWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    poisoned = functools.partial(DocumentReader, child="tests.stories.poisoned_child")
    monkeypatch.setattr("larm.parse.apart.reader.DocumentReader", poisoned)
    site = site_of(web)
    names = [f"{number}.pdf" for number in range(4)]
    site.page("/", links=[f"/{name}" for name in names])
    for name in names:
        flag = f"%ONCE:{tmp_path / name}.flag:\n".encode()
        site.add(f"/{name}", document(pdf(f"Title {name}", ["An aardvark digs."]) + flag))
    run = run_crawl(tmp_path / "crawl", f"http://a.localhost:{site.port}/", {"frontier.per_host": 4})
    assert run.counters["processing/documents"] == 4
    assert "processing/documents_failed" not in run.counters
    assert {line.partition(".")[0] for line in found(tmp_path / "crawl", "aardvark")} == {"0", "1", "2", "3"}
    assert len(list(tmp_path.glob("*.flag"))) == 4


def test_what_kills_its_reader_twice_is_asked_for_as_a_whole_the_next_time(
    web: SyntheticWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = site_of(web)
    site.page("/", links=["/1.pdf"])
    body = pdf("CRASH", ["An aardvark digs."])
    site.add("/1.pdf", Reply(200, {"Content-Type": "application/pdf", "ETag": '"1"'}, body))
    start = f"http://a.localhost:{site.port}/"
    with monkeypatch.context() as patch:
        poisoned = functools.partial(DocumentReader, child="tests.stories.poisoned_child")
        patch.setattr("larm.parse.apart.reader.DocumentReader", poisoned)
        run = run_crawl(tmp_path, start)
    assert any(f"was ended: 1 ({start}1.pdf); the next visit asks for them as a whole" in note for note in run.notes)
    assert not found(tmp_path, "aardvark")
    assert run_crawl(tmp_path, start).reason == "finished"
    assert found(tmp_path, "aardvark") == ["1.pdf"]
    web.log.clear()
    run_crawl(tmp_path, start)
    (request,) = [each for each in web.requests if each.path == "/1.pdf"]
    assert request.status == 304, "and from then on only if it has changed"


def test_one_that_hangs_holds_up_its_own_host_alone(web: SyntheticWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one fetcher thread, which must not be the one that waits."""
    poisoned = functools.partial(DocumentReader, child="tests.stories.poisoned_child")
    monkeypatch.setattr("larm.parse.apart.reader.DocumentReader", poisoned)
    slow, quick = site_of(web, "slow"), site_of(web, "quick")
    slow.page("/", links=["/1.pdf", "/2"])
    slow.add("/1.pdf", document(pdf("HANG", ["x"]), "application/pdf"))
    slow.page("/2")
    for number in range(50):
        quick.page(f"/{number}", links=[f"/{number + 1}"])
    starts = [f"http://slow.localhost:{slow.port}/", f"http://quick.localhost:{quick.port}/0"]
    run = run_crawl(tmp_path, starts, {"fetch.threads": 1, "processing.documents.timeout": "3s"})
    assert run.counters["item_scraped_count"] == 53
    (second,) = [request for request in web.log.requests("slow.localhost") if request.path == "/2"]
    last = [request for request in web.log.requests("quick.localhost") if request.path == "/49"]
    assert last[0].ended < second.started


def test_while_one_fetcher_waits_for_room_another_one_asks(web: SyntheticWeb, tmp_path: Path) -> None:
    """The pages of a host whose turn comes again and again, while nobody reads documents."""
    pages = [f"/{number}" for number in range(5)]
    for page in pages:
        site_of(web).page(page)
    papers = [f"b{number}" for number in range(4)]
    for name in papers:
        site_of(web, name).add("/", document(pdf(name, ["A paper."]), "application/pdf"))
    starts = [*[web.url("a.localhost", page) for page in pages], *[web.url(f"{name}.localhost") for name in papers]]
    crawl = build_crawl(config_of(starts, {"frontier.delay": "200ms", "frontier.per_host": 4, "fetch.threads": 6}), tmp_path)
    crawl._crew._reading._slow.limit = 1
    read, unload, seen = crawl._crew._reading._read_slow, crawl._crew._unloader.unload, threading.Event()
    waited: list[bool] = []

    def noticing(number: int, ended: Sequence[Ended], found: Sequence[Found] = ()) -> float:
        spent = unload(number, ended, found)
        if any(lease.message.url.path_query == pages[-1] for lease, _ in ended):
            seen.set()
        return spent

    def late(number: int) -> None:
        waited.append(seen.wait(10))
        read(number)

    crawl._crew._unloader.unload = noticing  # type: ignore[method-assign]
    crawl._crew._reading._read_slow = late  # type: ignore[method-assign]
    assert crawl.run().reason == "finished"
    assert all(waited), "the other host had to wait for the reader"


def test_a_crawl_that_is_stopped_while_a_document_is_read_goes_on(
    web: SyntheticWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    poisoned = functools.partial(DocumentReader, child="tests.stories.poisoned_child")
    site = site_of(web)
    site.page("/", links=["/1.pdf"])
    site.add("/1.pdf", document(pdf("HANG", ["An aardvark digs."]), "application/pdf"))
    settings = {"processing.documents.timeout": "500ms", "crawl.max_time": "300ms"}
    with monkeypatch.context() as patch:
        patch.setattr("larm.parse.apart.reader.DocumentReader", poisoned)
        run = run_crawl(tmp_path, f"http://a.localhost:{site.port}/", settings)
    assert run.reason == "closespider_timeout"
    run = run_crawl(tmp_path, f"http://a.localhost:{site.port}/")
    assert run.reason == "finished"
    assert {row.url.rpartition("/")[2] for row in rows(tmp_path)} == {"", "1.pdf"}
    assert len(rows(tmp_path)) == 2


def test_kill_9_leaves_no_process_behind_and_no_document_out(web: SyntheticWeb, tmp_path: Path) -> None:
    """Its reader is busy with a document that hangs, which a closed pipe alone would not end."""
    site = site_of(web)
    hangs = tmp_path / "hangs"
    os.mkfifo(hangs)
    site.page("/", links=["/1.pdf", "/2.pdf"])
    site.add("/1.pdf", document(pdf(f"HANG:{hangs}:", ["An aardvark digs."]), "application/pdf"))
    site.add("/2.pdf", document(pdf("Good", ["A wombat digs."]), "application/pdf"))
    start = f"http://a.localhost:{site.port}/"
    poison = (
        f"import sys; sys.path.append({str(Path(__file__).parents[2])!r})\n"
        "from larm.parse.apart.reader import DocumentReader\n"
        "DocumentReader.__init__.__defaults__ = ('tests.stories.poisoned_child',)"
    )
    directory = tmp_path / "crawl"
    arguments = crawl_arguments(directory, [start], {"processing.documents.timeout": "5s", "monitor.tick": "50ms"})
    with ExitStack() as stack, Process(*arguments, before=poison) as process:
        hangs.open("rb").close()  # waits for the other end
        children = [os.pidfd_open(child) for child in children_of(process.number)]
        for child in children:
            stack.callback(os.close, child)
        process.signal(signal.SIGKILL)
        assert process.end().status == -signal.SIGKILL
        assert children
        for child in children:
            assert select.select([child], [], [], DEADLINE)[0], "it is still there"
    assert larm_says(*crawl_arguments(directory, [start])).status == 0
    assert sorted(row.url.rpartition("/")[2] for row in rows(directory)) == ["", "1.pdf", "2.pdf"]
    assert set(found(directory, "digs")) == {"1.pdf", "2.pdf"}


def children_of(number: int) -> set[int]:
    """Processes that any thread of a process has started."""
    found: set[int] = set()
    for task in Path(f"/proc/{number}/task").glob("*/children"):
        with suppress(OSError):  # the thread has ended meanwhile
            found.update(map(int, task.read_text(encoding="ascii").split()))
    return found
