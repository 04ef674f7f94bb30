"""``python -m larm`` and the console script ``larm``: the process around `larm.cli.run`."""

import contextlib
import gc
import io
import os
import signal
import sys
from typing import NoReturn


def main() -> None:
    """Run the command line of this process and leave with its exit status."""
    _open_missing_streams()
    signal.signal(signal.SIGTERM, _end)  # until a crawl or a server, which end in good order, sets its own
    gc.disable()  # a tenth of the start-up; a crawl, the only command that lives on, turns it on again (larm.kit.garbage)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a page's title must not fail for the terminal's encoding
            stream.reconfigure(errors="replace")
    try:
        from larm import cli
    except KeyboardInterrupt:
        os._exit(130)  # before there is anybody who could say it better
    if "_LARM_COMPLETE" in os.environ:  # a shell asks for completions
        cli.larm(prog_name="larm")
    status = cli.run(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)  # all files are closed and all threads joined; Python's own tidying up takes another 40 ms


def _end(number: int, _frame: object) -> NoReturn:
    """Leave as after an exception, so that what is half written goes."""
    sys.exit(128 + number)


def _open_missing_streams() -> None:
    """Where one of the first three descriptors is closed (``2>&-``), else the crawl's own files would get its number."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDONLY if name == "stdout" else os.O_RDWR)  # a result that goes nowhere is an error
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


if __name__ == "__main__":
    main()
