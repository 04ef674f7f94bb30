"""One command of larm in this process, counted: ``python -m tests.stories.counted ARGUMENT...``. Run by ``test_costs``.

Printed as JSON: ``modules`` that were loaded, also ``child_modules`` of a page process when it had read its last pages;
``calls`` of functions, Python's and built-in ones, on all threads but the main one, as cProfile counts them; ``blocks`` of
memory that Python has more than before. It imports nothing itself that no command of larm needs.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable
from mmap import mmap
from types import FrameType
from typing import Any


def main(arguments: list[str]) -> None:
    """Run the command, and print what it took."""
    sys.stdout, stdout = open(os.devnull, "w", encoding="utf-8"), sys.stdout  # noqa: SIM115
    calls: Counter[int] = Counter()
    child_modules = mmap(-1, 8)
    if "crawl" in arguments:
        _note_modules_of_page_process(child_modules)
    from larm import cli

    threading.setprofile(_counting(calls))
    before = sys.getallocatedblocks()
    status = cli.run(arguments)
    blocks = sys.getallocatedblocks() - before
    threading.setprofile(None)
    if status:
        sys.exit(f"exit status {status}")
    found = {
        "modules": _modules(),
        "child_modules": int.from_bytes(child_modules[:], "little"),
        "calls": sum(calls.values()),
        "blocks": blocks,
    }
    print(json.dumps(found), file=stdout)


def _modules() -> int:
    return sum(not name.startswith(("tests", "__editable__")) for name in sys.modules)


def _counting(calls: Counter[int]) -> Callable[[FrameType, str, Any], None]:
    def count(_frame: FrameType, event: str, _argument: object) -> None:
        if event in {"call", "c_call"}:
            calls[threading.get_ident()] += 1

    return count


def _note_modules_of_page_process(shared: mmap) -> None:
    """In the copy of this process that `HelperProcess.fork` makes: it has no files, and may write none."""
    from larm.kit.processes import helper_process

    fork = helper_process.fork

    def noting(main: Callable[[], object]) -> object:
        def copy() -> None:
            from larm.parse.reading.child import Child

            answer = Child.answer

            def answered(child: Child, request: Any) -> bytearray:
                reply = answer(child, request)
                shared[:] = _modules().to_bytes(8, "little")
                return reply

            Child.answer = answered  # type: ignore[method-assign]
            main()

        return fork(copy)

    helper_process.fork = noting  # type: ignore[assignment]


if __name__ == "__main__":
    main(sys.argv[1:])
