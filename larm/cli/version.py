"""``larm version``: what is installed here, for bug reports, lawyers, and programs that look for known faults."""

import json
import re
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import Any

import click

from larm import __version__
from larm.cli.options import LarmCommand
from larm.cli.terminal import Call, with_call

_EXTRA = re.compile(r"""extra == ['"]([^'"]+)['"]""")
_TESTS = "test"


@click.command(cls=LarmCommand)
@with_call
@click.option("--licences", is_flag=True, help="The licence of each library that is installed for it.")
@click.option("--sbom", is_flag=True, help="All that is installed for it, as a bill of materials (CycloneDX, JSON).")
def version(call: Call, /, *, licences: bool, sbom: bool) -> None:
    """The version of larm.

    With -v of what it is built on: put that into bug reports.
    """
    if sbom:
        click.echo(json.dumps(_bill(), indent=1))
        return
    click.echo(f"larm {__version__}")
    if licences:
        for name in _needed():
            if (found := _installed(name)) is not None:
                click.echo(f"{name} {found.version}: {_licence(found) or 'not said'}")
    if not call.verbose:
        return
    import platform

    from larm.parse.lexbor_tree import COMPILED

    click.echo(f"python {platform.python_version()} on {platform.platform()}")
    for name in _needed():
        click.echo(f"{name} {_about(name)}")
    click.echo(f"compiled reader: {'yes' if COMPILED else 'no, there was no C compiler when larm was installed'}")


def _about(name: str) -> str:
    """The version that is there; of pycurl also which libcurl that is, and what is in it."""
    found = _installed(name)
    if found is None:
        return "not installed"
    if name != "pycurl":
        return found.version
    from larm.fetch.curl_fetcher import libcurl

    return f"{found.version} ({libcurl()})"


def _needed() -> list[str]:
    """The libraries that larm uses, those of its extras included."""
    return sorted(_requirements("larm", extras=True), key=str.lower)


@cache
def _installed(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def _requirements(name: str, *, extras: bool) -> set[str]:
    """Names of what a package asks for. ``extras``: also of what it can do without, but for tests."""
    found = _installed(name)
    asked = set()
    for line in found.requires or () if found is not None else ():
        extra = _EXTRA.search(line)
        if extra is None or (extras and extra[1] != _TESTS):
            asked.add(re.split(r"[^A-Za-z0-9._-]", line)[0])
    return asked


def _licence(found: Distribution) -> str:
    """As the package says itself; empty where it says nothing."""
    classifiers = [each.rpartition(" :: ")[2] for each in _lines(found, "Classifier") if "License" in each]
    said = [*_lines(found, "License-Expression"), *classifiers, *(each.partition("\n")[0] for each in _lines(found, "License"))]
    return next(filter(None, said), "")


def _lines(found: Distribution, key: str) -> list[str]:
    return [str(each) for each in found.metadata.get_all(key, [])]


def _bill() -> dict[str, Any]:
    """CycloneDX 1.6, of larm and of all that is installed for it, directly or not. The same each time."""
    graph = _graph()
    parts = {name: _component(name, found) for name, found in graph.items()}
    lines = []
    for name, part in parts.items():
        asked = {_key(each) for each in _requirements(name, extras=name == "larm")} - {"larm"}
        lines.append({"ref": part["bom-ref"], "dependsOn": sorted(parts[each]["bom-ref"] for each in asked if each in parts)})
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": parts.pop("larm") | {"type": "application"}},
        "components": list(parts.values()),
        "dependencies": lines,
    }


def _graph() -> dict[str, Distribution]:
    """By their normalised names, in their order; larm first."""
    found: dict[str, Distribution] = {}
    waiting = ["larm"]
    while waiting:
        name = waiting.pop()
        known = _installed(name)
        if known is not None and _key(name) not in found:
            found[_key(name)] = known
            waiting += _requirements(name, extras=name == "larm")
    return {"larm": found.pop("larm")} | dict(sorted(found.items()))


def _component(name: str, found: Distribution) -> dict[str, Any]:
    reference = f"pkg:pypi/{name}@{found.version}"
    part: dict[str, Any] = {
        "type": "library",
        "bom-ref": reference,
        "name": found.metadata["Name"],
        "version": found.version,
        "purl": reference,
    }
    if expression := _lines(found, "License-Expression"):
        part["licenses"] = [{"expression": expression[0]}]
    elif said := _licence(found):
        part["licenses"] = [{"license": {"name": said}}]
    return part


def _key(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
