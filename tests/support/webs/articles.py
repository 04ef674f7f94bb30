"""Articles: the real pages of a host that is a trap otherwise, and from which of its pages each of them is found."""

from collections.abc import Callable

from tests.support.webs.named import Answers, NamedWeb, Page
from tests.support.webs.words import chance, prose

_FROM_START, _DEEP = 0.2, 0.2
"""Of the articles, so many are linked from the start page; so many only from pages of the trap some links away from it."""
_SHOWN = 3
"""Links to articles on a page of the trap."""
DEPTH = 3
"""Links from the start page to a page that is deep."""


class Articles:
    """``count`` of them, below ``/article/``."""

    def __init__(self, host: str, count: int) -> None:
        self.host = host
        self.paths = [f"/article/{number}" for number in range(count)]
        self._first, self._deep = int(count * _FROM_START), count - int(count * _DEEP)

    @property
    def home(self) -> list[str]:
        """Links of the start page."""
        return self.paths[: self._first]

    def shown(self, place: str, depth: int) -> list[str]:
        """Links to articles on a page of the trap, ``depth`` links from the start."""
        draw = chance("shown", self.host, place)
        found = draw.choices(self.paths[self._first : self._deep], k=_SHOWN)
        if depth >= DEPTH:
            found += draw.choices(self.paths[self._deep :], k=_SHOWN)
        return list(dict.fromkeys(found))

    def page(self, target: str) -> Page | None:
        """The article of that address."""
        if target not in self.paths:
            return None
        number = int(target.rpartition("/")[2])
        return Page(f"Article {number}", prose(150, "article", self.host, number), ["/"])

    def web(self, answers: Answers, within: int, *, budget: int = 5, real_name: Callable[[str], str] = str) -> NamedWeb:
        """The web of this host. ``budget``: requests for each article, beside 1,000."""
        real = frozenset(f"http://{self.host}{each}" for each in ("/", *self.paths))
        most = budget * len(self.paths) + 1_000
        name = self.host.partition(".")[0]
        return NamedWeb(name, (f"http://{self.host}/",), real, answers, within, most, trap=True, real_name=real_name)
