"""Catalogues and registers: many pages after one pattern, with little text that is their own, or hardly more than numbers."""

from tests.support.webs.named import NOTHING, Answer, NamedWeb, Page, finite
from tests.support.webs.words import chance, hashed, name, prose, words

_TERMS = prose(60, "terms and conditions")
_MATERIALS = ["zinc", "steel", "brass", "nylon"]
_FORMS = ["Hex bolt", "Carriage bolt", "Washer", "Nut", "Threaded rod", "Set screw"]


def parts(pages: int = 600) -> NamedWeb:
    """Parts that differ in their number, a size and a price; fifty to a list."""
    host, size = "parts.localhost", 50
    numbers = [10_000 + 7 * each for each in range(pages)]
    lists = -(-pages // size)

    def answers(_: str, target: str) -> Answer:
        folder, _, written = target[1:].partition("/")
        number = int(written) if written.isdigit() else -1
        if target == "/":
            return Page("Parts", "All our parts.", [f"/list/{each}" for each in range(lists)], _TERMS)
        if folder == "list" and 0 <= number < lists:
            shown = numbers[size * number : size * number + size]
            return Page(f"Parts, list {number}", "Our parts.", ["/", *(f"/part/{each}" for each in shown)], _TERMS)
        if folder == "part" and number in numbers:
            draw = chance("part", number)
            what = f"{draw.choice(_FORMS)} M{draw.randint(2, 30)}x{5 * draw.randint(1, 40)}, {draw.choice(_MATERIALS)}"
            return Page(
                f"Part {number}", f"Part {number}. {what}. Price {draw.randint(5, 900) / 100:.2f}. In stock.", ["/"], _TERMS
            )
        return NOTHING

    return finite(
        "parts", host, ["/", *(f"/list/{each}" for each in range(lists)), *(f"/part/{each}" for each in numbers)], answers
    )


def products(pages: int = 400) -> NamedWeb:
    """Products with a name of their own and a price, and the same words about delivery."""
    host, size = "products.localhost", 40
    names = [name("product", number) for number in range(pages)]
    slugs = {each.lower(): each for each in names}
    lists = -(-pages // size)

    def answers(_: str, target: str) -> Answer:
        folder, _, written = target[1:].partition("/")
        if target == "/" or folder == "all":
            number = int(written) if written.isdigit() else 0
            if number >= lists:
                return NOTHING
            shown = names[size * number : size * number + size]
            more = [f"/all/{each}" for each in range(1, lists)]
            return Page(
                "Our products",
                "Everything for your home.",
                ["/", *more, *(f"/product/{each.lower()}" for each in shown)],
                _TERMS,
            )
        if folder == "product" and written in slugs:
            price = chance("price", written).randint(100, 90_000) / 100
            text = f"{slugs[written]}. Price: {price:.2f} EUR. Add to basket. Delivery within three days. Free returns."
            return Page(slugs[written], text, ["/"], _TERMS)
        return NOTHING

    targets = ["/", *(f"/all/{each}" for each in range(1, lists)), *(f"/product/{each}" for each in slugs)]
    return finite("products", host, targets, answers)


def stations(pages: int = 400) -> NamedWeb:
    """Weather stations: a page is a number and a table of digits."""
    host = "stations.localhost"
    numbers = {f"{(number * 7919) % 100_000:05}": number for number in range(pages)}

    def answers(_: str, target: str) -> Answer:
        if target == "/":
            return Page("Stations", "Weather stations by number.", [f"/station/{each}" for each in numbers])
        written = target.removeprefix("/station/")
        if written not in numbers:
            return NOTHING
        draw = chance("station", written)
        rows = (
            f"{month:02} {draw.uniform(-20, 30):.1f} {draw.uniform(0, 300):.1f} {draw.randint(960, 1050)}"
            for month in range(1, 13)
        )
        return Page(f"Station {written}", f"Station {written}\n\n" + "\n\n".join(rows), ["/"])

    return finite("stations", host, ["/", *(f"/station/{each}" for each in numbers)], answers)


def own_words(pages: int = 300) -> NamedWeb:
    """Pages of 315 words, of which fifteen are their own."""
    host = "words.localhost"
    shared = prose(300, "shared by all pages")

    def answers(_: str, target: str) -> Answer:
        written = target[1:]
        if target == "/":
            return Page("Contents", "All our pages.", [f"/{number}" for number in range(pages)])
        if not written.isdigit() or int(written) >= pages:
            return NOTHING
        own = " ".join(words(15, "own", written))
        return Page(f"{words(1, 'title', written)[0]} {written}", f"{own.capitalize()}.\n\n{shared}", ["/"])

    return finite("own-words", host, ["/", *(f"/{number}" for number in range(pages))], answers)


def phone_directory(pages: int = 3_000) -> NamedWeb:
    """Names, streets and numbers: a page for each, behind lists by letter and their pages."""
    host, size = "phones.localhost", 60
    people = [f"{name('first', number % 300)}-{name('family', number)}".lower() for number in range(pages)]
    by_letter: dict[str, list[str]] = {}
    for each in people:
        by_letter.setdefault(each[0], []).append(each)
    known = {each: number for number, each in enumerate(people)}
    lists = {f"/{letter}?page={page}" for letter, all_of in by_letter.items() for page in range(1, -(-len(all_of) // size) + 1)}

    def answers(_: str, target: str) -> Answer:
        if target == "/":
            return Page("Telephone directory", "By letter.", [f"/{letter}?page=1" for letter in sorted(by_letter)])
        if target in lists:
            letter, _, page = target[1:].partition("?page=")
            shown = by_letter[letter][size * (int(page) - 1) : size * int(page)]
            turns = [f"/{letter}?page={int(page) + step}" for step in (-1, 1)]
            links = [each for each in turns if each in lists] + [f"/entry/{each}" for each in shown]
            return Page(f"{letter.upper()}, page {page}", "Entries of this letter.", ["/", *links])
        written = target.removeprefix("/entry/")
        if written not in known:
            return NOTHING
        first, _, family = written.partition("-")
        text = (
            f"{family.capitalize()}, {first.capitalize()}. {words(1, 'street', known[written] % 200)[0].capitalize()} street "
        )
        text += f"{hashed(written) % 200}. Tel. 0{hashed('tel', written) % 10**9}."
        return Page(f"{first.capitalize()} {family.capitalize()}", text, ["/"])

    return finite("phones", host, ["/", *lists, *(f"/entry/{each}" for each in people)], answers)


def genealogy(pages: int = 5_000) -> NamedWeb:
    """People with dates, parents and children, who are reached by way of each other alone."""
    host = "family.localhost"
    places = words(40, "villages")

    def answers(_: str, target: str) -> Answer:
        written = target.removeprefix("/I").removesuffix(".html")
        if target == "/":
            return Page("Our family", "Begin with the oldest of us.", ["/I1.html"])
        if not written.isdigit() or not 1 <= int(written) <= pages or target != f"/I{written}.html":
            return NOTHING
        number = int(written)
        family = [(number + 1) // 3, *range(number * 3 - 1, number * 3 + 2)]
        born = 1500 + 20 * len(f"{number:b}") + hashed(number) % 20
        who = f"{name('given', number % 150)} {name('house', number % 40)}"
        text = f"{who} was born in {born} in {places[number % 40]} and died in {born + 20 + hashed('died', number) % 70}."
        links = [(f"/I{each}.html", name("given", each % 150)) for each in family if 1 <= each <= pages]
        return Page(f"{who} ({born})", text + "\n\nParents. Children. Sources.", [*links, "/"])

    return finite("genealogy", host, ["/", *(f"/I{number}.html" for number in range(1, pages + 1))], answers)


def shop(pages: int = 2_000) -> NamedWeb:
    """Products in ten categories, each with lists ``?page=1`` to as many as there are, and not one more."""
    host, size = "bounded.localhost", 4
    categories = words(10, "categories")
    count = -(-pages // len(categories) // size)

    def answers(_: str, target: str) -> Answer:
        path, _, query = target.partition("?page=")
        if target == "/":
            return Page("Shop", "Welcome to our shop.", [f"/{each}?page=1" for each in categories], _TERMS)
        if path[1:] in categories and query.isdigit() and 1 <= int(query) <= count:
            place, page = categories.index(path[1:]), int(query)
            shown = [each * len(categories) + place for each in range(size * (page - 1), size * page)]
            links = [f"/product/{each}" for each in shown if each < pages]
            links += [f"{path}?page={each}" for each in (1, page - 1, page + 1, count) if 1 <= each <= count]
            return Page(
                f"{path[1:].capitalize()}, page {page} of {count}",
                "Sorted by popularity.",
                [*dict.fromkeys(links), "/"],
                _TERMS,
            )
        written = target.removeprefix("/product/")
        if written.isdigit() and int(written) < pages and target == f"/product/{written}":
            own = " ".join(words(6, "article", written))
            about = f"{name('article', written)} {own}. Price {hashed(written) % 9000 / 100:.2f}."
            return Page(name("article", written), f"{about} In stock. Add to basket.", ["/"], _TERMS)
        return NOTHING

    lists = [f"/{category}?page={page}" for category in categories for page in range(1, count + 1)]
    return finite("shop", host, ["/", *lists, *(f"/product/{number}" for number in range(pages))], answers)
