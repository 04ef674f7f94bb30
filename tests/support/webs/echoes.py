"""Traps made of a page's own address: its view for printing, the count of its visits, the form to log in that leads back."""

from urllib.parse import quote

from tests.support.webs.articles import Articles
from tests.support.webs.named import NOTHING, Answer, Moved, NamedWeb, Page
from tests.support.webs.words import prose


def print_views(articles: int = 150) -> NamedWeb:
    """Each page has a view for printing, which has one for printing: ``?print=1&print=1``."""
    mixed = Articles("print-views.localhost", articles)

    def answers(_: str, target: str) -> Answer:
        path, _, query = target.partition("?")
        if path == "/":
            return Page("Start", prose(60, "print"), [mixed.paths[0], f"/?{query}&print=1" if query else "/?print=1"])
        page = mixed.page(path)
        if page is None or set(query.split("&")) - {"", "print=1"}:
            return NOTHING
        view = f"{path}?{query}&print=1" if query else f"{path}?print=1"
        number = mixed.paths.index(path)
        near = [mixed.paths[each] for each in (2 * number + 1, 2 * number + 2) if each < articles]
        return Page(page.title, page.text, [view, *near, "/"])

    def real_name(address: str) -> str:
        return address.partition("?")[0]

    return mixed.web(answers, within=articles * 12 + 100, real_name=real_name)


def redirects(articles: int = 150) -> NamedWeb:
    """A link that counts visits redirects to itself with the next number; half of the articles are behind good ones."""
    mixed = Articles("redirects.localhost", articles)

    def answers(_: str, target: str) -> Answer:
        path, _, query = target.partition("?")
        name, _, value = query.partition("=")
        if target == "/":
            return Page("Start", prose(60, "redirects"), [mixed.paths[0], "/visit/0?count=1"])
        if path.startswith("/visit/") and name == "count" and value.isdigit():
            return Moved(f"{path}?count={int(value) + 1}")
        if path == "/go" and name == "to" and value.isdigit() and int(value) < articles:
            return Moved(mixed.paths[int(value)])
        page = mixed.page(target)
        if page is None:
            return NOTHING
        number = mixed.paths.index(target)
        near = [each for each in (2 * number + 1, 2 * number + 2) if each < articles]
        links = [f"/go?to={each}" if each % 2 else mixed.paths[each] for each in near]
        return Page(page.title, page.text, [*links, *([f"/visit/{number}?count=1"] if number % 10 == 0 else []), "/"])

    return mixed.web(answers, within=articles * 30 + 100)


def logins(articles: int = 150) -> NamedWeb:
    """Each page links a form to log in, which knows where one came from, and links itself: addresses within addresses."""
    mixed = Articles("logins.localhost", articles)

    def answers(_: str, target: str) -> Answer:
        forms = [f"/{each}?return={quote(target, safe='')}" for each in ("login", "register")]
        if target == "/":
            return Page("Start", prose(60, "logins"), [mixed.paths[0], *forms])
        if target.startswith(("/login?return=", "/register?return=")):
            return Page("Log in", "Please enter your name and your password. Did you forget your password?", [*forms, "/"])
        page = mixed.page(target)
        if page is None:
            return NOTHING
        number = mixed.paths.index(target)
        near = [mixed.paths[each] for each in (2 * number + 1, 2 * number + 2) if each < articles]
        return Page(page.title, page.text, [*near, *forms, "/"])

    return mixed.web(answers, within=articles * 30 + 500)
