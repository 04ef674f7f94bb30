"""Traps in paths: whatever is asked for is there, and leads deeper."""

from dataclasses import replace

from tests.support.webs.articles import Articles
from tests.support.webs.named import NOTHING, Answer, NamedWeb, Page
from tests.support.webs.words import chance, hashed, prose, words

_SECTIONS = ["about", "news", "contact", "products", "people", "archive"]


def deep_relative(articles: int = 150) -> NamedWeb:
    """A menu whose links are relative where they should not be: each leads a folder deeper, to the same six pages."""
    mixed = Articles("deep-relative.localhost", articles)

    def answers(_: str, target: str) -> Answer:
        folders = target.strip("/").split("/")
        menu = [f"{each}/" for each in _SECTIONS]
        if target == "/":
            return Page("Start", "Here we go.", [*menu, *mixed.home])
        if set(folders) <= set(_SECTIONS) and target.endswith("/"):
            return Page(
                folders[-1].capitalize(), prose(80, "section", folders[-1]), [*menu, *mixed.shown(target, len(folders))]
            )
        return mixed.page(target) or NOTHING

    return mixed.web(answers, within=articles * 8 + 800)


def soft_404(articles: int = 150) -> NamedWeb:
    """Any path is answered by the same excuse, with links that are relative and lead to further ones."""
    mixed = Articles("soft-404.localhost", articles)
    excuse = "Sorry, what you were looking for is not here. Perhaps one of these helps. " + prose(40, "excuse")

    def answers(_: str, target: str) -> Answer:
        if target == "/":
            return Page("Start", prose(50, "soft"), [*mixed.home, "help/", "old/site.html"])
        if target.startswith("/article/"):
            return mixed.page(target) or NOTHING
        draw = chance("soft", target)
        links = [(f"{each}/{draw.randrange(10**4)}.html", "See also") for each in words(3, "soft", target)]
        links += [(f"{words(1, 'up', target)[0]}.html", "Next"), (f"../{words(1, 'upper', target)[0]}/", "Up")]
        return Page("Our site", excuse, [*links, *mixed.shown(target, target.count("/"))])

    return mixed.web(answers, within=articles * 8 + 800)


def session_path(articles: int = 150) -> NamedWeb:
    """The first folder of each link is a new session: every page has as many addresses as it is linked."""
    mixed = Articles("session-path.localhost", articles)

    def answers(_: str, target: str) -> Answer:
        if target == "/":
            return Page("Start", "A site that knows its visitors.", [f"/s-{hashed(0):08x}{mixed.paths[0]}"])
        session, _, path = target[1:].partition("/")
        page = mixed.page(f"/{path}") if session.startswith("s-") else mixed.page(target)
        return _with_sessions(mixed, page, target, lambda number, path: f"/s-{number:08x}{path}")

    def real_name(address: str) -> str:
        head, session, rest = address.partition("/s-")
        return head + rest[rest.find("/") :] if session else address

    return mixed.web(answers, within=articles * 10 + 800, real_name=real_name)


def session_query(articles: int = 150, *, rotating: bool = False) -> NamedWeb:
    """Every link carries a new session as a parameter. ``rotating``: and no text is the same twice."""
    mixed = Articles("rotating.localhost" if rotating else "session-query.localhost", articles)

    def answers(_: str, target: str) -> Answer:
        if target == "/":
            return Page("Start", "A site that knows its visitors.", [f"{mixed.paths[0]}?view=full&sid={hashed(0):08x}"])
        page = mixed.page(target.partition("?")[0])
        if page is not None and rotating:
            page = replace(page, text=f"{page.text}\n\n{_rotated(hashed(target))}")
        return _with_sessions(mixed, page, target, lambda number, path: f"{path}?view=full&sid={number:08x}")

    return mixed.web(answers, within=articles * 10 + 800, real_name=lambda address: address.partition("?")[0])


def _rotated(request: int) -> str:
    """What many sites change with each request: an advert, a quotation, a list in any order, a counter."""
    menu = words(8, "menu")
    chance("order", request).shuffle(menu)
    advert, quotation = prose(12, "advert", request % 60), prose(14, "quotation", request % 400)
    return f"{advert}\n\n{quotation}\n\n{' '.join(menu)}\n\nYou are visitor {request} since 09:{request % 60:02}."


def _with_sessions(mixed: Articles, page: Page | None, target: str, written) -> Answer:  # type: ignore[no-untyped-def]
    """The page with links to seven others."""
    if page is None:
        return NOTHING
    number = mixed.paths.index(target.partition("?")[0][target.index("/article/") :])
    others = [mixed.paths[(number * 3 + each) % len(mixed.paths)] for each in range(1, 8)]
    return Page(page.title, page.text, [written(hashed(target, each), path) for each, path in enumerate(others)])
