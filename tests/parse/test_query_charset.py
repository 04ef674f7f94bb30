"""Queries of links, on pages in other encodings than UTF-8."""

from __future__ import annotations

import pytest

from tests.parse.pages import links

LATIN, JAPANESE = "text/html; charset=windows-1252", "text/html; charset=shift_jis"


@pytest.mark.parametrize(
    ("content_type", "href", "path"),
    [
        (LATIN, '/\u00fc?\u00fc=a b&c=%20"#\u00fc', "/%C3%BC?%FC=a%20b&c=%20%22"),
        (LATIN, "?\u20ac", "/dir/page.html?%80"),
        (LATIN, "?\u4e2d", "/dir/page.html?%26%2320013%3B"),
        (LATIN, "/x?plain=1&a=b;c", "/x?plain=1&a=b;c"),
        (JAPANESE, "?q=\u65e5\u672c", "/dir/page.html?q=%93%FA%96{"),
        ("text/html; charset=utf-8", "?\u00fc", "/dir/page.html?%C3%BC"),
        ("text/html; charset=utf-16le", "?\u00fc", "/dir/page.html?%C3%BC"),
    ],
)
def test_as_browsers_send_them(content_type: str, href: str, path: str) -> None:
    encoding = content_type.partition("=")[2]
    html = f"<a href='{href}'>x</a>".replace("\u4e2d", "&#20013;")
    (link,) = links(html.encode("cp1252" if encoding == "windows-1252" else encoding), content_type=content_type)
    assert link[0] == path
