"""Tarpits: any path is a page of fresh text at length. Neither links nor texts tell them from large sites."""

from dataclasses import replace

from tests.support.webs.articles import Articles
from tests.support.webs.named import NOTHING, Answer, NamedWeb, Page
from tests.support.webs.words import chance, prose, words

_HOSTS = tuple(f"tar{number}.localhost" for number in range(4))


def tarpit(articles: int = 150) -> NamedWeb:
    """A site of articles, each of which links to a page of hosts that never end, and link each other and the site."""
    mixed = Articles("tarpit.localhost", articles)

    def answers(host: str, target: str) -> Answer:
        if host in _HOSTS:
            draw = chance("tar", host, target)
            links = [f"http://{draw.choice(_HOSTS)}/{word}/" for word in words(3, "away", host, target)]
            links += [f"{target.rstrip('/')}/{word}/" for word in words(6, "deeper", host, target)]
            return Page(" ".join(words(4, "title", host, target)), prose(300, "tar", host, target), links)
        if target == "/":
            return Page("Start", prose(60, "tarpit"), [*mixed.paths[:10]])
        page = mixed.page(target)
        if page is None:
            return NOTHING
        number = mixed.paths.index(target)
        near = [mixed.paths[each] for each in range(2 * number + 1, 2 * number + 3) if each < articles]
        return Page(page.title, page.text, [f"http://{_HOSTS[number % len(_HOSTS)]}/{words(1, number)[0]}/", *near, "/"])

    return replace(mixed.web(answers, within=articles * 60 + 1_000), budget=None, further=_HOSTS)
