"""Repositories of programs, shown on the web: commits, files of each, differences, logs. Few pages are new."""

from urllib.parse import parse_qsl

from tests.support.webs.articles import Articles
from tests.support.webs.named import NOTHING, Answer, NamedWeb, Page
from tests.support.webs.words import hashed, prose

_VIEWS = ("history", "blame", "raw", "diff")


def _commits(count: int) -> list[str]:
    return [f"{hashed('commit', number):08x}{hashed('more', number):08x}" for number in range(count)]


def repository(articles: int = 150) -> NamedWeb:
    """The pages that are real are files; commits, trees, logs and differences are views without end of what changed."""
    mixed, commits = Articles("repository.localhost", articles), _commits(400)

    def answers(_: str, target: str) -> Answer:
        path, _, query = target.partition("?")
        if target == "/":
            return Page("Repositories", "What we write.", ["/repo/tree", "/repo/log"])
        if not path.startswith("/repo/"):
            return mixed.page(target) or NOTHING
        chosen = dict(parse_qsl(query))
        at = commits.index(chosen["id"]) if chosen.get("id") in commits else 0
        near = [commits[(at + step) % len(commits)] for step in (1, 2, 7)]
        links = [f"/repo/{what}?id={each}" for what in ("commit", "tree", "log", "blame") for each in near]
        links += [f"/repo/diff?id={commits[at]}&id2={each}" for each in near]
        if path == "/repo/commit":
            return Page(f"commit {commits[at]}", f"Author: somebody. Date: day {at}. Fix number {at}.", links)
        return Page(f"{path} {commits[at]}", "Files of this version", [*mixed.paths[at % 10 :: 10], *links])

    return mixed.web(answers, within=articles * 10 + 500)


def one_path(articles: int = 150) -> NamedWeb:
    """All is at one path: a parameter says what is wanted of a file in a version.

    Each file has three versions that differ in a word. What else is shown of it says nothing, and there is much more of it.
    """
    host, commits = "one-path.localhost", _commits(60)
    folders = -(-articles // 10)

    def answers(_: str, target: str) -> Answer:
        path, _, query = target.partition("?")
        if target == "/":
            return Page("Repositories", "What we write.", [f"/git?a=tree;f=0;hb={commits[0]}"])
        chosen = dict(each.partition("=")[::2] for each in query.split(";"))
        name, view = chosen.get("f", ""), chosen.get("a", "")
        if path != "/git" or not name.isdigit() or int(name) >= articles:
            return NOTHING
        at = commits.index(chosen["hb"]) if chosen.get("hb") in commits else 0
        near = [commits[(at + step) % len(commits)] for step in (1, 2, 7)]
        links = [f"/git?a={each};f={name};hb={other}" for each in _VIEWS for other in near]
        if view == "tree":
            shown = range(int(name) * 10, min(articles, int(name) * 10 + 10))
            files = [f"/git?a={each};f={number};hb={commits[at]}" for number in shown for each in (*_VIEWS, "blob")]
            more = [f"/git?a=tree;f={number};hb={other}" for number in range(folders) for other in near]
            return Page("Files", "Files of this version", [*more, *files, *links])
        if view == "blob":
            return Page(f"File {name}", prose(150, "file", name) + (f" Version {at % 3}." if at else ""), links)
        return Page(view, "Nothing that is new", links)

    def real_name(address: str) -> str:
        return address.partition(";hb=")[0]

    real = frozenset([f"http://{host}/", *(f"http://{host}/git?a=blob;f={number}" for number in range(articles))])
    within, budget = articles * 60 + 500, articles * 20 + 1_000
    return NamedWeb("one-path", (f"http://{host}/",), real, answers, within, budget, trap=True, real_name=real_name)
