"""Nobody learns in which folders of a machine its shares are: no word above them is found, said, shown or proven."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from larm.cli import run
from larm.index.reader import IndexReader
from larm.kit.units import Seconds
from larm.peers.yousearch.summary import summary_of
from larm.peers.yousearch.wiring import indexed
from larm.web.guard import Guard
from tests.peers.yousearch.groups import Running, group, has, known, until

ABOVE = "quagmirella"
QUERIES = ["eels", "path:/pool", "quagm*", "quagmirela"]
PAGE = "file:///pool/sub/notes.txt"


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Every byte that a server of these sends, and that one is sent by another."""
    seen: list[bytes] = []
    original = Guard.__call__

    async def listening(self: Guard, scope: Any, receive: Any, send: Any) -> None:
        async def note(message: Any) -> None:
            seen.append(message.get("body", b""))
            seen.extend(b": ".join(pair) for pair in message.get("headers", ()))
            await send(message)

        async def came() -> Any:
            message = await receive()
            seen.append(message.get("body", b""))
            return message

        await original(self, scope, came, note)

    monkeypatch.setattr(Guard, "__call__", listening)
    return seen


def test_no_word_above_a_share_leaves_the_machine(
    tmp_path: Path, sent: list[bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    pool = tmp_path / ABOVE / "pool"
    (pool / "sub").mkdir(parents=True)
    (pool / "pond.html").write_text(
        '<p>eels <a href="sub/notes.txt">notes</a> <a href="/gone.html">gone</a> <a href="..">up</a>'
    )
    (pool / "sub" / "notes.txt").write_text("eels again")
    (pool / "again.txt").symlink_to(pool / "sub" / "notes.txt")
    (pool / "out.txt").symlink_to(tmp_path / ABOVE)
    (pool / "eels.bin").write_bytes(b"\0\1\2")
    with group(tmp_path) as made:
        registrar = made.start("", registrar=True)
        anna = made.start("anna", share=(str(pool),), registrars=(registrar.url,), public=True, cache=Seconds(60))
        berta = made.start("berta", registrars=(registrar.url,))
        known(registrar, "anna", "berta")
        until(lambda: len(berta.search("eels")["hits"]) == 3)
        hits = {hit["url"]: hit["title"] for hit in berta.search("eels")["hits"]}
        assert hits == {
            f"{anna.url}/files/pool/{each}": each.split("/")[-1] for each in ("pond.html", "sub/notes.txt", "eels.bin")
        }
        ((directory, _),) = indexed(anna.peering.shares).items()
        words = IndexReader(directory / "index").all_words()
        assert {"pond", "pool", "sub", "notes", "eels"} <= words
        assert not {ABOVE, *(part.lower() for part in tmp_path.parts)} & words
        assert not has(summary_of(words, ["en"]), ABOVE)

        for peer in (anna, berta):
            for query in (ABOVE, f"inurl:{ABOVE}", f"path:/{ABOVE}", f"path:{pool}", f"info:file://{pool}/pond.html"):
                assert peer.search(query)["hits"] == [], query
        for text in ("/copy", "/copy/original", "/api/v1/page"):
            assert anna.client.get(text, params={"in": "pool", "url": f"file://{pool}/pond.html"}).status_code == 404
        assert run(["why", "--dir", str(directory), str(pool / "sub" / "notes.txt")]) == 0
        assert "fetched" in capsys.readouterr().out, "who has the folder names its files as ever"
        sent.clear()
        _ask_everything(anna)
        _ask_everything(berta)
        until(lambda: any(b"summary_name" in each for each in sent))
        (pool / "pond.html").write_text("<p>eels and newts")
        until(lambda: len(berta.search("newts")["hits"]) == 1)
        (directory / "index" / "meta.json").write_text("nonsense")
        _ask_everything(anna)
        _ask_everything(berta)
        assert len(sent) > 100
        everything = b"\n".join(sent)
        assert b"/files/pool/pond.html" in everything
        assert b"notes.txt" in everything
        assert ABOVE.encode() not in everything
        assert str(tmp_path).encode() not in everything


def _ask_everything(at: Running) -> None:
    """Without being signed in; and without the word, as pages say what was asked for."""
    for query in QUERIES:
        told = {"q": query, "wait": "1", "facets": "true", "explain": "true", "alike": "true"}
        at.client.get("/api/v1/search", params=told)
        at.client.get("/search", params={**told, "explain": "1", "alike": "1", "page": "2"})
        at.client.get("/search", params={"q": query, "sort": "date"})
        shown = at.client.get("/search", params={"q": query}).text
        if '"/search/more' in shown:
            at.client.get(
                shown.partition('"/search/more')[2].partition('"')[0].replace("&amp;", "&").join(("/search/more", ""))
            )
        for path in ("findings", "statistics"):
            at.client.post(f"/api/v1/{path}", json={"query": query, "facets": True, "explain": True})
    for typed in ("qu", "quag", "pon", "eels ", "eels q"):
        at.client.get("/suggest", params={"q": typed})
        at.client.get("/api/v1/suggest", params={"q": typed})
    for path in ("/copy", "/copy/original", "/api/v1/page"):
        at.client.get(path, params={"in": "pool", "url": PAGE})
    for path in (
        "/",
        "/files/",
        "/files/pool/",
        "/files/pool/sub/",
        "/files/pool/pond.html",
        "/files/pool/out.txt",
        "/files/x",
    ):
        at.client.get(path)
    for path in ("/opensearch.xml", "/robots.txt", "/healthz", "/nothing", "/peer/v1/card", "/api/v1/openapi.json"):
        at.client.get(path)
