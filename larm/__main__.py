"""``python -m larm`` and the console script ``larm``: the process around `larm.cli.run`."""

from __future__ import annotations

import io
import os
import sys


def main() -> None:
    """Run the command line of this process and leave with its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a page's title must not fail for the terminal's encoding
            stream.reconfigure(errors="replace")
    from larm import cli

    if "_LARM_COMPLETE" in os.environ:  # a shell asks for completions
        cli.larm(prog_name="larm")
    sys.exit(cli.run(sys.argv[1:]))


if __name__ == "__main__":
    main()
