"""Texts of RTF (Rich Text Format Specification 1.9.1). Runs in a reading process only.

Read token by token, so that what breaks off or is damaged has been read until there. Of the libraries for it striprtf raises
for a number that is too large, leaves out footnotes and text boxes, and takes the square of the links in a line.
"""

import codecs
import re
from collections.abc import Iterator
from datetime import UTC, datetime

from larm.parse.apart.limits import Budget
from larm.parse.apart.protocol import Found
from larm.parse.apart.titles import better_title
from larm.parse.readable import names, ordered

_TOKEN = re.compile(
    rb"\\([a-z]{1,32})(-?[0-9]{1,9})? ?|\\'([0-9a-f]{2})|\\([^a-z])|([{}])|([^\\{}\r\n]+)|[\r\n]+|\\", re.IGNORECASE
)
_CHARACTERS = {
    **dict.fromkeys(ordered("par line sect page column row nestrow"), "\n"),
    **dict.fromkeys(ordered("tab cell nestcell"), "\t"),
    **dict.fromkeys(ordered("emspace enspace qmspace"), " "),
    **dict(zip(ordered("emdash endash bullet lquote rquote ldblquote rdblquote"), "—\N{EN DASH}•\u2018\u2019“”", strict=True)),
    **dict(zip("\r\n~_-{}\\", "\n\n\xa0\u2011\xad{}\\", strict=True)),
}
_SILENT = names(
    "colortbl stylesheet listtable listoverridetable revtbl rsidtbl filetbl pict nonshppict sp shprslt listtext pntext xe tc"
    " rxe datafield themedata colorschememapping latentstyles xmlnstbl generator do private template"
)
"""Destinations of which nobody sees anything, or what is said elsewhere as well."""
_ASIDE = names("header headerl headerr headerf footer footerl footerr footerf footnote annotation shptxt dptxbxtext")
_ABOUT = ("author", "subject", "keywords")
_SAID_OF_IT = frozenset(("title", "revtim", "creatim", *_ABOUT))
_READ = _ASIDE | {"fldinst"}  # all others that are marked as optional are passed over
_SHAPE = "shpinst"  # nothing of it is text but what stands in a place of its own
_PLACES = _SILENT | _READ | {"fonttbl", "info"}
_FIELD = re.compile(r'\s*HYPERLINK\s+"([^"]+)"', re.IGNORECASE)
_CODE_PAGES = {"ansi": "cp1252", "mac": "mac_roman", "pc": "cp437", "pca": "cp850"}
_OF_CHARSET = {
    77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gbk", 136: "big5", 161: "cp1253", 162: "cp1254",
    163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250", 255: "cp850",
}  # fmt: skip
_INVISIBLE = re.compile("[\0-\x08\x0b\x0e-\x1f\x7f]")
_BEGINS_WITHIN = 1_024  # bytes
_DEEPEST = 10_000


def read_rich_text(body: bytes, budget: Budget) -> Found:
    """What is in it."""
    if b"{\\rtf" not in body[:_BEGINS_WITHIN]:
        return budget.given_up("it is no RTF, or damaged")
    return _Reader(budget).read(body)


class _Reader:
    """Of one file."""

    def __init__(self, budget: Budget) -> None:
        # constant after construction
        self._budget = budget
        self._main: list[str] = []  # the paragraph
        self._aside: list[str] = []  # what stands in the middle of one, and is read behind all of them
        self._said: dict[str, str] = {}
        self._times: dict[str, dict[str, int]] = {}
        self._fonts: dict[int, str] = {}
        # of the file
        self._code_page = "cp1252"
        self._font = 0
        # of the group
        self._groups: list[tuple[str, list[str], str, int, int]] = []
        self._place = ""  # the destination
        self._out = self._main
        self._codec = ""  # of the font; empty: that of the file
        self._skipped = 1  # characters behind one of Unicode that say the same
        self._anchor = -1  # where it begins in the paragraph
        # of the moment
        self._bytes = bytearray()
        self._left = 0  # of those characters
        self._star = self._heading = False
        self._address = ""

    def read(self, body: bytes) -> Found:
        try:
            for match in self._budget.within(_tokens(body)):
                self._take(match)
                if match[5] == b"}" and not self._groups:
                    break
        finally:  # whatever is wrong with it, so much was read
            self._decode()
            while self._groups:
                self._leave()
            self._end_paragraph()
            self._link("")
            self._budget.text("".join(("\n" * bool(self._aside), *self._aside)))
            self._budget.title = better_title(self._said.get("title", ""), self._budget.title)
        times = (self._times.get(name) for name in ("revtim", "creatim"))
        modified = next((found for each in times if each and (found := _seconds(each))), 0)
        about = " ".join(self._said.get(name, "") for name in _ABOUT)
        return self._budget.found(self._budget.title, modified, description=about)

    def _take(self, match: re.Match[bytes]) -> None:
        word, number, hexadecimal, symbol, brace, text = match.groups()
        if hexadecimal or text:
            found = bytes.fromhex(hexadecimal.decode()) if hexadecimal else text
            dropped = min(self._left, len(found))
            self._left -= dropped
            self._bytes += found[dropped:]
            return
        if not (word or symbol or brace):  # ends of lines of the file
            return
        self._decode()
        if brace:
            self._left, self._star = 0, False
            self._enter() if brace == b"{" else self._leave()
            return
        name = (word or symbol).decode("latin-1")
        if name == "*":
            self._star = True
            return
        if symbol and self._left:
            self._left -= 1
        elif name in _CHARACTERS:
            self._put(_CHARACTERS[name])
            if _CHARACTERS[name] == "\n" and self._out is self._main and not self._place:
                self._end_paragraph()
        elif word:
            self._command(name, int(number) if number else None)
        self._star = False

    def _command(self, name: str, number: int | None) -> None:
        if self._star or name in _PLACES:
            self._go_to(name)
        elif self._place == "info" and name in _SAID_OF_IT:
            self._place = name
        elif self._place in ("revtim", "creatim") and number is not None:
            self._times.setdefault(self._place, {})[name] = number
        elif name == "u" and number is not None:
            self._put(chr(number & 0xFFFF))
            self._left = self._skipped
        elif name == "uc":
            self._skipped = max(0, number or 0)
        elif name == "f" and number is not None:
            self._font, self._codec = number, self._fonts.get(number, "")
        elif name == "fcharset" and self._place == "fonttbl":
            self._fonts[self._font] = _OF_CHARSET.get(number or 0, "")
        elif name == "fldrslt":
            self._anchor = len(self._out)
        elif name in _CODE_PAGES:
            self._code_page = _CODE_PAGES[name]
        elif name == "ansicpg":
            self._code_page = _known(f"cp{number}")
        elif name == "plain":
            self._codec = ""
        elif name in ("pard", "outlinelevel"):
            self._heading = name != "pard"

    def _go_to(self, name: str) -> None:
        """A destination begins, where it is not within one of which nothing is read."""
        if self._place and self._place not in _READ and self._place != _SHAPE:
            return
        if name in _ASIDE or name == "fldinst":
            self._out = []
        silent = name in _SILENT or (self._star and name not in _READ and name != _SHAPE)
        self._place = "-" if silent else name

    def _enter(self) -> None:
        if len(self._groups) >= _DEEPEST:
            raise ValueError(f"more than {_DEEPEST} groups stand in each other")
        self._groups.append((self._place, self._out, self._codec, self._skipped, self._anchor))

    def _leave(self) -> None:
        if not self._groups:
            return
        place, out, anchor = self._place, self._out, self._anchor
        self._place, self._out, self._codec, self._skipped, self._anchor = self._groups.pop()
        if self._address and anchor != self._anchor:
            self._link("".join(out[anchor:]))
        if out is self._out:
            return
        if place != "fldinst":
            self._aside.append(_INVISIBLE.sub("", "".join(out)) + "\n")
        elif match := _FIELD.match("".join(out)):
            self._link("")  # of a field without a result
            self._address = match[1]

    def _link(self, anchor: str) -> None:
        self._budget.link(self._address, anchor)
        self._address = ""

    def _end_paragraph(self) -> None:
        line = _INVISIBLE.sub("", "".join(self._main))
        self._budget.text(line)
        if self._heading and line.strip():
            self._budget.headings.append(" ".join(line.split()))
            self._budget.title = self._budget.title or line
        self._main.clear()
        self._anchor = min(self._anchor, 0)

    def _decode(self) -> None:
        if self._bytes:
            self._put(self._bytes.decode(self._codec or self._code_page, "replace"))
            self._bytes.clear()

    def _put(self, text: str) -> None:
        if self._place in _SAID_OF_IT:
            self._said[self._place] = self._said.get(self._place, "") + text
        elif not self._place or self._place in _READ:
            self._out.append(text)


def _tokens(body: bytes) -> Iterator[re.Match[bytes]]:
    """One after the other; bytes of pictures that are not written in digits are passed over."""
    at = 0
    while match := _TOKEN.match(body, at):
        at = match.end()
        if match[1] == b"bin":
            at += max(0, int(match[2] or 0))
        yield match


def _known(codec: str) -> str:
    try:
        return codecs.lookup(codec).name
    except LookupError:
        return "cp1252"


def _seconds(fields: dict[str, int]) -> int:
    """Since 1970; RTF does not say of which zone."""
    try:
        year, month, day, hour, minute = (fields.get(name, 0) for name in ("yr", "mo", "dy", "hr", "min"))
        return max(0, int(datetime(year, month, day, hour, minute, tzinfo=UTC).timestamp()))
    except (ValueError, OverflowError):
        return 0
