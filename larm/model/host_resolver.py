"""HostResolver: rules that give several names of one host a single one (LARM-36 to LARM-42). Text edits, never DNS.

Made at start from the file that ``-hostresolver`` names (whoever reads it hands the text to `parse_rules`); asked by
`larm.model.url` for each new host name. Pure, constant after construction; used on any thread.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from larm.errors import ConfigError


class HostResolver:
    """The rules, in the order of their file. Without any, every host is its own."""

    def __init__(
        self,
        starts: Sequence[tuple[str, str]] = (),
        ends: Sequence[tuple[str, str]] = (),
        synonyms: Mapping[str, str] | None = None,
    ) -> None:
        # constant after construction
        self._starts = tuple(starts)
        self._ends = tuple(ends)
        self._synonyms = dict(synonyms or {})

    def resolve(self, host: str) -> str:
        """The name that ``host`` (lower case, no port) goes by.

        One startsWith rule, then one endsWith rule, then one synonym; of each kind the first that fits. A rule that
        would leave nothing of the host is passed over (LARM-42). Not idempotent: ``www.www.cnn.com`` loses one ``www.``.
        """
        for old, new in self._starts:
            if host.startswith(old) and (new or len(host) > len(old)):
                host = new + host[len(old) :]
                break
        for old, new in self._ends:
            if host.endswith(old) and (new or len(host) > len(old)):
                host = host[: len(host) - len(old)] + new
                break
        return self._synonyms.get(host) or host

    def __len__(self) -> int:
        return len(self._starts) + len(self._ends) + len(self._synonyms)

    def __repr__(self) -> str:
        return f"HostResolver({len(self._starts)} startsWith, {len(self._ends)} endsWith, {len(self._synonyms)} synonym)"


_RULE = re.compile(r"(\w*)\s*\((.*)\)", re.DOTALL)
_HOST_TEXT = re.compile(r"[a-z0-9._-]*|\[[0-9a-f:.]+\]")
_KEY = re.compile(r"^(?:\\.|[^\\=: \t\f])*")
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def parse_rules(text: str, source: str) -> HostResolver:
    """The rules in ``text``, which has the format of a Java properties file (LARM-39, LARM-40).

    ``startsWith(TEXT)=TEXT``, ``endsWith(TEXT)=TEXT``, ``synonym(HOST)=HOST``; a comma means a dot. Of two rules for the
    same text the first holds. Raises ConfigError that names ``source`` and the line.
    """
    starts: list[tuple[str, str]] = []
    ends: list[tuple[str, str]] = []
    synonyms: dict[str, str] = {}
    for number, line in _logical_lines(text):
        where = f"{source}:{number}"
        key, value = _split(line, where)
        match = _RULE.fullmatch(key)
        if match is None:
            raise ConfigError(f"{where}: {key!r} is no rule; expected startsWith(TEXT)=TEXT, endsWith(...) or synonym(...)")
        old, new = _host_text(match[2], where), _host_text(value, where)
        if not old:
            raise ConfigError(f"{where}: nothing between the parentheses; expected a host name or a part of one")
        match match[1]:
            case "startsWith":
                starts.append((old, new))
            case "endsWith":
                ends.append((old, new))
            case "synonym":
                synonyms.setdefault(old, new)
            case keyword:
                raise ConfigError(f"{where}: unknown rule {keyword!r}; expected startsWith, endsWith or synonym (case matters)")
    return HostResolver(starts, ends, synonyms)


def _host_text(text: str, where: str) -> str:
    host = text.strip().replace(",", ".").lower()
    if not _HOST_TEXT.fullmatch(host):
        raise ConfigError(f"{where}: {text!r} can't stand in a host name (other alphabets are compared as xn--...)")
    return host


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their number, continued ones (an odd number of backslashes at the end) joined; no blanks, no comments."""
    joined, first = "", 0
    for number, physical in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        line = physical.lstrip(" \t\f")
        if not first and (not line or line[0] in "#!"):
            continue
        first = first or number
        if (len(line) - len(line.rstrip("\\"))) % 2:
            joined += line[:-1]
            continue
        yield first, joined + line
        joined, first = "", 0
    if joined:
        yield first, joined


def _split(line: str, where: str) -> tuple[str, str]:
    """Key and value: the key ends at the first ``=``, ``:`` or white space that has no backslash before it."""
    key = _KEY.findall(line)[0]
    rest = line[len(key) :].lstrip(" \t\f")
    value = rest[1:].lstrip(" \t\f") if rest[:1] in ("=", ":") else rest
    return _unescape(key, where), _unescape(value, where)


def _unescape(text: str, where: str) -> str:
    def replace(match: re.Match[str]) -> str:
        escaped = match[1]
        if escaped == "u":
            raise ConfigError(f"{where}: \\u needs four hexadecimal digits")
        if len(escaped) == 5:
            return chr(int(escaped[1:], 16))
        return _ESCAPES.get(escaped, escaped)

    return re.sub(r"\\(u[0-9A-Fa-f]{4}|.|$)", replace, text)
