"""Where people write: a forum, a mailing list, a blog. Much of it is short, and shown in several lists."""

from tests.support.webs.named import NOTHING, Answer, NamedWeb, Page, finite
from tests.support.webs.words import chance, hashed, name, prose, words

_FORUM = "Register. Log in. Search. Members. Powered by a forum. All times are UTC."


def forum(pages: int = 1_500) -> NamedWeb:
    """Boards, threads of one to four pages, and a profile for each member, which says hardly anything."""
    host, boards, per_board = "forum.localhost", 6, 20
    threads, members = max(boards, pages // 3), max(2, pages // 4)
    lengths = [1 + hashed("length", number) % 4 for number in range(threads)]
    lists = 1 + (threads - 1) // (boards * per_board)
    targets = ["/", *(f"/board/{board}?page={page}" for board in range(boards) for page in range(1, lists + 1))]
    targets += [f"/thread/{number}?page={page}" for number, length in enumerate(lengths) for page in range(1, length + 1)]
    targets += [f"/member/{number}" for number in range(members)]
    known = frozenset(targets)

    def answers(_: str, target: str) -> Answer:
        if target not in known:
            return NOTHING
        if target == "/":
            return Page("Forum", "All boards.", [f"/board/{board}?page=1" for board in range(boards)] + ["/member/0"], _FORUM)
        kind, _, rest = target[1:].partition("/")
        number, page = (int(each) for each in f"{rest}?page=1".split("?page=")[:2])
        turns = [each for each in (f"/{kind}/{number}?page={page + step}" for step in (-1, 1)) if each in known]
        if kind == "board":
            shown = range(number + boards * per_board * (page - 1), min(threads, boards * per_board * page), boards)
            links = [f"/thread/{each}?page=1" for each in shown]
            return Page(f"Board {number}, page {page}", "Threads of this board.", ["/", *turns, *links], _FORUM)
        if kind == "member":
            text = f"{name('member', number)}. Joined {1999 + number % 20}. Posts: {hashed(number) % 900}. Location: not said."
            return Page(f"Profile of {name('member', number)}", text, ["/", f"/member/{(number + 1) % members}"], _FORUM)
        posts = [
            (hashed(target, post) % members, prose(15 + hashed(target, post, "words") % 60, target, post)) for post in range(8)
        ]
        text = "\n\n".join(f"{name('member', who)} wrote: {said}" for who, said in posts)
        title = f"{' '.join(words(5, 'thread', number))}, page {page}"
        return Page(title, text, ["/", *turns, *dict.fromkeys(f"/member/{who}" for who, _ in posts)], _FORUM)

    return finite("forum", host, targets, answers)


def mailing_list(pages: int = 20_000) -> NamedWeb:
    """Short replies that quote what was said before, each linked from its neighbours alone: a chain of all messages."""
    host = "list.localhost"

    def answers(_: str, target: str) -> Answer:
        if target == "/":
            return Page("Archive of the list", "By date.", [("/msg00000.html", "First message")])
        written = target.removeprefix("/msg").removesuffix(".html")
        if not written.isdigit() or int(written) >= pages or target != f"/msg{int(written):05}.html":
            return NOTHING
        number = int(written)
        thread = number - number % 9
        turns = [(number - 1, "Date Prev"), (number + 1, "Date Next"), (thread, "Thread")]
        links = [(f"/msg{each:05}.html", text) for each, text in turns if 0 <= each < pages]
        said = " ".join(words(4 + hashed("mail", number) % 20, "mail", number))
        before = " ".join(words(4 + hashed("mail", number - 1) % 20, "mail", number - 1))
        text = f"From: {name('sender', hashed(number) % 90)}\n\n{said.capitalize()}.\n\n> {before}"
        return Page(f"Re: {' '.join(words(4, 'subject', thread))}", text, [*links, "/"], "Mail converted by a program.")

    return finite("mailing-list", host, ["/", *(f"/msg{number:05}.html" for number in range(pages))], answers)


def blog(pages: int = 600) -> NamedWeb:
    """Posts, and four ways to list them: pages, months, tags and pages of tags."""
    host, size, tags = "blog.localhost", 8, words(20, "tags")
    posts = {
        f"/{2010 + number // 60}/{number // 5 % 12 + 1:02}/{number}-{words(1, 'slug', number)[0]}/": number
        for number in range(pages)
    }
    of_tag = {
        tag: [path for path, number in posts.items() if tag in chance("tags", number).sample(tags, 3)]
        for tag in dict.fromkeys(tags)
    }
    lists = {"/": [*posts][::-1]} | {f"/tag/{tag}/": shown for tag, shown in of_tag.items() if shown}
    for path in posts:
        year, month, _ = path[1:].split("/", 2)
        lists.setdefault(f"/{year}/", []).append(path)
        lists.setdefault(f"/{year}/{month}/", []).append(path)
    pieces = {
        (path if not start else f"{path}page/{start // size + 1}/"): (path, start)
        for path, shown in lists.items()
        for start in range(0, len(shown), size)
    }
    side = [*(each for each in lists if each.count("/") == 3), *(f"/{each}/" for each in sorted({path[1:5] for path in posts}))]

    def answers(_: str, target: str) -> Answer:
        if target in posts:
            number = posts[target]
            near = [path for path, other in posts.items() if abs(other - number) == 1]
            marked = [f"/tag/{tag}/" for tag, shown in of_tag.items() if target in shown]
            return Page(
                " ".join(words(4, "post", number)),
                prose(80 + hashed(number) % 200, "post", number),
                ["/", *near, *marked, *side],
            )
        if target not in pieces:
            return NOTHING
        path, start = pieces[target]
        shown = lists[path][start : start + size]
        text = "\n\n".join(
            prose(80 + hashed(posts[each]) % 200, "post", posts[each])[:150] + " Continue reading" for each in shown
        )
        turns = [f"{path}page/{number}/" if number > 1 else path for number in (start // size, start // size + 2)]
        months = [each for each in lists if path != "/" and each.startswith(path) and each != path]
        links = [*shown, *(each for each in turns if each in pieces), *months, *side]
        return Page(f"Archive {path} {start // size + 1}", text, list(dict.fromkeys(links)), "Proudly powered by a program.")

    return finite("blog", host, [*posts, *pieces], answers)
