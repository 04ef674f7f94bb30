"""The reference of a data library: a page for each method, most of whose text is that of all others; and a guide."""

from tests.support.webs.named import NOTHING, Answer, NamedWeb, Page, finite
from tests.support.webs.words import prose, words


def library_reference(pages: int = 2_600) -> NamedWeb:
    """One page for each method of each class of a data library, with the parameters told again and again; and a guide."""
    host = "library.localhost"
    classes = [
        "DataFrame",
        "Series",
        "Index",
        "MultiIndex",
        "Timestamp",
        "Timedelta",
        "Period",
        "Interval",
        "Categorical",
        "io.Styler",
    ]
    methods = list(
        dict.fromkeys(f"{one}{two}" for one, two in zip(words(900, "m"), ["", "_at", "s", "_index", "_by"] * 180, strict=True))
    )
    count = int(pages * 0.93)
    per_class = [int(count * share) for share in (0.17, 0.16, 0.13, 0.13, 0.09, 0.08, 0.08, 0.06, 0.05, 0.05)]
    per_class = [max(2, min(each, len(methods))) for each in per_class]
    api = [f"pandas.{cls}.{method}" for cls, size in zip(classes, per_class, strict=True) for method in methods[:size]]
    guide = max(2, pages - len(api) - len(classes) - 2)
    lists = [f"/reference/{each.lower()}-methods.html" for each in classes]
    real = ["/", "/reference/", *lists, *(f"/reference/api/{each}.html" for each in api)]
    real += [f"/user_guide/{number}.html" for number in range(guide)]
    places = {each: number for number, each in enumerate(api)}

    def answers(_: str, target: str) -> Answer:
        folder, _, name = target.rpartition("/")
        name = name.removesuffix(".html")
        if target == "/":
            return Page(
                "The data library", prose(200, "data"), ["/reference/", "/user_guide/0.html"], "Created with a generator."
            )
        if target == "/reference/":
            return Page(
                "API reference", "This page gives an overview of all public objects.", lists, "Created with a generator."
            )
        if target in lists:
            cls = classes[lists.index(target)]
            shown = [f"api/{each}.html" for each in api if each.startswith(f"pandas.{cls}.")]
            return Page(cls, f"{cls}. Constructor. Attributes. Methods.", shown)
        if folder == "/reference/api" and name in places:
            place = places[name]
            links = [f"{each}.html" for each in (api[place - 1], api[(place + 1) % len(api)])]
            return Page(
                f"{name} — data library documentation", _method(name), [*links, "../", "/"], "Created with a generator."
            )
        if folder == "/user_guide" and name.isdigit() and int(name) < guide:
            links = [f"{(int(name) + step) % guide}.html" for step in (1, -1, 7)] + [
                f"/reference/api/{each}.html" for each in api[int(name) :: 97]
            ]
            return Page(f"Guide {name}", prose(500, "guide", name), [*links, "/"], "Created with a generator.")
        return NOTHING

    return finite("library", host, real, answers)


def _method(name: str) -> str:
    cls, _, method = name.removeprefix("pandas.").rpartition(".")
    drawn = words(8, "about", method)
    return (
        f"{name}(other, axis='columns', level=None, fill_value=None)\n\n"
        f"Return {method.replace('_', ' ')} of {cls.lower()} and other, element-wise (binary operator {drawn[0]}).\n\n"
        f"Equivalent to {drawn[0]}, but with support to substitute a fill_value for missing data in one of the inputs. With "
        f"reverse version, r{method}.\n\n"
        "Parameters: other: scalar, sequence, Series, dict or DataFrame. Any single or multiple element data structure, or "
        "list-like object. axis: {0 or 'index', 1 or 'columns'}. Whether to compare by the index or columns. level: int or "
        "label. Broadcast across a level, matching Index values on the passed MultiIndex level. fill_value: float or None, "
        f"default None.\n\nReturns: {cls}. Result of the arithmetic operation.\n\nSee also: {cls}.{drawn[1]}, {cls}.{drawn[2]}."
    )
