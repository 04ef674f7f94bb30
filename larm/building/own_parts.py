"""Parts of the user's own, by the dotted names of their classes in config.yaml (LARM-47). Called on the main thread."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from larm.config import Config, SearchSettings, own_modules
from larm.errors import ConfigError
from larm.kit.blame import blamed
from larm.seams import Filter, Processor, Scorer, Storage
from larm.store.base import DocumentStorage

if TYPE_CHECKING:  # a crawl does not search
    from importlib.metadata import EntryPoints

    from larm.index.search.own_score import OwnScore


GROUPS: dict[type, str] = {
    Filter: "larm.filters",
    Storage: "larm.storages",
    Processor: "larm.processors",
    Scorer: "larm.scorers",
}
"""Of each seam the group of entry points in which installed packages offer parts."""

_faults: dict[str, BaseException] = {}
"""By module beside config.yaml, why it could not be imported. Only the main thread."""


def scorers(settings: SearchSettings) -> Sequence[OwnScore]:
    """Those of ``search.own``. Raises ConfigError."""
    from larm.index.search.own_score import OwnScore

    return [OwnScore(name, weight, own_part(name, "search.own", Scorer, (), {})) for name, weight in settings.own.items()]


def own_part(name: str, key: str, seam: type, built_in: Iterable[str], arguments: Mapping[str, Mapping[str, Any]]) -> Any:
    """An object of the user's, by the dotted name of its class (LARM-47). Raises ConfigError."""
    from importlib.metadata import entry_points  # with zip files and mail: a tenth of a start, for the few who have such parts

    module, colon, attribute = name.partition(":")
    installed = entry_points(group=GROUPS[seam])
    if not colon and name not in installed.names:
        known = ", ".join([*built_in, *sorted(installed.names)])
        raise ConfigError(f"{key}: {name!r}: expected {f'one of {known}, or ' if known else ''}package.module:Class")
    try:
        found = getattr(importlib.import_module(module), attribute) if colon else _installed(name, key, installed)
        if not isinstance(found, type):
            raise ConfigError(f"{key}: {name} is no class; see larm.seams.{seam.__name__}")
        if _abstract(found) or not all(callable(getattr(found, each, None)) for each in _methods(seam)):
            raise _lacking(name, key, seam, found)  # before it is called: it may be anything, such as subprocess.Popen
        made = found(**arguments.get(name, {}))
    except ConfigError:
        raise
    except (Exception, SystemExit) as error:  # whatever the user's module raises while it is loaded
        cause = _faults.get(module, error) if isinstance(error, ModuleNotFoundError) else error
        raise ConfigError(f"{key}: can't make {name}: {blamed(cause)}") from error
    if _missing(seam, made):
        raise _lacking(name, key, seam, made)
    return made


def _installed(name: str, key: str, points: EntryPoints) -> Any:
    """What a package that is installed offers under this name."""
    found = points.select(name=name)
    if len({point.value for point in found}) > 1:
        values = ", ".join(sorted(point.value for point in found))
        raise ConfigError(f"{key}: {name!r} is offered by several packages; name one of {values}")
    return next(iter(found)).load()


def import_beside(settings: Config, folder: Path) -> None:
    """Import the modules of own parts that lie beside config.yaml, and are not installed.

    The folder is on Python's path for this moment only, and last: nothing in it can stand for a module of larm's or of another
    package. What can't be imported is told by who makes the part.
    """
    modules = own_modules(settings)
    place = str(folder.absolute())
    sys.path.append(place)
    try:
        for module in modules:
            _faults.pop(module, None)
            try:
                importlib.import_module(module)
            except (Exception, SystemExit) as error:  # noqa: BLE001  whatever it raises; parts of it may not be wanted now
                _faults[module] = error
    finally:
        sys.path.remove(place)


def _missing(seam: type, part: object) -> list[str]:
    """What the seam asks for and the part, or its class, has not."""
    needed = [each for each in (*seam.__annotations__, *vars(seam)) if not each.startswith("_")]
    lacking = [
        each for each in needed if not hasattr(part, each) or (each in _methods(seam) and not callable(getattr(part, each)))
    ]
    return [*lacking, *_abstract(part)]


def _abstract(part: object) -> list[str]:
    """What a base of ours leaves to those that are derived from it."""
    kind = part if isinstance(part, type) else type(part)
    base = DocumentStorage
    if issubclass(kind, base) and kind.store is base.store and kind.store_visit is base.store_visit:
        return ["store_visit"]
    return sorted(getattr(kind, "__abstractmethods__", ()))


def _methods(seam: type) -> set[str]:
    return {name for name, value in vars(seam).items() if callable(value) and not name.startswith("_")}


def _lacking(name: str, key: str, seam: type, part: object) -> ConfigError:
    return ConfigError(f"{key}: {name} has no {', '.join(_missing(seam, part))}; see larm.seams.{seam.__name__}")
