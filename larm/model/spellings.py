"""Other spellings of an address: access forms of which the normalised form is the same, and which servers and rules tell apart.

One of them is requested. If that fails, or robots.txt forbids it, `larm.engine.landing` and `larm.frontier.robots.desk` get
from here those that need no link; `larm.filters.spellings` has those that pages link to. Pure; any thread.
"""

import re
from collections.abc import Callable, Iterator

from larm.model.url import KINDS, Url

_SLASHES = re.compile("//+")
_PAGES = [f"{name}.{kind}" for name in ("index", "default") for kind in KINDS]


def shorter(url: Url, join: Callable[[str, str], Url]) -> Iterator[Url]:
    """``/q`` of ``/q?``, ``/a/b`` of ``/a//b``, ``/a/`` of ``/a/index.html``. ``join``: see `URLNormalizer`."""
    access = url.access
    path, mark, query = url.path_query.partition("?")
    once = f"{url.origin}{_SLASHES.sub('/', path)}{mark}{query}"
    names = ((access[:-1],) if mark and not query else ()) + ((once,) if "//" in path else ())
    names += () if access.endswith("/") else (".",)
    return (each for each in (join(access, name) for name in names) if each.fingerprint == url.fingerprint)


def longer(url: Url, join: Callable[[str, str], Url]) -> Iterator[Url]:
    """``/a/index.html`` and the like of ``/a/``, the more common ones first."""
    found = (join(url.access, name) for name in (_PAGES if url.access.endswith("/") else ()))
    return (each for each in found if each.fingerprint == url.fingerprint)


def names(normalised: str) -> Iterator[str]:
    """All that `Url.spelled` may be of a normalised form, where that is not the only one."""
    path, mark, query = normalised.partition("?")
    return (f"{path}{name}{mark}{query}" for name in (("", *_PAGES) if path.endswith("/") else ()))
