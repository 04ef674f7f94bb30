"""Story: what pages say reaches neither a terminal nor a log with what could steer it, and no password is written down."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from larm import cli
from larm.testing.replies import Reply
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import lines, run_crawl

ESCAPES = "\x1b[2J\x1b]0;owned\x07\x9b31m\x85\x90\r\x08\x00\x7f\u2028\u202etxt.exe\u2066\u2069\U000e0041\U000e007f"
BAD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)")
SECRET = "s3cret-pa55"


@pytest.fixture(scope="module")
def web() -> Iterator[SyntheticWeb]:
    with SyntheticWeb() as made:
        yield made


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory, web: SyntheticWeb) -> Path:
    """A crawl of a site that is full of them."""
    tmp_path = tmp_path_factory.mktemp("crawled")
    port = web.port
    site = web.host("a.localhost")
    quoted = "".join(f"&#{ord(char)};" for char in ESCAPES)
    links = [
        f"<a href='http://me:{SECRET}@a.localhost:{port}/one'>{quoted}</a>",
        f"<a href='http://me:{SECRET}@bad host/'>x</a>",
        f"<a href='http://me:{SECRET}@a.localhost:99999/'>x</a>",
        f"<a href='http://a.localhost:{port}/moved'>x</a><a href='/wrong'>x</a><a href='/escape'>x</a>",
        f"<a href='http://{quoted}/{quoted}'>x</a><a href='/x{quoted}'>x</a>",
        f"<img src='http://me:{SECRET}@b.localhost/'>",
        f"<link rel=canonical href='http://me:{SECRET}@a.localhost:{port}/'>",
    ]
    base = f"<base href='http://me:{SECRET}@a.localhost:{port}/'>"
    page = f"<title>Zebra {quoted} {ESCAPES}</title>{base}{''.join(links)}zebra {quoted}"
    site.add("/", Reply(200, {"Content-Type": "text/html; charset=utf-8"}, page.encode()))
    site.page("/one", body="one")
    site.redirect("/moved", f"http://me:{SECRET}@a.localhost:{port}/two")
    site.redirect("/wrong", f"http://me:{SECRET}@bad host/")
    site.raw(
        "/escape",
        b"HTTP/1.1 302 \x1b[2J\r\nLocation: http://bad\xc2\x9b host/\x1b[31m\xe2\x80\xae\r\nContent-Length: 0\r\n\r\n",
    )
    site.raw("/two", b"HTTP/1.1 200 \x9b31m\r\nContent-Type: text/\x9bhtml\x1b[2J\r\nContent-Length: 2\r\nX: \x1b\r\n\r\nok")
    web.host("b.localhost").robots(f"User-agent: *\nDisallow: {ESCAPES}\nDisallow: /")
    run = run_crawl(tmp_path, [f"http://me:{SECRET}@a.localhost:{port}/", web.url("b.localhost")])
    assert run.reason == "finished"
    assert {"a.localhost/", "a.localhost/one", "a.localhost/two"} <= set(web.fetched())
    return tmp_path


def test_logs(crawled: Path) -> None:
    logs = [*(crawled / "logs").glob("*.log"), crawled / "stats.json"]
    assert len(logs) > 8
    for path in logs:
        text = path.read_text(encoding="utf-8")
        assert not BAD.search(text), path
    assert any(
        "malformed link" in line and "***@bad host" in line
        for line in lines(crawled, "thread0_errors") + lines(crawled, "thread1_errors")
    )


def test_no_password_anywhere_but_in_the_bytes_of_the_page(crawled: Path) -> None:
    for path in crawled.rglob("*"):
        if path.is_file() and path.suffix != ".zst":
            assert SECRET.encode() not in path.read_bytes(), path


PRINTING = [
    "search zebra",
    "search zebra --json",
    "search zebra --explain",
    "search zebra --facets",
    "search zeb --suggest",
    "why {url}",
    "why {url}escape",
    "why {url}moved",
    "why --scope {url}\x1b[2J",
    "cat {url}",
    "stats",
    "stats -v",
    "stats --json",
    "links",
    "links --format jsonl",
    "links --format csv",
    "links --external",
    "links --redirected",
    "export",
    "export --format csv",
    "export --format csv --raw",
    "export --format markdown",
    "export --format sitemap",
    "export zebra",
    "report",
    "report --changes",
    "starts",
    "forget {url}nosuch",
    "check --state",
    "why http://me:s3cret-pa55@bad\xa0host/\x1b[2J",
    "crawl -start http://me:s3cret-pa55@bad\xa0host/\x1b[2J",
    "cat http://me:s3cret-pa55@nowhere.localhost/\x9b",
]
"""Command lines; a space parts arguments."""
PRINTS_NOTHING_OF_PAGES = {
    "backup",
    "cluster",
    "ctl",  # below
    "demo",
    "help",
    "init",
    "reindex",
    "repair",
    "serve",
    "version",
    "warc",
}


def test_every_command_that_prints_what_pages_say_is_tried() -> None:
    assert {line.split()[0] for line in PRINTING} | PRINTS_NOTHING_OF_PAGES == set(cli.larm.commands)


@pytest.mark.parametrize("arguments", [line.split(" ") for line in PRINTING])
def test_what_commands_print(
    crawled: Path, web: SyntheticWeb, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    cli.run(
        [*(each.replace("{url}", web.url("a.localhost")).replace("\xa0", " ") for each in arguments), "--dir", str(crawled)]
    )
    said = "".join(capsys.readouterr())
    assert said
    assert not BAD.search(said)
    assert SECRET not in said or arguments[0] in {"cat", "export"}, "what a page says of itself is shown"


@pytest.mark.parametrize("form", ["jsonl", "csv", "markdown", "sitemap"])
def test_export_to_a_file_has_no_control_characters(
    crawled: Path, capsys: pytest.CaptureFixture[str], tmp_path_factory: pytest.TempPathFactory, form: str
) -> None:
    output = tmp_path_factory.mktemp("out") / "pages"
    assert cli.run(["export", "--format", form, "--output", str(output), "--dir", str(crawled)]) == 0
    files = [path for path in (output, *output.rglob("*")) if path.is_file()]
    assert files
    for path in files:
        with path.open(encoding="utf-8", newline="") as file:
            text = file.read()
        assert not CONTROLS.search(text)
        assert not BAD.search(path.name)
        assert form != "jsonl" or len(text.splitlines()) == text.count("\n"), "no other line ends"
