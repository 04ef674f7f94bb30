"""allow_open_files: as many files and connections as a run may need, if the system lets us. Called once, on the main thread."""

from __future__ import annotations

import resource


def allow_open_files(wanted: int) -> int:
    """Raise the soft limit to ``wanted``, as far as the hard one lets us; returns how many may be open then."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if allowed > soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return max(soft, allowed)
