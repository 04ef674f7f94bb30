"""What visitors of a peer's public search learn, who are not signed in: nothing of files that they could not open."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from larm.config import FilesSettings
from larm.index.reader import IndexReader
from larm.kit.disk.files import is_there
from larm.model.file_url import file_url
from larm.peers.yousearch.inspector import Crawling, Inspectors
from larm.peers.yousearch.shares import Shares
from tests.index.search.test_several import index
from tests.peers.yousearch.groups import group, known, until

PRIVATE = file_url("/home/anna/diary.txt")
MIXED = {PRIVATE: "eels and the password is hunter", "http://a.org/eel": "A page about eels in ponds."}


def test_who_is_not_signed_in_learns_nothing_of_private_files(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "harbour.txt").write_text("The harbour of the town, for everybody.")
    with group(tmp_path) as made:
        registrar = made.start("", registrar=True)
        crawl = index(tmp_path / "crawl", MIXED)
        anna = made.start("anna", crawl, share=(str(docs),), registrars=(registrar.url,), public=True)
        berta = made.start("berta", registrars=(registrar.url,))
        known(registrar, "anna", "berta")
        until(lambda: berta.titles("harbour") == {"harbour.txt"})
        bearer = {"authorization": f"Bearer {(tmp_path / 'anna' / 'token').read_text().strip()}"}
        for peer in (anna, berta):
            assert [peer.search(query)["total"] for query in ("eels", "hunter", "eels OR hunter")] == [1, 0, 1]
        assert anna.titles("harbour") == {"harbour.txt"}
        assert anna.client.get("/api/v1/search", params={"q": "hunter"}, headers=bearer).json()["hits"][0]["url"] == PRIVATE
        suggested = anna.client.get("/suggest", params={"q": "hunt"}).text
        assert "hunter" not in suggested
        for path in ("/copy", "/copy/original", "/api/v1/page"):
            name = {"in": "crawl", "url": PRIVATE}
            assert anna.client.get(path, params=name).status_code == 404, path
        assert anna.client.get("/copy", params={"in": "crawl", "url": PRIVATE}, headers=bearer).status_code == 200
        assert anna.client.get("/copy", params={"in": "docs", "url": "file:///docs/harbour.txt"}).status_code == 200
        asked = {"query": "hunter eels"}
        assert set(anna.client.post("/api/v1/statistics", json=asked).json()["words"].values()) == {0}
        found = anna.client.post("/api/v1/findings", json=asked).json()
        assert [hit["url"] for hit in found["hits"]] == ["http://a.org/eel"]
        (meta,) = crawl.glob("index/meta.json")
        meta.write_text("nonsense")
        text = anna.client.get("/search", params={"q": "ponds", "wait": "1", "in": "crawl"}).text
        assert "did not answer" in text
        answers = [
            text,
            str(berta.search("ponds")),
            anna.client.get("/copy", params={"in": "crawl", "url": "http://a.org/"}).text,
        ]
        assert not any(str(tmp_path) in each for each in answers)
        assert str(tmp_path) in anna.client.get("/search", params={"q": "ponds", "in": "crawl"}, headers=bearer).text


def test_a_summary_has_the_words_of_web_pages_alone(tmp_path: Path) -> None:
    mixed = IndexReader(index(tmp_path / "mixed", MIXED) / "index")
    assert "hunter" in mixed.all_words()
    assert not {"hunter", "password", "diary"} & mixed.all_words("anybody")
    assert {"eels", "ponds", "eel"} <= mixed.all_words("anybody")
    files = IndexReader(index(tmp_path / "files", {PRIVATE: "hunter"}) / "index")
    assert (files.open_pages("anybody"), files.all_words("anybody")) == (0, set())
    web = IndexReader(index(tmp_path / "web", {"http://a.org/eel": "hunter"}) / "index")
    assert web.all_words("anybody") == web.all_words() >= {"hunter"}


def test_a_share_that_can_not_be_indexed_is_said_and_keeps_no_other_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("good", "bad"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text("eels")
    shares = Shares([tmp_path / "bad", tmp_path / "good"], tmp_path / "state", FilesSettings())
    bad, good = shares.named
    bad.directory.parent.mkdir(parents=True)
    bad.directory.write_text("a file is in the way")
    said: dict[str, str] = {}
    inspectors = Inspectors(shares)
    assert inspectors.look(said.__setitem__)
    assert is_there(good.directory / "index" / "meta.json")
    assert said["share bad"].startswith("bad, which is shared: ")
    assert said["share good"] == ""
    bad.directory.unlink()
    with monkeypatch.context() as patched:
        patched.setattr("larm.peers.yousearch.inspector.sys.executable", "/bin/false")
        inspectors.look(said.__setitem__)
    assert "crawl.out says why" in said["share bad"]
    assert inspectors.look(said.__setitem__)
    assert said["share bad"] == ""


def test_a_crawl_that_does_not_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that hangs, and does not hear SIGTERM either, must not keep the inspector for ever."""
    module = "larm.peers.yousearch.inspector"
    deaf = tmp_path / "deaf"
    deaf.write_text("#!/bin/sh\ntrap '' TERM\nread line < fifo\n")
    deaf.chmod(0o755)
    monkeypatch.setattr(f"{module}.sys.executable", str(deaf))
    monkeypatch.setattr(f"{module}._LONGEST", 0.1)
    monkeypatch.setattr(f"{module}._PATIENCE", 0.1)
    os.mkfifo(tmp_path / "fifo")
    monkeypatch.chdir(tmp_path)
    assert not Crawling().run(tmp_path)
