"""enough_open_files: as many files and connections as a command may need, if the system lets it. Once, on the main thread.

files_allowed: how many these are then.
"""

import resource
import sys

from larm.errors import UsageError


def files_allowed() -> int:
    """That this process may have open."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return soft if soft != resource.RLIM_INFINITY else sys.maxsize


def enough_open_files(wanted: int, fewest: int, what: str, fewer: str = "") -> list[str]:
    """Raise the soft limit to ``wanted``, as far as the hard one lets us; a note where that is less.

    ``what`` needs them: "a crawl"; ``fewer``: what makes it need fewer. Raises UsageError below ``fewest``.
    """
    soft, hard = (wanted if limit == resource.RLIM_INFINITY else limit for limit in resource.getrlimit(resource.RLIMIT_NOFILE))
    if soft >= wanted:
        return []
    allowed = max(soft, min(wanted, hard))
    if allowed > soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    if allowed >= wanted:
        return []
    if allowed < fewest:
        raise UsageError(f"only {allowed} files may be open, and {what} needs {fewest} at least: allow more ('ulimit -n 1024')")
    more = f"allow more ('ulimit -n'){fewer and f', or {fewer}'}"
    return [f"only {allowed:,} files and connections may be open, and {what} may need {wanted:,}: {more}"]
