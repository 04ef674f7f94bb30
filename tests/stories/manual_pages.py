"""Pages as those of a manual: 14 KB each, with 25 links, most of them to pages that others link to as well."""

from __future__ import annotations

from larm.testing.site import Site
from tests.support.webs.words import chance, prose, words


def add_manual(site: Site, pages: int) -> None:
    """Add ``/0.html`` to ``/<pages - 1>.html``."""
    for number in range(pages):
        site.page(f"/{number}.html", body=page(number, pages))


def page(number: int, pages: int) -> str:
    """Return the page's body."""
    draw = chance("manual", number)
    near = [(number + step) % pages for step in (1, -1, *range(2, 8))]
    far = [draw.randrange(pages) for _ in range(15)]
    title = f"{number}. {' '.join(words(4, 'title', number)).title()}"
    way = " ".join(f'<td align="left"><a accesskey="p" href="{each}.html" title="{each}.">To {each}</a></td>' for each in near)
    parts = [
        f'<div class="sect1" id="S-{number}-{each}"><h2 class="title">{" ".join(words(3, "part", number, each)).title()}</h2>'
        + "".join(f"<p>{line} <code>{word}()</code>.</p>" for line, word in _lines(number, each))
        + f'<p>See <a class="xref" href="{other}.html">Section {other}</a>.</p></div>'
        for each, other in enumerate(far)
    ]
    return (
        f'<div class="navheader"><table><tr><th colspan="5">{title}</th></tr><tr>{way}</tr></table><hr></div>'
        f"<h1>{title}</h1>{''.join(parts)}"
    )


def _lines(number: int, part: int) -> list[tuple[str, str]]:
    lines = prose(90, number, part).split("\n\n")
    return list(zip(lines, words(len(lines), "code", number, part), strict=True))
