"""A file in a folder with an index page is hidden unless a page links to it, or the folder is to be listed (YOUS-11)."""

from __future__ import annotations

from pathlib import Path

from larm.config import Config, FilesSettings
from tests.peers.yousearch.groups import group, known, until


def test_what_no_page_links_to_is_hidden(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    (docs / "sub").mkdir(parents=True)
    (docs / "open").mkdir()
    (docs / "index.html").write_text('<title>Home</title><p>eels <a href="/linked.html">more</a> <img src="eel.png">')
    for name in ("linked.html", "draft.html", "sub/tide.txt", "open/index.html", "open/pond.txt"):
        (docs / name).write_text(f"<title>{name}</title><p>eels in {name}")
    (docs / "eel.png").write_bytes(b"\x89PNG\r\n")
    with group(tmp_path) as made:
        registrar = made.start("", registrar=True)
        config = Config(files=FilesSettings(listed=("open",)))
        owner = made.start("owner", config=config, share=(str(docs),), registrars=(registrar.url,))
        asker = made.start("asker", registrars=(registrar.url,))
        known(registrar, "owner", "asker")

        def found() -> set[str]:
            return {hit["url"].partition("/files/docs/")[2] for hit in asker.search("eels")["hits"]}

        seen = {"index.html", "linked.html", "sub/tide.txt", "open/index.html", "open/pond.txt"}
        until(lambda: found() == seen)
        assert asker.search("draft")["hits"] == []
        for path, status in (*((each, 200) for each in seen), ("draft.html", 404), ("eel.png", 200)):
            assert owner.client.get(f"/files/docs/{path}").status_code == status, path
            absolute = owner.client.get(f"/{path}")
            moved = f"/files/docs/{path}" if status == 200 else None
            assert (absolute.status_code, absolute.headers.get("location")) == (303 if moved else 404, moved), path
        listing = owner.client.get("/files/docs/").text
        assert "linked.html" in listing
        assert "sub/" in listing
        assert "draft.html" not in listing
        (docs / "index.html").write_text("<title>Home</title><p>eels, and no links any more")
        until(lambda: found() == seen - {"linked.html"})
        assert owner.client.get("/files/docs/linked.html").status_code == 404
        (docs / "sub" / "index.htm").write_text("<p>eels")
        until(lambda: found() == seen - {"linked.html", "sub/tide.txt"} | {"sub/index.htm"})
        assert owner.client.get("/files/docs/sub/tide.txt").status_code == 404
