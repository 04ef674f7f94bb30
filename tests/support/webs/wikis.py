"""A wiki: articles that link each other, and a second view of each."""

from tests.support.webs.named import NOTHING, Answer, NamedWeb, Page, finite
from tests.support.webs.words import hashed, name, prose

_LICENCE = "Content is available under a free licence."


def wiki(pages: int = 800) -> NamedWeb:
    """Articles that link each other, and of each what the wiki knows about it: its size, its number of revisions."""
    host = "wiki.localhost"
    titles = list(dict.fromkeys(name("title", number) for number in range(pages)))
    places = {each: number for number, each in enumerate(titles)}

    def answers(_: str, target: str) -> Answer:
        if target == "/":
            return Page("Main page", prose(100, "wiki"), [f"/wiki/{titles[0]}"])
        path, _, view = target.partition("?")
        title = path.removeprefix("/wiki/")
        if title not in places or view not in ("", "action=info"):
            return NOTHING
        number = places[title]
        if view:
            draw = hashed("info", title)
            text = f"Length in bytes {draw % 50_000}. Number of revisions {draw % 700}. Page ID {number}. Watched by nobody."
            return Page(f"Information for {title}", text, [path, "/"], _LICENCE)
        others = [titles[each] for each in (2 * number + 1, 2 * number + 2, hashed(title) % len(titles)) if each < len(titles)]
        text = prose(60 + hashed(title, "length") % 300, "wiki", title)
        return Page(
            title,
            text,
            [*(f"/wiki/{each}" for each in others), f"{path}?action=info", "/"],
            _LICENCE,
        )

    return finite("wiki", host, ["/", *(f"/wiki/{each}{view}" for each in titles for view in ("", "?action=info"))], answers)
