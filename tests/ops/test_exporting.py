"""``larm export``: pages, texts and links for other programs."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from larm import cli
from larm.kit.printable import cell
from larm.ops.exporting import exported, file_of, write_sitemaps
from larm.testing.replies import Reply
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import config_of, run_crawl

LOC = "{http://www.sitemaps.org/schemas/sitemap/0.9}loc"


@pytest.fixture
def start(web: SyntheticWeb, tmp_path: Path) -> str:
    site = web.host("a.localhost")
    site.page(
        "/", "Home", "The causeway is long, and it is here.", links=[("/dir/page?x=1", "a page"), "/quiet", "/secret", "/same"]
    )
    site.page("/dir/page?x=1", "Päge", 'Of "tides" and lighthouses, there is much to be said.')
    site.page("/quiet", "Quiet", "Not for searches, all of this.", head='<meta name="robots" content="noindex">')
    site.page("/secret", "Secret", "Not to be kept.", head='<meta name="robots" content="noarchive">')
    site.page("/same", "Same", "Known under another name, it is.", head='<link rel="canonical" href="/">')
    start = web.url("a.localhost")
    run_crawl(tmp_path, start)
    return start


def larm(capsys: pytest.CaptureFixture[str], directory: Path, *arguments: str) -> str:
    assert cli.run(["export", *arguments, "--dir", str(directory)]) == 0
    return capsys.readouterr().out


def test_an_object_a_page(start: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [json.loads(line) for line in larm(capsys, tmp_path).splitlines()]
    home = rows[0]
    assert (home["url"], home["title"], home["status"], home["depth"], home["referrer"]) == (start, "Home", 200, 0, "<start>")
    assert "The causeway is long" in home["text"]
    assert home["links"][0] == {"url": f"{start}dir/page?x=1", "text": "a page", "follow": True}
    assert home["fetched"].startswith("20")
    assert [row["title"] for row in rows if not row["index"]] == ["Quiet"]
    assert [row["text"] for row in rows if row["title"] == "Secret"] == [""], "no copy of it was kept"


def test_the_date_that_only_a_header_said(web: SyntheticWeb, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    headers = {"content-type": "text/html", "last-modified": "Sat, 29 Jul 2023 20:52:36 GMT"}
    web.host("a.localhost").add("/", Reply(200, headers, b"<title>Home</title><p>Of old."))
    run_crawl(tmp_path, web.url("a.localhost"))
    assert json.loads(larm(capsys, tmp_path))["modified"] == "2023-07-29T20:52:36Z"


def test_only_what_a_query_finds(start: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert [json.loads(line)["title"] for line in larm(capsys, tmp_path, "tides").splitlines()] == ["Päge"]
    assert larm(capsys, tmp_path, "nosuchword") == ""
    assert len(larm(capsys, tmp_path, "site:a.localhost").splitlines()) == 4


def test_a_table(start: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = list(csv.DictReader(io.StringIO(larm(capsys, tmp_path, "--format", "csv"))))
    assert [row["url"] for row in rows][:2] == [start, f"{start}dir/page?x=1"]
    assert rows[0]["links"] == "4"
    assert '"tides"' in rows[1]["text"]


def test_markdown_with_a_file_a_page(start: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = larm(capsys, tmp_path, "--format", "markdown", "causeway")
    assert out.startswith(f'---\nurl: "{start}"\ntitle: "Home"\n')
    assert "---\n\n# Home\n\nThe causeway is long, and it is here.\n" in out
    folder = tmp_path / "out"
    larm(capsys, tmp_path, "--format", "markdown", "--output", str(folder))
    host = start[7:-1].replace(":", "+")
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*.md"))[:2] == [
        f"{host}/dir/page%3Fx=1.md",
        f"{host}/index.md",
    ]


def test_sitemaps_have_what_wants_to_be_found(start: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree = ElementTree.fromstring(larm(capsys, tmp_path, "--format", "sitemap"))
    assert [loc.text for loc in tree.iter(LOC)] == [start, f"{start}dir/page?x=1", f"{start}secret"]
    folder = tmp_path / "maps"
    assert write_sitemaps(exported(config_of(start), tmp_path), folder, most=2) == 3
    assert [len(list(ElementTree.parse(folder / name).iter(LOC))) for name in ("sitemap-1.xml", "sitemap-2.xml")] == [2, 1]
    assert len(list(ElementTree.parse(folder / "sitemap.xml").iter(LOC))) == 2


def test_of_a_revisited_crawl_what_there_is_now(start: str, web: SyntheticWeb, tmp_path: Path) -> None:
    site = web.host("a.localhost")
    site.change("/", title="New home")
    site.remove("/quiet")
    run_crawl(tmp_path, start)
    titles = [page.document.title for page in exported(config_of(start), tmp_path)]
    assert sorted(titles) == ["New home", "Päge", "Same", "Secret"]


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("https://a.org/", "a.org/index.md"),
        ("http://a.org/", "a.org+80/index.md"),
        ("https://a.org/index", "a.org/index%.md"),
        ("https://a.org/a/", "a.org/a/index.md"),
        ("https://a.org/a.md/b", "a.org/a.md%/b.md"),
        ("https://a.org/%2e%2e/%2Fetc", "a.org/%2E%2E/%2Fetc.md"),
        ("https://a.org/a?b=/c", "a.org/a%3Fb=%2Fc.md"),
    ],
)
def test_names_of_files(address: str, path: str) -> None:
    assert str(file_of(address, ".md")) == path


def test_a_long_address_has_a_short_name() -> None:
    one, other = (file_of(f"https://a.org/{'x' * 900}{n}", ".md").name for n in (1, 2))
    assert one != other
    assert len(one) < 255


FORMULAS = ["=cmd|' /C calc'!A0", "+1", "-1+1", "@SUM(1)", "  =1", "＝1"]


def test_csv_cells_are_no_formulas_unless_raw(web: SyntheticWeb, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = web.host("a.localhost")
    site.page("/", "Home", links=[f"/{number}" for number in range(len(FORMULAS))])
    for number, formula in enumerate(FORMULAS):
        site.page(f"/{number}", formula, "One = two, said nobody.")
    run_crawl(tmp_path, web.url("a.localhost"))
    titles = {row["title"] for row in csv.DictReader(io.StringIO(larm(capsys, tmp_path, "--format", "csv")))}
    assert titles == {"Home", *(f"'{formula.strip()}" for formula in FORMULAS)}
    raw = csv.DictReader(io.StringIO(larm(capsys, tmp_path, "--format", "csv", "--raw")))
    assert {row["title"] for row in raw} == {"Home", *(formula.strip() for formula in FORMULAS)}


@pytest.mark.parametrize("text", ["=1", "\t=1", "\r=1", "\x00=1", "\n-1", "\x85+1", "\xa0@x"])
def test_cell_that_begins_as_a_formula_gets_a_quotation_mark(text: str) -> None:
    assert cell(text).startswith("'")
    assert not cell(text, raw=True).startswith("'")
    assert not set("\r\x00\x85") & set(cell(text, raw=True))


def test_sitemaps_are_no_pages_of_an_export(web: SyntheticWeb, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site, start = web.host("a.localhost"), web.url("a.localhost")
    site.robots(f"Sitemap: {start}sitemap.xml\nSitemap: {start}list.txt")
    entry = f"<url><loc>{start}1</loc></url>"
    xml = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entry}</urlset>'
    site.add("/sitemap.xml", Reply(200, {"content-type": "application/xml"}, xml.encode()))
    site.add("/list.txt", Reply(200, {"content-type": "text/plain"}, f"{start}2\n{start}3\n".encode()))
    for name in ("", "1", "2", "3"):
        site.page(f"/{name}", f"Page {name}")
    run_crawl(tmp_path, start)
    urls = {json.loads(line)["url"] for line in larm(capsys, tmp_path).splitlines()}
    assert urls == {start, f"{start}1", f"{start}2", f"{start}3"}
    assert all("sitemap.xml" not in larm(capsys, tmp_path, "--format", form) for form in ("csv", "markdown", "sitemap"))


def test_json_lines_end_at_line_feeds_alone(web: SyntheticWeb, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    title = "free\u2028line\u2029end\x85x\U000e0041\u202e"
    web.host("a.localhost").page("/", title, "One\u2028two\x85three.")
    run_crawl(tmp_path, web.url("a.localhost"))
    (line,) = larm(capsys, tmp_path).splitlines()
    assert "One\u2028two\x85three." in json.loads(line)["text"]


@pytest.mark.parametrize("form", ["jsonl", "csv"])
@pytest.mark.parametrize("query", [[], ["word"]], ids=["no crawl", "no index"])
def test_output_is_as_it_was_when_there_is_nothing_to_export(form: str, query: list[str], tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.write_text("old")
    (tmp_path / "empty").mkdir()
    assert cli.run(["export", *query, "--format", form, "--dir", str(tmp_path / "empty"), "--output", str(old)]) != 0
    assert old.read_text() == "old"


@pytest.mark.parametrize("output", ["logs/store.log", "logs/pagefile_1.pfl.zst", "larm.json", "index/x"])
@pytest.mark.parametrize("command", [["export"], ["export", "--format", "markdown"], ["warc", "index"]])
def test_output_that_belongs_to_a_crawl_is_refused(
    start: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str], output: str
) -> None:
    before = (tmp_path / "logs" / "store.log").read_bytes()
    (tmp_path / "empty.warc").touch()
    given = [str(tmp_path / "empty.warc")] if command[0] == "warc" else ["--dir", str(tmp_path)]
    assert cli.run([*command, *given, "--output", str(tmp_path / output)]) == 2
    assert "belongs to a crawl" in capsys.readouterr().err
    assert (tmp_path / "logs" / "store.log").read_bytes() == before
    assert cli.run([*command, *given, "--output", str(tmp_path / "logs" / "mine")]) == 0
