"""A folder's listing."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from larm.model.link_memo import LinkMemo
from larm.model.message import URLMessage
from larm.model.outcome import Fetched, Timing
from larm.model.url import URLNormalizer
from larm.parse.folder import FolderProcessor

NORMALIZER = URLNormalizer(files=True)
MIME = "inode/directory"


def read(base: str, body: bytes) -> list[tuple[str, str]]:
    fetched = Fetched(200, {"content-type": MIME}, body, Timing())
    document = FolderProcessor(LinkMemo(NORMALIZER)).process(URLMessage(NORMALIZER.parse(base)), fetched, MIME)
    assert not document.index
    assert document.mime == MIME
    assert all(link.follow for link in document.links)
    return [(link.url.access, link.anchor) for link in document.links]


def test_each_line_is_a_link() -> None:
    assert read("file:///a/", b"/a/b%20c.txt\n/a/sub/\n/a/x:y\n") == [
        ("file:///a/b%20c.txt", "b c.txt"),
        ("file:///a/sub/", "sub"),
        ("file:///a/x:y", "x:y"),
    ]


@settings(max_examples=200)
@given(st.binary(max_size=200))
def test_a_server_may_send_anything_under_this_name(body: bytes) -> None:
    """And gets links on the web for it, at most."""
    assert all(access.startswith("http") for access, _ in read("http://a.org/", body + b"\nfile:///etc/passwd\n/x"))
