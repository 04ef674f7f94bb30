"""``python -m larm`` and the console script ``larm``: the process around `larm.cli.run`."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import sys


def main() -> None:
    """Run the command line of this process and leave with its exit status."""
    gc.disable()  # a tenth of the start-up; a crawl, the only command that lives on, turns it on again (larm.kit.garbage)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a page's title must not fail for the terminal's encoding
            stream.reconfigure(errors="replace")
    from larm import cli

    if "_LARM_COMPLETE" in os.environ:  # a shell asks for completions
        cli.larm(prog_name="larm")
    status = cli.run(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)  # all files are closed and all threads joined; Python's own tidying up takes another 40 ms


if __name__ == "__main__":
    main()
