"""``larm check`` and ``larm version``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from larm import __version__
from larm.cli.options import LarmCommand, directory_option, effective, verbose_option
from larm.config import CONFIG_FILE


@click.command(cls=LarmCommand)
@click.argument("file", required=False, type=click.Path(path_type=Path, dir_okay=False))
@click.option("-s", "--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Check this setting too.")
@click.option("--state", is_flag=True, help="Read all of the crawl in DIR as well, as after a crash.")
@directory_option
def check(*, file: Path | None, overrides: tuple[str, ...], state: bool, directory: Path) -> None:
    """Is this configuration valid? Default: config.yaml in DIR. Shows what differs from the defaults."""
    from larm.building.wiring import check as check_parts

    own = directory / CONFIG_FILE
    config = effective(directory, file, overrides)
    check_parts(config, directory)
    click.echo("OK" if file or own.exists() else f"OK (no {own}: the defaults)")
    from larm.building.mission import scope_sentence
    from larm.enquiries.afterwards import current_scope
    from larm.monitor.printable import printable

    if config.crawl.start or config.crawl.seeds:
        click.echo(printable(scope_sentence(config, current_scope(config, directory)[1])))
    for key, value in differences(config):
        click.echo(f"{key}: {json.dumps(value, ensure_ascii=True, default=_plain)}")
    if state:
        from larm.enquiries.state_check import check_state

        found = check_state(config, directory)
        click.echo(f"the state is whole: {found.files:,} files, {found.size / 1e6:,.1f} MB read")


def _plain(value: object) -> object:
    """What JSON does not know: of a section only what differs from the defaults."""
    return dict(differences(value)) if isinstance(value, msgspec.Struct) else str(value)


def differences(section: msgspec.Struct, path: str = "") -> Iterator[tuple[str, object]]:
    """Dotted keys and values that are not the defaults."""
    for field in msgspec.structs.fields(section):
        value, default = getattr(section, field.name), field.default
        if isinstance(value, msgspec.Struct):
            yield from differences(value, f"{path}{field.name}.")
        elif value != (field.default_factory() if field.default_factory is not msgspec.NODEFAULT else default):
            yield path + field.name, value


@click.command(cls=LarmCommand)
@verbose_option
@click.option("--licences", is_flag=True, help="The licence of each library that is installed for it.")
def version(*, verbose: bool, licences: bool) -> None:
    """The version of larm; with -v of what it is built on (put that into bug reports)."""
    click.echo(f"larm {__version__}")
    if licences:
        for name in _needed():
            for said in _licence(name):
                click.echo(f"{name} {said}")
    if not verbose:
        return
    import platform

    from larm.processing.lexbor_tree import COMPILED

    click.echo(f"python {platform.python_version()} on {platform.platform()}")
    for part, found in _parts():
        click.echo(f"{part} {found}")
    click.echo(f"compiled reader: {'yes' if COMPILED else 'no, there was no C compiler when larm was installed'}")


def _parts() -> Iterator[tuple[str, str]]:
    """What larm depends on, with the version that is there; which libcurl that is, and what is in it."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    for name in _needed():
        try:
            found = installed(name)
        except PackageNotFoundError:
            yield name, "not installed"
            continue
        if name == "pycurl":
            from larm.fetching.curl_fetcher import libcurl

            found += f" ({libcurl()})"
        yield name, found


_TESTS = re.compile(r"""extra == ['"]test['"]""")


def _needed() -> list[str]:
    """The libraries that larm uses, those of its extras included."""
    from importlib.metadata import requires

    lines = [line for line in requires("larm") or () if not _TESTS.search(line)]
    return sorted({re.split(r"[^A-Za-z0-9._-]", line)[0] for line in lines}, key=str.lower)


def _licence(name: str) -> Iterator[str]:
    """Version and licence of one that is installed, as it says itself."""
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        about = metadata(name)
    except PackageNotFoundError:
        return
    said = [
        about["License-Expression"],
        *(each.rpartition(" :: ")[2] for each in about.get_all("Classifier", []) if "License" in each),
    ]
    text = next((each for each in said if each), (about["License"] or "not said").splitlines()[0])
    yield f"{about['Version']}: {text}"
