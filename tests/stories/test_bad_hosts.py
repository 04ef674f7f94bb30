"""Story 3: everything that a bad web can do, in one crawl. The good pages are all fetched, and memory stays bounded."""

from __future__ import annotations

import gzip
import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from larm.testing.replies import Reply
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import SILENCE, asked, check_stored, lines, once, rows, run_crawl
from tests.stories.processes import crawl_arguments, larm_says
from tests.support import bad_replies

PAGE_SIZE = 500_000
MEMORY = 300_000_000
"""Bytes: a small crawl takes 160 MB, and what the bad hosts send would be 350 MB and more."""
HTML = {"Content-Type": "text/html"}
SURROGATES = (
    '<a href="/'.encode("utf-16le") + b"\x00\xd8" + 'x">1</a><a href="/&#xD800;y">2</a><a href="/ok">3</a>'.encode("utf-16le")
)

CUT = {
    "endless": bad_replies.endless_body(),
    "bomb": bad_replies.gzip_bomb(300),
    "huge": bad_replies.huge_page(50_000_000),
}
"""Pages without end, stored up to ``fetch.page_size``."""
ODD = {
    "nul": bad_replies.nul_page(),
    "lying": Reply(200, {"Content-Type": "image/png"}, b"<title>no picture</title><a href='/never'>no link</a>"),
    "charset": Reply(200, {"Content-Type": "text/html; charset=\xff\xfe"}, b"\xff\xfe\x00\xd8<a href=/never>no link</a>"),
    "surrogate": Reply(200, {"Content-Type": "text/html; charset=utf-16le"}, SURROGATES),
    "empty": Reply(200, HTML, b""),
}
"""Stored as they are."""
BROKEN = {
    "headers": (bad_replies.endless_headers(), "protocol"),
    "nonsense": (Reply(raw=b"\x00\x01\x02 I am no web server\r\n\r\n", end="close"), "protocol"),
    "gzip": (Reply(200, HTML | {"Content-Encoding": "gzip"}, gzip.compress(b"", mtime=0)[:10] + b"\x07" * 500), "content"),
    "reset": (bad_replies.reset(), "dropped"),
    "bodiless": (Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", end="close"), "dropped"),
}
"""No usable answer, and why."""
SILENT = {
    "silent": SILENCE,
    "silent-later": bad_replies.stall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>"),
}
"""No end of an answer. In a crawl of their own: with so short a time-out, a slow machine has some at other hosts, too."""
STATUSES = (403, 404, 410, 500, 501)


@pytest.fixture
def refused() -> Iterator[int]:
    """A port at which nobody listens, and nobody else can."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


def build(web: SyntheticWeb) -> tuple[list[str], list[str]]:
    """A host for each kind of trouble, with a good page behind it: (addresses to link to, pages to be had)."""
    links, pages = [], []

    def link(host: str, path: str, *, page: bool) -> None:
        links.append(web.url(host, path))
        if page:
            pages.append(host + path)

    troubles = [*CUT.items(), *ODD.items(), *((name, reply) for name, (reply, _) in BROKEN.items())]
    for name, reply in troubles:
        host = f"{name}.localhost"
        web.host(host).add("/bad", reply)
        web.host(host).page("/good")
        link(host, "/bad", page=name not in BROKEN)
        link(host, "/good", page=True)
    web.host("surrogate.localhost").page("/ok")
    pages.append("surrogate.localhost/ok")

    loop = web.host("loop.localhost")
    loop.redirect("/a", "/b")
    loop.redirect("/b", "/a")
    loop.redirect("/itself", "/itself", 302)
    loop.redirect("/nowhere", "http://[broken/")
    loop.redirect("/mail", "mailto:somebody@example.org")
    for number in range(10):
        loop.redirect(f"/chain{number}", f"/chain{number + 1}", 307)
    links.extend(web.url("loop.localhost", path) for path in ("/a", "/itself", "/nowhere", "/mail", "/chain0"))

    moody = web.host("moody.localhost")
    moody.page("/later", text="here I am")
    moody.first("/later", bad_replies.unavailable(), bad_replies.unavailable())
    moody.page("/links", links=["//[::bad", "http://", "/%zz", "/" + "long/" * 2000, "javascript:alert(1)", "/ok"])
    moody.page("/ok")
    for status in STATUSES:
        moody.status(f"/{status}", status)
        link("moody.localhost", f"/{status}", page=False)
    link("moody.localhost", "/later", page=True)
    link("moody.localhost", "/links", page=True)
    pages.append("moody.localhost/ok")

    for host in ("first.localhost", "last.localhost"):
        web.host(host).page("/", links=[f"/{number}" for number in range(5)])
        for number in range(5):
            web.host(host).page(f"/{number}", links=["/"])
        pages += [f"{host}/", *(f"{host}/{number}" for number in range(5))]
    links = [web.url("first.localhost"), *links, web.url("last.localhost")]
    return links, pages


def test_all_bad_hosts_in_one_crawl(tmp_path: Path, web: SyntheticWeb, refused: int) -> None:
    links, pages = build(web)
    nowhere = ["http://no-such-host.invalid/", f"http://refused.localhost:{refused}/"]
    web.host("start.localhost").page("/", links=[*nowhere, *links])
    settings = {"fetch.page_size": PAGE_SIZE, "monitor.tick": "200ms"}
    said = larm_says(*crawl_arguments(tmp_path, [web.url("start.localhost")], settings, "-restrictto", ".*"))
    assert said.status == 0, said.err

    assert answered_well(web) == once("start.localhost/", *pages)
    check_stored(tmp_path, web, pages=["start.localhost/", *pages])
    stats = json.loads((tmp_path / "stats.json").read_bytes())["stats"]
    assert stats["item_scraped_count"] == len(pages) + 1
    check_sizes(tmp_path)
    check_failures(tmp_path, web, stats, nowhere)
    check_redirects(web, stats)
    check_statuses(web, stats)
    assert stats["urllength/request_ignored_count"] == 1
    assert [len(line) > 10_000 for line in lines(tmp_path, "URLLengthFilter")] == [True]
    malformed = [line for line in errors_of(tmp_path) if "/links: " in line]
    assert ["not a URL" in line for line in malformed] == [True] * 2, "one line for each malformed link"
    assert stats["memusage/max"] < MEMORY


def test_hosts_that_never_end_an_answer(tmp_path: Path, web: SyntheticWeb) -> None:
    for name, reply in SILENT.items():
        web.host(f"{name}.localhost").add("/bad", reply)
        web.host(f"{name}.localhost").page("/good")
    links = [web.url(f"{name}.localhost", path) for name in SILENT for path in ("/bad", "/good")]
    web.host("start.localhost").page("/", links=links)
    run = run_crawl(tmp_path, web.url("start.localhost"), {"fetch.timeout": "1s", "crawl.restrict_to": ".*"})
    assert run.reason == "finished"
    check_stored(tmp_path, web, pages=["start.localhost/", *(f"{name}.localhost/good" for name in SILENT)])
    errors = errors_of(tmp_path)
    for name in SILENT:
        assert asked(web)[f"{name}.localhost/bad"] == 3
        about = [line for line in errors if line.endswith(f"//{name}.localhost:{web.port}/bad")]
        # where other processes keep this one waiting, it says so
        assert [" timeout: " in line or " busy: " in line for line in about] == [True] * 3


def answered_well(web: SyntheticWeb) -> dict[str, int]:
    """Answers of 200, but for those that broke."""
    return {key: count for key, count in web.fetched().items() if key.removesuffix(".localhost/bad") not in BROKEN}


def errors_of(directory: Path) -> list[str]:
    """Of all threads."""
    return [line for log in sorted((directory / "logs").glob("thread*_errors.log")) for line in lines(directory, log.stem)]


def check_sizes(directory: Path) -> None:
    """A page without end is stored up to ``fetch.page_size``, the others as they are."""
    sizes = {row.url.partition("//")[2].partition(".")[0]: row.size for row in rows(directory) if row.url.endswith("/bad")}
    assert sizes == dict.fromkeys(CUT, PAGE_SIZE) | {name: len(reply.body) for name, reply in ODD.items()}


def check_failures(directory: Path, web: SyntheticWeb, stats: dict[str, int], nowhere: list[str]) -> None:
    """Each is counted by its reason and has its lines in an error log: three tries, or one where trying again is in vain."""
    reasons = [reason for _, reason in BROKEN.values()]
    tries = {"dropped": 3, "protocol": 1, "content": 1}
    for reason, count in tries.items():
        assert stats[f"downloader/exception_type_count/{reason}"] == count * reasons.count(reason), reason
    errors = errors_of(directory)
    for name, (_, reason) in BROKEN.items():
        about = [line for line in errors if line.endswith(f"//{name}.localhost:{web.port}/bad")]
        assert len(about) == tries[reason], name
        assert [line for line in about if f" {reason}: " not in line] == []
    for name in CUT:
        assert sum(f"//{name}.localhost" in line and "cut off" in line for line in errors) == 1
    assert stats["downloader/truncated"] == len(CUT)
    robots = lines(directory, "robots")
    for url in nowhere:
        host = url.split("/")[2]
        assert sum(f"host {host} given up" in line for line in robots) == 1
    assert stats["larm/hosts_given_up"] == len(nowhere)
    assert stats["robotstxt/exception_count/unresolved"] == 1
    assert stats["robotstxt/exception_count/connect"] == 3


def check_redirects(web: SyntheticWeb, stats: dict[str, int]) -> None:
    """Five in a row, a loop once round, one to itself or to nowhere not at all."""
    found = {path: count for path, count in asked(web).items() if path.startswith("loop.localhost")}
    chain = {f"loop.localhost/chain{number}": 1 for number in range(6)}
    assert found == chain | {f"loop.localhost/{path}": 1 for path in ("a", "b", "itself", "nowhere", "mail")}
    assert stats["redirect/too_many"] == 1
    assert stats["redirect/circle"] == 2


def check_statuses(web: SyntheticWeb, stats: dict[str, int]) -> None:
    """What may pass is tried three times."""
    found = asked(web)
    assert [found[f"moody.localhost/{status}"] for status in STATUSES] == [1, 1, 1, 3, 1]
    assert found["moody.localhost/later"] == 3
    assert stats["downloader/response_status_count/503"] == 2
