"""Expression: a regular expression of a user's that strangers' strings are matched with, in bounded time (LARM-3).

Made by `larm.filters.scope`. Thread-safe. No match takes longer than `LIMIT`, and all slow ones together not much longer than
`_SLOW_ONES` times that.
"""

import re
import time
from collections.abc import Callable, Iterator, Sequence

LIMIT = 0.1
"""Seconds that the first match may take."""
_SLOW_ONES = 40
"""Number of limits that all slow matches share: each leaves less to the next ones."""
_TOGETHER = 0.00002
"""Seconds for each string of a batch, which together have one limit: two thirds of the cost of a match are its limit."""
_LEAST = 0.0002
"""Seconds that a match may always take: 12,000 hostile URLs take 7 s."""
_TURNS = (1, 4, 16)
"""Limits of a match that was stopped too early: `regex` counts the CPU time of all threads of the process."""
_SHORT = 500
"""Characters of a string up to which a plain expression is matched without a limit."""
_KEPT = 10_000
"""Strings that are known to be slow."""
_MOST_COUNTED = 10_000
"""Sum of the counts of an expression, as in ``(a|b){100}``; `regex` compiles 200,000 of them in a second."""
_FLAGS = re.IGNORECASE | re.DOTALL

_PERL = r"\\[QpPzhk]|\\x\{|\[:\^?\w+:\]|\(\?<[A-Za-z_]"
"""What Perl's and Java's expressions have, and `re` has not, or takes for something else."""
_FOREIGN = re.compile(
    r"\\Q(.*?)(?:\\E|\Z)|\\x\{([0-9A-Fa-f]{1,5})\}|\\k[<{](\w+)[>}]|\\[pPN]\{[^}]*\}|\\.|\{(?!\d+(?:,\d*)?\}|,\d+\})", re.DOTALL
)
"""What `regex` has not. A brace that begins no count is a character, and no fuzzy matching."""
_PART = r"\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*+\]|\(\?:?|\)?(?:[*+?]|\{[\d,]+\})[?+]?|."
"""Parts of an expression; a quantifier is one part with the parenthesis that it stands behind."""
_BEYOND = r"\\[^\W_dw]|\[:|[\0-\x1f]"
"""Escapes but for digits and words, named classes, control characters: these may stand for a line end or its neighbours."""


class TooSlow(Exception):  # noqa: N818 - not an error of larm's
    """A match was stopped."""


class Expression:
    """Python's syntax and, of Perl's, ``\\Q..\\E``, ``\\x{61}``, ``(?<n>..)``, ``\\k<n>``, ``\\p{L}``, ``[:alpha:]``, ``\\z``.

    Most expressions are plain: no short string takes them long. These are matched without a limit, in a fifth of the time.
    Of others a batch shares one limit (`prepare`): a string costs 1.6 us more than by `re`, in place of 4 to 7.
    """

    def __init__(self, text: str, clock: Callable[[], float] = time.thread_time) -> None:
        """``clock``: seconds of CPU time of the thread. Raises ValueError for what is no expression."""
        import regex  # 20 ms, which only a crawl with an expression pays

        # constant after construction
        self._clock = clock
        self._text = _FOREIGN.sub(_translated, text)
        plain = _is_plain(self._text)
        try:
            if not plain and sum(map(int, re.findall(r"\{(?:\d*,)?(\d{1,9})", text))) > _MOST_COUNTED:
                raise ValueError(f"its counts are more than {_MOST_COUNTED:,} in all")
            quick = re.compile(text, _FLAGS) if re.search(_PERL, text) is None else None
            self._bounded = regex.compile(self._text, _FLAGS)
        except (re.error, regex.error, RecursionError, OverflowError) as error:
            raise ValueError(str(error)) from error
        self._plain = (quick or self._bounded).fullmatch if plain else None
        lines = "" if plain else _by_line(self._text)
        self._lines = regex.compile(f"^(?:{lines})$", re.IGNORECASE | re.MULTILINE) if lines else None
        # replaced by the thread that calls `prepare`
        self._ready: dict[str, bool] = {}
        self._spent = 0.0  # seconds that slow matches took; single operations, on any thread
        self.slow: dict[str, None] = {}
        """Strings on which a match was stopped, in their order."""

    def prepare(self, strings: Sequence[str]) -> None:
        """Match a batch in one go, for calls of `matches` that follow. What takes long is left to these. One thread."""
        if self._lines is None:
            return
        new = dict.fromkeys(strings, False)
        text, limit = "\n".join(new), _LEAST + _TOGETHER * len(new)
        apart = text.count("\n") < len(new) and self.slow.keys().isdisjoint(new)
        try:
            new |= dict.fromkeys(self._lines.findall(text, timeout=limit, concurrent=True), True)
        except TimeoutError:
            apart = False
        self._ready = new if apart else {}

    def matches(self, string: str, *, least: bool = False) -> bool:
        """Return True if the expression matches the whole string, whatever its case. Raises TooSlow.

        ``least``: in the time that a match may always take. So the answer does not depend on earlier strings.
        """
        if self._plain is not None and len(string) <= _SHORT:
            return self._plain(string) is not None
        if (ready := self._ready.get(string)) is not None:
            return ready
        if string not in self.slow:
            try:
                return self._bounded.fullmatch(string, timeout=_LEAST, concurrent=True) is not None
            except TimeoutError:
                return self._matches_slowly(string, least=least)
        raise TooSlow

    def _matches_slowly(self, string: str, *, least: bool) -> bool:
        limit = _LEAST if least else max(_LEAST, LIMIT - self._spent / _SLOW_ONES)
        for times in _TURNS:
            start = self._clock()
            try:
                return self._bounded.fullmatch(string, timeout=times * limit, concurrent=True) is not None
            except TimeoutError:
                if self._clock() - start > limit / 2:
                    break
            finally:
                self._spent += 0 if least else self._clock() - start
        if not least and len(self.slow) < _KEPT:
            self.slow[string] = None
        raise TooSlow

    def slow_name(self) -> str:
        """Return a long name on which the expression, or its rest from a group on, takes too long; empty: there is none."""
        import regex

        for rest in _rests(self._text):
            try:
                match = regex.compile(rest, _FLAGS).fullmatch
            except regex.error:  # it refers to what stands before
                continue
            for name in _names(rest):
                try:
                    match(name, timeout=LIMIT, concurrent=True)
                except TimeoutError:
                    return name
        return ""


def _translated(found: re.Match[str]) -> str:
    quoted, code, group = found.groups()
    if quoted is not None:
        return re.escape(quoted)
    if code or group:
        return re.escape(chr(int(code, 16))) if code else f"(?P={group})"
    return r"\{" if found[0] == "{" else found[0]


def _is_plain(text: str) -> bool:
    """Return True if matching takes at most the square of a string's length: no repeated group, few choices."""
    repeats = choices = 0
    for part in re.findall(_PART, text, re.DOTALL):
        repeated = part[0] == ")" and part[1:2] in {"*", "+", "{"}
        if repeated or part == "(?" or (part[0] == "\\" and part[1] in "123456789gkGKRX"):
            return False
        repeats += part[0] in "*+" or (part[0] == "{" and "," in part)
        choices += part[0] in "?|" or part[:2] == ")?"
    return repeats <= 2 and choices <= 4


def _by_line(text: str) -> str:
    """Return the expression as one that matches no line end, and captures nothing; empty: it may see other lines."""
    found = []
    for part in re.findall(_PART, text, re.DOTALL):
        if part[0] in "^$" or part == "(?" or part.startswith(("[^]", "[^-")) or re.search(_BEYOND, part):
            return ""
        found.append("(?:" if part == "(" else f"[^\\n{part[2:]}" if part.startswith("[^") else part)
    return "".join(found)


def _rests(text: str) -> Iterator[str]:
    """Yield the expression, and its rests from each group on that is in no other."""
    yield text
    depth = 0
    for part in re.finditer(_PART, text, re.DOTALL):
        if part[0][0] == "(":
            if not depth:
                yield text[part.start() :]
            depth += 1
        elif part[0][0] == ")":
            depth -= 1


def _names(text: str) -> Iterator[str]:
    """Yield strings of some 200 characters that repeat letters of an expression and end as it does, but for one character."""
    literal = re.sub(r"\[[^\]]*\]|\\\w|\{[\d,]*\}|[\\()*+?|.^$]", "", text)
    letters = [*dict.fromkeys(re.findall(r"\w", literal))][:10] or ["a"]
    for unit in (*letters, "a", "1", *(f"{letters[0]}{sign}" for sign in "./-_=&%,+")):
        for end in ("", "!", f"{literal}!"):
            yield from (f"{begin}{unit * (200 // len(unit))}{end}" for begin in ("", "http://", letters[0]))
