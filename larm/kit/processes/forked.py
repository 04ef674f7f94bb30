"""Forked: a copy of this process that helps it, made in a hundredth of the time that a new Python takes to start.

A copy has only the thread that made it, and of what the others held no copy is ever let go. So one is made only while there is
a single thread, of Python or of any library. It gets nothing of ours but its two pipes. Owned by the thread that owns the
`larm.kit.processes.helper_process.HelperProcess` around it, to which it looks like `subprocess.Popen`.
"""

import gc
import os
import select
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

_THREADS: Final = Path("/proc/self/task")
_STATM: Final = Path("/proc/self/statm")
_MOST_FILES: Final = 1 << 20


class Forked:
    """A copy that runs: its pipes, and its end."""

    def __init__(self, pid: int, end: int, stdin: BinaryIO, stdout: BinaryIO) -> None:
        """``end``: a descriptor that can be read from when the process has ended."""
        # constant after construction
        self.pid = pid
        self.stdin = stdin
        self.stdout = stdout
        # only the owner's thread
        self._end = end
        self._code: int | None = None

    def poll(self) -> int | None:
        """Its exit code, if it has ended: negative for a signal; 0 if somebody else has asked for it."""
        if self._code is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:  # who ignores SIGCHLD, or waits for all children, takes it away
                pid, status = self.pid if self._has_ended(0) else 0, 0
            if pid:
                self._code = os.waitstatus_to_exitcode(status)
                os.close(self._end)
        return self._code

    def _has_ended(self, timeout: float | None) -> bool:
        ended = select.poll()
        ended.register(self._end, select.POLLIN)
        return bool(ended.poll(None if timeout is None else timeout * 1_000))

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code. Raises subprocess.TimeoutExpired after ``timeout`` seconds."""
        if self._code is None:
            self._has_ended(timeout)
        code = self.poll()
        if code is None:
            raise subprocess.TimeoutExpired("fork", timeout or 0.0)
        return code

    def kill(self) -> None:
        """End it, if it has not ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._end, signal.SIGKILL)

    def __repr__(self) -> str:
        return f"<Forked {self.pid}>"


def fork(main: Callable[[], object]) -> Forked | None:
    """A copy in which ``main`` answers on its standard output what comes on its standard input; it never returns there.

    None where that is not safe, as there are other threads, or nobody can tell (no Linux), or not possible. Main thread only.
    """
    try:
        if len(os.listdir(_THREADS)) != 1 or not hasattr(os, "pidfd_open"):
            return None
        os.close(os.pidfd_open(os.getpid()))  # forbidden, in some containers
        asked, answered = os.pipe(), os.pipe()
    except OSError:
        return None
    try:
        pid = os.fork()
    except OSError:  # no memory, or too many processes
        for end in (*asked, *answered):
            os.close(end)
        return None
    if not pid:
        try:
            _leave_all_but(asked[0], answered[1])
            main()
        finally:
            os._exit(1)  # never into what the original goes on with
    os.close(asked[0])
    os.close(answered[1])
    try:
        end = os.pidfd_open(pid)
    except OSError:
        os.close(asked[1])
        os.close(answered[0])
        os.kill(pid, signal.SIGKILL)  # nobody else has asked for its end yet
        with suppress(ChildProcessError):
            os.waitpid(pid, 0)
        return None
    return Forked(pid, end, os.fdopen(asked[1], "wb", 0), os.fdopen(answered[0], "rb", 0))


def _leave_all_but(stdin: int, stdout: int) -> None:
    """In the copy: the pipes are all that it has in common with the original, and no Ctrl-C reaches it."""
    gc.freeze()  # or a file of the original's that is collected closes whatever has its number now
    os.setpgid(0, 0)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    with suppress(ValueError):
        signal.set_wakeup_fd(-1)
    os.dup2(stdin, 0)
    os.dup2(stdout, 1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 2)
    os.closerange(3, _MOST_FILES)


def address_space() -> int:
    """Bytes that this process has mapped; 0 where nobody can tell."""
    try:
        return int(_STATM.read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
