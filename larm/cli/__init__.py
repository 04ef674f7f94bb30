"""The command line: options in, a call, an exit status. Thin; what the commands do is done elsewhere.

`run` is the door: it finds the command, and turns every way in which one can end into an exit status and at most one line on
stderr. Results go to stdout, everything else to stderr. A command is imported when it is called, and what it needs as well, so
that ``larm version`` starts fast. Exit statuses: 0 finished or a given limit reached, 1 failure, 2 usage or configuration, 3
disk or storage, 4 no start URL could be fetched, 130 interrupted.
"""

import errno
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

import click

from larm import __version__
from larm.cli.options import CONTEXT, Commands, Program, users_file
from larm.cli.signals import INTERRUPTED
from larm.cli.terminal import Call, complain
from larm.errors import ConfigError, LarmError

_UNWRITABLE = {errno.ENOSPC: "no space left on the device", errno.EBADF: "it is closed"}
"""What is wrong with stdout, by the numbers of errors."""


@click.group("larm", cls=Program, commands=Commands(), context_settings=CONTEXT)
@click.version_option(__version__, prog_name="larm", message="%(prog)s %(version)s")
def larm() -> None:
    """Crawl a set of web sites and search them.

    Begin with larm demo, then: larm crawl https://example.org/ --dir example, and larm search WORDS --dir example.
    """


def run(arguments: Sequence[str]) -> int:
    """Run ``larm ARGUMENTS`` and return the exit status. Raises nothing."""
    call = Call()
    try:
        return _invoke(arguments, call)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the last door: no way out leads to a page of traceback
        return _leave(error, call)


def _invoke(arguments: Sequence[str], call: Call) -> int:
    if not arguments:
        click.echo(larm.get_help(click.Context(larm, info_name="larm", **CONTEXT)), err=True)
        return 2
    with larm.make_context("larm", list(arguments), obj=call) as context:
        status = larm.invoke(context)
    if sys.stdout is not None:
        sys.stdout.flush()  # here, where a closed pipe is still caught
    return status if isinstance(status, int) else 0


def _leave(error: BaseException, call: Call) -> int:
    """At most one line for the person, and the exit status."""
    match error:
        case click.exceptions.Exit():  # after --help and --version
            return error.exit_code
        case click.ClickException():
            return _usage(error)
        case LarmError():
            for sentence in error.args:
                complain(call.here(_located(error, str(sentence), call)))
            return error.exit_status
        case KeyboardInterrupt() | click.Abort():
            complain("interrupted")
            return INTERRUPTED
        case BrokenPipeError():  # the reader of our output has seen enough
            _close_stdout()
            return 0
        case _:
            return _failure(error, call)


def _located(error: LarmError, sentence: str, call: Call) -> str:
    """What is wrong with a setting is found long after its file was read, so that only the key is named: here the file is."""
    key, colon, _ = sentence.partition(": ")
    if not (isinstance(error, ConfigError) and colon and "." in key and call.directory is not None):
        return sentence
    from larm.config import CONFIG_FILE
    from larm.config.loading import file_with

    with suppress(LarmError):
        file = file_with(key, (call.config or call.directory / CONFIG_FILE, users_file()))
        return f"{file}: {sentence}" if file is not None else sentence
    return sentence


def _failure(error: BaseException, call: Call) -> int:
    if isinstance(error, OSError) and error.errno in _UNWRITABLE:  # those of a crawl's files are StorageError
        complain(f"stdout: {_UNWRITABLE[error.errno]}; not all of the output was written")
        _close_stdout()
        return 3
    try:
        os.getcwd()
    except FileNotFoundError:
        complain("the current directory is no longer there: change into another one")
        return 2
    complain(_unexpected(error, call))
    return 1


def _usage(error: click.ClickException) -> int:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):  # a group of commands, and none was named
        error.show()
        return 2
    context = getattr(error, "ctx", None)
    complain(f"{error.format_message()} ('{context.command_path if context else 'larm'} -?' lists the options)")
    return 2


def _unexpected(error: BaseException, call: Call) -> str:
    """Return one line that says where the rest is: on stderr with -v, in the directory's logs, or in a temporary file.

    The logs are for commands that write there: a command that only reads leaves the directory as it is.
    """
    what = f"unexpected {type(error).__name__}: {error}"
    import tempfile
    import traceback  # 6 ms, where it is needed

    from larm.kit.disk.lock import DirectoryLock
    from larm.kit.printable import harmless

    story = "".join(traceback.format_exception(error))
    if call.verbose:
        click.echo(harmless(story), err=True, nl=False)
        return what
    try:
        if call.directory is not None and call.directory.resolve() in DirectoryLock.written:
            log = str(call.directory / "logs" / "crash.log")
        else:
            descriptor, log = tempfile.mkstemp(".log", "larm-crash-")
            os.close(descriptor)
        with open(log, "a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(harmless(story))
    except OSError:
        return f"{what} (-v shows where)"
    return f"{what} (where: {log})"


def _close_stdout() -> None:
    """Let Python's last flush go nowhere instead of complaining."""
    with suppress(OSError, ValueError, AttributeError):  # where stdout is no file, or was closed
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
