"""Known paths filter: URLs that are known to be of no use, such as Apache's sorted directory views (LARM-50, LARM-51).

Handler thread; pure.
"""

from collections.abc import Iterable

from larm.filters.chain import MessageFilter
from larm.model.file_url import FILES
from larm.model.message import URLMessage
from larm.model.url import Url


class KnownPathsFilter(MessageFilter):
    """Drop URLs by their path and query (``/path``, ``/beginning*``, ``*end``), or by their host.

    Paths are compared in lower case: LARM compared its upper-case table with lower-cased URLs, which never matched. Ends of the
    query are also tried as the normaliser writes them (``=`` and ``;`` stay, others are escaped).
    """

    name = "known_paths"

    def __init__(self, known: Iterable[str]) -> None:
        known = {each.lower() for each in known}
        paths = {each for each in known if each.startswith("/")}
        # constant after construction
        self._paths = tuple(path.removesuffix("*") if path.endswith("*") else f"{path}$" for path in paths)
        self._ends = tuple(each[1:] for each in known if each.startswith("*"))
        self._hosts = frozenset(each for each in known if each[:1] not in ("/", "*"))

    def judge(self, message: URLMessage) -> str | None:
        """See `MessageFilter`."""
        if message.url.host in self._hosts:
            return f"host {message.url.host} is in filters.known_paths"
        file = _file(message.url)
        known = f"{file}$".startswith(self._paths) or file.endswith(self._ends)
        return f"{file} is in filters.known_paths" if known else None


def _file(url: Url) -> str:
    """Path and query of the normalised form, in lower case."""
    slash = url.normalised.find("/", 7 if url.host == FILES else 8)  # behind file://, http:// or https://
    return url.normalised[slash:].lower() if slash > 0 else "/"
