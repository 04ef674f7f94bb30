"""``larm init``: a config.yaml with every setting, its default and what it does."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import click

from larm.cli.options import LarmCommand, directory_option, verbose_option
from larm.cli.terminal import say
from larm.config import CONFIG_FILE
from larm.errors import StorageError, UsageError


@click.command(cls=LarmCommand)
@directory_option
@verbose_option
def init(*, directory: Path, verbose: bool) -> None:  # noqa: ARG001
    """Write DIR/config.yaml: all settings with their defaults, each with a comment. Change what you like."""
    path = directory / CONFIG_FILE
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(resources.files("larm").joinpath(CONFIG_FILE).read_text(encoding="utf-8"))
    except FileExistsError as error:
        raise UsageError(f"{path} is there already; remove it first, or name another directory by --dir") from error
    except OSError as error:
        raise StorageError(f"{path}: can't write: {error.strerror}") from error
    say(f"{path} has all settings with their defaults; 'larm check --dir {directory}' says whether it is valid")
