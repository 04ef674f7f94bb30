"""Versions of one manual on one host, which say nearly the same."""

import itertools
from functools import cache

from tests.support.webs.named import NOTHING, Answer, NamedWeb, Page, finite
from tests.support.webs.words import hashed, prose, words


def manual_versions(pages: int = 1_057) -> NamedWeb:
    """Three versions of one manual, ``pages`` each: a page in ten is the same in all, the others differ in a few words."""
    host = "manual.localhost"
    versions = ["14", "15", "16"]
    names = ["index", *(f"chapter-{number}" for number in range(20))]
    parts = itertools.cycle(("sql", "app", "runtime", "libpq", "functions"))
    own = enumerate(words(pages - len(names), "names"))
    names += [f"{part}-{word}{number}" for part, (number, word) in zip(parts, own, strict=False)]
    places = {each: number for number, each in enumerate(names)}
    sections = names[21:]

    @cache
    def text(name: str) -> str:
        return prose(120 + hashed(name) % 500, "manual", name)

    def answers(_: str, target: str) -> Answer:
        version, _, name = target[1:].partition("/")
        name = (name or "index.html").removesuffix(".html")
        if not version:
            return Page("Manuals", "Manuals of all versions.", [f"/{each}/" for each in versions])
        if version not in versions or name not in places:
            return NOTHING
        place = places[name]
        links = [f"{names[each % len(names)]}.html" for each in (place - 1, place + 1)] + ["./", "/"]
        links += [f"/{each}/{name}.html" if name != "index" else f"/{each}/" for each in versions if each != version]
        if name == "index":
            links += [f"chapter-{number}.html" for number in range(20)]
        elif name.startswith("chapter-"):
            links += [f"{each}.html" for each in sections[int(name[8:]) :: 20]]
        written = text(name)
        if hashed(name) % 10:
            written += f"\n\nSince version {version}, {' '.join(words(6, name, version))} is told by {words(1, name)[0]}."
        links = ["./" if each == "index.html" else each for each in links]
        return Page(f"PostgreSQL: Documentation: {version}: {name}", written, links, f"Manual {version}. Copyright 1996.")

    real = ["/", *(f"/{version}/{'' if name == 'index' else f'{name}.html'}" for version in versions for name in names)]
    return finite("versions", host, real, answers, [f"/{each}/" for each in versions])
