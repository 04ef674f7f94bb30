"""The normal form of path and query, in which two spellings of one address become equal (LARM-22 to LARM-32).

Called by `larm.model.url`, and `KINDS` by `larm.model.spellings`. Pure; used on any thread.

One text of the original's rules needs a reading: escaped ``& ; @ =`` stay escaped and literal ones literal, because
``?a=b%26c`` and ``?a=b&c`` ask a server for different things. For the same reason ``%2B`` is not a space. ``+`` is one in a
query, where forms write it so (LARM-27); in a path it is a plus (RFC 3986 3.3).

LARM-30 drops whatever begins with ``index.`` or ``default.``; here it is only the page that a server shows for its folder. Of
``index.xml``, ``index.de.html`` and ``INDEX.HTML`` nobody knows what they have to do with it, and the folder itself, or they,
would never be fetched.
"""

import re

_KEPT = "A-Za-z0-9$\\-_.&;@="  # written as they are; of these only the unreserved ones are also decoded
_DECODED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789$-_.")

# An escape that stays as it is: upper case, and not of a character that is written literally.
_ESCAPE = r"%(?:[0189A-F][0-9A-F]|2[0-35-9ABCF]|3[A-F]|40|5[BCDE]|60|7[B-F])"
_RUN = rf"[{_KEPT}]*+(?:{_ESCAPE}[{_KEPT}]*+)*+"
_NORMAL = re.compile(rf"(?:/(?!(?i:index|default)\.)(?=[^/?]){_RUN})*+/?(?:\?(?=.){_RUN})?")
"""Most files are normal already; this is the way they are told at once. A dot segment can't occur, see `normal_file`."""

_PATH = re.compile(rf"%[0-9A-Fa-f]{{2}}|[^/{_KEPT}]")
_QUERY = re.compile(rf"%[0-9A-Fa-f]{{2}}|[^{_KEPT}]")
_SLASHES = re.compile("//+")
KINDS = ("html", "htm", "php", "xhtml", "shtml", "asp", "aspx", "jsp", "cfm", "cgi", "pl", *(f"php{n}" for n in range(10)))
"""Of the page that a server shows for its folder, the more common ones first."""
_FOLDERS = re.compile(rf"(?:index|default)\.(?:{'|'.join(KINDS)})|(?i:index|default)\.(?i:aspx?)")
"""The last segment of a path that stands for its folder. The servers of ASP know no case."""
_FOLD = re.compile(r"(?:%[89A-F][0-9A-F])+|%[0-7][0-9A-F]|[A-Z]+")


def _spellings() -> dict[str, str]:
    """What each ASCII character outside `_KEPT`, and each escape in any case, is rewritten to (LARM-25, LARM-26)."""
    table = {chr(byte): f"%{byte:02X}" for byte in range(128)}
    table["+"] = "%20"  # LARM-27
    for byte in range(256):
        normal = chr(byte) if byte in _DECODED else f"%{byte:02X}"
        for high in {f"{byte:02X}"[0], f"{byte:02x}"[0]}:
            for low in {f"{byte:02X}"[1], f"{byte:02x}"[1]}:
                table[f"%{high}{low}"] = normal
    return table


_SPELLING = _spellings()
_IN_PATH = _SPELLING | {"+": "%2B"}


def normal_file(file: str, lowercase: bool, folder_pages: bool = True) -> str:
    """The normal form of ``/path?query``.

    ``file`` must come out of a WHATWG parser: ASCII, begins with ``/``, dot segments (``%2E`` ones too) already removed.
    With ``lowercase`` both parts are folded, escaped UTF-8 included (LARM-22, LARM-28). With ``folder_pages``,
    ``/index.html`` is ``/`` (LARM-30).
    """
    if _NORMAL.fullmatch(file):
        if not lowercase:
            return file
        if "%" not in file:
            return file.lower()
    path, _, query = file.partition("?")
    path = _PATH.sub(_spell_path, _SLASHES.sub("/", path))
    query = _QUERY.sub(_spell, query)
    if lowercase:
        path, query = _FOLD.sub(_fold, path), _FOLD.sub(_fold, query)
    last = path.rindex("/") + 1
    if folder_pages and _FOLDERS.fullmatch(path, last):
        path = path[:last]
    return f"{path}?{query}" if query else path


def _spell(match: re.Match[str]) -> str:
    return _SPELLING[match[0]]


def _spell_path(match: re.Match[str]) -> str:
    return _IN_PATH[match[0]]


def _fold(match: re.Match[str]) -> str:
    text = match[0]
    if text[0] != "%":
        return text.lower()
    if text[1] < "8":
        return text
    raw = bytes.fromhex(text.replace("%", ""))  # bytes that are no UTF-8 pass through as lone surrogates
    folded = raw.decode("utf-8", "surrogateescape").lower().encode("utf-8", "surrogateescape")
    return "".join(chr(byte) if byte in _DECODED else f"%{byte:02X}" for byte in folded)  # the Kelvin sign folds to a k
