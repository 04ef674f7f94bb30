"""The monitor of crawls that do not run, and the form that starts one: a real process, which outlives us."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import yaml

from larm.engine.figures.notes import plain
from larm.engine.figures.reporter import keep_notes
from larm.testing.web import SyntheticWeb
from tests.web.conftest import Served, Start


@pytest.fixture
def owner(server: Served) -> Iterator[httpx.Client]:
    with signed_in(server) as client:
        yield client


def signed_in(server: Served) -> httpx.Client:
    return httpx.Client(base_url=server.address, timeout=60, trust_env=False, headers=server.bearer)


def test_all_crawls(server: Served) -> None:
    answer = server.get("/crawls")
    assert answer.status_code == 200
    assert '<a href="/crawls/harbour">harbour</a>' in answer.text
    assert "<td>finished</td>" in answer.text


def test_one_that_has_ended(server: Served, owner: httpx.Client) -> None:
    answer = server.get("/crawls/harbour")
    assert "<strong>finished</strong>" in answer.text
    assert "<dt>Pages</dt><dd>28</dd>" in answer.text
    assert "Sign in</a> to steer it" in answer.text
    assert "Start it" in owner.get("/crawls/harbour").text
    for path in ("/crawls/nobody", "/crawls/%2e%2e%2f", "/crawls/nobody/events", "/crawls/nobody/hosts", "/crawls/nobody/log"):
        assert server.get(path).status_code == 404
    for path in ("/crawls/harbour/hosts", "/crawls/harbour/log"):
        answer = server.get(path)
        assert answer.status_code == 409
        assert "does not run" in answer.text
        assert "--dir" not in answer.text


def test_what_was_left_out_is_said(start: Start, harbour: Path, tmp_path: Path) -> None:
    """A crawl that a schedule has run has nobody before a terminal."""
    shutil.copytree(harbour, tmp_path / "harbour")
    keep_notes(tmp_path / "harbour", [plain("2 pages were left out: <b>")])
    assert "<p>2 pages were left out: &lt;b&gt;</p>" in start(tmp_path / "harbour").get("/crawls/harbour").text


def test_what_changes_something_needs_the_token(server: Served) -> None:
    for path in ("/crawls/harbour/steer", "/crawls/harbour/start", "/start"):
        assert server.client.post(path, data={"command": "stop"}).status_code == 403
    assert server.get("/start").headers["location"].startswith("/login?next=%2Fstart")


def test_commands_for_a_crawl_that_does_not_run(server: Served, owner: httpx.Client) -> None:
    answer = owner.post("/crawls/harbour/steer", data={"command": "pause"})
    assert answer.status_code == 409
    assert "no crawl runs in" in answer.text
    answer = owner.post("/crawls/harbour/steer", data={"command": "explode"})
    assert answer.status_code == 400
    assert "there is no such command" in answer.text
    for command in ("add", "set", "block", "unblock", "reopen"):
        assert "is missing" in owner.post("/crawls/harbour/steer", data={"command": command}).text
    assert owner.post("/crawls/nobody/steer", data={"command": "pause"}).status_code == 404


def test_a_directory_that_is_no_crawl_and_figures_that_are_damaged(start: Start, tmp_path: Path) -> None:
    served = start(tmp_path)
    assert "no crawl yet" in served.get("/crawls").text
    assert served.get(f"/crawls/{tmp_path.name}").status_code == 200
    (tmp_path / "stats.json").write_text("{")
    assert "stats.json: it is damaged" in served.get(f"/crawls/{tmp_path.name}").text
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "ThreadMonitor.log").write_bytes(b"\xff\x00;\n;;;\n")
    assert served.get(f"/crawls/{tmp_path.name}").status_code == 200


def form(**fields: str) -> dict[str, str]:
    return {"name": "new", "contact": "mailto:tests@example.org", "delay": "0.01s", **fields}


def test_a_crawl_is_started_from_the_form(start: Start, tmp_path: Path) -> None:
    """With what was typed in its config.yaml; then again, as it is configured."""
    served = start(root=tmp_path)
    with SyntheticWeb() as web, signed_in(served) as owner:
        web.host("a.localhost").page("/", "Quay", "A quay of stone.")
        address = web.url("a.localhost")
        answer = owner.post("/start", data=form(start=address, max_pages="5"), headers={"origin": served.address})
        assert answer.status_code == 303, answer.text
        assert "The crawl has begun." in owner.get(answer.headers["location"]).text
        assert "The crawl has begun." not in owner.get(answer.headers["location"]).text, "said once"
        written = yaml.safe_load((tmp_path / "new" / "config.yaml").read_text())
        assert written["crawl"] == {"start": [address], "max_pages": 5}
        until_ended(owner, "new")
        assert "A quay of stone" in re.sub(r"</?mark>", "", owner.get("/search", params={"q": "quay"}).text)
        answer = owner.post("/crawls/new/start")
        assert answer.status_code == 303, answer.text
        until_ended(owner, "new")
        assert (tmp_path / "new" / "crawl.out").read_text() == ""


def until_ended(client: httpx.Client, name: str) -> None:
    """Each look takes a request; a crawl of a page takes a second."""
    for _ in range(2_000):
        text = client.get(f"/crawls/{name}").text
        if "<strong>finished</strong>" in text:
            return
    raise AssertionError(text)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": "../x", "start": "http://a/"}, "a name has letters"),
        ({"name": ".x", "start": "http://a/"}, "a name has letters"),
        ({"name": "", "start": "http://a/"}, "a name has letters"),
        ({"name": "taken", "start": "http://a.localhost/"}, "there is such a directory already"),
        ({"start": ""}, "needs an address to start from"),
        ({"start": "/etc"}, "begins with http"),
        ({"start": "file:///etc"}, "begins with http"),
        ({"start": "@/etc/passwd"}, "begins with http"),
        ({"start": "http://a.localhost/", "restrict_to": "("}, "restrict_to"),
        ({"start": "http://a.localhost/", "max_pages": "-1"}, "expected a number"),
        ({"start": "http://a.localhost/", "max_time": "soon"}, "duration"),
        ({"start": "http://a.localhost/", "delay": "<script>"}, "duration"),
    ],
)
def test_what_is_wrong_in_the_form(start: Start, tmp_path: Path, fields: dict[str, str], said: str) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "notes.txt").write_text("somebody's")
    served = start(root=tmp_path)
    with signed_in(served) as owner:
        answer = owner.post("/start", data=form(**fields))
    assert answer.status_code == 400
    assert said in answer.text
    assert "<script>" not in answer.text
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_form_with_several_mistakes_names_them_all(start: Start, tmp_path: Path) -> None:
    fields = {"start": "/etc", "max_pages": "many", "max_depth": "-1", "max_time": "soon", "restrict_to": "("}
    with signed_in(start(root=tmp_path)) as owner:
        answer = owner.post("/start", data=form(**fields))
    assert answer.status_code == 400
    for said in ("begins with http", "max_pages: expected a number", "max_depth: expected a number", "duration", "restrict_to"):
        assert said in answer.text
    assert not list(tmp_path.iterdir())


def test_a_crawl_that_can_not_begin_says_why(start: Start, tmp_path: Path) -> None:
    """What ``larm crawl`` would say there."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "config.yaml").write_text("crawl: {max_pages: 1}\n")
    server = start(tmp_path / "empty")
    with signed_in(server) as owner:
        answer = owner.post("/crawls/empty/start")
        assert answer.status_code == 409
        assert "no start URL" in answer.text
        answer = owner.post("/api/v1/start", json={"name": "empty"})
    assert (answer.status_code, answer.headers["content-type"]) == (409, "application/problem+json")
    answer = server.client.post("/api/v1/start", json={"name": "empty"})
    assert (answer.status_code, answer.headers["content-type"]) == (401, "application/problem+json")
    answer = server.get("/api/v1/page?url=" + "x" * 50_000)
    assert (answer.status_code, answer.headers["content-type"]) == (414, "application/problem+json")


def test_without_a_root_there_is_no_new_crawl(server: Served, owner: httpx.Client) -> None:
    assert owner.get("/start").status_code == 404
    assert "larm serve --root FOLDER" in owner.post("/start", data=form(start="http://a.localhost/")).text
