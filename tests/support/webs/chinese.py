"""A site in Chinese: no spaces, escaped addresses, short pages."""

from urllib.parse import quote

from tests.support.webs.named import NOTHING, Answer, NamedWeb, Page, finite
from tests.support.webs.words import chinese, hashed


def chinese_site(pages: int = 700) -> NamedWeb:
    """News in Chinese, whose addresses are escaped letters; without spaces, and partly short."""
    host, size = "zh.localhost", 25
    paths = [_path(number) for number in range(pages)]
    lists = {f"/{quote('列表')}/{number}": paths[number * size : number * size + size] for number in range(-(-pages // size))}
    places = {each: number for number, each in enumerate(paths)}

    def answers(_: str, target: str) -> Answer:
        if target == "/":
            return Page("首页", chinese(60, "home"), list(lists), language="zh")
        if target in lists:
            links: list[str | tuple[str, str]] = ["/", *((each, chinese(10, "title", places[each])) for each in lists[target])]
            return Page("列表", links=links, language="zh")
        if target not in places:
            return NOTHING
        number = places[target]
        text = chinese(30 + hashed(number) % 400, "text", number)
        return Page(chinese(10, "title", number), text, ["/", paths[(number + 1) % pages]], "版权所有", language="zh")

    return finite("chinese", host, ["/", *lists, *paths], answers)


def _path(number: int) -> str:
    section, title = (chinese(size, *seed).strip("。") for size, seed in ((2, ("section", number % 7)), (12, (number,))))
    return f"/{quote(section)}/{quote(title)}-{number}"
