"""A tree of plain values into a `Config`, or the sentence that says which key of it is wrong, and what was probably meant.

A key that is not a field of its section is an error that names its path; so is a value of the wrong type or outside its bounds.
Empty sections leave the tree on the way. Called by `larm.config.loading`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, cast, get_args, get_origin

import msgspec

from larm.config.whole import Config
from larm.errors import ConfigError, Mistakes
from larm.kit.recurrence import Every
from larm.kit.units import ByteSize, Seconds, Share

_LARGEST: dict[Any, Any] = {Seconds: 10**9, ByteSize: 10**15, Share: 1}  # 31 years, a petabyte; timers overflow beyond that
_STEP = re.compile(r"\[(\d+|\.\.\.)\]|([^.\[\]]+)")
WORDS = {
    "int": "a whole number",
    "float": "a decimal number",
    "str": "text",
    "bool": "true or false",
    "object": "a section",
    "array": "a list",
    "list": "a list",
    "date": "a date",
    "datetime": "a date",
    "null": "null",
}
"""What msgspec and Python call the kinds of values, as a person does."""
_WANTED = WORDS | {"float": "a number", "object": "a section such as {key: value}"}


def converted(tree: dict[str, Any], where: str) -> Config:
    """``where`` the tree is from, for messages. Raises ConfigError with all mistakes, which are no longer in the tree then."""
    mistakes = Mistakes()
    _check_keys(tree, Config, "", where, mistakes)
    if isinstance(tree.get("sites"), dict):
        tree["sites"] = _site_names(tree["sites"], where, mistakes)
    while True:
        try:
            config = msgspec.convert(tree, Config, dec_hook=_quantity)
        except msgspec.ValidationError as error:
            mistakes.lines.append(_blame(str(error), where, tree))
            if _removed(str(error), tree):
                continue
        mistakes.refuse()
        return config


def _removed(message: str, tree: dict[str, Any]) -> bool:
    """Remove the value that msgspec refuses; return False where it has no place of its own."""
    *path, last = _place(message.rpartition(" - at ")[2].rpartition("$")[2].strip("`"), tree)[1] or [""]
    inner: Any = tree
    for key in path:
        if isinstance(inner[key], tuple):  # as the command line gives them
            inner[key] = list(inner[key])
        inner = inner[key]
    found = last in inner if isinstance(inner, dict) else last != "..."
    if found:
        del inner[last]
    return found


def _site_names(sites: dict[Any, Any], where: str, mistakes: Mistakes) -> dict[Any, Any]:
    """With the names that `larm.model.sites` compares: a slash behind a host says nothing, a path would never match."""
    found: dict[Any, Any] = {}
    for name, site in sites.items():
        scheme, there, host = str(name).rpartition("://")
        host = host.removesuffix("/")
        if "/" in host:
            mistakes.lines.append(
                f"{where}: sites.{name}: a site has no path: expected a host or a pattern such as '*.example.org',"
                " with http:// or https:// before it or a port behind it where only these are meant"
            )
            continue
        known = scheme + there + host if isinstance(name, str) else name
        if known in found:
            mistakes.lines.append(f"{where}: sites.{name}: this site is there twice, with and without a slash at its end")
        found[known] = site
    return found


def _check_keys(tree: object, struct: type[msgspec.Struct], path: str, where: str, mistakes: Mistakes) -> None:
    """msgspec names an unknown key too, but can't say what was meant. Empty sections go, lists of one need no [...]."""
    if not isinstance(tree, dict):
        return
    fields = {field.name: field.type for field in msgspec.structs.fields(struct)}
    for key in list(tree):
        kind = fields.get(key)
        if kind is None:
            mistakes.lines.append(str(unknown_key(where, str(key), fields, path)))
            del tree[key]
            continue
        if _is_section(kind) and tree[key] is None:  # all of its keys are commented out
            del tree[key]
            continue
        if getattr(kind, "__origin__", kind) is str and tree[key] is None:  # nothing stands behind the colon, or the =
            tree[key] = ""
        if get_origin(kind) is Literal and type(tree[key]) is int and str(tree[key]) in get_args(kind):
            tree[key] = str(tree[key])  # fetch.ip: 4 says the same as "4", and a shell takes the quotes away
        if get_origin(kind) is tuple and isinstance(tree[key], str | int | float):
            tree[key] = [tree[key]]  # one stands for a list of it: start: https://example.org/
        for where_in, value, section in _sections(kind, tree[key], f"{path}{key}"):
            _check_keys(value, section, f"{where_in}.", where, mistakes)


def unknown_key(where: str, key: str, names: Iterable[str], path: str = "") -> ConfigError:
    """For a key that is none of ``names``: says which one was probably meant. ``path``: that of its section, with a dot."""
    known = list(names)
    meant = [path + name for name in near(key, known)]
    if not meant:  # it may be one of another section
        every = list(_settings(Config))
        last = near(key, {name.rpartition(".")[2] for name in every}, 0.8)
        meant = [name for name in every if name.rpartition(".")[2] in last]
    hint = f"did you mean {' or '.join(meant)}?" if meant else "expected one of " + ", ".join(known)
    return ConfigError(f"{where}: {path}{key}: no such key; {hint}")


def near(name: str, names: Iterable[str], least: float = 0.6) -> list[str]:
    """The one of ``names`` that was probably meant, or none."""
    import difflib  # for mistakes alone

    known = sorted(names)
    return (
        difflib.get_close_matches(name, known, 1, least)
        or [each for each in known if len(each) > 2 and name.startswith(each)][:1]
    )


def _settings(struct: type[msgspec.Struct], path: str = "") -> Iterator[str]:
    """All settings, with their sections."""
    for field in msgspec.structs.fields(struct):
        if _is_section(field.type):
            yield from _settings(field.type, f"{path}{field.name}.")
        else:
            yield path + field.name


def _sections(kind: Any, value: object, path: str) -> Iterator[tuple[str, object, type[msgspec.Struct]]]:
    """The section that a value is, or those in it, by names or numbers; with their paths."""
    if _is_section(kind):
        yield path, value, kind
    elif get_origin(kind) is dict and isinstance(value, dict) and _is_section(get_args(kind)[1]):
        yield from ((f"{path}.{name}", each, get_args(kind)[1]) for name, each in value.items())
    elif get_origin(kind) is tuple and isinstance(value, list) and _is_section(get_args(kind)[0]):
        yield from ((f"{path}[{number}]", each, get_args(kind)[0]) for number, each in enumerate(value))


def _is_section(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _quantity(kind: Any, value: object) -> object:
    if kind is Every:
        return Every.parse(value)
    if kind not in _LARGEST:
        raise NotImplementedError(f"config field of type {kind}")
    try:
        number = kind.parse(value)
    except OverflowError:
        number = _LARGEST[kind] + 1
    if number > _LARGEST[kind]:
        raise ValueError(f"expected at most {_LARGEST[kind]}")
    return number


def _blame(message: str, where: str, tree: dict[str, Any]) -> str:
    what, at, path = message.rpartition(" - at ")
    if not at:
        return f"{where}: {message}"
    path = path.strip("`")
    if path.startswith("key` in `"):
        return f"{where}: {path.rpartition('$.')[2]}: the names in it must be text: put quotes around what is none"
    return f"{where}: {_place(path.removeprefix('$.'), tree)[0]}: {_plain(what)}"


def _plain(what: str) -> str:
    """msgspec's sentence without its names for kinds of values."""
    wanted, got, found = what.replace("Invalid enum value", "no such value:").partition(", got ")

    def said(text: str, words: Mapping[str, str]) -> str:
        return re.sub(r"`([^`]+)`", lambda kinds: " or ".join(words.get(each, each) for each in kinds[1].split(" | ")), text)

    return said(wanted.replace("Expected", "expected", 1), _WANTED) + got + said(found, WORDS)


def _place(path: str, tree: dict[str, Any]) -> tuple[str, list[Any]]:
    """Return the path as a text and as keys, with the name of the first wrong value where msgspec has ``[...]``."""
    keys: list[Any] = []
    text, inner = "", cast("Any", tree)
    for number, name in _STEP.findall(path):
        key: Any = name or int(number) if number != "..." else _wrong(keys, inner)
        text += f"[{key}]" if isinstance(key, int) else f"{'.' * bool(text)}{key}"
        keys.append(key)
        inner = inner.get(key) if isinstance(inner, dict) else inner[key]
    return text, keys


def _wrong(keys: Sequence[Any], inner: Mapping[str, Any]) -> str:
    for name, value in inner.items():
        alone: Any = {name: value}
        for key in reversed(keys):
            alone = [alone] if isinstance(key, int) else {key: alone}
        try:
            msgspec.convert(alone, Config, dec_hook=_quantity)
        except msgspec.ValidationError:
            return name
    return "..."
