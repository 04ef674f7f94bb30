"""HelperProcess: a Python process of our own that answers requests, so that what kills it does not kill us.

It is started by the first request, or by `fork`, and again after its death, has limits for memory and time, and shares nothing
with us but two pipes. Owned by one thread at a time; `ask` waits without the GIL. Who wants to keep it busy sends the next
request before it takes the answer to the last. Its other end is `larm.kit.processes.helper_serve`.

How it ends, whatever happens: idle, when its pipe closes, which the operating system does when we die; busy, by an alarm of
its own that no code within it can miss.
"""

import fcntl
import importlib
import os
import resource
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar

from larm.kit.clock import SystemClock
from larm.kit.processes.forked import Forked, address_space, fork
from larm.kit.processes.frames import LENGTH, Frames, framed, write_some
from larm.kit.processes.helper_serve import GRACE, NO_MEMORY

T = TypeVar("T")
MAX_ANSWER: Final = 100_000_000
"""Bytes; a longer answer is none."""
_PIPE = 1 << 20
"""Bytes: what Linux allows everybody. Each wait for room costs a thread its turn, among busy ones some milliseconds."""
_clock = SystemClock()
_PATH = Path(__file__).parents[3]
_Process = subprocess.Popen[bytes] | Forked


class Died(Exception):  # noqa: N818
    """The process ended, or had to be ended, without an answer; ``str()`` says how."""


class TookTooLong(Died):
    """It may only be slow."""


class TookTooMuch(Died):
    """It needed more memory than it may have."""


class Killed(Died):
    """By somebody else, as the system does that runs out of memory."""


class NotStarted(Died):
    """There is no process, and there was none."""


class HelperProcess:
    """`ask`, as often as you like, then `close`."""

    def __init__(self, module: str, memory: int) -> None:
        """``module``: its dotted name, its ``main(memory)`` calls `larm.kit.processes.helper_serve.serve`; ``memory``: bytes
        of address space that the process may have, see also `limit`."""
        # constant after construction
        self._module = module
        self._memory = memory
        # only the thread that asks
        self._space = 0  # bytes of address space that a copy has from the start
        self._process: _Process | None = None
        self._asked = 0  # requests without an answer
        self._came = Frames()  # answers
        self.starts = 0
        """How often it was started."""

    def ask(self, request: bytes, seconds: float) -> bytes:
        """The answer. Raises Died if there is none in this time, or the process ended; the next request gets a new one."""
        self.start()
        self.send(request, seconds)
        return self.receive(seconds, bytes)

    def send(self, request: bytes | bytearray, seconds: float) -> None:
        """After `start`. Of several requests the answers come in their order. Raises Died: then it has ended, and what it has
        answered before can still be taken.

        A process that has died since is not replaced: the new one would not know what the old one was told.
        """
        process = self._process
        if process is None:
            raise Died("it was not started")
        rest = framed(request)
        try:
            self._send(process, rest, _clock.monotonic() + seconds)
        except Died:
            process.kill()
            process.wait()
            raise
        finally:
            rest.clear()  # who handles the error may want the memory for another request
        self._asked += 1

    def receive(self, seconds: float, read: Callable[[memoryview], T]) -> T:
        """The next answer, as ``read`` has it, which must not keep the memory. Raises Died, and what ``read`` raises."""
        process = self._process
        if process is None or not self._asked:
            raise Died("it was not asked")
        try:
            self._receive(process, _clock.monotonic() + seconds)
        except Died:
            self.close()
            raise
        self._asked -= 1
        return self._came.pop(read)

    def start(self) -> None:
        """A process, a new one where there is none any more. Raises NotStarted."""
        if self._process is not None and not self._asked and self._process.poll() is not None:
            self.close()  # killed from outside
        if self._process is None:
            self._process, self._space = self._started(), 0
            self.starts += 1

    def limit(self, memory: int) -> None:
        """The process that runs may have so many bytes from now on, at most those that it was made with. Linux."""
        if self._process is not None:
            with suppress(AttributeError, OSError, ValueError):  # no Linux; it has just ended
                limits = (min(memory, self._memory) + self._space, self._memory + self._space)
                resource.prlimit(self._process.pid, resource.RLIMIT_AS, limits)

    def interrupt(self) -> None:
        """End the process, whatever it does; who waits for its answer gets Died. Any thread."""
        process = self._process
        if process is not None:
            process.kill()

    def dismiss(self) -> None:
        """Let the process end, if there is one; `close` will not have to wait for it then. After the last answer."""
        if self._process is not None:
            self._process.kill()

    def close(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        self._asked = 0
        self._came = Frames()
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        process.wait()

    def fork(self) -> bool:
        """Have the process at once, as a copy of this one; False where that is not possible, and `start` will make it.

        A few ms, in place of 100 ms of work; what the module needs and we have not loaded, the copy loads, beside us. On the
        main thread, before there are others.
        """
        if self._process is None:
            self._space = address_space()  # the copy has all that we have
            memory = self._memory + self._space
            self._process = fork(lambda: importlib.import_module(self._module).main(memory))
            if self._process is not None:
                _widen(self._process)
                self.starts += 1
        return self._process is not None

    def _started(self) -> subprocess.Popen[bytes]:
        paths = [str(_PATH), *(path for path in sys.path if path)]
        try:
            process = subprocess.Popen(  # noqa: S603  nothing of it comes from outside
                [sys.executable, "-P", "-m", self._module, str(self._memory)],  # -P: not from the current directory
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))},
                process_group=0,  # or Ctrl-C would reach it as well
            )
        except OSError as error:
            raise NotStarted(f"can't start a process: {error}") from error
        _widen(process)
        return process

    def _send(self, process: _Process, rest: list[memoryview], end: float) -> None:
        """What comes meanwhile is taken, or both would wait for room."""
        assert process.stdin is not None  # noqa: S101
        assert process.stdout is not None  # noqa: S101
        pipe, back = process.stdin.fileno(), process.stdout.fileno()
        while rest:
            try:
                write_some(pipe, rest)
            except BlockingIOError:
                if self._wait({pipe: select.POLLOUT, back: select.POLLIN}, end) == back:
                    self._take(process)
            except OSError as error:
                raise self._death(process) from error

    def _receive(self, process: _Process, end: float) -> None:
        """Until an answer is there."""
        assert process.stdout is not None  # noqa: S101
        pipe, came = process.stdout.fileno(), self._came
        while not came.whole:
            self._wait({pipe: select.POLLIN}, end)
            self._take(process)

    def _take(self, process: _Process) -> None:
        assert process.stdout is not None  # noqa: S101
        with suppress(BlockingIOError):
            if not self._came.take(process.stdout.fileno()):
                raise self._death(process)
        if (self._came.size or 0) > MAX_ANSWER - LENGTH:
            raise Died("its answer is too long")

    @staticmethod
    def _wait(events: Mapping[int, int], end: float) -> int:
        """The pipe that something can be done with."""
        poll = select.poll()
        for pipe, event in events.items():
            poll.register(pipe, event)
        left = end - _clock.monotonic()
        found = poll.poll(left * 1_000) if left > 0 else []
        if not found:
            raise TookTooLong("it took too long")
        return found[0][0]

    @staticmethod
    def _death(process: _Process) -> Died:
        try:
            code = process.wait(GRACE)
        except subprocess.TimeoutExpired:
            return Died("it closed its pipe")
        if code == NO_MEMORY:
            return TookTooMuch("it needed more memory than it may have")
        if code >= 0:
            return Died(f"it ended with status {code}")
        if -code == getattr(signal, "SIGALRM", 0):
            return TookTooLong("it took too long")
        if -code == getattr(signal, "SIGKILL", 0):
            return Killed("it was killed (SIGKILL)")
        name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        return Died(f"it crashed ({name})")

    def __repr__(self) -> str:
        state = f"process {self._process.pid}" if self._process else "not started"
        return f"<HelperProcess {self._module}, {state}>"


def _widen(process: _Process) -> None:
    """Pipes that hold much, and never make us wait where we can't be woken."""
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None  # noqa: S101
        os.set_blocking(pipe.fileno(), False)
        with suppress(AttributeError, OSError):  # not Linux, or all that this user may have is taken
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, _PIPE)
