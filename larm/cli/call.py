"""Call: one run of the program, and where the person stands who reads what it says. Main thread only.

Sentences are written, and kept in stats.json, as if one stood in the crawl's directory: ``'larm why URL'``, in quotes, and
``logs/robots.log``. `Call.here` makes of them what can be copied where the command was called.
"""

import re
from pathlib import Path
from shlex import quote

import click

CONFIGURED = ("crawl", "search", "why", "check", "links", "export", "forget", "reindex", "warc export")
"""Commands that have ``--dir`` and ``--config``."""
PLACED = (
    *("stats", "cat", "report", "init", "ctl [a-z]+", "starts", "backup"),
    "cluster (?:leave|pause|resume|status|stop)",
)
"""Those that have ``--dir`` alone."""
_COMMAND = re.compile(
    rf"('(?:[^'\n]*\| )?larm (?:(?P<configured>{'|'.join(CONFIGURED)})|{'|'.join(PLACED)}))(?=[ '])(?! --dir| -\?)"
)
_LOGS = re.compile(r"(?<![\w./-])logs/(?=\w)")


class Call:
    """What the last door needs to know when a command fails."""

    def __init__(self) -> None:
        self.directory: Path | None = Path()
        """The crawl's; None: of several."""
        self.config: Path | None = None
        """The file that ``--config`` names."""
        self.verbose = False

    def here(self, text: str) -> str:
        """Commands that need them get ``--dir`` and ``--config``; paths of logs are as from here."""
        if self.directory == Path() and self.config is None:
            return text
        where = "DIR" if self.directory is None else quote(str(self.directory))
        config = "" if self.config is None else f" --config {quote(str(self.config))}"
        directory = "" if self.directory == Path() else f" --dir {where}"
        said = _COMMAND.sub(lambda found: found[1] + directory + (config if found["configured"] else ""), text)
        return _LOGS.sub(lambda _: f"{where}/logs/", said) if directory else said


with_call = click.make_pass_decorator(Call, ensure=True)
"""The command wants to know of ``-v``."""


def here(text: str) -> str:
    """As `Call.here` of the command that runs."""
    context = click.get_current_context(silent=True)
    call = context.find_object(Call) if context is not None else None
    return text if call is None else call.here(text)
