"""Webs without end, each with real pages beside or behind it: a calendar, sessions in addresses, a shop with facets, and more.

Each function fills a `Site` and returns the paths of its real pages. Answers are made by the server's thread from the request
alone (but for session numbers), so a crawl can be repeated.
"""

from __future__ import annotations

import html as markup
import itertools
import random
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from urllib.parse import parse_qsl, urlencode

from larm.testing.replies import Reply, html
from larm.testing.request_log import Request
from larm.testing.site import Site

Endless = Callable[[Site, int], list[str]]
_SYLLABLES = ["ba", "co", "di", "fu", "ge", "hi", "ja", "ko", "lu", "me", "na", "po", "qui", "ra", "se", "ti", "va", "wo", "zy"]


def prose(seed: int, words: int = 150) -> str:
    """Text that no other seed has."""
    chance = random.Random(seed)
    return " ".join("".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(words))


def _page(title: str, text: str, links: Iterable[str]) -> Reply:
    items = "".join(f'<li><a href="{markup.escape(link)}">{markup.escape(link)}</a>' for link in links)
    return html(f"<!DOCTYPE html><title>{title}</title><h1>{title}</h1><p>{markup.escape(text)}</p><ul>{items}</ul>")


def calendar(site: Site, pages: int) -> list[str]:
    """Days, weeks and months in both directions for ever; the real pages are events, linked from their day, week and month."""
    events = {date(2026, 1, 1) + timedelta(days=3 * number): f"/event/{number}" for number in range(pages)}

    def answer(request: Request) -> Reply:
        view, _, written = request.path.removeprefix("/calendar/").partition("/")
        try:
            day = date.fromisoformat(written)
        except ValueError:
            return Reply(404, {}, b"")
        step = {"day": 1, "week": 7, "month": 30}.get(view, 1)
        month = day.replace(day=1)
        links = [f"/calendar/{view}/{day + timedelta(days=step * number)}" for number in (-1, 1)]
        links += [f"/calendar/month/{each}" for each in (month, month - timedelta(days=1), month + timedelta(days=31))]
        if view == "month":
            links += [f"/calendar/day/{day + timedelta(days=number)}" for number in range(step)]
            links += [f"/calendar/week/{day + timedelta(days=number)}" for number in range(0, step, 7)]
        here = [events[each] for each in (day + timedelta(days=n) for n in range(step)) if each in events]
        text = f"{view} of {day:%A, %d %B %Y}. " + ("Events: " + ", ".join(here) if here else "There are no events.")
        return _page(f"{day:%B %Y}", text, [*here, *links])

    site.otherwise(answer)
    site.page("/", "Club", "Welcome to our club, which meets now and then.", links=["/calendar/month/2026-01-01", "/about"])
    site.page("/about", "About", prose(1))
    for number, path in enumerate(events.values()):
        site.page(path, f"Event {number}", prose(1000 + number), links=["/"])
    return ["/", "/about", *events.values()]


def sessions(site: Site, pages: int) -> list[str]:
    """Every link carries a new session number: the real pages can be had by no other address."""
    numbers = itertools.count(100_000)

    def answer(request: Request) -> Reply:
        path = request.path.partition("?")[0].partition(";")[0]
        if not path.startswith("/p") or not path[2:].isdigit() or int(path[2:]) >= pages:
            return Reply(404, {}, b"")
        number = int(path[2:])
        others = [(number * 3 + each) % pages for each in range(1, 8)]
        session = next(numbers)
        return _page(f"Page {number}", prose(number), [f"/p{each}?view=full&sid={session:x}f" for each in others])

    site.otherwise(answer)
    site.page("/", "Start", "A site that knows its visitors.", links=["/p0?view=full&sid=1"])
    return ["/", *(f"/p{number}" for number in range(pages))]


def shop(site: Site, pages: int) -> list[str]:
    """Facets, sort orders and pages of lists in all combinations; the products are the real pages, ten to a list."""
    facets = {"colour": ("red", "green", "blue", "black"), "size": ("s", "m", "l", "xl"), "brand": ("acme", "beta", "core")}
    orders = ("price", "name", "rating")

    def about(product: int) -> dict[str, str]:
        return {name: values[product % len(values)] for name, values in facets.items()}

    def answer(request: Request) -> Reply:
        chosen = dict(parse_qsl(request.path.partition("?")[2]))
        listed = [n for n in range(pages) if all(chosen.get(name, each) == each for name, each in about(n).items())]
        if "sort" in chosen:
            random.Random(chosen["sort"]).shuffle(listed)
        page = int(chosen.get("page", "0"))
        shown = listed[10 * page : 10 * page + 10]
        more = [{**chosen, name: value} for name, values in facets.items() for value in values]
        more += [{**chosen, "sort": order} for order in orders]
        more += [{**chosen, "page": str(page + 1)}] if listed[10 * page + 10 :] else []
        links = [f"/product/{n}" for n in shown] + [f"/shop?{urlencode(each)}" for each in more]
        return _page("All we have", ". ".join(f"Product {prose(5000 + n, 3)}" for n in shown), links)

    site.otherwise(answer)
    site.page("/", "Shop", "We sell things.", links=["/shop?page=0"])
    for number in range(pages):
        site.page(f"/product/{number}", f"Product {prose(5000 + number, 3)}", prose(number), links=["/", "/shop?page=0"])
    return ["/", *(f"/product/{number}" for number in range(pages))]


def maze(site: Site, pages: int) -> list[str]:
    """Links that are relative where they should not be: each leads a folder deeper, to the same pages again."""

    def answer(request: Request) -> Reply:
        name = request.path.rstrip("/").rpartition("/")[2]
        number = int(name[4:]) if name[:4] == "page" and name[4:].isdigit() else -1
        if not 0 <= number < pages:
            return Reply(404, {}, b"")
        return _page(f"Page {number}", prose(number), [f"page{(number * 2 + n) % pages}/" for n in range(4)])

    site.otherwise(answer)
    site.page("/", "Start", "Here we go.", links=[f"/page{number}/" for number in range(pages)])
    return ["/", *(f"/page{number}/" for number in range(pages))]


def versions(site: Site, pages: int) -> list[str]:
    """A repository shown on the web: of each commit all files, differences to every other commit, logs; few pages are new."""
    commits = [f"{random.Random(number).getrandbits(160):040x}" for number in range(400)]

    def answer(request: Request) -> Reply:
        path, _, query = request.path.partition("?")
        chosen = dict(parse_qsl(query))
        at = commits.index(chosen["id"]) if chosen.get("id") in commits else 0
        near = [commits[(at + step) % len(commits)] for step in (1, 2, 7)]
        links = [f"/repo/{what}?id={each}" for what in ("commit", "tree", "log", "blame") for each in near]
        links += [f"/repo/diff?id={commits[at]}&id2={each}" for each in near]
        if path == "/repo/commit":
            return _page(f"commit {commits[at]}", f"Author: somebody. Date: day {at}. Fix number {at}.", links)
        files = [f"/repo/file/{number}" for number in range(pages)]
        return _page(f"{path} {commits[at]}", "Files of this version", [*files, *links])

    site.otherwise(answer)
    site.page("/", "Repositories", "What we write.", links=["/repo/tree", "/repo/log"])
    for number in range(pages):
        site.page(f"/repo/file/{number}", f"File {number}", prose(number), links=[f"/repo/blame?id={commits[0]}"])
    return ["/", *(f"/repo/file/{number}" for number in range(pages))]


def one_path(site: Site, pages: int) -> list[str]:
    """A repository on the web, of which all is at one path: a parameter says what is wanted of a file in a version.

    Each file has a few versions that differ in a word. What else is shown of it says nothing, and there is much more of it.
    """
    commits = [f"{random.Random(number).getrandbits(160):040x}" for number in range(60)]
    views = ("history", "blame", "raw", "diff")

    def answer(request: Request) -> Reply:
        chosen = dict(each.partition("=")[::2] for each in request.path.partition("?")[2].split(";"))
        at = commits.index(chosen["hb"]) if chosen.get("hb") in commits else 0
        near = [commits[(at + step) % len(commits)] for step in (1, 2, 7)]
        name, view = chosen.get("f", ""), chosen.get("a", "")
        links = [f"/git?a={each};f={name};hb={other}" for each in views for other in near if name]
        if view == "tree":
            folder = range(int(name or 0) * 10, int(name or 0) * 10 + 10)
            files = [f"/git?a={each};f={number};hb={commits[at]}" for number in folder for each in (*views, "blob")]
            more = [f"/git?a=tree;f={number};hb={other}" for number in range(pages // 10) for other in near]
            return _page("Files", "Files of this version", [*more, *files, *links])
        if view == "blob":
            return _page(f"File {name}", prose(int(name)) + (f" version {at % 3}" if at else ""), links)
        return _page(view, "Nothing that is new", links)

    site.otherwise(answer)
    site.page("/", "Repositories", "What we write.", links=[f"/git?a=tree;f=0;hb={commits[0]}"])
    return [f"/git?a=blob;f={number}" for number in range(pages)]


ENDLESS: dict[str, Endless] = {
    "calendar": calendar,
    "sessions": sessions,
    "shop": shop,
    "maze": maze,
    "versions": versions,
    "one-path": one_path,
}
