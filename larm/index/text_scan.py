"""Scans of a text for the places where the rules of symbols, accented words and defined names can match. Pure; any thread.

Few places of a page match, so a scan over all of its text decides nearly all of the time. ``larm/index/compiled.pyx`` has these
functions with the same results. Where it could not be compiled, the functions of this file are used.
"""

import re
from importlib import import_module
from typing import Any

_HEAD = "-$@%_"
"""Signs with which a name may begin."""
_OPERATOR = "-+*=<>!&|~:@%?^"
"""Signs of which an operator is made; one that repeats itself is a ruler."""
_ALONE = "=%~@$<+!^"
"""Signs that are a symbol between white space."""
_SIGNS = _OPERATOR + "$_#"
_KINDS = bytes(
    sum((chr(each) in kind) << bit for bit, kind in enumerate((_SIGNS, _HEAD, _OPERATOR, _ALONE))) for each in range(128)
)
_SIGN = re.compile(
    rf"[{_SIGNS}](?:(?<=[{_HEAD}])(?<!\w.)(?=\w)|(?=[{_OPERATOR}])|(?<=[A-Za-z]\#)(?!\w)|(?<=[{_ALONE}])(?<!\S.)(?!\S))"
)
_NAME = re.compile(r"^[ \t]{0,8}+([A-Za-z][A-Za-z0-9-]*+[._:][\w.:-]*+(?<=\w))(?=[( \t\u00b6\n]|\Z)", re.MULTILINE | re.ASCII)
_ACCENT = re.compile("[\u00c0-\u024f\u1e00-\u1eff\u2100-\u2cff]")
_compiled: Any
try:
    _compiled = import_module("larm.index.compiled")
except ImportError:  # not compiled, or for another machine
    _compiled = None


def sign_places(text: str) -> list[int]:
    """Return the places of all signs with which a symbol (`larm.index.symbols`) may begin."""
    if _compiled is not None:
        return list(_compiled.sign_places(text, _KINDS))
    places = [match.start() for match in _SIGN.finditer(text)]
    return [at for at in places if text[at] not in _OPERATOR or text[at - 1 : at] != text[at]]


def name_spans(text: str) -> list[tuple[int, int]]:
    """Return begin and end of the names with a joint that stand at the begin of a line, where a defined name may end."""
    return list(_compiled.name_spans(text)) if _compiled is not None else [match.span(1) for match in _NAME.finditer(text)]


def accented_words(text: str) -> list[str]:
    """Return the words, as white space parts them, with a character that is an accented one, or may be so in lower case."""
    if _compiled is not None:
        return list(_compiled.accented_words(text))
    return [word for word in text.split() if not word.isascii() and _ACCENT.search(word)]
