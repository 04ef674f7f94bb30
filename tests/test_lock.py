"""requirements.lock: one version of everything that larm needs, within its bounds, each with hashes."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, requires
from itertools import chain
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCK = (ROOT / "requirements.lock").read_text()
ENTRY = re.compile(r"^(?P<requirement>[A-Za-z0-9][^\\\n]*?) \\\n(?P<hashes>(?:    --hash=\S+(?: \\)?\n)+)", re.MULTILINE)
ENTRIES = [Requirement(entry["requirement"]) for entry in ENTRY.finditer(LOCK)]
PLATFORMS = [
    {"platform_system": system, "sys_platform": name, "platform_machine": machine, "python_full_version": python}
    | {
        "python_version": python.rpartition(".")[0],
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }
    for system, name, machine in [
        ("Linux", "linux", "x86_64"),
        ("Linux", "linux", "aarch64"),
        ("Darwin", "darwin", "arm64"),
        ("Darwin", "darwin", "x86_64"),
    ]
    for python in ("3.11.7", "3.12.1", "3.13.0", "3.14.0")
]


def holds(marker: Marker | None, platform: dict[str, str], extras: Iterable[str] = ()) -> bool:
    return marker is None or any(marker.evaluate(platform | {"extra": extra}) for extra in ("", *extras))


def needed(platform: dict[str, str]) -> list[Requirement]:
    """What larm, its extras and its build ask for there, and what that asks for in turn, as far as it is installed here."""
    found: dict[str, Requirement] = {}
    project = PROJECT["project"]
    asked = [*project["dependencies"], *PROJECT["build-system"]["requires"], *chain(*project["optional-dependencies"].values())]
    ask = [(text, frozenset[str]()) for text in asked]
    while ask:
        text, extras = ask.pop()
        one = Requirement(text)
        if text not in found and one.name != project["name"] and holds(one.marker, platform, extras):
            found[text] = one
            ask += [(text, frozenset(one.extras)) for text in asked_by(one.name)]
    return list(found.values())


@cache
def asked_by(name: str) -> list[str]:
    try:
        return requires(name) or []
    except PackageNotFoundError:
        return []  # of another platform, or of the build alone


def test_every_line_is_an_entry_with_hashes() -> None:
    rest = ENTRY.sub("", LOCK)
    assert all(line.startswith("#") for line in rest.splitlines()), rest
    for entry in ENTRY.finditer(LOCK):
        assert re.fullmatch(r"(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+", entry["hashes"]), entry["requirement"]
    assert all(re.fullmatch(r"==[^,*]+", str(entry.specifier)) for entry in ENTRIES)


@pytest.mark.parametrize("platform", PLATFORMS, ids=lambda each: "-".join(list(each.values())[:4]))
def test_it_has_one_version_within_bounds_of_all_that_is_needed(platform: dict[str, str]) -> None:
    here = [entry for entry in ENTRIES if holds(entry.marker, platform)]
    versions = {canonicalize_name(entry.name): str(entry.specifier)[2:] for entry in here}
    assert len(versions) == len(here), "one of each"
    wanted = needed(platform)
    for one in wanted:
        chosen = versions.get(canonicalize_name(one.name))
        assert chosen is not None, f"{one} is missing: requirements.lock says how it is made anew"
        assert one.specifier.contains(chosen), f"{one}, but the lock has {chosen}"
    assert versions.keys() <= {canonicalize_name(one.name) for one in wanted}, "nothing else"
