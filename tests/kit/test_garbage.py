"""How often Python looks for garbage, and what goes back to the system."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys

import pytest

from larm.kit.garbage import collect_rarely, give_back


def test_it_still_looks() -> None:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    try:
        collect_rarely()
        assert gc.isenabled()
        assert gc.get_threshold()[0] > 700
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def test_free_memory_can_be_given_back() -> None:
    kept = [bytes(100_000) for _ in range(100)]
    del kept[::2]
    give_back()
    assert kept[0] == bytes(100_000)


_MAPPED = """
import ctypes
from larm.kit.garbage import collect_rarely
class Info(ctypes.Structure):
    names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
    _fields_ = [(name, ctypes.c_size_t) for name in names.split()]
look = ctypes.CDLL(None).mallinfo2
look.restype = Info
collect_rarely()
largest = bytearray(20_000_000)
del largest
before = look().hblkhd
large = bytearray(5_000_000)
print(look().hblkhd - before)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="glibc 2.33 tells it, others do not")
def test_what_is_large_leaves_no_gap_in_the_heap_also_after_something_larger() -> None:
    """By default a heap takes it then."""
    said = subprocess.run([sys.executable, "-c", _MAPPED], stdout=subprocess.PIPE, text=True, check=True)
    assert int(said.stdout) >= 5_000_000
