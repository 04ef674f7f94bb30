"""Sources of settings into a `Config`: command line, ``-s``, environment, files, defaults. The only reader of YAML.

A key that is not a field of its section is an error that names its path; so is a value of the wrong type or outside its bounds.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args, get_origin

import msgspec

from larm.config.file_names import anchored
from larm.config.whole import Config
from larm.errors import ConfigError
from larm.kit.disk.files import is_there
from larm.kit.recurrence import Every
from larm.kit.units import ByteSize, Seconds, Share
from larm.kit.yaml_text import parse_yaml, read_text

_LARGEST: dict[Any, Any] = {Seconds: 10**9, ByteSize: 10**15, Share: 1}  # 31 years, a petabyte; timers overflow beyond that

_STEP = re.compile(r"\[(\d+|\.\.\.)\]|([^.\[\]]+)")
_WORDS = {
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
_WANTED = _WORDS | {"float": "a number", "object": "a section such as {key: value}"}


def load(
    file: Path | None,
    overrides: Iterable[str] = (),
    command_line: Mapping[str, object] | None = None,
    source: str = "command line",
    *,
    directory: Path | None = None,
    defaults: Path | None = None,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> Config:
    """The effective configuration.

    ``directory``: of the crawl, for names of files (`larm.config.file_names`); None: that of ``file``.
    ``defaults``: a file in which the user has what he wants in all crawls; ``file`` wins. ``environment``: the variables
    ``LARM_SECTION_KEY`` count, as ``LARM_FRONTIER_DELAY=2s``, and ``LARM_CONTACT`` for ``agent.contact``; they win over files.

    ``overrides`` are ``dotted.key=value`` texts (the value is YAML), ``command_line`` maps dotted keys to values and wins;
    ``source``: where these stand, for messages.
    Raises ConfigError with one line that names the key and what was expected.
    """
    tree = _read(file, directory) if file is not None else {}
    if defaults is not None:
        usual = _read(defaults, directory)
        _convert(usual, str(defaults))  # so that a mistake is blamed on the right file
        tree = _merged(usual, tree)
    where = str(file) if file is not None else ""
    config = _convert(tree, where)  # first alone, so that a mistake is blamed on the right source
    for name, written in sorted(environment.items()):
        dotted = _of_environment(name)
        if dotted:
            _put(tree, dotted, _from_here(dotted, _yaml(written, name), directory), name)
            config = _convert(tree, name)
    for text in overrides:
        dotted, equals, written = text.partition("=")
        if not equals:
            raise ConfigError(f"-s {text}: expected KEY=VALUE")
        _put(tree, dotted.strip(), _from_here(dotted.strip(), _yaml(written, f"-s {text}"), directory), f"-s {text}")
        config = _convert(tree, "-s")
    for key, value in (command_line or {}).items():
        _put(tree, key, value, key)
    return _convert(tree, source) if command_line else config


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Two trees as one; what both have is ``above``'s."""
    both = dict(below)
    for key, value in above.items():
        inner = both.get(key)
        if isinstance(inner, dict) and value is None:  # a section whose keys are all commented out
            continue
        both[key] = _merged(inner, value) if isinstance(inner, dict) and isinstance(value, dict) else value
    return both


def _of_environment(name: str) -> str:
    """The key that a variable of the environment is for, or was meant to be; empty: none of ours."""
    if name == "LARM_CONTACT":
        return "agent.contact"
    head, _, rest = name.partition("_")
    section, _, key = rest.lower().partition("_")
    sections = {field.name for field in msgspec.structs.fields(Config)}
    if head != "LARM" or not (section in sections or _near(section, [*sections, "contact"], 0.75)):
        return ""
    return f"{section}.{key}" if key else section


def changed(settings: Config, dotted: str, text: str) -> Config:
    """The settings with another value of one key, ``section.name``; ``text`` is YAML. Raises ConfigError."""
    tree: dict[str, Any] = {}
    _put(tree, dotted, _yaml(text, dotted), dotted)
    section, _, name = dotted.partition(".")
    value = getattr(getattr(_convert(tree, "set"), section), name)
    return msgspec.structs.replace(settings, **{section: msgspec.structs.replace(getattr(settings, section), **{name: value})})


def _read(file: Path, directory: Path | None) -> dict[str, Any]:
    try:
        text = read_text(file)
    except (OSError, ValueError) as error:
        why = (isinstance(error, OSError) and error.strerror) or error
        raise ConfigError(f"{file}: can't read the configuration: {why}") from error
    tree = _yaml(text, str(file))
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        kind = type(tree).__name__
        raise ConfigError(f"{file}: expected sections such as 'fetch:', got {_WORDS.get(kind, kind)}")
    found: dict[str, Any] = anchored(Config, tree, file.parent, directory or file.parent)
    return found


def _yaml(text: str, where: str) -> Any:
    try:
        return parse_yaml(text)
    except ValueError as error:
        raise ConfigError(f"{where}: {error}") from error


def _from_here(dotted: str, value: Any, directory: Path | None) -> Any:
    """A value that was typed: names of files in it are meant from the working directory."""
    names = dotted.split(".")
    for name in reversed(names):
        value = {name: value}
    value = anchored(Config, value, Path(), directory or Path())
    for name in names:
        value = value[name]
    return value


def _put(tree: dict[str, Any], dotted: str, value: object, where: str) -> None:
    *path, last = dotted.split(".")
    for name in path:
        if tree.get(name) is None:  # absent, or a section whose keys are all commented out
            tree[name] = {}
        if not isinstance(tree[name], dict):
            raise ConfigError(f"{where}: {name} is not a section")
        tree = tree[name]
    tree[last] = value


def _convert(tree: dict[str, Any], where: str) -> Config:
    _check_keys(tree, Config, "", where)
    if isinstance(tree.get("sites"), dict):
        tree["sites"] = _site_names(tree["sites"], where)
    try:
        return msgspec.convert(tree, Config, dec_hook=_quantity)
    except msgspec.ValidationError as error:
        raise ConfigError(_blame(str(error), where, tree)) from error


def _site_names(sites: dict[Any, Any], where: str) -> dict[Any, Any]:
    """With the names that `larm.model.sites` compares: a slash behind a host says nothing, a path would never match."""
    found: dict[Any, Any] = {}
    for name, site in sites.items():
        scheme, there, host = str(name).rpartition("://")
        host = host.removesuffix("/")
        if "/" in host:
            raise ConfigError(
                f"{where}: sites.{name}: a site has no path: expected a host or a pattern such as '*.example.org',"
                " with http:// or https:// before it or a port behind it where only these are meant"
            )
        known = scheme + there + host if isinstance(name, str) else name
        if known in found:
            raise ConfigError(f"{where}: sites.{name}: this site is there twice, with and without a slash at its end")
        found[known] = site
    return found


def _check_keys(tree: object, struct: type[msgspec.Struct], path: str, where: str) -> None:
    """msgspec names an unknown key too, but can't say what was meant. Empty sections go, lists of one need no [...]."""
    if not isinstance(tree, dict):
        return
    fields = {field.name: field.type for field in msgspec.structs.fields(struct)}
    for key in list(tree):
        kind = fields.get(key)
        if kind is None:
            raise unknown_key(where, str(key), fields, path)
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
            _check_keys(value, section, f"{where_in}.", where)


def unknown_key(where: str, key: str, names: Iterable[str], path: str = "") -> ConfigError:
    """For a key that is none of ``names``: says which one was probably meant. ``path``: that of its section, with a dot."""
    known = list(names)
    meant = [path + name for name in _near(key, known)]
    if not meant:  # it may be one of another section
        every = list(_settings(Config))
        last = _near(key, {name.rpartition(".")[2] for name in every}, 0.8)
        meant = [name for name in every if name.rpartition(".")[2] in last]
    hint = f"did you mean {' or '.join(meant)}?" if meant else "expected one of " + ", ".join(known)
    return ConfigError(f"{where}: {path}{key}: no such key; {hint}")


def _near(name: str, names: Iterable[str], least: float = 0.6) -> list[str]:
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


def file_with(key: str, files: Iterable[Path | None]) -> Path | None:
    """The first file in which this dotted key stands. Raises ConfigError."""
    return next((file for file in files if file is not None and is_there(file) and _has(_read(file, None), key)), None)


def _has(tree: object, key: str) -> bool:
    """Names of sites have dots as well."""
    if not key or not isinstance(tree, dict):
        return not key
    return any(key == name or (key.startswith(f"{name}.") and _has(tree[name], key[len(name) + 1 :])) for name in tree)


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
    return f"{where}: {_place(path.removeprefix('$.'), tree)}: {_plain(what)}"


def _plain(what: str) -> str:
    """msgspec's sentence without its names for kinds of values."""
    wanted, got, found = what.replace("Invalid enum value", "no such value:").partition(", got ")

    def said(text: str, words: Mapping[str, str]) -> str:
        return re.sub(r"`([^`]+)`", lambda kinds: " or ".join(words.get(each, each) for each in kinds[1].split(" | ")), text)

    return said(wanted.replace("Expected", "expected", 1), _WANTED) + got + said(found, _WORDS)


def _place(path: str, tree: dict[str, Any]) -> str:
    """The path with names where msgspec has ``[...]``, which stands for any: what is wrong alone is meant."""
    keys: list[Any] = []
    text, inner = "", tree
    for number, name in _STEP.findall(path):
        key: Any = name or int(number) if number != "..." else _wrong(keys, inner)
        text += f"[{key}]" if isinstance(key, int) else f"{'.' * bool(text)}{key}"
        keys.append(key)
        inner = inner[key]
    return text


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
