"""Other spellings of an address: access forms of which the normalised form is the same, and which servers and rules tell apart.

Of these one is asked for. Where that one is gone, or forbidden by robots.txt, no link leads to the others any more, so
`larm.river.landing` and `larm.frontier.robots.desk` ask here for them. Pure; any thread.
"""

from collections.abc import Callable, Iterator

from larm.model.normalise import KINDS
from larm.model.url import Url

_PAGES = [f"{name}.{kind}" for name in ("index", "default") for kind in KINDS]


def shorter(url: Url, join: Callable[[str, str], Url]) -> Iterator[Url]:
    """``/q`` of ``/q?``, ``/a/`` of ``/a/index.html``. ``join`` as `larm.model.url.URLNormalizer.join`."""
    access = url.access
    names = ((access[:-1],) if access.find("?") == len(access) - 1 else ()) + (() if access.endswith("/") else (".",))
    return (each for each in (join(access, name) for name in names) if each.fingerprint == url.fingerprint)


def longer(url: Url, join: Callable[[str, str], Url]) -> Iterator[Url]:
    """``/a/index.html`` and the like of ``/a/``, the more common ones first."""
    found = (join(url.access, name) for name in (_PAGES if url.access.endswith("/") else ()))
    return (each for each in found if each.fingerprint == url.fingerprint)


def names(normalised: str) -> Iterator[str]:
    """All that `Url.spelled` may be of a normalised form, where that is not the only one."""
    path, mark, query = normalised.partition("?")
    return (f"{path}{name}{mark}{query}" for name in (("", *_PAGES) if path.endswith("/") else ()))
