"""From what a user types to the tree of a query. Pure; never raises, whatever is typed.

The more of the words a page has, the better. On top of that::

    "two words"   next to each other             intitle:word    in the title; title:word, too
    -word         not this; NOT word, too        inurl:word      in the address; url:word, too
    vac* gath?r   any letters, one letter
    a OR b, a|b   one of them; binds closer      before:2024-05  changed before May 2024
                  than what stands side by side  after:2024      changed in 2024 or later
    ( )           as in arithmetic               link:URL        pages that link to it
    site:a.org/x  a host, its parts, a folder    info:URL        this page
                                                 name:value      other meta words (`larm.index.meta_words`)

There is no syntax error: what can't be meant as it stands is a word, or is left out, and a note says so. ``name:`` is an
operator only for names that are one, with a value that it can have: ``std::vector``, ``10:30`` and ``server: gone`` are words.
So is ``-i``, an option of a command, as nobody excludes a single letter; and ``->`` (`larm.index.symbols`).
"""

import re
from typing import NamedTuple

from larm.index.search import operators
from larm.index.search.operators import IsField, no_field
from larm.index.symbols import symbols
from larm.index.terms import composed
from larm.index.tree import All, Any, Node, Not, Question, Word

LONGEST = 4_096
"""Characters of a query that are read (YIOOP-68)."""
MOST_WORDS = 100
"""Words and operators that are used. Yioop's 10 cut questions in plain language: the judged collections' have 20 and more."""
_DEEPEST = 20  # parentheses in each other

_PLAIN = str.maketrans(
    {**dict.fromkeys("“”„‟«»＂「」『』〝〞", '"'), "｜": "|", "（": "(", "）": ")", "：": ":", "－": "-", "−": "-", "\0": " "}
)
_TOKEN = re.compile(
    r"""
      (?P<space>\s+)
    | (?P<or>\|+)
    | (?P<open>\()                                           # only where no word has begun
    | (?P<close>\))
    | (?P<minus>(?:(?<=[\s(|])|\A)-(?![A-Za-z0-9](?:[\s)|]|\Z))(?=[^\s\-)|>=]))  # - before a word, not in -i, --option, e-mail
    | (?P<not>(?:(?<=[\s(|])|\A)(?-i:NOT)(?=\s+[^\s)|]))
    | (?:(?P<name>[^\W\d_]\w*):)?"(?P<phrase>[^"]*)"
    | (?P<field>(?:in)?title|(?:in)?url):(?=\()
    | (?P<word>[^\s|"()]+(?:\([^\s|"()]*\)?[^\s|"()]*)*)  # f(x), too
    | (?P<stray>.)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_EMPTY = re.compile(r"[!-/:-@\[-`{-\x7f\x00-\x1f]*")  # punctuation and nothing else

_AT_START = re.compile(r"(?:\A|\()\s*\Z")
_AT_END = re.compile(r"\s*(?:\)|\Z)")
_NO_AND = "an AND needs a word on both sides; it was ignored"
_CODE = re.compile(r"[#$%&*+/<=>@\\^~`]")  # what else there is has no meaning of its own: - ... ?!


class _Token(NamedTuple):
    kind: str
    text: str
    name: str = ""


def parse_question(text: str, most_words: int = MOST_WORDS, is_field: IsField = no_field) -> Question:
    """The tree of what a user typed, and notes on what was left out of it. ``is_field``: which names users have given."""
    notes: list[str] = []
    if len(text) > LONGEST:
        notes.append(f"only the first {LONGEST:,} characters of the query were read")
    tokens = _tokens(composed(text[:LONGEST]).translate(_PLAIN), most_words, notes)
    tree = _Parser(tokens, notes, is_field).parse()
    if tree is None and text.strip() and not notes:
        notes.append("there is no word to look for")
    return Question(tree, tuple(dict.fromkeys(notes)))


def _tokens(text: str, most_words: int, notes: list[str]) -> list[_Token]:
    """What counts of the text, in order."""
    found: list[_Token] = []
    words = inner = 0
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        if kind == "stray":
            notes.append("a quote without its partner was ignored")
        if kind in {"space", "stray"}:
            continue
        if kind == "word" and _EMPTY.fullmatch(match[0]) and not symbols(match[0]):
            notes += _left_out(text, match)
            continue
        if kind == "close" and inner:  # f(x y): it belongs to a word
            inner -= 1
            continue
        if kind in {"word", "phrase"} and match[0] not in {"OR", "AND"}:
            if words == most_words:
                notes.append(f"only the first {most_words} words of the query were used")
                break
            words += 1
        if kind == "word":
            inner += max(0, match[0].count("(") - match[0].count(")"))
            kind = {"OR": "or", "AND": "and"}.get(match[0], kind)
        if kind == "not":
            kind = "minus"
        found.append(
            _Token(kind, match["phrase"] or "" if kind == "phrase" else match[0], match["name"] or match["field"] or "")
        )
    return _without_ands(found, notes)


def _left_out(text: str, sign: re.Match[str]) -> list[str]:
    """What is to be said of a sign without anything to look for: nothing of a dash between words, and the like."""
    if sign[0] == "-" and (_AT_START.search(text, 0, sign.start()) or _AT_END.match(text, sign.end())):
        return ["a - alone excludes nothing; it stands right before the word: -word"]
    return [f"{sign[0][:20]} was ignored: there is nothing in it to look for"] if _CODE.search(sign[0]) else []


def _without_ands(tokens: list[_Token], notes: list[str]) -> list[_Token]:
    """AND is what words side by side mean."""
    kept: list[_Token] = []
    pending = False
    for token in tokens:
        alone = (
            token.kind in {"close", "or"} if pending else token.kind == "and" and (not kept or kept[-1].kind in {"open", "or"})
        )
        if alone:
            notes.append(_NO_AND)
        pending = token.kind == "and"
        if not pending:
            kept.append(token)
    if pending:
        notes.append(_NO_AND)
    return kept


class _Parser:
    """Recursive descent over the tokens; only during one call of `parse_question`."""

    def __init__(self, tokens: list[_Token], notes: list[str], is_field: IsField) -> None:
        self._is_field = is_field
        self._tokens = tokens
        self._notes = notes
        self._at = 0
        self._depth = 0

    def parse(self) -> Node | None:
        """All of it; a closing parenthesis without its partner only parts words."""
        found: list[Node] = []
        while self._at < len(self._tokens):
            found += self._side_by_side()
            if self._peek() == "close":
                self._at += 1
                self._note("a ) without its ( was ignored")
        return _all(found)

    def _peek(self) -> str:
        return self._tokens[self._at].kind if self._at < len(self._tokens) else ""

    def _note(self, text: str) -> None:
        self._notes.append(text)

    def _side_by_side(self) -> list[Node]:
        """Items up to a closing parenthesis or the end, those joined by OR as one."""
        found: list[Node] = []
        while self._peek() not in {"", "close"}:
            if self._peek() == "or":
                self._at += 1
                self._note("an OR needs a word on both sides; it was ignored")
                continue
            choices = self._item()
            while self._peek() == "or" and choices is not None:
                self._at += 1
                if self._peek() in {"", "close", "or"}:
                    self._note("an OR needs a word on both sides; it was ignored")
                    continue
                other = self._item()
                if other is not None:
                    choices = Any((*choices.items, other) if isinstance(choices, Any) else (choices, other))
            if choices is not None:
                found.append(choices)
        return found

    def _item(self) -> Node | None:
        """One word, phrase, operator or group; None where nothing is left of it."""
        token = self._tokens[self._at]
        self._at += 1
        match token.kind:
            case "minus":
                return self._negated()
            case "open":
                return self._group()
            case "field":
                self._at += 1  # the (
                return operators.within(token.name, self._group())
            case "phrase":
                return operators.phrase(token.name, token.text, self._notes, self._is_field)
            case _:
                return operators.word(token.text, self._notes, self._is_field)

    def _negated(self) -> Node | None:
        """Return the item that follows, negated once for each sign; the first sign was read."""
        odd = True
        while self._peek() == "minus":  # no recursion: a query has room for a thousand signs
            self._at += 1
            odd = not odd
        item = None if self._peek() in {"", "close", "or"} else self._item()
        if item is None or not odd:
            return item
        return item.item if isinstance(item, Not) else Not(item)

    def _group(self) -> Node | None:
        """What stands in parentheses; the opening one was read."""
        if self._depth >= _DEEPEST:
            self._note("parentheses were ignored: there are too many in each other")
            return None
        self._depth += 1
        found = self._side_by_side()
        self._depth -= 1
        if self._peek() == "close":
            self._at += 1
            if not found:
                self._note("parentheses with no word in them were ignored")
        else:
            self._note("a ( without its ) was closed at the end")
        return _all(found)


def _all(items: list[Node]) -> Node | None:
    """The items as one; groups that stand side by side are one. Who repeats a word means it; all else is there once."""
    flat: list[Node] = []
    seen: set[Node] = set()
    for item in items:
        for each in item.items if isinstance(item, All) else (item,):
            if each not in seen or isinstance(each, Word):
                seen.add(each)
                flat.append(each)
    return None if not flat else flat[0] if len(flat) == 1 else All(tuple(flat))
