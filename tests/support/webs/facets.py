"""Shops that can be filtered by six facets at a time: a million lists of the same few products."""

from collections.abc import Callable

from tests.support.webs.articles import Articles
from tests.support.webs.named import NOTHING, Answer, NamedWeb, Page
from tests.support.webs.words import chance, hashed, words

_FACETS = {each: words(9, "facet", each) for each in ("brand", "color", "material", "price", "rating", "size")}
_SHOWN = 20
"""Products on a list; so all are on one of those for which a single facet was chosen."""
Chosen = dict[str, str]


def facets_query(articles: int = 150) -> NamedWeb:
    """As parameters: ``/shop?color=red&size=m``."""
    return _facets(
        "facets-query",
        articles,
        lambda chosen: "/shop" + ("?" if chosen else "") + "&".join(map("=".join, chosen.items())),
        _read_query,
    )


def facets_path(articles: int = 150) -> NamedWeb:
    """As folders: ``/shop/color-red/size-m/``."""
    return _facets(
        "facets-path",
        articles,
        lambda chosen: "/shop/" + "".join(f"{name}-{value}/" for name, value in chosen.items()),
        _read_path,
    )


def tag_cloud(articles: int = 150) -> NamedWeb:
    """Tags that combine in any order; each page shows all of them, in an order that is never the same."""
    mixed = Articles("tag-cloud.localhost", articles)
    tags = words(40, "tags")

    def answers(_: str, target: str) -> Answer:
        if target == "/":
            return Page("Tags", "All that we have.", ["/tags/", *mixed.home])
        if not target.startswith("/tags/"):
            return mixed.page(target) or NOTHING
        chosen = [each for each in target[6:].split("+") if each]
        if not set(chosen) <= set(tags):
            return NOTHING
        draw = chance("cloud", target)
        cloud = draw.sample(sorted(set(tags)), len(set(tags)))
        more = ["/tags/" + "+".join([*chosen, each]) for each in cloud if each not in chosen]
        links = [*zip(more, [each for each in cloud if each not in chosen], strict=True), *mixed.shown(target, len(chosen) + 1)]
        return Page(f"Tagged {' '.join(chosen)}", " ".join(draw.sample(cloud, len(cloud))), links)

    return mixed.web(answers, within=articles * 12 + 1_700)


def _facets(name: str, count: int, written: Callable[[Chosen], str], read: Callable[[str], Chosen | None]) -> NamedWeb:
    mixed = Articles(f"{name}.localhost", count)
    about = {
        path: {facet: values[hashed(facet, path) % len(values)] for facet, values in _FACETS.items()} for path in mixed.paths
    }

    def answers(_: str, target: str) -> Answer:
        if target == "/":
            return Page("Shop", "We sell things.", [written({})])
        chosen = read(target)
        if chosen is None:
            return mixed.page(target) or NOTHING
        listed = [path for path, own in about.items() if chosen.items() <= own.items()]
        shown = listed[:_SHOWN]
        links = list(shown)
        for facet, values in _FACETS.items():
            others = {name: value for name, value in chosen.items() if name != facet}
            more = ({**others, facet: value} if chosen.get(facet) != value else others for value in values)
            links += [written(dict(sorted(each.items()))) for each in more]
        said = f"{len(listed)} products. " + " ".join(f"Product {each.rpartition('/')[2]}." for each in shown)
        return Page("Our products", said, list(dict.fromkeys(links)))

    return mixed.web(answers, within=count * 12 + 900)


def _known(chosen: Chosen) -> Chosen | None:
    return chosen if all(value in _FACETS.get(name, ()) for name, value in chosen.items()) else None


def _read_query(target: str) -> Chosen | None:
    path, _, query = target.partition("?")
    if path != "/shop":
        return None
    return _known({name: value for name, _, value in (each.partition("=") for each in query.split("&") if each)})


def _read_path(target: str) -> Chosen | None:
    if not target.startswith("/shop/"):
        return None
    return _known({name: value for name, _, value in (each.partition("-") for each in target[6:].split("/") if each)})
