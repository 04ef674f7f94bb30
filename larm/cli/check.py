"""``larm check`` and ``larm init``: the configuration of a crawl."""

import json
import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import click
import msgspec

from larm.cli.options import LarmCommand, config_options, directory_option, effective
from larm.cli.terminal import say
from larm.config import CONFIG_FILE, Config
from larm.errors import Mistakes, UsageError
from larm.kit.counted import counted
from larm.kit.disk.disk_failure import disk_failure

_PASSWORD = re.compile(r"://[^/@\"]*@")
"""In an address, with the name before it."""


@click.command(cls=LarmCommand)
@click.argument("named", required=False, type=click.Path(path_type=Path, dir_okay=False), metavar="[FILE]")
@config_options
@click.option("--state", is_flag=True, help="Read all of the crawl in DIR as well, as after a crash.")
@directory_option
def check(*, named: Path | None, file: Path | None, overrides: tuple[str, ...], state: bool, directory: Path) -> None:
    """Is this configuration valid? Default: config.yaml in DIR. Shows what differs from the defaults."""
    from larm.building.wiring import check as check_parts

    if named and file:
        raise UsageError("FILE and --config FILE are the same: give one of them")
    file = file or named
    own = directory / CONFIG_FILE
    config = effective(directory, file, overrides)
    mistakes = Mistakes()
    with mistakes.noted():
        check_parts(config, directory, tried=True)
    with mistakes.noted():
        _refuse_scope(config, directory)
    mistakes.refuse()
    click.echo("OK" if file or own.exists() else f"OK (no {own}: the defaults)")
    from larm.building.mission import scope_sentence
    from larm.building.scoping import current_scope
    from larm.kit.printable import printable

    if config.crawl.start or config.crawl.seeds:
        click.echo(printable(scope_sentence(config, current_scope(config, directory)[1])))
    for key, value in differences(config):
        shown = json.dumps(value, ensure_ascii=True, default=_plain)
        click.echo(f"{key}: {_PASSWORD.sub('://...@', shown)}")
    if state:
        from larm.ops.state_check import check_state

        found = check_state(directory, click.echo)
        click.echo(f"the state is whole: {counted(found.files, 'file')}, {found.size / 1e6:,.1f} MB read")


def _refuse_scope(config: Config, directory: Path) -> None:
    from larm.kit.printable import printable
    from larm.ops.afterwards import judge_urls

    starts = [url for url in config.crawl.start if not url.startswith("@")]
    judged = judge_urls(config, directory, starts) if starts else []
    if judged and all(why.startswith("scope: ") for _, why in judged):
        raise UsageError(f"no start URL is in the scope: {printable(judged[0][1])}")


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
@directory_option
def init(*, directory: Path) -> None:
    """Write DIR/config.yaml, all settings commented out.

    Each stands there with its default and what it does. Take the # away from what you change.
    """
    path = directory / CONFIG_FILE
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(commented_out(resources.files("larm").joinpath(CONFIG_FILE).read_text(encoding="utf-8")))
    except FileExistsError as error:
        raise UsageError(f"{path} is there already; remove it first, or name another directory by --dir") from error
    except OSError as error:
        raise disk_failure(path, error) from error
    say(f"{path} has all settings, commented out; 'larm check' says whether what you make of them is valid")


def commented_out(text: str) -> str:
    """The lines of config.yaml with a # before each setting; sections stay, so that taking a # away is enough."""
    lines = text.splitlines()
    following = [*lines[1:], ""]
    return "".join(f"{_line(line, after)}\n" for line, after in zip(lines, following, strict=True))


def _line(line: str, after: str) -> str:
    setting = line.lstrip()
    indent, deeper = len(line) - len(setting), len(after) - len(after.lstrip())
    is_section = deeper > indent and not after.lstrip().startswith(("-", "#"))
    if not setting or setting.startswith("#") or is_section:
        return line
    return f"{line[:indent]}# {setting}"
