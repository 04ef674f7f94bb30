"""Traps in lists: pages of a list beyond its end, and all the orders that a list can have."""

from urllib.parse import parse_qsl

from tests.support.webs.articles import Articles
from tests.support.webs.named import NOTHING, Answer, NamedWeb, Page
from tests.support.webs.words import hashed, prose

_COLUMNS = ["name", "date", "size", "author", "type", "rating"]


def pagination(articles: int = 150) -> NamedWeb:
    """``?page=N`` is there for any N; beyond the last article it says that there are no results, and links the next one."""
    mixed = Articles("pagination.localhost", articles)

    def answers(_: str, target: str) -> Answer:
        path, _, query = target.partition("?page=")
        if target == "/":
            return Page("News", prose(60, "pagination"), ["/news?page=1"])
        if path != "/news" or not query.isdigit():
            return mixed.page(target) or NOTHING
        page = int(query)
        shown = mixed.paths[10 * page - 10 : 10 * page]
        text = f"Page {page}. " + ("News of this week." if shown else "No results were found for your question.")
        return Page(f"News, page {page}", text, [*shown, f"/news?page={max(1, page - 1)}", f"/news?page={page + 1}"])

    return mixed.web(answers, within=articles * 3 + 100)


def sort_orders(articles: int = 150) -> NamedWeb:
    """A list that can be sorted by six columns, one within the other, each up or down: 60,000 lists of ten."""
    mixed = Articles("sort-orders.localhost", articles)
    pages = -(-articles // 10)

    def written(columns: list[str], page: int) -> str:
        return f"/list?order={','.join(columns)}&page={page}"

    def answers(_: str, target: str) -> Answer:
        path, _, query = target.partition("?")
        if target == "/":
            return Page("Library", prose(60, "sort"), [written([], 1)])
        chosen = dict(parse_qsl(query, keep_blank_values=True))
        if path != "/list" or not chosen.get("page", "").isdigit():
            return mixed.page(target) or NOTHING
        columns, page = [each for each in chosen.get("order", "").split(",") if each], int(chosen["page"])
        listed = sorted(mixed.paths, key=lambda each: hashed(columns[:1], each)) if columns else mixed.paths
        shown = listed[10 * page - 10 : 10 * page]
        links = [*shown, *(written(columns, each) for each in range(1, pages + 1))]
        for column in _COLUMNS:  # who clicks a column has it first; who clicks it again has it the other way round
            others = [each for each in columns if each.strip("-") != column]
            links.append(written([f"-{column}" if columns[:1] == [column] else column, *others], 1))
        return Page("Our library", " ".join(f"Book {each.rpartition('/')[2]}." for each in shown), links)

    return mixed.web(answers, within=articles * 5 + 500)
