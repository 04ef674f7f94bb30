"""Whatever is asked for, only files of a shared folder are opened: not by a link, a hidden name, or a way out."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.config import FilesSettings
from larm.peers.yousearch.shares import Shares

NAMES = ["..", ".", "", "sub", ".git", "config", "a.txt", "link.txt", "up", "docs", "outside.txt", "\0", "~", "%2e%2e", "..\\"]
PARTS = [*NAMES, "/etc/passwd", "a.txt ", "A.TXT", "\u2024\u2024", "self", "index.html", "draft.txt", "kept.txt", "paged"]


@pytest.fixture(scope="module")
def shares(tmp_path_factory: pytest.TempPathFactory) -> Shares:
    root = tmp_path_factory.mktemp("home")
    docs = root / "docs"
    for folder in ("sub/.git", ".git", "paged"):
        (docs / folder).mkdir(parents=True)
    for name in (
        "a.txt",
        "sub/a.txt",
        "sub/.git/config",
        ".git/config",
        "paged/index.html",
        "paged/draft.txt",
        "paged/kept.txt",
    ):
        (docs / name).write_text(name)
    (root / "outside.txt").write_text("not shared")
    (root / "state").mkdir()
    (docs / "link.txt").symlink_to(root / "outside.txt")
    (docs / "up").symlink_to(root)
    (docs / "sub" / "self").symlink_to(docs)
    return Shares([docs], root / "state", FilesSettings(), indexed=lambda _, url: url.endswith("kept.txt"))


OPEN = {"", "a.txt", "sub", "sub/a.txt", "paged", "paged/index.html", "paged/kept.txt"}


@given(st.lists(st.sampled_from(PARTS), max_size=6).map("/".join))
def test_no_path_leads_out(shares: Shares, path: str) -> None:
    (share,) = shares.named
    with shares.opened("docs", path) as found:
        if found is not None:
            real = os.readlink(f"/proc/self/fd/{found.descriptor}")
            assert os.path.relpath(real, share.folder).removeprefix(".").removeprefix("/") in OPEN
            if found.folder:
                names = shares.names("docs", path, found)
                assert not {"link.txt", "up/", ".git/", "self/", "draft.txt"} & set(names)


def test_what_is_shared_opens(shares: Shares) -> None:
    for path in OPEN:
        with shares.opened("docs", path) as found:
            assert found is not None, path
    for path in ("paged/draft.txt", ".git/config", "sub/.git/config"):
        with shares.opened("docs", path) as found:
            assert found is None, path
    shares.set_shared("docs", shared=False)
    for path in OPEN:
        with shares.opened("docs", path) as found:
            assert found is None, "nothing of a folder that is not shared any more"
    shares.set_shared("docs", shared=True)
