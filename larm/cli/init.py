"""``larm init``: a config.yaml with every setting, its default and what it does.

The settings are commented out: a file with all of them would hold today's defaults against those of a later larm, and
against ``~/.config/larm/config.yaml``.
"""

from importlib import resources
from pathlib import Path

import click

from larm.cli.options import LarmCommand, directory_option
from larm.cli.terminal import say
from larm.config import CONFIG_FILE
from larm.errors import UsageError
from larm.kit.disk.disk_failure import disk_failure


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
