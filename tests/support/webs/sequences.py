"""Collections in an order: pictures and poems, of which each leads to the next."""

from tests.support.webs.named import NOTHING, Answer, NamedWeb, Page, finite
from tests.support.webs.words import hashed, words


def gallery(pages: int = 1_000) -> NamedWeb:
    """Pictures in albums, with links to the next and the previous one, and hardly a word."""
    host, size = "gallery.localhost", 40
    albums = -(-pages // size)

    def answers(_: str, target: str) -> Answer:
        kind, _, written = target[1:].partition("/")
        number = int(written) if written.isdigit() else -1
        if target == "/":
            return Page("Pictures", "All albums.", [f"/album/{each}" for each in range(albums)])
        if kind == "album" and 0 <= number < albums:
            return Page(f"Album {number}", f"{size} pictures.", ["/", (f"/picture/{number * size}", "Slide show")])
        if kind == "picture" and 0 <= number < pages:
            near = [(number - 1, "Previous"), (number + 1, "Next")]
            links = [(f"/picture/{each}", text) for each, text in near if each // size == number // size and 0 <= each < pages]
            taken = f"IMG_{1000 + number}.jpg. ISO {100 * (1 + hashed(number) % 16)}. f/{2 + hashed('f', number) % 14}."
            return Page(f"IMG_{1000 + number}", taken, [*links, f"/album/{number // size}"])
        return NOTHING

    return finite(
        "gallery",
        host,
        ["/", *(f"/album/{each}" for each in range(albums)), *(f"/picture/{each}" for each in range(pages))],
        answers,
    )


def poems(pages: int = 2_000) -> NamedWeb:
    """Poems by number, with a link to the next one and no other."""
    host = "poems.localhost"

    def answers(_: str, target: str) -> Answer:
        written = target.removeprefix("/poem/")
        if target == "/":
            return Page("Poems", "Begin here.", ["/poem/1"])
        if not written.isdigit() or not 1 <= int(written) <= pages or target != f"/poem/{int(written)}":
            return NOTHING
        number = int(written)
        verses = "\n\n".join(" ".join(words(6, "verse", number, verse)) for verse in range(4 + hashed(number) % 8))
        return Page(f"Poem {number}", verses, [(f"/poem/{number + 1}", "Next")] if number < pages else [])

    return finite("poems", host, ["/", *(f"/poem/{number}" for number in range(1, pages + 1))], answers)
