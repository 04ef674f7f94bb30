"""Processor time of other processes: while they run, and when they have ended."""

from __future__ import annotations

import subprocess
import sys

from larm.kit.processes.children import helpers_seconds

BURN = "import sys, time\nwhile time.process_time() < 0.3: pass\nprint(flush=True)\nsys.stdin.read()"


def test_of_those_that_run_and_of_those_that_have_ended() -> None:
    before = helpers_seconds()
    with subprocess.Popen([sys.executable, "-c", BURN], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        running = helpers_seconds() - before
        process.stdin.close()
        process.wait()
        ended = helpers_seconds() - before
    tick = 0.02  # the system counts in hundredths
    assert 0.3 - tick <= running <= ended + tick
