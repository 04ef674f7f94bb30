"""Sources of settings into a `Config`: command line, ``-s``, environment, files, defaults. The only reader of YAML."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from larm.config.conversion import WORDS, converted, near
from larm.config.file_names import anchored
from larm.config.whole import Config
from larm.errors import ConfigError, Mistakes
from larm.kit.disk.files import is_there
from larm.kit.yaml_text import parse_yaml, read_text


def load(
    file: Path | None,
    overrides: Iterable[str] = (),
    command_line: Mapping[str, object] | None = None,
    source: str = "command line",
    *,
    directory: Path | None = None,
    defaults: Path | None = None,
    environment: Mapping[str, str] = MappingProxyType({}),
    also: Callable[[Config], object] = lambda _: None,
) -> Config:
    """The effective configuration.

    ``directory``: of the crawl, for names of files (`larm.config.file_names`); None: that of ``file``.
    ``defaults``: a file in which the user has what he wants in all crawls; ``file`` wins. ``environment``: the variables
    ``LARM_SECTION_KEY`` count, as ``LARM_FRONTIER_DELAY=2s``, and ``LARM_CONTACT`` for ``agent.contact``; they win over files.

    ``overrides`` are ``dotted.key=value`` texts (the value is YAML), ``command_line`` maps dotted keys to values and wins;
    ``source``: where these stand, for messages.
    ``also``: checks what is left where something is wrong; so all mistakes are known at once.
    Raises ConfigError with a line for each mistake that names the key and what was expected.
    """
    mistakes, tree, usual = Mistakes(), dict[str, Any](), dict[str, Any]()
    if file is not None:
        with mistakes.noted():
            tree = _read(file, directory)
            converted(tree, str(file))  # each alone, so that a mistake is blamed on the right source
    if defaults is not None:
        with mistakes.noted():
            usual = _read(defaults, directory)
            converted(usual, str(defaults))
        tree = _merged(usual, tree)
    for name, written in sorted((name, value) for name, value in environment.items() if name.startswith("LARM_")):
        dotted = _of_environment(name)
        if dotted:
            with mistakes.noted():
                _put(tree, dotted, _from_here(dotted, _yaml(written, name), directory), name)
                converted(tree, name)
    for text in overrides:
        dotted, equals, written = text.partition("=")
        with mistakes.noted():
            if not equals:
                raise ConfigError(f"-s {text}: expected KEY=VALUE")
            _put(tree, dotted.strip(), _from_here(dotted.strip(), _yaml(written, f"-s {text}"), directory), f"-s {text}")
            converted(tree, "-s")
    for key, value in (command_line or {}).items():
        with mistakes.noted():
            _put(tree, key, value, key)
    with mistakes.noted():
        config = converted(tree, source)
    if mistakes.lines:
        with mistakes.noted():
            also(converted(tree, source))
    mistakes.refuse()
    return config


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
    """Return the key that a variable ``LARM_...`` is for, or was meant to be; empty: no setting."""
    if name == "LARM_CONTACT":
        return "agent.contact"
    section, _, key = name.removeprefix("LARM_").lower().partition("_")
    sections = {field.name for field in msgspec.structs.fields(Config)}
    if not (section in sections or near(section, [*sections, "contact"], 0.75)):
        return ""
    return f"{section}.{key}" if key else section


def changed(settings: Config, dotted: str, text: str) -> Config:
    """The settings with another value of one key, ``section.name``; ``text`` is YAML. Raises ConfigError."""
    tree: dict[str, Any] = {}
    _put(tree, dotted, _yaml(text, dotted), dotted)
    section, _, name = dotted.partition(".")
    value = getattr(getattr(converted(tree, "set"), section), name)
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
        raise ConfigError(f"{file}: expected sections such as 'fetch:', got {WORDS.get(kind, kind)}")
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


def file_with(key: str, files: Iterable[Path | None]) -> Path | None:
    """The first file in which this dotted key stands. Raises ConfigError."""
    return next((file for file in files if file is not None and is_there(file) and _has(_read(file, None), key)), None)


def _has(tree: object, key: str) -> bool:
    """Names of sites have dots as well."""
    if not key or not isinstance(tree, dict):
        return not key
    return any(key == name or (key.startswith(f"{name}.") and _has(tree[name], key[len(name) + 1 :])) for name in tree)
