"""Addresses that match the patterns of ArchiveTeam's ignore lists: made from the expressions, by chance but always the same."""

from __future__ import annotations

import json
import random
import re
import string
from pathlib import Path
from re import _constants as opcodes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

_LETTERS = string.ascii_lowercase + string.digits


def expressions(file: Path) -> list[str]:
    """The patterns of one list, as expressions that Python understands."""
    found = []
    for written in json.loads(file.read_text())["patterns"]:
        text = written.replace("{primary_netloc}", "example\\.org").replace("{primary_url}", "http://example\\.org/")
        try:
            re.compile(text)
        except (re.error, OverflowError):
            continue
        found.append(text)
    return found


def matching(expression: str, chance: random.Random) -> str:
    """Path and query of an address in which the expression is found. Raises ValueError where none could be made."""
    for _ in range(20):
        made = _one(parser.parse(expression), chance, {})
        if "://" in made:
            made = "/" + made.split("://", 1)[1].partition("/")[2]
        elif not made.startswith("/"):
            made = ("/index.php?x=1" if made[:1] in "?&" else "/") + made.replace("?", "&", 1)
        made = "".join(each if each.isascii() and each.isprintable() and each not in ' #<>"\\^`{|}' else "x" for each in made)
        if made.startswith("/") and not made.startswith("//") and len(made) < 400:
            return made
    raise ValueError(expression)


def _one(parsed: Any, chance: random.Random, groups: dict[int, str]) -> str:
    made = ""
    for code, value in parsed:
        if code is opcodes.LITERAL:
            made += chr(value)
        elif code is opcodes.IN:
            made += _member(value, chance)
        elif code in (opcodes.ANY, opcodes.NOT_LITERAL):
            made += chance.choice(_LETTERS)
        elif code is opcodes.BRANCH:
            made += _one(chance.choice(value[1]), chance, groups)
        elif code is opcodes.SUBPATTERN:
            number, _, _, inner = value
            text = _one(inner, chance, groups)
            if number is not None:
                groups[number] = text
            made += text
        elif code in (opcodes.MAX_REPEAT, opcodes.MIN_REPEAT):
            low, high, inner = value
            for _ in range(chance.randint(int(low), min(int(high), int(low) + 4))):
                made += _one(inner, chance, groups)
        elif code is opcodes.GROUPREF:
            made += groups.get(value, "")
    return made


def _member(items: Any, chance: random.Random) -> str:
    if items[0][0] is opcodes.NEGATE:
        return chance.choice("abcdefgh")
    code, value = chance.choice(items)
    if code is opcodes.LITERAL:
        return chr(value)
    if code is opcodes.RANGE:
        return chr(chance.randint(*value))
    return chance.choice(string.digits if value is opcodes.CATEGORY_DIGIT else _LETTERS)
