"""Calendars that go on for ever in both directions; the real pages are events of the first year, linked from their days."""

from collections.abc import Callable
from datetime import date, timedelta

from tests.support.webs.articles import Articles
from tests.support.webs.named import NOTHING, Answer, NamedWeb, Page

_FIRST = date(2026, 1, 1)
_EVERY = 3
"""Days from one event to the next."""

Place = tuple[int, int, int]
"""Year, month and day; a day of 0 is the month, a month of 0 the year."""


def calendar_path(articles: int = 150) -> NamedWeb:
    """Years, months and days as folders."""
    return _calendar(
        "calendar-path", articles, lambda place: "/calendar/" + "".join(f"{each:02}/" for each in place if each), _read_path
    )


def calendar_query(articles: int = 150) -> NamedWeb:
    """The same with parameters, and a view for each."""
    return _calendar("calendar-query", articles, _written_query, _read_query)


def calendar_thin(articles: int = 150) -> NamedWeb:
    """Months alone lead on, and to thirty days that lead nowhere else: one page of 31 has a new link that is not a leaf."""
    return _calendar(
        "calendar-thin",
        articles,
        lambda place: "/day/" + "-".join(f"{each:02}" for each in place if each),
        _read_thin,
        thin=True,
    )


def _calendar(
    name: str, count: int, written: Callable[[Place], str], read: Callable[[str], Place | None], *, thin: bool = False
) -> NamedWeb:
    articles = Articles(f"{name}.localhost", count)
    events = {_FIRST + timedelta(days=_EVERY * number): path for number, path in enumerate(articles.paths)}

    def answers(_: str, target: str) -> Answer:
        if target == "/":
            return Page("Club", "Welcome to our club, which meets now and then.", [written((2026, 1, 0))])
        place = read(target)
        if place is None or not 1 <= place[0] <= 9998:
            return articles.page(target) or NOTHING
        year, month, day = place
        if not month:
            links = [written((each, 0, 0)) for each in (year - 1, year + 1)] + [
                written((year, each, 0)) for each in range(1, 13)
            ]
            return Page(f"{year}", f"Calendar of {year}. Choose a month.", links)
        try:
            at = date(year, month, day or 1)
        except ValueError:
            return NOTHING
        before, after = at.replace(day=1) - timedelta(days=1), at.replace(day=1) + timedelta(days=31)
        up = [] if thin else [written((year, 0, 0))]
        if day:
            near = [] if thin else [at - timedelta(days=1), at + timedelta(days=1)]
            links = [*up, written((year, month, 0)), *(written((each.year, each.month, each.day)) for each in near)]
            event = events.get(at)
            said = "There is an event on this day." if event else "There are no events."
            return Page(f"{at:%A, %d %B %Y}", said, [event, *links] if event else links)
        days = [at + timedelta(days=number) for number in range((after.replace(day=1) - at).days)]
        links = [written((each.year, each.month, each.day)) for each in days]
        links += [*up, *(written((each.year, each.month, 0)) for each in (before, after))]
        return Page(f"{at:%B %Y}", f"Calendar of {at:%B %Y}. Previous month. Next month.", links)

    # both directions: a year has some 400 addresses, and breadth first the years before the first are asked for as well
    return articles.web(answers, within=3_000 + 10 * count, budget=12)


def _numbers(words: list[str], most: int = 3) -> Place | None:
    if not 1 <= len(words) <= most or not all(word.isdigit() for word in words):
        return None
    year, month, day = [*map(int, words), 0, 0][:3]
    return year, month, day


def _read_path(target: str) -> Place | None:
    return _numbers(target[len("/calendar/") :].strip("/").split("/")) if target.startswith("/calendar/") else None


def _read_thin(target: str) -> Place | None:
    return _numbers(target[len("/day/") :].split("-")) if target.startswith("/day/") else None


def _written_query(place: Place) -> str:
    view = "day" if place[2] else "month" if place[1] else "year"
    names = zip(("year", "month", "day"), place, strict=True)
    return f"/calendar.php?view={view}" + "".join(f"&{name}={each}" for name, each in names if each)


def _read_query(target: str) -> Place | None:
    path, _, query = target.partition("?")
    if path != "/calendar.php":
        return None
    return _numbers([word.partition("=")[2] for word in query.split("&")[1:]])
