"""Region: the part of the web that belongs to a start URL. Pure; any thread.

Its host, its folder (``below``), or all hosts of its registered domain; of these, by patterns, what is wanted and what is not.
"""

import enum
import re
from fnmatch import translate
from functools import lru_cache

import msgspec

from larm.model.url import Url


class Reach(enum.StrEnum):
    """How far it goes."""

    HOST = "host"
    BELOW = "below"
    DOMAIN = "domain"


class Globs(msgspec.Struct, frozen=True):
    """Patterns for URLs: ``*`` stands for anything, ``?`` for one character; upper and lower case are the same.

    One that begins with a slash is for path and query; one that begins with ``*`` or has a scheme is for the whole URL; any
    other begins with the host: ``example.org/blog/*``. One without ``?`` also matches what it matches without its query.
    """

    include: tuple[str, ...] = ()
    """One of them must match; empty: anything will do."""
    exclude: tuple[str, ...] = ()
    """None of them may."""

    def refuses(self, normalised: str, spelled: str = "") -> str:
        """Why a URL is not wanted; empty: it is. The page of a folder is included by either name, excluded by its own."""
        spelled = spelled or normalised
        if self.exclude and _pattern(self.exclude)(spelled):
            glob = next(each for each in self.exclude if _pattern((each,))(spelled))
            return f"excluded by {glob}"
        if self.include and not (_pattern(self.include)(normalised) or _pattern(self.include)(spelled)):
            return f"none of what is included ({', '.join(self.include)})"
        return ""

    def __str__(self) -> str:
        include = f", only {', '.join(self.include)}" if self.include else ""
        return include + (f", not {', '.join(self.exclude)}" if self.exclude else "")


class Region(msgspec.Struct, frozen=True):
    """Of one start URL, or of an address that it redirects to."""

    start: str
    """Access form of the start URL."""
    address: str
    """Access form of what it is the region of."""
    host: str
    """Key of its host."""
    reach: Reach
    place: str
    """The host, the host with the folder, or the domain."""
    globs: Globs = Globs()

    def holds(self, url: Url, spelled: str = "") -> str:
        """Why a URL is outside; empty: it is inside. ``spelled``: by another name than its own."""
        if self.reach is Reach.BELOW:
            rest = url.normalised.partition("://")[2]
            inside = rest.startswith(self.place) or rest == self.place[:-1]
        else:
            inside = (url.host if self.reach is Reach.HOST else url.site) == self.place
        return self.globs.refuses(url.normalised, spelled or url.spelled) if inside else f"not {self}"

    @property
    def whole(self) -> bool:
        """All of a host, and nothing else."""
        return self.reach is Reach.HOST and self.globs == Globs()

    def __str__(self) -> str:
        return {Reach.HOST: "on", Reach.BELOW: "below", Reach.DOMAIN: "in the domain"}[
            self.reach
        ] + f" {self.place}{self.globs}"


def region_of(start: str, url: Url, reach: Reach, globs: Globs) -> Region:
    """``url``: the start URL, or what it redirects to."""
    place = url.host if reach is Reach.HOST else url.site if reach is Reach.DOMAIN else _folder(url.normalised)
    return Region(start, url.access, url.host, reach, place, globs)


def host_region(host: str) -> Region:
    """A whole host of which nobody knows any more which start URL brought it."""
    return Region("", f"//{host}", host, Reach.HOST, host)


def _folder(normalised: str) -> str:
    """The folder of a page; an address without a slash at its end and without an extension is taken for a folder itself."""
    path = normalised.partition("://")[2].partition("?")[0]
    folder, _, page = path.rpartition("/")
    return f"{path}/" if page and "." not in page else f"{folder}/"


@lru_cache(maxsize=10_000)
def _pattern(globs: tuple[str, ...]):  # type: ignore[no-untyped-def]
    return re.compile("|".join([_regex(glob) for glob in globs]), re.IGNORECASE).match


def _regex(glob: str) -> str:
    whole = translate(glob) if "?" in glob else rf"{translate(glob)[:-2]}(?:\?.*)?\Z"
    if glob.startswith("*") or "://" in glob:
        return whole
    return ("[^:/]*://[^/]*" if glob.startswith("/") else "[^:/]*://") + whole
